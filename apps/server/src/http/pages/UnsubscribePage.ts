import type { Networks } from "@waybill/mail/dns/Network"
import * as Unsubscribe from "@waybill/mail/tokens/Unsubscribe"
import { Clock, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as UnsubscribeLinks from "../../links/UnsubscribeLinks.ts"
import * as ClientAddress from "../../requests/ClientAddress.ts"

/**
 * Not rate-limited per address, because mailbox providers send requests of many users from few addresses, and checking
 * a token is cheap.
 */
export const isOpen = (path: string): boolean => path.startsWith(Unsubscribe.PATH)

/**
 * One-click unsubscribe (RFC 8058). A POST unsubscribes the recipient; a GET only shows the button, because mail
 * scanners follow links.
 */
export const layer = (trustedProxies: Networks) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const keys = yield* UnsubscribeLinks.unsubscribeKeys
      const emailOf = Effect.map(HttpRouter.params, ({ token = "" }) => Unsubscribe.verify(keys, token))
      const path = `${Unsubscribe.PATH}:token` as const
      const isAdmitted = UnsubscribeLinks.makeWindows()
      yield* router.add(
        "GET",
        path,
        Effect.map(emailOf, (email) => (Option.isSome(email) ? page(200, CONFIRM) : page(404, INVALID))),
      )
      yield* router.add(
        "POST",
        path,
        Effect.gen(function* () {
          const email = yield* emailOf
          if (Option.isNone(email)) return page(404, INVALID)
          const now_ms = yield* Clock.currentTimeMillis
          if (!isAdmitted(email.value.email_id, now_ms))
            return HttpServerResponse.setHeader(page(429, TOO_MANY), "retry-after", RETRY_AFTER)
          const request = yield* HttpServerRequest.HttpServerRequest
          const address = ClientAddress.of(
            Option.getOrUndefined(request.remoteAddress),
            request.headers["x-forwarded-for"],
            trustedProxies,
          )
          return (yield* UnsubscribeLinks.unsubscribe(email.value, address)) ? page(200, DONE) : page(404, INVALID)
        }),
      )
    }),
  )

const CONFIRM = `<p>Stop emails from this sender to the address that received this link.</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Unsubscribe</button></form>`
const DONE = "<p>You are unsubscribed. You can close this page.</p>"
const TOO_MANY = "<p>Too many requests for this link. Try again in a minute.</p>"
const RETRY_AFTER = "60"
const INVALID = "<p>This link is not valid. Copy the complete link from the email.</p>"

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex",
}

const page = (status: number, body: string) =>
  HttpServerResponse.html(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Unsubscribe</title>
<style>body { font: 1rem/1.6 system-ui, sans-serif; max-width: 30rem; margin: 15vh auto; padding: 0 1.5rem }</style>
<h1>Unsubscribe</h1>
${body}
</html>
`).pipe(HttpServerResponse.setStatus(status), HttpServerResponse.setHeaders(HEADERS))
