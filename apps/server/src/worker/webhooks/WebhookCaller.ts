import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as WebhookUrl from "@waybill/domain/webhook/WebhookUrl"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import * as Span from "@waybill/runtime/flow/Span"
import * as Network from "@waybill/mail/dns/Network"
import * as NetworkGuard from "@waybill/mail/dns/NetworkGuard"
import type { Attempt } from "@waybill/store/webhooks/WebhookDeliveries"
import { Clock, Duration, Effect, Result } from "effect"
import * as EventSignature from "./EventSignature.ts"
import * as WebhookExchange from "./WebhookExchange.ts"
import * as WebhookSignature from "./WebhookSignature.ts"

/** Time within which an endpoint must answer. */
export const CALL_TIMEOUT = Duration.seconds(15)

export interface Call extends WebhookSignature.Signed {
  readonly url: string
  /** Whether the call is signed by ECDSA too. */
  readonly ecdsa: boolean
  /** The password of the user in the URL, which hides it. */
  readonly password?: string | undefined
}

export interface Options {
  readonly allowedNetworks: Network.Networks
  readonly timeout?: Duration.Duration
  /** Certificate authority to trust instead of those of the system. */
  readonly ca?: string
}

/**
 * Returns a function that makes calls and never fails: whatever happens is an attempt. Connections are kept by address and
 * TLS name, and names are resolved and checked for each call, so a name that moves is called at its new address.
 */
export const make = Effect.fnUntraced(function* ({ allowedNetworks, ca, timeout = CALL_TIMEOUT }: Options) {
  const agents = yield* Effect.sync(() => WebhookExchange.makeAgents(ca))
  const logNotCalled = notCalledLog()

  const makeCall = Effect.fnUntraced(function* (call: Call) {
    const at = yield* Clock.currentTimeMillis
    const began = yield* MonotonicClock.millis
    const url = new URL(call.url)
    const seconds = Math.floor(at / 1000)
    const [newest] = call.secrets
    const request_headers = {
      ...WebhookSignature.headersOf(call, seconds),
      ...(call.password === undefined ? {} : { authorization: `Basic ${WebhookUrl.HIDDEN}` }),
      ...(call.ecdsa && newest !== undefined ? EventSignature.headersOf(newest, call.body, seconds) : {}),
    }
    const seen = WebhookExchange.nothingSeen()
    const resolve = Effect.flatMap(Effect.result(addressOf(url, allowedNetworks)), (resolved) => {
      if (Result.isSuccess(resolved)) {
        seen.address = resolved.success
        return Effect.succeed(true)
      }
      if (resolved.failure instanceof PlainHttp) {
        seen.error = resolved.failure.message
        return Effect.succeed(false)
      }
      seen.error = noPublicAddress(url.hostname)
      return Effect.as(logNotCalled(url.host, resolved.failure.message), false)
    })
    const answer = Effect.flatMap(resolve, (isResolved) =>
      isResolved
        ? WebhookExchange.post(
            url,
            agents,
            { ...request_headers, ...authorizationOf(call), host: url.host },
            call.body,
            seen,
          )
        : Effect.void,
    )
    yield* Effect.timeoutOrElse(answer, {
      duration: timeout,
      // A status that arrived is kept, however slowly the rest arrives.
      orElse: () =>
        Effect.sync(() => {
          const missing = seen.status === null ? "no answer" : "no end of the answer"
          seen.error = `${missing} within ${Duration.toSeconds(timeout)} s`
        }),
    })
    const waited_ms = (yield* MonotonicClock.millis) - began
    // The exact time of a look-up would reveal what is in the operator's DNS.
    const duration_ms = seen.address !== null ? waited_ms : waited_ms < SILENCE_MS ? 0 : SILENCE_MS
    const { address, chunks, error, response_headers, status } = seen
    const attempt: Attempt = {
      at: Timestamp.fromMillis(at),
      url: call.url,
      address,
      request_headers,
      status,
      response_headers,
      response_body: status === null ? null : WebhookExchange.text(chunks),
      duration_ms,
      error: error ?? (status === null ? "the connection ended without an answer" : null),
    }
    return attempt
  })
  return (call: Call) => Span.around(makeCall(call), "callWebhook")
})

/** Time between two log lines about a host that is not called: each event and each repetition would write one. */
export const LOG_EVERY = Duration.hours(1)
const MAX_LOGGED_HOSTS = 1_000

/** Returns a function that logs why a host was not called, once in `LOG_EVERY`. */
const notCalledLog = () => {
  const logged = new LruCache<string, number>({ maxEntries: MAX_LOGGED_HOSTS })
  return Effect.fnUntraced(function* (host: string, reason: string) {
    const now = yield* Clock.currentTimeMillis
    if (Math.abs(now - (logged.get(host) ?? -Infinity)) < Duration.toMillis(LOG_EVERY)) return
    logged.set(host, now)
    yield* Effect.logInfo("webhook was not called; this is logged once an hour for each host", { reason, host })
  })
}

/** Returns the header that the user and password of a URL become (RFC 7617). It is sent and never kept. */
const authorizationOf = ({ password, url }: Call) => {
  const login = WebhookUrl.loginOf(url)
  if (password === undefined || login === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${login.username}:${password}`, "utf8").toString("base64")}` }
}

/** Time without an answer after which an endpoint counts as hanging. A quick refusal delays nothing. */
export const SILENCE_MS = 5_000

/** Whether the endpoint answered in full or failed quickly. One that keeps back the rest of an answer hangs as well. */
export const isAnswered = ({ duration_ms, error }: Attempt): boolean => error === null || duration_ms < SILENCE_MS

/**
 * Error that customers see for a host that is not called. It is the same whether DNS has no record, cannot be queried or
 * gives a private address, since a difference would let customers probe the operator's network. The log has the cause.
 */
const noPublicAddress = (host: string): string =>
  `${host} has no public address that may be called: its name does not exist, cannot be looked up, or leads to a private network`

class PlainHttp extends Error {
  override message = "plain http leaves the payload readable on its way to a public address"
}

/** Returns the address to call. Plain http is allowed only to networks that the operator has allowed. */
const addressOf = Effect.fnUntraced(function* (url: URL, allowed: Network.Networks) {
  const addresses = yield* NetworkGuard.resolvePublic(url.hostname, allowed)
  const [address] =
    url.protocol === "http:" ? addresses.filter((address) => Network.contains(allowed, address)) : addresses
  return address ?? (yield* Effect.fail(new PlainHttp()))
})
