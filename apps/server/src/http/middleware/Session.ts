import type * as RateLimit from "@waybill/domain/account/RateLimit"
import type { Admission, Verdict } from "@waybill/store/admission/Admission"
import * as Members from "@waybill/store/readmodels/Members"
import { Context, Effect, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { SignIn } from "../../signIn/SignIn.ts"

/**
 * A page of another site can make a browser send our cookie, but not this header: for that it would first have to ask,
 * and nobody here allows it. So a cookie without the header is no session.
 */
export const HEADER = "x-waybill-dashboard"
const COOKIE = /(?:^|; ?)(?:__Secure-)?waybill\.session_token=/u

/** What the edge asks about sessions; there is none where nobody signs in. */
export const Sessions = Context.Reference<SignIn["Service"] | undefined>("@waybill/server/http/Session", {
  defaultValue: () => undefined,
})

export interface UserAdmitted {
  readonly _tag: "UserAdmitted"
  readonly user: Members.Standing
  readonly session_id: string
  readonly standing: RateLimit.Standing
}

export const hasCookie = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  COOKIE.test(headers["cookie"] ?? "")

/** What the dashboard shows in frames. */
const FRAMES = "/preview/"

/** A frame sends no header of ours. What it shows changes nothing, and other sites are neither let in nor can they read it. */
const isFrame = ({ headers, method, url }: HttpServerRequest.HttpServerRequest): boolean =>
  method === "GET" && url.startsWith(FRAMES) && (headers["sec-fetch-site"] ?? "same-origin") === "same-origin"

/** A key, where one is sent, always goes first. */
const isAsked = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.headers["authorization"] === undefined &&
  (request.headers[HEADER] !== undefined || isFrame(request)) &&
  hasCookie(request)

export const userOf = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const sessions = yield* Sessions
  if (sessions === undefined) return Option.none()
  return yield* sessions.userOf(new Headers({ cookie: request.headers["cookie"] ?? "" }))
})

type Asked = Parameters<Admission["Service"]["admit"]>[0]

/** Lets a session in where there is one, and otherwise leaves it to the keys. */
export const admitOr = Effect.fnUntraced(function* <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  { bucket }: Asked,
  otherwise: Effect.Effect<Verdict, E, R>,
) {
  if (!isAsked(request)) return yield* otherwise
  const session = yield* userOf(request)
  if (Option.isNone(session)) return yield* otherwise
  const { session_id, user_id } = session.value
  const admitted = yield* Members.admit(user_id, bucket)
  if (Option.isNone(admitted)) return yield* otherwise
  const { refusal, standing, user } = admitted.value
  return refusal === undefined
    ? ({ _tag: "UserAdmitted", user, session_id, standing } satisfies UserAdmitted)
    : ({ _tag: "RateLimited", key: null, standing, refusal } as const)
})
