import { Schema } from "effect"
import * as Refusal from "../values/Refusal.ts"
import * as Timestamp from "../values/Timestamp.ts"

/** Request buckets: sending and log reads have their own limits, all other requests share one. */
export const Bucket = Schema.Literals(["send", "logs", "other"])
export type Bucket = typeof Bucket.Type

/** Requests per key and window (specification, Limits). */
export const PER_MINUTE: { readonly [B in Bucket]: number } = { send: 1_000, logs: 60, other: 120 }

/**
 * Requests per user and window in the dashboard. A screen makes up to ten requests, and somebody who looks through mail
 * opens two screens a second at most. An account with higher granted limits has those.
 */
export const SESSION_PER_MINUTE: { readonly [B in Bucket]: number } = { send: 1_000, logs: 600, other: 1_200 }

/**
 * Reads of a user's own session in the dashboard, which every page begins with. They have a window of their own, so that a
 * user whose other requests are refused sees that inside the dashboard and not a bare page.
 */
export const SESSION_READS_PER_MINUTE = 600

/** Limit per client address for requests without a valid key; without it, guessing keys would be unlimited. */
export const ANONYMOUS_PER_MINUTE = 120

export const WINDOW_MS = Timestamp.MINUTE

/** Limits that an operator granted an account; `null` keeps the default. */
export type Granted = { readonly [B in Bucket]: number | null }

export const NONE_GRANTED: Granted = { send: null, logs: null, other: null }

export const limitOf = (bucket: Bucket, granted: Granted): number => granted[bucket] ?? PER_MINUTE[bucket]

/** Returns the start of the window. Windows are aligned to clock minutes, so all processes use the same one. */
export const windowStart = (epochMillis: number): number =>
  epochMillis - (((epochMillis % WINDOW_MS) + WINDOW_MS) % WINDOW_MS)

export const windowEnd = (epochMillis: number): number => windowStart(epochMillis) + WINDOW_MS

/** State of a window, as reported in the rate limit headers. */
export interface WindowState {
  readonly limit: number
  readonly remaining: number
  /** End of the window in Unix seconds. */
  readonly reset_s: number
}

export const windowState = (limit: number, used: number, epochMillis: number): WindowState => ({
  limit,
  remaining: Math.max(0, limit - used),
  reset_s: windowEnd(epochMillis) / Timestamp.SECOND,
})

/** Returns the seconds until the window ends, at least 1, so that a client which waits that long meets a new window. */
export const retryAfterSeconds = (epochMillis: number): number =>
  Math.max(1, Math.ceil((windowEnd(epochMillis) - epochMillis) / Timestamp.SECOND))

export class RequestRateExceeded extends Refusal.of("RequestRateExceeded", 429, "request_rate")<{
  readonly bucket: Bucket
  readonly limit: number
  readonly retry_after_s: number
}> {
  override readonly message = `The limit is ${this.limit} requests per minute; retry in ${this.retry_after_s} s.`
}
