import type { Networks } from "@waybill/mail/Network"
import { ByteSize, Effect, Option } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ADDRESS_HEADER, PATH } from "../signIn/Options.ts"
import { SignIn } from "../signIn/SignIn.ts"
import * as ClientAddress from "./ClientAddress.ts"
import * as Session from "./Session.ts"

/** A passkey's attestation is the largest thing anybody sends here. */
export const MAX_AUTH_BODY_BYTES = 64 * 1024

/** What says something about the client is ours to say, and what is about this connection ends with it. */
const DROPPED = /^(?:x-forwarded-|forwarded$|connection$|transfer-encoding$|content-length$|x-waybill-client$)/u

/** The sign-in library under our roof: a Web request in, a Web answer out. */
export const layer = (trustedProxies: Networks) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const signIn = yield* SignIn
      const handler = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { headers, method } = request
        if (method !== "GET" && method !== "HEAD" && !isOurs(headers, signIn.place)) return foreign(signIn.place)
        // Whoever brings no cookie has no session, and their first page need not wait until the library is read.
        if (method === "GET" && request.url === `${PATH}/get-session` && !Session.hasCookie(request)) return NOBODY
        const body = method === "GET" || method === "HEAD" ? null : yield* request.text
        const sent = new Headers(Object.entries(headers).filter(([name]) => !DROPPED.test(name)))
        sent.set(
          ADDRESS_HEADER,
          ClientAddress.of(Option.getOrUndefined(request.remoteAddress), headers["x-forwarded-for"], trustedProxies),
        )
        const answer = yield* signIn.handle(new Request(urlOf(request, signIn.place), { method, headers: sent, body }))
        return HttpServerResponse.setHeader(HttpServerResponse.fromWeb(answer), "cache-control", "no-store")
      }).pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_AUTH_BODY_BYTES)))
      yield* router.add("*", `${PATH}/*`, handler)
    }),
  )

const NOBODY = HttpServerResponse.setHeader(HttpServerResponse.jsonUnsafe(null), "cache-control", "no-store")

const foreign = ({ origins }: SignIn["Service"]["place"]) =>
  HttpServerResponse.jsonUnsafe(
    {
      code: "INVALID_ORIGIN",
      message:
        `This request comes from a page of another site. One signs in at ${origins.join(" or ")}; ` +
        "where browsers reach the service by another address, its setting BASE_URL has to name it.",
    },
    { status: 403 },
  )

/** The library looks as well; what changes who is signed in is worth two looks. No browser leaves `Origin` out here. */
const isOurs = (headers: HttpServerRequest.HttpServerRequest["headers"], place: SignIn["Service"]["place"]): boolean =>
  headers["origin"] === undefined
    ? (headers["sec-fetch-site"] ?? "same-origin") === "same-origin"
    : place.origins.includes(headers["origin"])

/** Under the host it was asked for; whether that is one of ours is the library's to check. */
const urlOf = ({ headers, url }: HttpServerRequest.HttpServerRequest, place: SignIn["Service"]["place"]): string => {
  const host = headers["host"] ?? ""
  const scheme = new URL(place.url).protocol
  return /^[\w.:[\]-]+$/u.test(host) ? `${scheme}//${host}${url}` : `${place.url}${url}`
}
