import type * as RateLimit from "@waybill/domain/account/RateLimit"
import type { Admission, Verdict } from "@waybill/store/admission/Admission"
import * as Availability from "@waybill/store/availability/Availability"
import * as Members from "@waybill/store/readmodels/Members"
import { Context, Effect, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { SignIn } from "./SignIn.ts"

/**
 * A session cookie counts only together with this header, because a page of another site can make a browser send the
 * cookie but not the header.
 */
export const HEADER = "x-waybill-dashboard"
const COOKIE = /(?:^|; ?)(?:__Secure-)?waybill\.session_token=/u

/** The sign-in service; `undefined` where there is none. */
export const Sessions = Context.Reference<SignIn["Service"] | undefined>("@waybill/server/signIn/Session/Sessions", {
  defaultValue: () => undefined,
})

export interface UserAdmitted {
  readonly _tag: "UserAdmitted"
  readonly user: Members.RequestUser
  readonly session_id: string
  readonly standing: RateLimit.WindowState
}

export const hasCookie = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  COOKIE.test(headers["cookie"] ?? "")

/** Paths that the dashboard shows in frames. */
const FRAMES = "/preview/"

/** A frame cannot send the header. Its request changes nothing, and must come from the same origin. */
const isFrame = ({ headers, method, url }: HttpServerRequest.HttpServerRequest): boolean =>
  method === "GET" && url.startsWith(FRAMES) && (headers["sec-fetch-site"] ?? "same-origin") === "same-origin"

/** Whether to look for a session; an API key takes precedence. */
const mayHaveSession = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.headers["authorization"] === undefined &&
  (request.headers[HEADER] !== undefined || isFrame(request)) &&
  hasCookie(request)

export const userOf = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const sessions = yield* Sessions
  if (sessions === undefined) return Option.none()
  return yield* sessions.userOf(request.headers["cookie"] ?? "")
})

/** Requests by which the dashboard reads who is signed in, at the start of every page. */
const OWN_SESSION: ReadonlySet<string> = new Set(["/auth/get-session", "/v1/session"])

const isOwnSession = ({ method, url }: HttpServerRequest.HttpServerRequest): boolean =>
  method === "GET" && OWN_SESSION.has(url)

type AdmissionQuery = Parameters<Admission["Service"]["admit"]>[0]

/** Admits a request by its session, or otherwise by its key. */
export const admitOr = Effect.fnUntraced(function* <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  { bucket }: AdmissionQuery,
  otherwise: Effect.Effect<Verdict, E, R>,
) {
  if (!mayHaveSession(request)) return yield* otherwise
  // Sessions are at home.
  yield* Availability.check
  const session = yield* userOf(request)
  if (Option.isNone(session)) return yield* otherwise
  const { session_id, user_id } = session.value
  const admitted = yield* Members.admit(user_id, isOwnSession(request) ? "session" : bucket)
  if (Option.isNone(admitted)) return yield* otherwise
  const { refusal, standing, user } = admitted.value
  return refusal === undefined
    ? ({ _tag: "UserAdmitted", user, session_id, standing } satisfies UserAdmitted)
    : ({ _tag: "RateLimited", key: null, standing, refusal } as const)
})
