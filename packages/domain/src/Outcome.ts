import { Schema } from "effect"
import type * as Address from "./Address.ts"
import type * as Suppression from "./Suppression.ts"
import * as Text from "./Text.ts"
import type * as Timestamp from "./Timestamp.ts"

/** What is kept of a server's answer; longer ones are essays about policy. */
export const MAX_RESPONSE_CHARS = 512
const MAX_HOST_CHARS = 255
const MAX_CATEGORY_CHARS = 64

/** The fields of a server's words, as they stand in every outcome event. */
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

/** What the other side said in one attempt, or in a report that came in later. */
export interface Words {
  readonly code: number | null
  readonly enhanced_code: string | null
  readonly response: string | null
  readonly mx: string | null
  readonly tls: string | null
  readonly duration_ms: number | null
  readonly category: string | null
  /** Which attempt this is about, counted from 1; `null` for a report, which is about the last one. */
  readonly attempt: number | null
}

export const SILENCE: Words = {
  code: null,
  enhanced_code: null,
  response: null,
  mx: null,
  tls: null,
  duration_ms: null,
  category: null,
  attempt: null,
}

/** What happened to one recipient. A drain reports those of a whole message at once. */
export type Outcome =
  | { readonly _tag: "Delivered"; readonly recipient: Address.Address; readonly words: Words }
  | { readonly _tag: "Sent"; readonly recipient: Address.Address; readonly words: Words }
  | {
      readonly _tag: "Deferred"
      readonly recipient: Address.Address
      readonly words: Words
      readonly next_attempt_at: Timestamp.Timestamp
    }
  | { readonly _tag: "Bounced"; readonly recipient: Address.Address; readonly words: Words }
  | { readonly _tag: "Failed"; readonly recipient: Address.Address; readonly words: Words }
  | { readonly _tag: "AttemptLost"; readonly recipient: Address.Address; readonly attempt: number }
  | { readonly _tag: "Suppressed"; readonly recipient: Address.Address; readonly reason: Suppression.Reason }

/** Clipped to what an event may hold; a server's words are nobody's promise. */
export const tidy = (words: Words, attemptsSoFar: number) => ({
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
 * The refusals that say "this address does not work" and so suppress it. All others (policy, content, blocked, auth,
 * too_large, protocol…) blame the sender, and an address never pays for that.
 */
const HARD: ReadonlySet<string> = new Set(["invalid_recipient", "bad_domain", "mailbox_inactive"])

export const bounceType = (category: string | null): BounceType =>
  category !== null && HARD.has(category) ? "hard" : "soft"
