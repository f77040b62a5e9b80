import * as ApiError from "@waybill/api/errors/ApiError"
import { InternalError, InvalidRequest, NoSuchRoute, Unauthorized } from "@waybill/api/errors/RequestRefusal"
import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import * as Refusals from "@waybill/domain/values/Refusal"
import type { Networks } from "@waybill/mail/dns/Network"
import {
  Admission,
  type RateLimited,
  type Unauthorized as NotAdmitted,
  type Verdict,
} from "@waybill/store/admission/Admission"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import { Cause, Clock, Effect, Option } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { hashOf } from "../../operate/apiKeys.ts"
import { newId } from "../../operate/fresh.ts"
import * as Traces from "../../observability/Traces.ts"
import { Revocations } from "../../live/Revocations.ts"
import { Admitted } from "./Admitted.ts"
import * as Answers from "./Answers.ts"
import * as Bodies from "./Bodies.ts"
import { bucketOf } from "./Bucket.ts"
import type { ByteBudget } from "./ByteBudget.ts"
import * as ClientAddress from "./ClientAddress.ts"
import type { DocumentWindows } from "../pages/DocumentWindows.ts"
import * as Position from "../Position.ts"
import * as Session from "./Session.ts"
import * as TrackingHosts from "../../links/TrackingHosts.ts"

type Response = HttpServerResponse.HttpServerResponse

type Refusal = Refusals.Refusal

/** What all requests of a server share: memory that they hold at once. */
export interface Budgets {
  readonly bodies: ByteBudget
  readonly answers: ByteBudget
}

export interface Options {
  readonly trustedProxies: Networks
  /** Paths outside /v1 that are served to anybody and counted nowhere: probes must not use up a window. */
  readonly open: (path: string) => boolean
  /** Of these, those that are served under the names of customers too, under which there is nothing else. */
  readonly visit: (path: string) => boolean
  /** Paths outside /v1 whose answer is the same for everybody, counted for each address. */
  readonly document: (path: string) => boolean
  readonly windows: DocumentWindows
  readonly budgets: Budgets
}

/**
 * What every answer passes, whatever made it: an id, the rate window, the one shape of errors (contract §1 and §2). The
 * order here is the contract's: 401 and 429 come before anything that the router says.
 */
export const around = <E, R>(app: Effect.Effect<Response, E, R>, options: Options) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const id = yield* newId("RequestId")
    return yield* Traces.ofRequest(answered(app, options, request, id), id, request.method, request.headers)
  })

const answered = <E, R>(
  app: Effect.Effect<Response, E, R>,
  { budgets, document, open, trustedProxies, visit, windows }: Options,
  request: HttpServerRequest.HttpServerRequest,
  id: string,
) =>
  Effect.gen(function* () {
    const path = pathOf(request.url)
    if (!visit(path) && TrackingHosts.isAsked(yield* TrackingHosts.TrackingHosts, request.headers)) {
      const nothing = new NoSuchRoute({ method: request.method, path })
      // Whoever asks may have said so of themselves, and nobody else is to get this from a cache.
      return HttpServerResponse.setHeaders(respond(nothing, id), {
        ...(yield* untouched(id)),
        "cache-control": "no-store",
      })
    }
    const handle = (effect: Effect.Effect<Response, E, R>) =>
      effect.pipe(
        Effect.catchCause((cause) => answerTo(cause, id)),
        Effect.provideService(ApiError.RequestId, id),
        Effect.annotateLogs("request_id", id),
      )
    if (open(path)) return HttpServerResponse.setHeaders(yield* handle(app), yield* untouched(id))
    const address = ClientAddress.of(
      Option.getOrUndefined(request.remoteAddress),
      request.headers["x-forwarded-for"],
      trustedProxies,
    )
    if (document(path)) {
      const now_ms = yield* Clock.currentTimeMillis
      const { refusal, standing } = windows.count(address, now_ms)
      const made = refusal === undefined ? yield* handle(app) : respond(refusal, id)
      const bytes = request.method === "HEAD" ? 0 : lengthOf(made)
      const tooMuch = bytes === 0 ? undefined : windows.charge(address, now_ms, bytes)
      const answer = tooMuch === undefined ? made : respond(tooMuch, id)
      return HttpServerResponse.setHeaders(answer, standingHeaders(id, standing))
    }
    const admission = yield* Admission
    const asked = {
      tokenHash: hashIn(request.headers["authorization"]),
      bucket: bucketOf(request.method, path),
      address,
    }
    const verdict = yield* Session.admitOr(request, asked, admission.admit(asked)).pipe(Effect.exit)
    if (verdict._tag === "Failure")
      return HttpServerResponse.setHeaders(yield* answerTo(verdict.cause, id), yield* untouched(id))
    const standing = standingHeaders(id, verdict.value.standing)
    const isRefused = verdict.value._tag === "RateLimited" || (verdict.value._tag === "Unauthorized" && isApi(path))
    if (isRefused) {
      const refusal = refusalOf(verdict.value, request.headers["authorization"])
      return HttpServerResponse.setHeaders(respond(refusal, id), standing)
    }
    const admitted = admittedBy(verdict.value, address)
    const account_id = accountOf(verdict.value)
    const holder = account_id ?? RateWindows.clientAddress(address).bucket
    const { check } = yield* Revocations
    const intake: Bodies.Intake = {
      budget: budgets.bodies,
      holder,
      readmit: (scope) => (admitted === undefined ? Effect.void : check({ admitted, scope })),
    }
    const answer = yield* handle(
      app.pipe(Effect.provideService(Admitted, admitted), Effect.provideService(Bodies.Intake, intake)),
    )
    const tooMuch = Answers.keep(budgets.answers, holder, request, answer)
    const position = request.method === "GET" ? {} : yield* Position.headers(account_id, request)
    const given = tooMuch === undefined ? answer : respond(tooMuch, id)
    return HttpServerResponse.setHeaders(given, { ...standing, ...position })
  })

