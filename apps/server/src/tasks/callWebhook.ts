import * as SteadyClock from "@waybill/domain/SteadyClock"
import * as Network from "@waybill/mail/Network"
import * as NetworkGuard from "@waybill/mail/NetworkGuard"
import type { Attempt } from "@waybill/store/WebhookDeliveries"
import { Clock, DateTime, Duration, Effect, Result } from "effect"
import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"

/** An endpoint answers within this, or has failed (contract §8). */
export const CALL_TIMEOUT = Duration.seconds(15)
/** What is kept of an answer's body. */
export const KEPT_ANSWER_BYTES = 4 * 1024
/** An endpoint that sends more than this is cut off; its status has been seen by then. */
export const MAX_ANSWER_BYTES = 256 * 1024
/** A connection waits so long for the next call to the same address. Many servers close theirs after five seconds. */
export const KEEP_ALIVE_MS = 4_000
/** Connections to one address that wait for a next call: many endpoints lie behind one, each with calls of its own. */
export const MAX_IDLE_CONNECTIONS = 100
const KEPT_HEADERS = 20
const KEPT_HEADER_CHARS = 256
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
  const agents = yield* Effect.sync((): Agents => {
    const kept = { keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: KEEP_ALIVE_MS } as const
    // Closed by nobody: a stop must not cut calls under way, and idle connections end by themselves and hold no process.
    return {
      "http:": new http.Agent(kept),
      "https:": new https.Agent(ca === undefined ? kept : { ...kept, ca }),
      secure: ca === undefined ? {} : { ca },
    }
  })

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
    const seen: Seen = { ...SILENCE }
    const place = Effect.map(Effect.result(placeOf(url, allowedNetworks)), (found) => {
      if (Result.isSuccess(found)) seen.address = found.success
      else seen.error = found.failure.message
      return Result.isSuccess(found)
    })
    const answer = Effect.flatMap(place, (found) =>
      found ? post(url, agents, { ...request_headers, host: url.host }, call.body, seen) : Effect.void,
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
    const duration_ms = (yield* SteadyClock.millis) - began
    const { address, chunks, error, response_headers, status } = seen
    const attempt: Attempt = {
      at: DateTime.formatIso(DateTime.makeUnsafe(at)),
      url: call.url,
      address,
      request_headers,
      status,
      response_headers,
      response_body: status === null ? null : text(chunks),
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

/** What is known of a call so far. */
interface Seen {
  address: string | null
  status: number | null
  response_headers: Readonly<Record<string, string>>
  chunks: ReadonlyArray<Buffer>
  error: string | null
}
const SILENCE: Seen = { address: null, status: null, response_headers: {}, chunks: [], error: null }

interface Agents {
  readonly "http:": http.Agent
  readonly "https:": https.Agent
  readonly secure: { readonly ca?: string }
}

const post = (url: URL, agents: Agents, headers: http.OutgoingHttpHeaders, body: string, seen: Seen) =>
  Effect.callback<void>((resume) => {
    const name = url.hostname.replace(/^\[|\]$/gu, "")
    const secure = url.protocol === "https:"
    const done = () => resume(Effect.void)
    let current: http.ClientRequest | undefined
    let isOver = false

    const send = (agent: http.Agent | https.Agent | false) => {
      const options: https.RequestOptions = {
        method: "POST",
        // The address that was checked, so that nothing is looked up again; the name is for TLS and the Host header.
        host: seen.address,
        ...(url.port === "" ? {} : { port: url.port }),
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
        agent,
        ...(secure ? { ...agents.secure, servername: isIP(name) === 0 ? name : "" } : {}),
      }
      const request = (secure ? https : http).request(options, (response) => read(response, request))
      current = request
      request.on("error", (error: NodeJS.ErrnoException) => {
        // We hung up ourselves, which Node words as if the other side had: nothing goes out after that.
        if (isOver) return
        // The endpoint closed a kept connection just as it was used again: that says nothing about the call. A connection
        // of its own is no kept one, so it goes out again once at most.
        if (seen.status === null && request.reusedSocket && GONE.has(error.code ?? "")) return send(false)
        if (seen.status === null) seen.error ??= error.message
        done()
      })
      request.end(body)
    }

    const read = (response: http.IncomingMessage, request: http.ClientRequest) => {
      const chunks: Array<Buffer> = []
      let size = 0
      seen.status = response.statusCode ?? null
      seen.response_headers = kept(response.headers)
      seen.chunks = chunks
      response.on("data", (chunk: Buffer) => {
        if (size < KEPT_ANSWER_BYTES) chunks.push(chunk)
        size += chunk.length
        if (size > MAX_ANSWER_BYTES) request.destroy()
      })
      response.on("error", done)
      response.on("close", done)
    }

    send(secure ? agents["https:"] : agents["http:"])
    return Effect.sync(() => {
      isOver = true
      current?.destroy()
    })
  })

const GONE: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"])

/** Postgres keeps no NUL in its texts. */
const text = (chunks: ReadonlyArray<Buffer>): string =>
  Buffer.concat(chunks).subarray(0, KEPT_ANSWER_BYTES).toString("utf8").replaceAll("\u0000", "\ufffd")

const kept = (headers: http.IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, KEPT_HEADERS)
      .map(([name, value]) => [name, String(value).slice(0, KEPT_HEADER_CHARS)]),
  )
