import * as ApiError from "@waybill/api/errors/ApiError"
import { Effect, Option, Schema } from "effect"
import * as Responses from "../web/Responses.ts"
import * as Refusals from "./Refusals.ts"

/** Page of the dashboard that asks for the second factor. */
const SECOND_FACTOR_PAGE = "/sign-in?second=true"

const waitsForCode = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ twoFactorRedirect: Schema.Literal(true) })),
)
const isPage = Schema.is(Schema.String.check(Schema.isPattern(/^\/(?!\/)[^\\\s\p{Cc}]*$/u)))
const decodeOptions = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/** Turns a response of the library into the one to send: errors in the API's format, and passkeys with verified users. */
export const finishResponse = Effect.fnUntraced(function* (path: string, answer: Response) {
  if (answer.status >= 400) return yield* refused(answer)
  if (path === "/callback/oidc") return yield* fromProvider(answer)
  if (path === "/passkey/generate-authenticate-options") return yield* requireVerification(answer)
  return answer
})

const textOf = (answer: Response) => Effect.promise(() => answer.text())

const refused = Effect.fnUntraced(function* (answer: Response) {
  const refusal = Refusals.refusalOf(answer.status, yield* textOf(answer))
  const headers = new Headers(answer.headers)
  headers.set("content-type", "application/json")
  for (const [name, value] of Object.entries(Responses.refusalHeaders(refusal))) headers.set(name, value)
  return new Response(JSON.stringify(ApiError.toBody(refusal, yield* ApiError.RequestId)), {
    status: refusal.status,
    headers,
  })
})

/** Redirects a user who comes from the identity provider and has an authenticator to the page for its code. */
const fromProvider = Effect.fnUntraced(function* (answer: Response) {
  const body = answer.body === null ? "" : yield* textOf(answer)
  const headers = new Headers(answer.headers)
  if (Option.isNone(waitsForCode(body))) return new Response(null, { status: answer.status, headers })
  const next = headers.get("location") ?? ""
  headers.delete("content-type")
  headers.set("location", isPage(next) ? `${SECOND_FACTOR_PAGE}&next=${encodeURIComponent(next)}` : SECOND_FACTOR_PAGE)
  return new Response(null, { status: 302, headers })
})

/** Requires authenticators to verify their user, for which the library has no setting. */
const requireVerification = Effect.fnUntraced(function* (answer: Response) {
  const options = Option.getOrElse(decodeOptions(yield* textOf(answer)), () => ({}))
  return new Response(JSON.stringify({ ...options, userVerification: "required" }), {
    status: answer.status,
    headers: answer.headers,
  })
})
