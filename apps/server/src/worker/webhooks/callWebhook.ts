import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import * as Network from "@waybill/mail/dns/Network"
import * as NetworkGuard from "@waybill/mail/dns/NetworkGuard"
import type { Attempt } from "@waybill/store/webhooks/WebhookDeliveries"
import { Clock, DateTime, Duration, Effect, Result } from "effect"
import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import * as webhookExchange from "./webhookExchange.ts"

/** An endpoint answers within this, or has failed (contract §8). */
export const CALL_TIMEOUT = Duration.seconds(15)
const SECRET_PREFIX = "whsec_"

export interface Call {
  readonly url: string
  readonly id: string
  readonly body: string
  /** Base64 behind `whsec_`; more while old secrets still sign. */
  readonly secrets: ReadonlyArray<string>
}

export interface Options {
  readonly allowedNetworks: Network.Networks
  readonly timeout?: Duration.Duration
  /** Certificates to trust instead of the system's. */
  readonly ca?: string
}

/** Secrets that are kept as keys: making the key costs more than signing with it. */
export const MAX_KEYS = 1_000
const keys = new Map<string, KeyObject>()

const keyOf = (secret: string): KeyObject => {
  const known = keys.get(secret)
  if (known !== undefined) return known
  const key = createSecretKey(secret.slice(SECRET_PREFIX.length), "base64")
  const oldest = keys.keys().next()
  if (keys.size >= MAX_KEYS && oldest.done !== true) keys.delete(oldest.value)
  keys.set(secret, key)
  return key
}

/** Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`, one signature a secret. */
export const signatures = (call: Call, epochSeconds: number): string =>
  call.secrets
    .map((secret) => {
      const hmac = createHmac("sha256", keyOf(secret)).update(`${call.id}.${epochSeconds}.${call.body}`)
      return `v1,${hmac.digest("base64")}`
    })
    .join(" ")

/**
 * Calls that never fail: whatever happens is an attempt. Connections are kept by address and TLS name, so a name that
 * moves is called where it points now, checked anew each time.
 */
export const make = Effect.fnUntraced(function* ({ allowedNetworks, ca, timeout = CALL_TIMEOUT }: Options) {
  const agents = yield* Effect.sync(() => webhookExchange.makeAgents(ca))

  return Effect.fn("callWebhook")(function* (call: Call) {
    const at = yield* Clock.currentTimeMillis
    const began = yield* SteadyClock.millis
    const url = new URL(call.url)
    const seconds = Math.floor(at / 1000)
    const request_headers = {
      "content-type": "application/json",
      "user-agent": "Waybill",
      "webhook-id": call.id,
      "webhook-timestamp": `${seconds}`,
      "webhook-signature": signatures(call, seconds),
    }
    const seen = webhookExchange.silence()
    const place = Effect.flatMap(Effect.result(placeOf(url, allowedNetworks)), (found) => {
      if (Result.isSuccess(found)) {
        seen.address = found.success
        return Effect.succeed(true)
      }
      if (found.failure instanceof PlainHttp) {
        seen.error = found.failure.message
        return Effect.succeed(false)
      }
      seen.error = noPublicAddress(url.hostname)
      return Effect.as(Effect.logInfo("webhook not called", { reason: found.failure.message, host: url.host }), false)
    })
    const answer = Effect.flatMap(place, (found) =>
      found ? webhookExchange.post(url, agents, { ...request_headers, host: url.host }, call.body, seen) : Effect.void,
    )
    yield* Effect.timeoutOrElse(answer, {
      duration: timeout,
      // A status that was seen stands, however slowly the rest comes.
      orElse: () =>
        Effect.sync(() => {
          const missing = seen.status === null ? "no answer" : "no end of the answer"
          seen.error = `${missing} within ${Duration.toSeconds(timeout)} s`
        }),
    })
    const waited_ms = (yield* SteadyClock.millis) - began
    // How long a look-up took tells what stands in the operator's DNS.
    const duration_ms = seen.address !== null ? waited_ms : waited_ms < SILENCE_MS ? 0 : SILENCE_MS
    const { address, chunks, error, response_headers, status } = seen
    const attempt: Attempt = {
      at: DateTime.formatIso(DateTime.makeUnsafe(at)),
      url: call.url,
      address,
      request_headers,
      status,
      response_headers,
      response_body: status === null ? null : webhookExchange.text(chunks),
      duration_ms,
      error: error ?? (status === null ? "the connection ended without an answer" : null),
    }
    return attempt
  })
})

/** Who says nothing for so long hangs; a quick refusal holds nobody up. */
export const SILENCE_MS = 5_000

/** An endpoint that sends a head and keeps the rest holds its caller as long as one that says nothing. */
export const isAnswered = ({ duration_ms, error }: Attempt): boolean => error === null || duration_ms < SILENCE_MS

/**
 * What a customer reads of a host that is not called, whether DNS does not know it, cannot be asked, or gives it a
 * private address: a difference would let customers look around in the operator's own network. Operators read the
 * cause in the log.
 */
const noPublicAddress = (host: string): string => `${host} has no public address that may be called`

class PlainHttp extends Error {
  override message = "plain http leaves the payload readable on its way to a public address"
}

/** Plain http goes to networks of the operator's own, and nowhere else. */
const placeOf = Effect.fnUntraced(function* (url: URL, allowed: Network.Networks) {
  const addresses = yield* NetworkGuard.resolvePublic(url.hostname, allowed)
  const [address] =
    url.protocol === "http:" ? addresses.filter((address) => Network.contains(allowed, address)) : addresses
  return address ?? (yield* Effect.fail(new PlainHttp()))
})
