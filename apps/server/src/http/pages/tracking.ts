import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Networks } from "@waybill/mail/dns/Network"
import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import { Clock, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { StoppedLinks } from "../../links/StoppedLinks.ts"
import { trackingKeys } from "../../links/tracking.ts"
import { Visits } from "../../links/Visits.ts"
import * as ClientAddress from "../middleware/ClientAddress.ts"
import * as TrackingHosts from "../../links/TrackingHosts.ts"

/** Where a proxy asks whether it may have a certificate made for the name of a customer. */
const ASK_PATH = "/t/ask"

/** Asked by programs of mail, many users' behind one address, so nothing is counted here; a MAC is quickly seen. */
export const isOpen = (path: string): boolean => isVisit(path) || path === ASK_PATH

/** All that is served under the names of customers. */
export const isVisit = (path: string): boolean =>
  path.startsWith(TrackingToken.OPEN_PATH) || path.startsWith(TrackingToken.CLICK_PATH)

/**
 * Where the picture and the links of tracked mail lead. The token says all, so the answer asks no database, and what was
 * seen is written down behind it. A program that looks ahead, by a HEAD or for a browser that fetches what may be asked for
 * next, is nobody.
 */
export const layer = (trustedProxies: Networks) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const keys = yield* trackingKeys
      const stopped = yield* StoppedLinks
      const visits = yield* Visits
      const note = Effect.fnUntraced(function* (mail: TrackingToken.Mail, url: string | null) {
        const { headers, method, remoteAddress } = yield* HttpServerRequest.HttpServerRequest
        if (method !== "GET" || headers["sec-purpose"]?.startsWith("prefetch") === true) return
        visits.note({
          mail,
          url,
          user_agent: headers["user-agent"] ?? null,
          ip: plain(ClientAddress.of(Option.getOrUndefined(remoteAddress), headers["x-forwarded-for"], trustedProxies)),
          at: Timestamp.fromMillis(yield* Clock.currentTimeMillis),
        })
      })
      const hosts = yield* TrackingHosts.TrackingHosts
      yield* router.add(
        "GET",
        ASK_PATH,
        Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
          const domain = URL.parse(url, "http://x")?.searchParams.get("domain") ?? ""
          return HttpServerResponse.empty({
            status: hosts.has(TrackingHosts.normal(domain)) ? 200 : 404,
            headers: HEADERS,
          })
        }),
      )
      const token = Effect.map(HttpRouter.params, ({ token = "" }) => token)
      yield* router.add(
        "GET",
        `${TrackingToken.OPEN_PATH}:token`,
        Effect.gen(function* () {
          const mail = TrackingToken.verifyOpen(keys, yield* token)
          if (Option.isSome(mail)) yield* note(mail.value, null)
          return picture
        }),
      )
      yield* router.add(
        "GET",
        `${TrackingToken.CLICK_PATH}:token`,
        Effect.gen(function* () {
          const click = TrackingToken.verifyClick(keys, yield* token)
          if (Option.isNone(click)) return unknown
          const { url, ...mail } = click.value
          if (stopped.has(mail.account_id)) return gone
          yield* note(mail, url)
          return HttpServerResponse.empty({ status: 302, headers: { ...HEADERS, location: url } })
        }),
      )
    }),
  )

/** A socket that takes both kinds of addresses sees IPv4 in its mapped form; nobody who is told of it wants that. */
const plain = (address: string): string => {
  const { text } = RateWindows.clientAddress(address)
  return text?.includes(".") === true ? text : address
}

const HEADERS = {
  "cache-control": "no-store, private",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
}

/** One point that is not seen. The same for every token, so that nobody learns which of them hold. */
const PICTURE = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==", "base64")
const picture = HttpServerResponse.uint8Array(PICTURE, { contentType: "image/gif", headers: HEADERS })

const page = (status: number, title: string, words: string) =>
  HttpServerResponse.html(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>body { font: 1rem/1.6 system-ui, sans-serif; max-width: 30rem; margin: 15vh auto; padding: 0 1.5rem }</style>
<h1>${title}</h1>
<p>${words}</p>
</html>
`).pipe(
    HttpServerResponse.setStatus(status),
    HttpServerResponse.setHeaders({
      ...HEADERS,
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    }),
  )

const unknown = page(404, "Not found", "This link leads to nothing. Copy it from the mail once more, as a whole.")

/** Where it led is not said: whoever was to be led astray shall not go there by hand. */
const gone = page(
  410,
  "No longer followed",
  "This link is no longer followed. The service that its mail came by has stopped it.",
)
