import * as ApiError from "@waybill/api/errors/ApiError"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as MonotonicClock from "@waybill/domain/flow/MonotonicClock"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { ByteSize, Effect, Layer, Semaphore } from "effect"
import { Headers, HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Provenance } from "@waybill/store/log/Provenance"
import * as RequestCommit from "../accept/RequestCommit.ts"
import * as Authorization from "../web/Authorization.ts"
import * as Bodies from "../web/Bodies.ts"
import * as Responses from "../web/Responses.ts"
import { HeldRequest } from "../web/HeldRequest.ts"
import * as RequestTarget from "../requests/RequestTarget.ts"
import * as Uuids from "../requests/Uuids.ts"
import { type Answer, type Door, type DoorRequest, NativeApi, NativeError, type NativeRequest } from "./Door.ts"
import type { Entrance } from "./Doors.ts"
import * as Endpoints from "./Endpoints.ts"
import * as DoorBody from "./lenient/DoorBody.ts"
import * as Respelling from "./Respelling.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Maximum bytes of a request with a service's public test key, which anybody has. */
export const MAX_TRIAL_BYTES = 64 * 1024
/** One is checked at a time, so that callers without a key never have more than one turn in a row. */
const TRIALS = Semaphore.makeUnsafe(1)

/** Handles an admitted request to a door by calls of `app`, Waybill's own API. */
export const handle = <R>({ door, path }: Entrance, app: Effect.Effect<Response, never, R>, maxBodyBytes: number) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R>()
    const request = yield* HttpServerRequest.HttpServerRequest
    const refusal = door.refusalOf(request.method, path)
    if (refusal !== undefined) return yield* Effect.fail(refusal)
    const endpoint = door.endpointOf(request.method, path)
    const trial = door.trialOf(request.method, path, request.headers)
    const allowed = trial === undefined && endpoint !== undefined ? yield* Endpoints.authorize(endpoint) : undefined
    const provenance =
      allowed === undefined
        ? yield* Provenance
        : Authorization.provenanceOf(allowed.actor, yield* ApiError.RequestId, allowed.admitted.address)
    const mostBytes = trial === undefined ? maxBodyBytes : Math.min(maxBodyBytes, MAX_TRIAL_BYTES)
    const { bytes, received } = yield* DoorBody.read(request, trial === undefined ? endpoint : undefined, mostBytes)
    const doorRequest: DoorRequest = {
      method: request.method,
      path: Uuids.inPath(path),
      query: Uuids.inQuery(path, new URLSearchParams(RequestTarget.queryOf(request.url))),
      headers: request.headers,
      body: bytes.length === 0 ? undefined : yield* DoorBody.parse(bytes),
    }
    const spelled = (answer: Answer) => (door.hasUuids ? { ...answer, body: Uuids.spelled(answer.body) } : answer)
    if (trial !== undefined) return responseOf(spelled(yield* TRIALS.withPermits(1)(trial(doorRequest))), {})
    // A repeated request is recognized by what the client sent, because what it is translated to may depend on the time.
    const origin = { route: `${request.method} ${door.prefix}${path}`, body: sha256(received) }
    const kept: Record<string, string> = {}
    const readmit = yield* readmission
    const native = Layer.succeed(NativeApi, {
      call: (nativeRequest) =>
        readmit(nativeRequest.method).pipe(
          Effect.andThen(callNative(app, request, nativeRequest, bytes.length)),
          Effect.tap(({ headers }) =>
            Effect.sync(() => {
              for (const name of KEPT_HEADERS) if (headers[name] !== undefined) kept[name] = headers[name]
            }),
          ),
          Effect.provide(context),
        ),
    })
    const answer = yield* Bodies.collecting(door.handle(doorRequest)).pipe(
      Effect.provide(native),
      Effect.provideService(RequestCommit.Origin, origin),
      Effect.provideService(Provenance, provenance),
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
      Effect.catch((error) =>
        error instanceof NativeError
          ? Effect.succeed<Answer>({ status: error.status, body: { error: error.error }, headers: error.headers })
          : Effect.fail(error),
      ),
    )
    return responseOf(spelled(answer), kept)
  })

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

/**
 * Runs a request through the own API's router. Its body was counted when it arrived; what it grew to by its translation
 * (copies for each recipient, fetched files) counts in the same budget until the call ends.
 */
const callNative = Effect.fnUntraced(function* <R>(
  app: Effect.Effect<Response, never, R>,
  request: HttpServerRequest.HttpServerRequest,
  { body, headers, method, path }: NativeRequest,
  countedBytes: number,
) {
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body))
  const growth = Math.max(0, bytes.length - countedBytes)
  const readContext = yield* Bodies.ReadContext
  const lease = readContext?.budget.lease(readContext.holder)
  if (growth > 0 && lease?.take(growth) === false) return yield* overloaded
  const { remoteAddress } = request
  const length = bytes.length === 0 ? {} : { "content-length": String(bytes.length) }
  const inner = new HeldRequest(
    { method, url: path, headers: Headers.fromInput({ ...length, ...headers }), remoteAddress },
    bytes,
  )
  const response = yield* app.pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, inner),
    Effect.ensuring(Effect.sync(() => lease?.release())),
  )
  const answer = contentOf(response)
  if (response.status < 400) return { status: response.status, body: answer, headers: response.headers }
  const retryAfter = response.headers["retry-after"]
  const kept = retryAfter === undefined ? {} : { "retry-after": retryAfter }
  return yield* new NativeError({ status: response.status, error: (answer as ApiError.Body).error, headers: kept })
})

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
    if (writes++ > 0 || isLate)
      yield* Effect.catch(readContext.readmit(undefined), (refusal) =>
        refusal instanceof StoreUnavailable
          ? Effect.flatMap(Responses.ofUnavailable(refusal, false), refused)
          : refused(refusal),
      )
  })
})

/** Refuses a native call in the form of its own refusals. */
const refused = (refusal: Refusal) =>
  Effect.flatMap(ApiError.RequestId, (id) =>
    Effect.fail(
      new NativeError({
        status: refusal.status,
        error: ApiError.toBody(refusal, id).error,
        headers: refusal.retry_after_s === undefined ? {} : { "retry-after": String(refusal.retry_after_s) },
      }),
    ),
  )

const overloaded = Effect.flatMap(ApiError.RequestId, (id) => {
  const refusal = new RequestRefusal.Overloaded({ budget: "request_bodies" })
  const headers = { "retry-after": String(refusal.retry_after_s) }
  return Effect.fail(new NativeError({ status: refusal.status, error: ApiError.toBody(refusal, id).error, headers }))
})

const contentOf = ({ body }: Response): unknown =>
  body._tag === "Uint8Array" ? (JSON.parse(Buffer.from(body.body).toString("utf8")) as unknown) : null

/** Returns an error response in the other service's shape; other responses and their headers stay as they are. */
export const inShapeOf = (door: Door, response: Response, spelling?: Respelling.Spelling): Response => {
  if (response.status < 400) return response
  const { error } = contentOf(response) as ApiError.Body
  const spelled = spelling === undefined ? error : Respelling.respell(error, spelling)
  const { body, headers, status } = door.errorOf(response.status, spelled)
  const { "content-length": _, "content-type": __, ...kept } = response.headers
  return HttpServerResponse.setHeaders(HttpServerResponse.jsonUnsafe(body, { status }), { ...kept, ...headers })
}
