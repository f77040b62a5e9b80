import { Schema } from "effect"
import type * as Address from "../values/Address.ts"
import type * as SuppressionState from "../suppression/SuppressionState.ts"
import * as Text from "../values/Text.ts"
import type * as Timestamp from "../values/Timestamp.ts"

/** Maximum length of a stored server response. */
export const MAX_RESPONSE_CHARS = 512
const MAX_HOST_CHARS = 255
const MAX_CATEGORY_CHARS = 64
/** Length of an IPv6 address with a zone. */
const MAX_ADDRESS_CHARS = 64

/** Fields of a server response in every outcome event. */
export const fields = {
  code: Schema.NullOr(Schema.Natural),
  enhanced_code: Schema.NullOr(Text.Stored),
  response: Schema.NullOr(Text.Stored.check(Schema.isMaxLength(MAX_RESPONSE_CHARS))),
  mx: Schema.NullOr(Text.Stored),
  tls: Schema.NullOr(Text.Stored),
  duration_ms: Schema.NullOr(Schema.Natural),
  category: Schema.NullOr(Text.Stored),
  attempt: Schema.Natural,
}

/**
 * Where a message was handed over, so that a receipt can show it: the address of the server, and SHA-256 in base64url of its
 * certificate and of the signed message. Absent where unknown, and in older events.
 */
export const handover = {
  address: Schema.optionalKey(Text.Stored.check(Schema.isMaxLength(MAX_ADDRESS_CHARS))),
  certificate_sha256: Schema.optionalKey(Text.Stored),
  message_sha256: Schema.optionalKey(Text.Stored),
}
const Handover = Schema.Struct(handover)
export type Handover = typeof Handover.Type

/** The server's response to one attempt, or the contents of a later report. */
export interface ServerResponse {
  readonly code: number | null
  readonly enhanced_code: string | null
  readonly response: string | null
  readonly mx: string | null
  readonly tls: string | null
  readonly duration_ms: number | null
  readonly category: string | null
  /** Number of the attempt, from 1; `null` for a report, which is about the last attempt. */
  readonly attempt: number | null
}

export const NO_RESPONSE: ServerResponse = {
  code: null,
  enhanced_code: null,
  response: null,
  mx: null,
  tls: null,
  duration_ms: null,
  category: null,
  attempt: null,
}

/** Marks an outcome that a simulator made up. A test would work only once if it suppressed its recipient. */
export interface Simulation {
  readonly simulated: true
  /** Reason for which a real outcome would have suppressed the recipient. */
  readonly would_suppress?: SuppressionState.Reason
}

/** The result for one recipient. A delivery reports all recipients of a message at once. */
export type Outcome =
  | {
      readonly _tag: "Delivered" | "Sent"
      readonly recipient: Address.Address
      readonly words: ServerResponse
      readonly handover?: Handover | undefined
    }
  | {
      readonly _tag: "Deferred"
      readonly recipient: Address.Address
      readonly words: ServerResponse
      readonly next_attempt_at: Timestamp.Timestamp
    }
  | {
      readonly _tag: "Bounced"
      readonly recipient: Address.Address
      readonly words: ServerResponse
      readonly simulation?: Simulation | undefined
    }
  | { readonly _tag: "Failed"; readonly recipient: Address.Address; readonly words: ServerResponse }
  | { readonly _tag: "AttemptLost"; readonly recipient: Address.Address; readonly attempt: number }
  | {
      readonly _tag: "Suppressed"
      readonly recipient: Address.Address
      readonly reason: SuppressionState.Reason
      readonly simulation?: Simulation | undefined
    }

/** Clips a response to what an event may hold. The text comes from another server, so it can be anything. */
export const clipped = (words: ServerResponse, attemptsSoFar: number) => ({
  code: words.code === null ? null : Math.max(0, Math.trunc(words.code)),
  enhanced_code: short(words.enhanced_code, MAX_CATEGORY_CHARS),
  response: short(words.response, MAX_RESPONSE_CHARS),
  mx: short(words.mx, MAX_HOST_CHARS),
  tls: short(words.tls, MAX_CATEGORY_CHARS),
  duration_ms: words.duration_ms === null ? null : Math.max(0, Math.round(words.duration_ms)),
  category: short(words.category, MAX_CATEGORY_CHARS),
  attempt: words.attempt ?? attemptsSoFar,
})

const short = (text: string | null, max: number): string | null => (text === null ? null : Text.clip(text, max))

export const BounceType = Schema.Literals(["hard", "soft"])
export type BounceType = typeof BounceType.Type

/**
 * Categories which mean that the address does not work, and so suppress it. All others (policy, content, blocked, auth,
 * too_large, protocol…) are about the sender, and suppress nothing.
 */
const HARD: ReadonlySet<string> = new Set(["invalid_recipient", "bad_domain", "mailbox_inactive"])

export const bounceType = (category: string | null): BounceType =>
  category !== null && HARD.has(category) ? "hard" : "soft"
