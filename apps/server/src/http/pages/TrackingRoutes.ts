import * as Livemode from "@waybill/domain/account/Livemode"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Networks } from "@waybill/mail/dns/Network"
import type { OwnedMail } from "@waybill/mail/tokens/MailToken"
import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import { Clock, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { StoppedLinks } from "../../links/StoppedLinks.ts"
import * as TrackedLinks from "../../links/TrackedLinks.ts"
import { Visits } from "../../links/Visits.ts"
import * as ClientAddress from "../../requests/ClientAddress.ts"
import * as TrackingHosts from "../../links/TrackingHosts.ts"
import { plainPage } from "./plainPage.ts"

/** Path at which a proxy asks whether to issue a certificate for a tracking domain. */
const ASK_PATH = "/t/ask"

/** Not rate-limited per address, because mail clients of many users share one, and checking a token is cheap. */
export const isOpen = (path: string): boolean => isVisit(path) || path === ASK_PATH

/** Paths that are served under customers' tracking domains. */
export const isVisit = (path: string): boolean =>
  path.startsWith(TrackingToken.OPEN_PATH) || path.startsWith(TrackingToken.CLICK_PATH)

/**
 * Serves the tracking pixel and the redirects of tracked links. The token contains everything, so the response needs no
 * query, and the visit is recorded in the background. HEAD requests and prefetches are not counted.
 */
export const layer = (trustedProxies: Networks) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const keys = yield* TrackedLinks.trackingKeys
      const stopped = yield* StoppedLinks
      const visits = yield* Visits
      const recordVisit = Effect.fnUntraced(function* (mail: OwnedMail, url: string | null) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { headers, method } = request
        if (method !== "GET" || headers["sec-purpose"]?.startsWith("prefetch") === true) return
        visits.note({
          mail,
          url,
          user_agent: headers["user-agent"] ?? null,
          ip: unmapped(ClientAddress.ofRequest(request, trustedProxies)),
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
          if (Option.isSome(mail)) yield* recordVisit(mail.value, null)
          return pixel
        }),
      )
      yield* router.add(
        "GET",
        `${TrackingToken.CLICK_PATH}:token`,
        Effect.gen(function* () {
          const click = TrackingToken.verifyClick(keys, yield* token)
          if (Option.isNone(click)) return invalidLink
          const { url, ...mail } = click.value
          if (stopped.has(Livemode.liveAccountOf(mail.account_id))) return disabledLink
          yield* recordVisit(mail, url)
          return HttpServerResponse.empty({ status: 302, headers: { ...HEADERS, location: url } })
        }),
      )
    }),
  )

/** Converts an IPv4-mapped IPv6 address, as a dual-stack socket reports it, to IPv4. */
const unmapped = (address: string): string => {
  const { text } = RateWindows.clientAddress(address)
  return text?.includes(".") === true ? text : address
}

const HEADERS = {
  "cache-control": "no-store, private",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
}

/** The 1×1 tracking pixel. The same for every token, so that it does not reveal which tokens are valid. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==", "base64")
const pixel = HttpServerResponse.uint8Array(PIXEL, { contentType: "image/gif", headers: HEADERS })

const page = (status: number, title: string, text: string) =>
  plainPage({ title, body: `<p>${text}</p>`, status, headers: HEADERS })

const invalidLink = page(404, "Not found", "This link is not valid. Copy the complete link from the email.")

/** Omits the target, so that readers do not open a malicious link by hand. */
const disabledLink = page(
  410,
  "Link disabled",
  "The operator of the service that sent this email has disabled its links.",
)
