import * as ApiError from "@waybill/api/ApiError"
import { InternalError, InvalidRequest, NoSuchRoute, Unauthorized } from "@waybill/api/RequestRefusal"
import * as ApiKeySecret from "@waybill/domain/ApiKeySecret"
import * as RateLimit from "@waybill/domain/RateLimit"
import type { Refusal } from "@waybill/domain/Refusal"
import type { Networks } from "@waybill/mail/Network"
import { Admission, type Verdict } from "@waybill/store/Admission"
import { Cause, Clock, Effect } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { hashOf } from "../apiKeys.ts"
import { newId } from "../fresh.ts"
import { Admitted } from "./Admitted.ts"
import { bucketOf } from "./Bucket.ts"
import * as ClientAddress from "./ClientAddress.ts"

type Response = HttpServerResponse.HttpServerResponse

export interface Options {
  readonly trustedProxies: Networks
  /** Paths outside /v1 that are served to anybody and counted nowhere: probes must not use up a window. */
  readonly open: (path: string) => boolean
}

/**
 * What every answer passes, whatever made it: an id, the rate window, the one shape of errors (contract §1 and §2). The
 * order here is the contract's: 401 and 429 come before anything that the router says.
 */
export const around = <E, R>(app: Effect.Effect<Response, E, R>, { open, trustedProxies }: Options) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const id = yield* newId("RequestId")
    const path = pathOf(request.url)
    const handle = (effect: Effect.Effect<Response, E, R>) =>
      effect.pipe(
        Effect.catchCause((cause) => answerTo(cause, id)),
        Effect.provideService(ApiError.RequestId, id),
        Effect.annotateLogs("request_id", id),
      )
    if (open(path)) return withHeaders(yield* handle(app), id, untouched(yield* Clock.currentTimeMillis))
    const address = ClientAddress.of(request, trustedProxies)
    const admission = yield* Admission
    const verdict = yield* admission
      .admit({ tokenHash: hashIn(request), bucket: bucketOf(request.method, path), address })
      .pipe(Effect.exit)
    if (verdict._tag === "Failure")
      return withHeaders(yield* answerTo(verdict.cause, id), id, untouched(yield* Clock.currentTimeMillis))
    const { standing } = verdict.value
    const refused = refusalOf(verdict.value, request, path)
    if (refused !== undefined) return withHeaders(respond(refused, id), id, standing)
    const admitted = verdict.value._tag === "Admitted" ? { key: verdict.value.key, address } : undefined
    return withHeaders(yield* handle(Effect.provideService(app, Admitted, admitted)), id, standing)
  }).pipe(Effect.withSpan("Edge"))

/** Outside /v1 a key is not asked for, but the window is kept. */
const refusalOf = (
  verdict: Verdict,
  request: HttpServerRequest.HttpServerRequest,
  path: string,
): Refusal | undefined => {
  if (verdict._tag === "RateLimited") return verdict.refusal
  if (verdict._tag === "Admitted" || !isApi(path)) return undefined
  const sent = request.headers["authorization"] !== undefined
  return new Unauthorized({ why: verdict.reason === "missing" && sent ? "malformed" : verdict.reason })
}

const isApi = (path: string): boolean => path === "/v1" || path.startsWith("/v1/")

const BEARER = /^bearer +(\S+)$/iu

const hashIn = (request: HttpServerRequest.HttpServerRequest): string | null => {
  const token = BEARER.exec(request.headers["authorization"] ?? "")?.[1]
  return token !== undefined && ApiKeySecret.isWellFormed(token) ? hashOf(token) : null
}

/** As the router reads it, so that an encoded spelling of a path counts in the same window. */
const pathOf = (url: string): string => {
  const path = url.split(/[?#;]/u, 1)[0] ?? url
  if (!path.includes("%")) return path
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** What was not counted anywhere has its whole window before it. */
const untouched = (now_ms: number): RateLimit.Standing => RateLimit.standing(RateLimit.ANONYMOUS_PER_MINUTE, 0, now_ms)

const withHeaders = (response: Response, id: string, { limit, remaining, reset_s }: RateLimit.Standing): Response =>
  HttpServerResponse.setHeaders(response, {
    "x-request-id": id,
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(reset_s),
  })

export const respond = (refusal: Refusal, id: string): Response => {
  const response = HttpServerResponse.jsonUnsafe(ApiError.toBody(refusal, id), { status: refusal.status })
  if (refusal.retry_after_s !== undefined)
    return HttpServerResponse.setHeader(response, "retry-after", String(refusal.retry_after_s))
  return refusal.status === 401 ? HttpServerResponse.setHeader(response, "www-authenticate", "Bearer") : response
}

/** A client that went away is nobody's error; the server closes its books on it by itself. */
const answerTo = <E>(cause: Cause.Cause<E>, id: string): Effect.Effect<Response> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  const refusal = expected(Cause.squash(cause))
  if (refusal !== undefined) return Effect.succeed(respond(refusal, id))
  const logged = Effect.annotateLogs(Effect.logError("A request failed", cause), "request_id", id)
  return Effect.as(logged, respond(new InternalError(), id))
}

/** What went wrong between the socket and the handlers is the request's fault, and said like any other. */
const expected = (error: unknown): Refusal | undefined => {
  if (!HttpServerError.isHttpServerError(error) || error._tag !== "HttpServerError") return undefined
  const { reason } = error
  if (reason._tag === "RouteNotFound")
    return new NoSuchRoute({ method: reason.request.method, path: pathOf(reason.request.url) })
  if (reason._tag !== "RequestParseError") return undefined
  return new InvalidRequest({ reason: "malformed_request", details: [{ path: "", message: "could not be read" }] })
}
