import * as Network from "@waybill/mail/Network"
import * as NetworkGuard from "@waybill/mail/NetworkGuard"
import type { Attempt } from "@waybill/store/WebhookDeliveries"
import { Clock, DateTime, Effect, Result } from "effect"
import { createHmac } from "node:crypto"
import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"

/** An endpoint answers within this, or has failed (contract §8). */
export const CALL_TIMEOUT_MS = 15_000
/** What is kept of an answer's body. */
export const KEPT_ANSWER_BYTES = 4 * 1024
/** An endpoint that sends more than this is cut off; its status has been seen by then. */
export const MAX_ANSWER_BYTES = 256 * 1024
const KEPT_HEADERS = 20
const KEPT_HEADER_CHARS = 256
const SECRET_PREFIX = "whsec_"

export interface Call {
  readonly url: string
  readonly id: string
  readonly body: string
  /** Base64 behind `whsec_`; two while an old secret still signs. */
  readonly secrets: ReadonlyArray<string>
}

/** Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`, one signature a secret. */
export const signatures = (call: Call, epochSeconds: number): string =>
  call.secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64")
      return `v1,${createHmac("sha256", key).update(`${call.id}.${epochSeconds}.${call.body}`).digest("base64")}`
    })
    .join(" ")

/** One POST to an address that was checked and pinned. Never fails: whatever happens is an attempt. */
export const callWebhook = Effect.fn("callWebhook")(function* (call: Call, allowed: Network.Networks) {
  const began = yield* Clock.currentTimeMillis
  const url = new URL(call.url)
  const request_headers = {
    "content-type": "application/json",
    "user-agent": "Waybill",
    "webhook-id": call.id,
    "webhook-timestamp": `${Math.floor(began / 1000)}`,
    "webhook-signature": signatures(call, Math.floor(began / 1000)),
  }
  const attempted = { at: DateTime.formatIso(DateTime.makeUnsafe(began)), url: call.url, request_headers }
  const ended = (over: Partial<Attempt>) =>
    Effect.map(
      Clock.currentTimeMillis,
      (now): Attempt => ({ ...attempted, ...SILENCE, ...over, duration_ms: now - began }),
    )

  const addresses = yield* Effect.result(NetworkGuard.resolvePublic(url.hostname, allowed))
  if (Result.isFailure(addresses)) return yield* ended({ error: addresses.failure.message })
  const address = addresses.success[0] ?? ""
  if (url.protocol === "http:" && !Network.contains(allowed, address)) {
    return yield* ended({ address, error: "plain http leaves the payload readable on its way to a public address" })
  }
  const answer = yield* post(url, address, request_headers, call.body).pipe(
    Effect.timeoutOrElse({
      duration: CALL_TIMEOUT_MS,
      orElse: () => Effect.succeed({ error: `no answer within ${CALL_TIMEOUT_MS / 1000} s` }),
    }),
  )
  return yield* ended({ address, ...answer })
})

const SILENCE = { address: null, status: null, response_headers: {}, response_body: null, error: null } as const

type Answer = Partial<Pick<Attempt, "status" | "response_headers" | "response_body" | "error">>

const post = (url: URL, address: string, headers: Record<string, string>, body: string) =>
  Effect.callback<Answer>((resume) => {
    const client = url.protocol === "https:" ? https : http
    const request = client.request(
      url,
      {
        method: "POST",
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
        agent: false,
        // The name is for TLS and the Host header only: the connection goes to the address that was checked.
        lookup: (_host, options, found) =>
          options.all === true
            ? found(null, [{ address, family: isIP(address) }])
            : found(null, address, isIP(address)),
      },
      (response) => {
        const chunks: Array<Buffer> = []
        let size = 0
        const done = () =>
          resume(
            Effect.succeed({
              status: response.statusCode ?? null,
              response_headers: kept(response.headers),
              response_body: Buffer.concat(chunks).subarray(0, KEPT_ANSWER_BYTES).toString("utf8").replaceAll("\u0000", "\ufffd"),
            }),
          )
        response.on("data", (chunk: Buffer) => {
          if (size < KEPT_ANSWER_BYTES) chunks.push(chunk)
          size += chunk.length
          if (size > MAX_ANSWER_BYTES) {
            done()
            request.destroy()
          }
        })
        response.on("end", done)
        response.on("error", done)
      },
    )
    request.on("error", (error) => resume(Effect.succeed({ error: error.message })))
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

const kept = (headers: http.IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, KEPT_HEADERS)
      .map(([name, value]) => [name, String(value).slice(0, KEPT_HEADER_CHARS)]),
  )
