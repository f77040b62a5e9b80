import type { Networks } from "@waybill/mail/dns/Network"
import * as Unsubscribe from "@waybill/mail/tokens/Unsubscribe"
import { Clock, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { makeWindows, unsubscribe, unsubscribeKeys } from "../../links/unsubscribe.ts"
import * as ClientAddress from "../middleware/ClientAddress.ts"

/** Not counted by address, for providers of mailboxes ask for many of their users from few: a MAC is quickly seen. */
export const isOpen = (path: string): boolean => path.startsWith(Unsubscribe.PATH)

/**
 * One-click unsubscribing (RFC 8058): a POST takes the recipient off, whoever sends it. A GET only shows the button, for
 * what scans mail follows its links.
 */
export const layer = (trustedProxies: Networks) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const keys = yield* unsubscribeKeys
      const emailOf = Effect.map(HttpRouter.params, ({ token = "" }) => Unsubscribe.verify(keys, token))
      const path = `${Unsubscribe.PATH}:token` as const
      const isAdmitted = makeWindows()
      yield* router.add(
        "GET",
        path,
        Effect.map(emailOf, (email) => (Option.isSome(email) ? page(200, ASK) : page(404, UNKNOWN))),
      )
      yield* router.add(
        "POST",
        path,
        Effect.gen(function* () {
          const email = yield* emailOf
          if (Option.isNone(email)) return page(404, UNKNOWN)
          const now_ms = yield* Clock.currentTimeMillis
          if (!isAdmitted(email.value, now_ms))
            return HttpServerResponse.setHeader(page(429, TOO_OFTEN), "retry-after", RETRY_AFTER)
          const request = yield* HttpServerRequest.HttpServerRequest
          const address = ClientAddress.of(
            Option.getOrUndefined(request.remoteAddress),
            request.headers["x-forwarded-for"],
            trustedProxies,
          )
          return (yield* unsubscribe(email.value, address)) ? page(200, DONE) : page(404, UNKNOWN)
        }),
      )
    }),
  )

const ASK = `<p>You will get no more mail of this sender at the address this link was sent to.</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Unsubscribe</button></form>`
const DONE = "<p>You are unsubscribed. You can close this page.</p>"
const TOO_OFTEN = "<p>This link was used too often within a minute. Try again in a minute.</p>"
const RETRY_AFTER = "60"
const UNKNOWN = "<p>This link leads to nothing. Copy it from the mail once more, as a whole.</p>"

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
