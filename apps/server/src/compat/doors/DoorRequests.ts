import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as ApiError from "@waybill/api/errors/ApiError"
import { decodeStrictly } from "@waybill/api/errors/decodeStrictly"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Violations } from "@waybill/api/errors/Violations"
import * as Idempotency from "@waybill/api/schemas/Idempotency"
import { Sendable } from "@waybill/api/schemas/send/Sendable"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import * as Turn from "@waybill/runtime/flow/Turn"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { ByteSize, Context, Effect, Schema, Semaphore } from "effect"
import { Headers, HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Provenance } from "@waybill/store/log/Provenance"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import * as Sends from "../../accept/Sends.ts"
import * as Authorization from "../../web/Authorization.ts"
import * as Bodies from "../../web/Bodies.ts"
import * as Responses from "../../web/Responses.ts"
import { HeldRequest } from "../../web/HeldRequest.ts"
import * as RequestTarget from "../../requests/RequestTarget.ts"
import * as Uuids from "../../requests/Uuids.ts"
import {
  type Answer,
  type CallServices,
  type DoorRequest,
  type DoorServices,
  NativeApi,
  NativeError,
  type NativeRequest,
} from "../Door.ts"
import * as Doors from "./Doors.ts"
import * as Endpoints from "../Endpoints.ts"
import * as DoorBody from "../lenient/DoorBody.ts"
import * as AbsentFields from "../lenient/AbsentFields.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Maximum bytes of a request with a service's public test key, which anybody has. */
export const MAX_TRIAL_BYTES = 64 * 1024
/** One is checked at a time, so that callers without a key never have more than one turn in a row. */
const TRIALS = Semaphore.makeUnsafe(1)

/** Handles an admitted request to a door by calls of `app`, Waybill's own API. */
export const handle = <R>(entrance: Doors.Entrance, app: Effect.Effect<Response, never, R>, maxBodyBytes: number) =>
  Effect.gen(function* () {
    const { door, path } = entrance
    const context = yield* Effect.context<R>()
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
    const spelled = (answer: Answer) => (door.hasUuids ? { ...answer, body: Uuids.spelled(answer.body) } : answer)
    if (trial !== undefined) return responseOf(spelled(yield* TRIALS.withPermits(1)(trial(doorRequest))), {})
    // A repeated request is recognized by what the client sent, because what it is translated to may depend on the time.
    const origin: RequestCommit.Origin = {
      route: `${request.method} ${door.prefix}${path}`,
      get body() {
        return sha256(received)
      },
      acceptsSuppressed: door.acceptsSuppressed,
      suppressed: new Map(),
    }
    const kept: Record<string, string> = {}
    const readmit = yield* readmission
    const sender = endpoint === "emails.send" ? allowed?.current : undefined
    const call = Effect.fnUntraced(function* (
      native: NativeRequest,
    ): Effect.fn.Return<Answer, NativeError, CallServices> {
      yield* readmit(native.method)
      const answer =
        sender !== undefined && native.path === SEND.path
          ? yield* send(sender, native, bytes.length)
          : yield* Effect.provideContext(callNative(app, request, native, bytes.length), context)
      for (const name of KEPT_HEADERS) {
        const header = answer.headers[name]
        if (header !== undefined) kept[name] = header
      }
      return answer
    })
    const handling = Bodies.collecting(door.handle(doorRequest, match)).pipe(
      Effect.catch((error) =>
        error instanceof NativeError
          ? Effect.succeed<Answer>({ status: error.status, body: { error: error.error }, headers: error.headers })
          : Effect.fail(error),
      ),
    )
    const answer = yield* Effect.updateContext(
      handling,
      (services: Context.Context<Exclude<DoorServices, NativeApi>>) =>
        services.pipe(
          Context.add(NativeApi, { call }),
          Context.add(RequestCommit.Origin, origin),
          Context.add(Provenance, provenance),
          Context.add(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
        ),
    )
    return responseOf(spelled(answer), kept)
  })

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

/** Headers of our own answers that a door's have too: that an answer is repeated, and what a send warns of. */
const KEPT_HEADERS = ["idempotent-replayed", "warning"]

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

/** Refuses a native call in the form of its own refusals. */
const refused = Effect.fnUntraced(function* (error: Refusal | NativeError) {
  if (error instanceof NativeError) return yield* error
  const refusal: Refusal = error instanceof StoreUnavailable ? yield* Responses.ofUnavailable(error, false) : error
  return yield* new NativeError({
    status: refusal.status,
    error: ApiError.toBody(refusal, yield* ApiError.RequestId).error,
    headers: refusal.retry_after_s === undefined ? {} : { "retry-after": String(refusal.retry_after_s) },
  })
})

/** Where our own API takes a message. */
const SEND = { method: "POST", path: "/v1/email/send" } as const
const decodeMessage = decodeStrictly(Sendable)
const decodeKey = decodeStrictly(Schema.Struct(Idempotency.headers))

/** Accepts a message as our own endpoint does, without making JSON of it to be parsed again. */
const send = Effect.fnUntraced(function* (
  sender: CurrentKey["Service"],
  { body, headers = {} }: NativeRequest,
  countedBytes: number,
) {
  const key = yield* Effect.mapError(decodeKey(headers), invalidKey)
  const payload = yield* Effect.mapError(decodeMessage(AbsentFields.withoutUndefined(body)), RequestRefusal.invalid)
  yield* Turn.afterLarge(countedBytes)
  const sending = Effect.provideService(Sends.one({ endpoint: SEND, headers: key, payload }), CurrentKey, sender)
  const sent = yield* counting(bytesOf(payload) - countedBytes, sending)
  return { status: 200, body: sent.body as unknown, headers: { ...sent.headers } as Record<string, string> }
}, Effect.catch(refused))

const invalidKey = ({ details, ...others }: Violations) =>
  RequestRefusal.invalid({ ...others, details: details.map(({ message }) => ({ path: "Idempotency-Key", message })) })

/** The bytes of what a translation can make larger. */
const bytesOf = ({ attachments, html, text }: Sendable): number =>
  [html, text, ...(attachments ?? []).map(({ content }) => content)].reduce<number>(
    (sum, each) => sum + Buffer.byteLength(each ?? ""),
    0,
  )

/** Runs a request through the own API's router. */
const callNative = Effect.fnUntraced(function* <R>(
  app: Effect.Effect<Response, never, R>,
  request: HttpServerRequest.HttpServerRequest,
  { body, headers, method, path }: NativeRequest,
  countedBytes: number,
) {
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body))
  const { remoteAddress } = request
  const length = bytes.length === 0 ? {} : { "content-length": String(bytes.length) }
  const inner = new HeldRequest(
    { method, url: path, headers: Headers.fromInput({ ...length, ...headers }), remoteAddress },
    bytes,
  )
  const response = yield* counting(
    bytes.length - countedBytes,
    Effect.provideService(app, HttpServerRequest.HttpServerRequest, inner),
  )
  const answer = contentOf(response)
  if (response.status < 400) return { status: response.status, body: answer, headers: response.headers }
  const retryAfter = response.headers["retry-after"]
  const kept = retryAfter === undefined ? {} : { "retry-after": retryAfter }
  return yield* new NativeError({ status: response.status, error: (answer as ApiError.Body).error, headers: kept })
})

