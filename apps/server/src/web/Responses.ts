import * as ApiError from "@waybill/api/errors/ApiError"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import * as Refusals from "@waybill/domain/values/Refusal"
import { Availability } from "@waybill/store/availability/Availability"
import * as Problem from "@waybill/store/availability/Problem"
import { Cause, Clock, Effect } from "effect"
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

/** Returns the response of a refusal, in the one shape of errors (contract §2). */
export const respond = (refusal: Refusal, id: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(
    HttpServerResponse.jsonUnsafe(ApiError.toBody(refusal, id), { status: refusal.status }),
    refusalHeaders(refusal),
  )

/**
 * Returns the response of a failed request, and logs an unexpected failure. A client that went away is not a failure, and a
 * database that cannot be used is logged once and not for each request. `isRead` tells a request that changes nothing.
 */
export const fromCause = <E>(
  cause: Cause.Cause<E>,
  id: string,
  isRead = false,
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  const refusal = refusalOf(Cause.squash(cause))
  return refusal === undefined ? unexpected(cause, id, isRead) : Effect.succeed(respond(refusal, id))
}

const unexpected = Effect.fnUntraced(function* <E>(cause: Cause.Cause<E>, id: string, isRead: boolean) {
  const { problem, report } = yield* Availability
  yield* report(cause)
  const refusal = Problem.refusalOf(cause, isRead) ?? new RequestRefusal.InternalError()
  if (problem() === undefined || refusal instanceof RequestRefusal.InternalError)
    yield* Effect.annotateLogs(Effect.logError(`request failed; answered ${refusal.status}`, cause), "request_id", id)
  return respond(refusal, id)
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
