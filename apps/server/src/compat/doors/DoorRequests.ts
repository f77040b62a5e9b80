import * as ApiError from "@waybill/api/errors/ApiError"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { ByteSize, Context, Effect, Semaphore } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import type { Availability } from "@waybill/store/availability/Availability"
import { Provenance } from "@waybill/store/log/Provenance"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import * as Authorization from "../../web/Authorization.ts"
import * as Bodies from "../../web/Bodies.ts"
import * as Responses from "../../web/Responses.ts"
import * as RequestTarget from "../../requests/RequestTarget.ts"
import * as Uuids from "../../requests/Uuids.ts"
import { type Answer, type Door, type DoorRequest, type DoorServices, NativeApi } from "../Door.ts"
import * as Doors from "./Doors.ts"
import * as NativeCalls from "./NativeCalls.ts"
import * as Endpoints from "../Endpoints.ts"
import * as DoorBody from "../lenient/DoorBody.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Maximum bytes of a request with a service's public test key, which anybody has. */
export const MAX_TRIAL_BYTES = 64 * 1024
/** One is checked at a time, so that callers without a key never have more than one turn in a row. */
const TRIALS = Semaphore.makeUnsafe(1)

/** Handles an admitted request to a door by calls of `app`, Waybill's own API. */
export const handle = Effect.fnUntraced(function* <R>(
  entrance: Doors.Entrance,
  app: Effect.Effect<Response, never, R>,
  maxBodyBytes: number,
) {
  const { door, path } = entrance
  const context = yield* Effect.context<R | Availability>()
  const request = yield* HttpServerRequest.HttpServerRequest
  const match = yield* Effect.fromResult(entrance.match)
  const { endpoint } = match.route
  const trial = Doors.trialOf(entrance, request.headers)
  const allowed = trial === undefined && endpoint !== undefined ? yield* Endpoints.authorize(endpoint) : undefined
  const provenance = allowed === undefined ? yield* Provenance : yield* provenanceOf(allowed)
  const mostBytes = trial === undefined ? maxBodyBytes : Math.min(maxBodyBytes, MAX_TRIAL_BYTES)
  const { bytes, received } = yield* DoorBody.read(request, trial === undefined ? endpoint : undefined, mostBytes)
  const doorRequest: DoorRequest = {
    query: queryOf(path, request.url),
    headers: request.headers,
    body: bytes.length === 0 ? undefined : yield* DoorBody.parse(bytes),
  }
  if (trial !== undefined) return responseOf(spelled(door, yield* TRIALS.withPermits(1)(trial(doorRequest))), {})
  // A repeated request is recognized by what the client sent, because what it is translated to may depend on the time.
  const translated: RequestCommit.TranslatedRequest = {
    route: `${request.method} ${door.prefix}${path}`,
    hashOfBody: () => sha256(received),
  }
  const calls: NativeCalls.Calls<R> = {
    app,
    request,
    context,
    bytes: bytes.length,
    startedAt: yield* MonotonicClock.millis,
    writes: 0,
    kept: {},
  }
  const handling = Bodies.collecting(door.handle(doorRequest, match))
  const answer = yield* Effect.updateContext(handling, (services: Context.Context<Exclude<DoorServices, NativeApi>>) =>
    services.pipe(
      Context.add(NativeApi, { call: (native) => NativeCalls.call(calls, native) }),
      Context.add(RequestCommit.TranslatedRequest, translated),
      Context.add(Provenance, provenance),
      Context.add(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
    ),
  )
  return responseOf(spelled(door, answer), calls.kept)
})

const spelled = ({ hasUuids }: Door, answer: Answer): Answer =>
  hasUuids ? { ...answer, body: Uuids.spelled(answer.body) } : answer

const provenanceOf = ({ actor, admitted }: Effect.Success<ReturnType<typeof Endpoints.authorize>>) =>
  Effect.map(ApiError.RequestId, (id) => Authorization.provenanceOf(actor, id, admitted.address))

const queryOf = (path: string, target: string): URLSearchParams => {
  const query = new URLSearchParams(RequestTarget.queryOf(target))
  return query.size === 0 ? query : Uuids.inQuery(path, query)
}

/** Returns an answer with further headers; one without a body is empty, and says so, or Node would send it in chunks. */
export const responseOf = ({ body, headers, status }: Answer, more: object): Response => {
  const empty = status === 204 ? {} : { "content-length": "0" }
  const response =
    body === undefined
      ? HttpServerResponse.empty({ status, headers: empty })
      : HttpServerResponse.jsonUnsafe(body, { status })
  return HttpServerResponse.setHeaders(response, { ...more, ...headers })
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

/** The refusal of an id that no object can have: ours says the form of our own ids, and a name of our own path. */
const NOTHING: Refusal = {
  _tag: "NothingWithThisId",
  status: 404,
  reason: "malformed_id",
  message: "There is nothing with this id in this account.",
}

/** Returns the response of a refusal in the other service's shape; other responses and their headers stay as they are. */
export const inShapeOf = ({ door, path }: Doors.Entrance, response: Response): Response => {
  const refusal = Responses.refusalIn(response)
  if (refusal === undefined) return response
  const { body, headers, status } = door.errorOf(refusal.reason === NOTHING.reason ? NOTHING : refusal, path)
  const { "content-length": _, "content-type": __, ...kept } = response.headers
  return HttpServerResponse.setHeaders(HttpServerResponse.jsonUnsafe(body, { status }), { ...kept, ...headers })
}
