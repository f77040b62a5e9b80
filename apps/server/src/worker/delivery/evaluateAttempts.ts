import type * as Address from "@waybill/domain/values/Address"
import type * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import type { Recipient } from "@waybill/domain/email/Recipient"
import type * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Reply from "@waybill/mail/reply/Reply"
import * as Retry from "@waybill/mail/transport/Retry"
import * as Transport from "@waybill/mail/transport/Transport"
import { Duration } from "effect"

/** A site that says "later" and not when. */
export const HELD_MS = 20_000
/** Counted from when it was first due: mail that a site goes on putting off at no attempt's cost has failed by then. */
export const PUT_OFF_LIMIT = Duration.hours(72)
/** Mail that only waited in the pauses that others were given gets longer: it was not heard itself. */
export const UNHEARD_LIMIT = Duration.days(7)
/** However short a site's pause is, a row does not come back sooner. */
export const MIN_HELD_MS = 1_000

/** What an attempt has come to for one recipient, in the words of the transport. */
export interface Attempted {
  readonly recipient: Recipient
  readonly outcome: Transport.Outcome
}

/** What the log is to learn of an attempt, and what else follows. */
export interface Judgement {
  readonly outcomes: ReadonlyArray<DeliveryOutcome.Outcome>
  readonly complained: ReadonlyArray<Address.Address>
  /** Addresses that never work, or do not want it. */
  readonly suppress: ReadonlyArray<{ readonly address: Address.Address; readonly reason: Suppression.Reason }>
  /** Bounces that suppress only if they repeat. */
  readonly doubtful: ReadonlyArray<Address.Address>
  /** When the row is next to be looked at, where a site asked for a pause: the log knows nothing of it. */
  readonly held_until: Timestamp.Timestamp | null
}

export interface Policy {
  readonly nextAttempt: typeof Retry.nextAttempt
  /** When the message was to leave at first. */
  readonly due_since: Timestamp.Timestamp
  /** From [0, 1), one for the whole message: recipients that failed together are tried together. */
  readonly random: number
}

/** Attempts after which a recipient has failed, if every one of them was deferred. */
export const MAX_ATTEMPTS = Retry.RETRY_DELAYS.length + 1

export const judge = (
  now: Timestamp.Timestamp,
  attempted: ReadonlyArray<Attempted>,
  others: ReadonlyArray<Recipient>,
  policy: Policy,
): Judgement => {
  const outcomes: Array<DeliveryOutcome.Outcome> = []
  const held: Array<Timestamp.Timestamp> = []
  const later: Array<Timestamp.Timestamp> = []
  for (const { outcome, recipient } of attempted) {
    const judged = outcome.no_attempt
      ? putOff(now, recipient, outcome, policy)
      : judgeOne(now, recipient, outcome, policy)
    if (judged === "held") {
      held.push(pauseEnd(now, outcome))
      continue
    }
    outcomes.push(judged)
    if (judged._tag === "Deferred") later.push(judged.next_attempt_at)
  }
  for (const { next_attempt_at } of others) if (next_attempt_at !== null) later.push(next_attempt_at)
  const reached = attempted.filter(({ outcome }) => !outcome.no_attempt)
  const bounced = reached.filter(({ outcome }) => outcome.status === "bounced")
  const complained = reached.filter(({ outcome }) => outcome.then === "complained").map(addressOf)
  return {
    outcomes,
    complained,
    suppress: [
      ...bounced
        .filter(({ outcome }) => outcome.suppress === "now")
        .map((each) => ({ address: addressOf(each), reason: "hard_bounce" as const })),
      ...complained.map((address) => ({ address, reason: "complaint" as const })),
    ],
    doubtful: bounced.filter(({ outcome }) => outcome.suppress === "after_repeats").map(addressOf),
    held_until: held.length === 0 ? null : [...held, ...later].reduce(Timestamp.earliest),
  }
}

const addressOf = ({ recipient }: Attempted) => recipient.address

const pauseEnd = (now: Timestamp.Timestamp, { retry_after_ms }: Transport.Outcome): Timestamp.Timestamp =>
  Timestamp.plus(now, Math.max(MIN_HELD_MS, retry_after_ms ?? HELD_MS))

/** No attempt, so the log learns of it only where a server said something new, or when it has gone on for too long. */
const putOff = (
  now: Timestamp.Timestamp,
  { address, smtp, status }: Recipient,
  outcome: Transport.Outcome,
  { due_since }: Policy,
): DeliveryOutcome.Outcome | "held" => {
  if (Transport.isGivenBack(outcome)) return "held"
  const { category, code, duration_ms, enhanced_code, mx, response, tls } = outcome
  const words = { code, enhanced_code, response, mx, tls, duration_ms, category, attempt: null }
  const limit = code === null ? UNHEARD_LIMIT : PUT_OFF_LIMIT
  if (Timestamp.toMillis(now) - Timestamp.toMillis(due_since) >= Duration.toMillis(limit))
    return { _tag: "Failed", recipient: address, words: { ...words, category: "expired" } }
  const isKnown = status === "deferred" && smtp?.code === code && smtp.enhanced_code === enhanced_code
  return code === null || isKnown
    ? "held"
    : { _tag: "Deferred", recipient: address, words, next_attempt_at: pauseEnd(now, outcome) }
}

const judgeOne = (
  now: Timestamp.Timestamp,
  { address, attempts, lost }: Recipient,
  outcome: Transport.Outcome,
  { nextAttempt, random }: Policy,
): DeliveryOutcome.Outcome => {
  const attempt = attempts + 1
  const { category, code, duration_ms, enhanced_code, mx, response, tls } = outcome
  const words = { code, enhanced_code, response, mx, tls, duration_ms, category, attempt }
  switch (outcome.status) {
    case "delivered":
      return { _tag: "Delivered", recipient: address, words }
    case "sent":
      return { _tag: "Sent", recipient: address, words }
    case "bounced":
      return { _tag: "Bounced", recipient: address, words }
    case "failed":
      return { _tag: "Failed", recipient: address, words }
    case "deferred": {
      const hint = outcome.retry_after_ms === null ? undefined : Duration.millis(outcome.retry_after_ms)
      // What our own deaths have cost is not the server's fault.
      const wait = nextAttempt(attempt - lost, replyClass(category), hint, random)
      return wait === "expired"
        ? { _tag: "Failed", recipient: address, words: { ...words, category: "expired" } }
        : {
            _tag: "Deferred",
            recipient: address,
            words,
            next_attempt_at: Timestamp.plus(now, Math.round(Duration.toMillis(wait))),
          }
    }
  }
}

/** What went wrong before a server spoke is waited for like a server in trouble. */
const replyClass = (category: string | null): Reply.Class =>
  Reply.CLASSES.find((known) => known === category) ?? "unavailable"
