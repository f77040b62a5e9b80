import * as ApiError from "@waybill/api/errors/ApiError"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import type { Refusal } from "@waybill/domain/values/Refusal"
import type { Availability } from "@waybill/store/availability/Availability"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { type Context, Effect } from "effect"
import { Headers, HttpServerRequest, type HttpServerResponse } from "effect/http"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import * as Bodies from "../../web/Bodies.ts"
import * as Responses from "../../web/Responses.ts"
import { HeldRequest } from "../../web/HeldRequest.ts"
import { type NativeAnswer, NativeError, type NativeRequest } from "../Door.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Parts that the calls of one request share. */
export interface Calls<R> {
  /** Waybill's own API. */
  readonly app: Effect.Effect<Response, never, R>
  readonly request: HttpServerRequest.HttpServerRequest
  readonly context: Context.Context<R | Availability>
  /** The bytes of the request, which were counted when they arrived. */
  readonly bytes: number
  readonly startedAt: number
  writes: number
  /** Headers of the answers that the door's answer has too. */
  readonly kept: Record<string, string>
}

/** Headers of our own answers that a door's have too: that an answer is repeated, and what a send warns of. */
const KEPT_HEADERS = ["idempotent-replayed", "warning"]

/**
 * Calls our own API for a request. This generator function is at the top of the module and not inside another function: the
 * engine keeps a hidden class of each in its old generation, and one made for a request keeps that request in memory until a
 * full collection.
 */
export const call = Effect.fnUntraced(function* <R>(
  calls: Calls<R>,
  native: NativeRequest,
): Effect.fn.Return<NativeAnswer, NativeError> {
  const { context, kept } = calls
  if (native.method !== "GET") yield* Effect.provideContext(readmit(calls), context)
  const answer = yield* Effect.provideContext(callApp(calls, native), context)
  for (const name of KEPT_HEADERS) {
    const header = answer.headers[name]
    if (header !== undefined) kept[name] = header
  }
  return answer
})

/**
 * Admits the request again before a call that writes, because its key may have been revoked while files were fetched or during
 * the calls before.
 */
const readmit = Effect.fnUntraced(function* <R>(calls: Calls<R>) {
  const readContext = yield* Bodies.ReadContext
  if (readContext === undefined) return
  const isLate = (yield* MonotonicClock.millis) - calls.startedAt > Bodies.READMITTED_AFTER_MS
  if (calls.writes++ > 0 || isLate) yield* Effect.catch(readContext.readmit(undefined), refused)
})

/** Refuses a native call in the form of its own refusals. */
const refused = Effect.fnUntraced(function* (error: Refusal | NativeError) {
  if (error instanceof NativeError) return yield* error
  return yield* nativeError(error instanceof StoreUnavailable ? yield* Responses.ofUnavailable(error, false) : error)
})

const nativeError = (refusal: Refusal) => new NativeError({ refusal, details: refusal.details ?? [] })

/** Runs a request through the own API's router. */
const callApp = Effect.fnUntraced(function* <R>(
  { app, bytes: countedBytes, request: { remoteAddress } }: Calls<R>,
  { body, headers, method, path }: NativeRequest,
) {
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body))
  const length = bytes.length === 0 ? {} : { "content-length": String(bytes.length) }
  const inner = new HeldRequest(
    { method, url: path, headers: Headers.fromInput({ ...length, ...headers }), remoteAddress },
    bytes,
  )
  let refusal: Refusal | undefined
  let verdicts: RequestCommit.Verdicts | undefined
  const translated = yield* RequestCommit.TranslatedRequest
  const answering = app.pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, inner),
    Effect.provideService(ApiError.Refused, (each) => {
      refusal = each
    }),
    Effect.provideService(
      RequestCommit.TranslatedRequest,
      translated && {
        ...translated,
        onVerdicts: (each) => {
          verdicts = each
        },
      },
    ),
  )
  const response = yield* counting(bytes.length - countedBytes, answering)
  const { headers: answered, status } = response
  if (status < 400) return { status, body: contentOf(response), headers: answered, verdicts }
  return yield* nativeError(Responses.refusalIn(response) ?? refusal ?? new RequestRefusal.InternalError())
})

/**
 * Counts in the memory budget what a body grew to by its translation (copies for each recipient, fetched files), until the
 * work ends. The body itself was counted when it arrived.
 */
const counting = <A, E, R>(growth: number, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | NativeError, R> => {
  if (growth <= 0) return work
  return Effect.flatMap(Bodies.ReadContext, (readContext): Effect.Effect<A, E | NativeError, R> => {
    const lease = readContext?.budget.lease(readContext.holder)
    if (lease?.take(growth) === false)
      return Effect.fail(nativeError(new RequestRefusal.Overloaded({ budget: "request_bodies" })))
    return Effect.ensuring(
      work,
      Effect.sync(() => lease?.release()),
    )
  })
}

/** Returns the parsed body of an answer of our own API. */
const contentOf = ({ body }: Response): unknown =>
  body._tag === "Uint8Array" ? (JSON.parse(Buffer.from(body.body).toString("utf8")) as unknown) : null