/** Of an answer that is worth counting; a 304 or an error is not. */
const lengthOf = ({ body, status }: Response): number =>
  status === 200 && body._tag === "Uint8Array" ? body.contentLength : 0

const accountOf = (verdict: Verdict | Session.UserAdmitted): string | undefined => {
  if (verdict._tag === "UserAdmitted") return verdict.user.account_id
  return verdict._tag === "Admitted" ? verdict.key.account_id : undefined
}

const admittedBy = (verdict: Verdict | Session.UserAdmitted, address: string): Admitted | undefined => {
  if (verdict._tag === "UserAdmitted") return { user: verdict.user, session_id: verdict.session_id, address }
  return verdict._tag === "Admitted" ? { key: verdict.key, address } : undefined
}

export const refusalOf = (verdict: NotAdmitted | RateLimited, authorization: string | undefined): Refusal =>
  verdict._tag === "RateLimited"
    ? verdict.refusal
    : new Unauthorized({
        why: verdict.reason === "missing" && authorization !== undefined ? "malformed" : verdict.reason,
      })

const isApi = (path: string): boolean => path === "/v1" || path.startsWith("/v1/")

const BEARER = /^bearer +(\S+)$/iu

/** What of an `Authorization` header is looked up; `null` for what can be no key. */
export const hashIn = (authorization: string | undefined): string | null => {
  const token = BEARER.exec(authorization ?? "")?.[1]
  return token !== undefined && ApiKeySecret.isWellFormed(token) ? hashOf(token) : null
}

/** As the router reads it, so that an encoded spelling of a path counts in the same window. */
const pathOf = (url: string): string => {
  const path = url.replace(AUTHORITY, "/").split(/[?#;]/u, 1)[0] ?? url
  if (!path.includes("%")) return path
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Of an absolute target that the platform cannot read (`http://[/v1`); the router leaves it out. */
const AUTHORITY = /^https?:\/\/.*?\//u

/** What every answer bears: the request's id, and where its window stands. */
export const standingHeaders = (id: string, { limit, remaining, reset_s }: RateLimit.Standing) => ({
  "x-request-id": id,
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(reset_s),
})

/** The same of what was not counted anywhere: it has its whole window before it. */
export const untouched = (id: string) =>
  Effect.map(Clock.currentTimeMillis, (now_ms) =>
    standingHeaders(id, RateLimit.standing(RateLimit.ANONYMOUS_PER_MINUTE, 0, now_ms)),
  )

export const refusalHeaders = ({ retry_after_s, status }: Refusal): Record<string, string> => {
  if (retry_after_s !== undefined) return { "retry-after": String(retry_after_s) }
  return status === 401 ? { "www-authenticate": "Bearer" } : {}
}

export const respond = (refusal: Refusal, id: string): Response =>
  HttpServerResponse.setHeaders(
    HttpServerResponse.jsonUnsafe(ApiError.toBody(refusal, id), { status: refusal.status }),
    refusalHeaders(refusal),
  )

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
  if (Refusals.isRefusal(error)) return error
  if (!HttpServerError.isHttpServerError(error) || error._tag !== "HttpServerError") return undefined
  const { reason } = error
  if (reason._tag === "RouteNotFound")
    return new NoSuchRoute({ method: reason.request.method, path: pathOf(reason.request.url) })
  if (reason._tag !== "RequestParseError") return undefined
  return new InvalidRequest({ reason: "malformed_request", details: [{ path: "", message: "could not be read" }] })
}
