import { Schema } from "effect"
import * as Timestamp from "./Timestamp.ts"

/** Sending and reading logs have windows of their own, everything else shares one. */
export const Bucket = Schema.Literals(["send", "logs", "other"])
export type Bucket = typeof Bucket.Type

/** Requests per key and window (specification, Limits). */
export const PER_MINUTE: { readonly [B in Bucket]: number } = { send: 1_000, logs: 60, other: 120 }

/** A client address without a valid key is counted too, or guessing keys would be free. */
export const ANONYMOUS_PER_MINUTE = 120

export const WINDOW_MS = Timestamp.MINUTE

/** Higher numbers that an operator granted an account; `null` leaves the number of the specification. */
export type Granted = { readonly [B in Bucket]: number | null }

export const NONE_GRANTED: Granted = { send: null, logs: null, other: null }

export const limitOf = (bucket: Bucket, granted: Granted): number => granted[bucket] ?? PER_MINUTE[bucket]

/** Windows are aligned to the minute of the server's clock, so every node names the same one. */
export const windowStart = (epochMillis: number): number =>
  epochMillis - (((epochMillis % WINDOW_MS) + WINDOW_MS) % WINDOW_MS)

export const windowEnd = (epochMillis: number): number => windowStart(epochMillis) + WINDOW_MS

/** What every answer says about the window, in the units of its headers. */
export interface Standing {
  readonly limit: number
  readonly remaining: number
  /** Unix seconds at which the window ends. */
  readonly reset_s: number
}

export const standing = (limit: number, used: number, epochMillis: number): Standing => ({
  limit,
  remaining: Math.max(0, limit - used),
  reset_s: windowEnd(epochMillis) / Timestamp.SECOND,
})

/** Seconds to the end of the window, at least 1: a client that comes back after them finds a fresh one. */
export const retryAfterSeconds = (epochMillis: number): number =>
  Math.max(1, Math.ceil((windowEnd(epochMillis) - epochMillis) / Timestamp.SECOND))

export class RequestRateExceeded extends Schema.TaggedError<RequestRateExceeded>()("RequestRateExceeded", {
  bucket: Bucket,
  limit: Schema.Int,
  retry_after_s: Schema.Int,
}) {
  readonly status = 429
  readonly code = "rate_limited"
  readonly reason = "request_rate"
  override get message() {
    return `${this.limit} requests a minute are allowed here; the next window begins in ${this.retry_after_s} s.`
  }
}
