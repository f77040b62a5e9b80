import * as ApiError from "@waybill/api/errors/ApiError"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import * as Refusals from "@waybill/domain/values/Refusal"
import * as Availability from "@waybill/store/availability/Availability"
import { StoreUnavailable, type Unavailability } from "@waybill/store/postgres/StoreUnavailable"
import { Cause, Clock, Effect, Option } from "effect"
import { HttpServerError, HttpServerResponse } from "effect/http"
import * as KnownRoutes from "../requests/KnownRoutes.ts"
import * as RequestTarget from "../requests/RequestTarget.ts"

type Refusal = Refusals.Refusal

/** Headers of every response: the request's id and the state of its rate window. */
export const requestHeaders = (id: string, { limit, remaining, reset_s }: RateLimit.WindowState) => ({
  "x-request-id": id,
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(reset_s),
})

/** State of the rate limit under the names of other services, with the seconds that are left. */
export const doorHeaders = ({ limit, remaining, reset_s }: RateLimit.WindowState, now_ms: number) => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(Math.max(0, reset_s - Math.floor(now_ms / 1_000))),
})

/** Headers of a response to a request that no window counts: the full window of an anonymous client. */
export const uncountedHeaders = (id: string) =>
  Effect.map(Clock.currentTimeMillis, (now_ms) =>
    requestHeaders(id, RateLimit.windowState(RateLimit.ANONYMOUS_PER_MINUTE, 0, now_ms)),
  )

export const refusalHeaders = ({ allowed_methods, retry_after_s, status }: Refusal): Record<string, string> => {
  if (allowed_methods !== undefined) return { allow: allowed_methods.join(", ") }
  if (retry_after_s !== undefined) return { "retry-after": String(retry_after_s) }
  return status === 401 ? { "www-authenticate": "Bearer" } : {}
}

/** Refusals by the bodies that were written of them, which doors of other services write in their own shape. */
const refusals = new WeakMap<object, Refusal>()

/** Returns the refusal that a response was made of by `respond`. */
export const refusalIn = ({ body }: HttpServerResponse.HttpServerResponse): Refusal | undefined => refusals.get(body)

/** Returns the response of a refusal, in the one shape of errors. */
export const respond = (refusal: Refusal, id: string): HttpServerResponse.HttpServerResponse => {
  const response = HttpServerResponse.jsonUnsafe(ApiError.toBody(refusal, id), { status: refusal.status })
  refusals.set(response.body, refusal)
  return HttpServerResponse.setHeaders(response, refusalHeaders(refusal))
}

/** Responds with a refusal. A store that cannot be used is left to `fromCause`. */
export const refused = (refusal: Refusal): Effect.Effect<HttpServerResponse.HttpServerResponse, StoreUnavailable> =>
  refusal instanceof StoreUnavailable
    ? Effect.fail(refusal)
    : Effect.map(ApiError.RequestId, (id) => respond(refusal, id))

/**
 * Returns the response of a failed request, and logs an unexpected failure. A client that went away is not a failure, and a
 * database that cannot be used is logged once and not for each request. `isRead` tells a request that changes nothing.
 */
export const fromCause = <E>(
  cause: Cause.Cause<E>,
  id: string,
  isRead = false,
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Availability.Availability> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  // A refusal that travels as a defect is a mistake of the program, like any other defect.
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof StoreUnavailable)
    return Effect.map(Effect.annotateLogs(ofUnavailable(error, isRead), "request_id", id), (refusal) =>
      respond(refusal, id),
    )
  const refusal = refusalOf(error)
  if (refusal !== undefined) return Effect.succeed(respond(refusal, id))
  const internal = new RequestRefusal.InternalError()
  return Effect.as(Effect.annotateLogs(logFailure(internal, cause), "request_id", id), respond(internal, id))
}

const logFailure = ({ status }: Refusal, cause: Cause.Cause<unknown>) =>
  Effect.logError(`request failed; answered ${status}`, cause)

/** Why a statement fails while the database can be used. */
const PASSING: ReadonlySet<Unavailability> = new Set(["timed-out", "conflict"])

/** Returns what a client is told when the store cannot be used, the only place where HTTP translates that. */
export const ofUnavailable = Effect.fnUntraced(function* (error: StoreUnavailable, isRead: boolean) {
  if (error.cause === undefined) return error.forClient(isRead)
  const availability = yield* Effect.option(Availability.here)
  if (Option.isNone(availability)) return error.forClient(isRead)
  const { problem, report } = availability.value
  const cause = Cause.fail(error)
  yield* report(cause)
  const refusal = PASSING.has(error.why) ? new RequestRefusal.InternalError() : error.forClient(isRead)
  if (problem() === undefined || PASSING.has(error.why)) yield* logFailure(refusal, cause)
  return refusal
})

/** Returns the refusal that an error means; `undefined` for an unexpected one. */
const refusalOf = (error: unknown): Refusal | undefined => {
  if (Refusals.isRefusal(error)) return error
  if (!HttpServerError.isHttpServerError(error) || error._tag !== "HttpServerError") return undefined
  const { reason } = error
  if (reason._tag === "RouteNotFound")
    return KnownRoutes.refuse(reason.request.method, RequestTarget.pathOf(reason.request.url))
  if (reason._tag !== "RequestParseError") return undefined
  return new RequestRefusal.InvalidRequest({
    reason: "malformed_request",
    details: [{ path: "", message: "could not be read" }],
  })
}