/**
 * Counts in the memory budget what a body grew to by its translation (copies for each recipient, fetched files), until the
 * work ends. The body itself was counted when it arrived.
 */
const counting = <A, E, R>(growth: number, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | NativeError, R> => {
  if (growth <= 0) return work
  return Effect.flatMap(Bodies.ReadContext, (readContext): Effect.Effect<A, E | NativeError, R> => {
    const lease = readContext?.budget.lease(readContext.holder)
    if (lease?.take(growth) === false) return refused(new RequestRefusal.Overloaded({ budget: "request_bodies" }))
    return Effect.ensuring(
      work,
      Effect.sync(() => lease?.release()),
    )
  })
}

/**
 * Returns what admits the request again before a native call that writes, because its key may have been revoked while files
 * were fetched or during the calls before.
 */
const readmission = Effect.map(MonotonicClock.millis, (startedAt) => {
  let writes = 0
  return Effect.fnUntraced(function* (method: string) {
    const readContext = yield* Bodies.ReadContext
    if (method === "GET" || readContext === undefined) return
    const isLate = (yield* MonotonicClock.millis) - startedAt > Bodies.READMITTED_AFTER_MS
    if (writes++ > 0 || isLate) yield* Effect.catch(readContext.readmit(undefined), refused)
  })
})

const contentOf = ({ body }: Response): unknown =>
  body._tag === "Uint8Array" ? (JSON.parse(Buffer.from(body.body).toString("utf8")) as unknown) : null

/** The refusal of an id that no object can have: ours says the form of our own ids, and a name of our own path. */
const NOTHING = { message: "There is nothing with this id in this account.", details: [] }

/** Returns an error response in the other service's shape; other responses and their headers stay as they are. */
export const inShapeOf = ({ door, path }: Doors.Entrance, response: Response): Response => {
  if (response.status < 400) return response
  const { error } = contentOf(response) as ApiError.Body
  const shown = error.reason === "malformed_id" ? { ...error, ...NOTHING } : error
  const { body, headers, status } = door.errorOf(response.status, shown, path)
  const { "content-length": _, "content-type": __, ...kept } = response.headers
  return HttpServerResponse.setHeaders(HttpServerResponse.jsonUnsafe(body, { status }), { ...kept, ...headers })
}
