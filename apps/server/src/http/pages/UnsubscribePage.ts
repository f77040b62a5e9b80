import type { Networks } from "@waybill/mail/dns/Network"
import * as Unsubscribe from "@waybill/mail/tokens/Unsubscribe"
import { Clock, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as UnsubscribeLinks from "../../links/UnsubscribeLinks.ts"
import * as ClientAddress from "../../requests/ClientAddress.ts"
import { plainPage } from "./plainPage.ts"

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
          const address = ClientAddress.ofRequest(request, trustedProxies)
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

const page = (status: number, body: string) =>
  plainPage({ title: "Unsubscribe", body, status, headers: { "x-robots-tag": "noindex" } })
