import type { Networks } from "@waybill/mail/dns/Network"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import * as SignInTries from "@waybill/store/users/SignInTries"
import * as Users from "@waybill/store/users/Users"
import { ByteSize, Effect, Option, Schema } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Endpoints from "./Endpoints.ts"
import { finishResponse } from "./finishResponse.ts"
import { ADDRESS_HEADER, PATH, TRIES_PER_MINUTE } from "./Options.ts"
import { readRequest } from "./readRequest.ts"
import * as Refusals from "./Refusals.ts"
import { SignIn } from "./SignIn.ts"
import * as ClientAddress from "../requests/ClientAddress.ts"
import * as HostNames from "../process/HostNames.ts"
import * as Responses from "../web/Responses.ts"
import * as Session from "./Session.ts"

/** Maximum size of a request body. The largest is a passkey's attestation. */
export const MAX_AUTH_BODY_BYTES = 64 * 1024
/** Maximum length of the user agent that is stored with a session. */
const MAX_AGENT_CHARS = 500

/** Request headers passed to the library. The client's address and user agent are set here. */
const PASSED = ["cookie", "origin", "referer", "host", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"]

/** Routes of the sign-in library, which receives decoded requests only. */
export const layer = (trustedProxies: Networks) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const signIn = yield* SignIn
      const handler = answer(signIn, trustedProxies).pipe(
        Effect.catch(Responses.refused),
        Effect.map((answer) => HttpServerResponse.setHeader(answer, "cache-control", "no-store")),
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_AUTH_BODY_BYTES)),
      )
      yield* router.add("*", `${PATH}/*`, handler)
    }),
  )

const answer = Effect.fnUntraced(function* (signIn: SignIn["Service"], trustedProxies: Networks) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { headers, method } = request
  if (method !== "GET" && !isSameOrigin(headers, signIn.urls)) return yield* Refusals.invalidOrigin(signIn.urls.origins)
  const { body, path, tries, url } = yield* readRequest(request, signIn.oidc)
  // Without a cookie there is no session, so the first page need not wait until the library is loaded.
  if (path === "/get-session" && !Session.hasCookie(request)) return HttpServerResponse.jsonUnsafe(null)
  const address = ClientAddress.ofRequest(request, trustedProxies)
  if (tries !== undefined) {
    const { retry_after_s, total } = yield* SignInTries.count([`${tries}/${RateWindows.clientAddress(address).bucket}`])
    if (total > TRIES_PER_MINUTE) return yield* Refusals.tooManyTries(retry_after_s)
  }
  if (path === Endpoints.LINK_OWNER) return yield* linkOwner(body)
  const sent = new Headers(PASSED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])))
  sent.set("user-agent", (headers["user-agent"] ?? "").slice(0, MAX_AGENT_CHARS))
  if (body !== null) sent.set("content-type", "application/json")
  sent.set(ADDRESS_HEADER, address)
  const response = yield* signIn.handle(new Request(urlOf(headers, url, signIn.urls), { method, headers: sent, body }))
  if (path === Endpoints.SET_PASSWORD) {
    // `readRequest` has checked the body.
    const { token } = yield* Effect.orDie(decodeLink(body))
    if (response.ok) yield* Users.recordUsedLink(token)
    else if (yield* Users.isUsedLink(token)) return yield* Effect.fail(Refusals.refusalOf(400, USED_LINK))
  }
  return HttpServerResponse.fromWeb(yield* finishResponse(path, response))
})

const decodeLink = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ token: Schema.String })))

/** Tells whose password a link sets. Whoever has the link could set it, so this reveals nothing more. */
const linkOwner = Effect.fnUntraced(function* (body: string | null) {
  // `readRequest` has checked the body.
  const { token } = yield* Effect.orDie(decodeLink(body))
  const email = yield* Users.linkOwner(token)
  if (Option.isNone(email))
    return yield* Effect.fail(Refusals.refusalOf(400, (yield* Users.isUsedLink(token)) ? USED_LINK : INVALID_LINK))
  return HttpServerResponse.jsonUnsafe({ email: email.value })
})

/** The library's answer to a link that it does not know. */
const INVALID_LINK = JSON.stringify({ code: "INVALID_TOKEN" })
const USED_LINK = JSON.stringify({ code: "USED_TOKEN" })

/** Whether a request comes from a page of this service. The library checks that as well. */
const isSameOrigin = (
  headers: HttpServerRequest.HttpServerRequest["headers"],
  urls: SignIn["Service"]["urls"],
): boolean =>
  headers["origin"] === undefined
    ? (headers["sec-fetch-site"] ?? "same-origin") === "same-origin"
    : urls.origins.includes(headers["origin"])

/** Returns the URL under the requested host. The library checks whether that host is allowed. */
const urlOf = (
  headers: HttpServerRequest.HttpServerRequest["headers"],
  url: string,
  urls: SignIn["Service"]["urls"],
): string => {
  const host = headers["host"] ?? ""
  const scheme = new URL(urls.url).protocol
  return HostNames.isHost(host) ? `${scheme}//${host}${url}` : `${urls.url}${url}`
}
