import type * as Address from "@waybill/domain/values/Address"
import type * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import type { Recipient } from "@waybill/domain/email/Recipient"
import type * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as ReplyClass from "@waybill/mail/reply/ReplyClass"
import * as Retry from "@waybill/mail/transport/Retry"
import * as Transport from "@waybill/mail/transport/Transport"
import { Duration } from "effect"

/** Pause for a receiving site that defers without an attempt and names no time. */
export const DEFAULT_PAUSE_MS = 20_000
/** Time since mail was due after which it fails if a site keeps deferring it before an attempt. */
export const DEFERRED_LIMIT = Duration.hours(72)
/** Time until failure for mail that only waited during pauses of other mail, so that no server has replied to it. */
export const UNATTEMPTED_LIMIT = Duration.days(7)
/** Shortest pause of a row, however short the pause of the site is. */
export const MIN_PAUSE_MS = 1_000

/** Outcome of an attempt for one recipient, as the transport reports it. */
export interface Attempted {
  readonly recipient: Recipient
  readonly outcome: Transport.RecipientOutcome
  /** SHA-256 of the message in base64url, once it was handed over. */
  readonly message_sha256?: string
}

export interface Complaint {
  readonly address: Address.Address
  readonly simulation: DeliveryOutcome.Simulation | undefined
}

/** Facts about an attempt to write to the log, and their consequences. */
export interface AttemptResult {
  readonly outcomes: ReadonlyArray<DeliveryOutcome.Outcome>
  readonly complained: ReadonlyArray<Complaint>
  /** Addresses to suppress, because they do not exist or complained. */
  readonly suppress: ReadonlyArray<{ readonly address: Address.Address; readonly reason: SuppressionState.Reason }>
  /** Addresses to suppress if such bounces repeat. */
  readonly suppressIfRepeated: ReadonlyArray<Address.Address>
  /** End of the pause that a site requested. Only the row is postponed; nothing is written to the log. */
  readonly paused_until: Timestamp.Timestamp | null
}

export interface Policy {
  readonly nextAttempt: typeof Retry.nextAttempt
  /** Time at which the message was first due. */
  readonly due_since: Timestamp.Timestamp
  /** From [0, 1), one number for the whole message, so that recipients that failed together are retried together. */
  readonly random: number
}

/** Number of deferred attempts after which a recipient fails. */
export const MAX_ATTEMPTS = Retry.RETRY_DELAYS.length + 1

/** Turns the outcomes of an attempt into facts for the log, suppressions and the next time of the row. */
export const evaluateAttempts = (
  now: Timestamp.Timestamp,
  attempted: ReadonlyArray<Attempted>,
  others: ReadonlyArray<Recipient>,
  policy: Policy,
): AttemptResult => {
  const outcomes: Array<DeliveryOutcome.Outcome> = []
  const pauses: Array<Timestamp.Timestamp> = []
  const later: Array<Timestamp.Timestamp> = []
  for (const { message_sha256, outcome, recipient } of attempted) {
    const evaluated = outcome.no_attempt
      ? evaluateDeferral(now, recipient, outcome, policy)
      : evaluateAttempt(now, recipient, outcome, handoverOf(outcome, message_sha256), policy)
    if (evaluated === "paused") {
      pauses.push(pauseEnd(now, outcome))
      continue
    }
    outcomes.push(evaluated)
    if (evaluated._tag === "Deferred") later.push(evaluated.next_attempt_at)
  }
  for (const { next_attempt_at } of others) if (next_attempt_at !== null) later.push(next_attempt_at)
  const tried = attempted.filter(({ outcome }) => !outcome.no_attempt)
  const bounced = tried.filter(({ outcome }) => outcome.status === "bounced" && outcome.simulated === undefined)
  const complained = tried
    .filter(({ outcome }) => outcome.followUp === "complained")
    .map((each): Complaint => ({ address: addressOf(each), simulation: simulationOf(each.outcome, "complaint") }))
  return {
    outcomes,
    complained,
    suppress: [
      ...bounced
        .filter(({ outcome }) => outcome.suppress === "now")
        .map((each) => ({ address: addressOf(each), reason: "hard_bounce" as const })),
      ...complained
        .filter(({ simulation }) => simulation === undefined)
        .map(({ address }) => ({ address, reason: "complaint" as const })),
    ],
    suppressIfRepeated: bounced.filter(({ outcome }) => outcome.suppress === "after_repeats").map(addressOf),
    paused_until: pauses.length === 0 ? null : [...pauses, ...later].reduce(Timestamp.earliest),
  }
}

const simulationOf = (
  { simulated }: Transport.RecipientOutcome,
  would_suppress: SuppressionState.Reason | undefined,
): DeliveryOutcome.Simulation | undefined =>
  simulated === undefined ? undefined : { simulated, ...(would_suppress === undefined ? {} : { would_suppress }) }

/** Reason for which one bounce suppresses its recipient; a full mailbox does so only after repeats. */
const reasonOf = ({ suppress }: Transport.RecipientOutcome): SuppressionState.Reason | undefined =>
  suppress === "now" ? "hard_bounce" : undefined

const addressOf = ({ recipient }: Attempted) => recipient.address

const pauseEnd = (now: Timestamp.Timestamp, { retry_after_ms }: Transport.RecipientOutcome): Timestamp.Timestamp =>
  Timestamp.plus(now, Math.max(MIN_PAUSE_MS, retry_after_ms ?? DEFAULT_PAUSE_MS))

/** Decides on a deferral before an attempt, which is logged only if the reply is new or the time limit is reached. */
const evaluateDeferral = (
  now: Timestamp.Timestamp,
  { address, smtp, status }: Recipient,
  outcome: Transport.RecipientOutcome,
  { due_since }: Policy,
): DeliveryOutcome.Outcome | "paused" => {
  if (Transport.isNotStarted(outcome)) return "paused"
  const { category, code, duration_ms, enhanced_code, mx, response, tls } = outcome
  const reply = { code, enhanced_code, response, mx, tls, duration_ms, category, attempt: null }
  const limit = code === null ? UNATTEMPTED_LIMIT : DEFERRED_LIMIT
  if (Timestamp.toMillis(now) - Timestamp.toMillis(due_since) >= Duration.toMillis(limit))
    return { _tag: "Failed", recipient: address, words: { ...reply, category: "expired" } }
  // A pause of other mail is short; that no source address may be used can last until the next day.
  const isReason = category === "source_address"
  const isLogged =
    status === "deferred" &&
    smtp?.code === code &&
    smtp.enhanced_code === enhanced_code &&
    (!isReason || smtp.response === response)
  return (code === null && !isReason) || isLogged
    ? "paused"
    : { _tag: "Deferred", recipient: address, words: reply, next_attempt_at: pauseEnd(now, outcome) }
}

const handoverOf = (
  { address, certificate_sha256 }: Transport.RecipientOutcome,
  message_sha256: string | undefined,
): DeliveryOutcome.Handover => ({
  ...(address === undefined ? {} : { address }),
  ...(certificate_sha256 === undefined ? {} : { certificate_sha256 }),
  ...(message_sha256 === undefined ? {} : { message_sha256 }),
})

const evaluateAttempt = (
  now: Timestamp.Timestamp,
  { address, attempts, lost }: Recipient,
  outcome: Transport.RecipientOutcome,
  handover: DeliveryOutcome.Handover,
  { nextAttempt, random }: Policy,
): DeliveryOutcome.Outcome => {
  const attempt = attempts + 1
  const { category, code, duration_ms, enhanced_code, mx, response, tls } = outcome
  const reply = { code, enhanced_code, response, mx, tls, duration_ms, category, attempt }
  switch (outcome.status) {
    case "delivered":
      return { _tag: "Delivered", recipient: address, words: reply, handover }
    case "sent":
      return { _tag: "Sent", recipient: address, words: reply, handover }
    case "bounced":
      return { _tag: "Bounced", recipient: address, words: reply, simulation: simulationOf(outcome, reasonOf(outcome)) }
    case "suppressed":
      return { _tag: "Suppressed", recipient: address, reason: "hard_bounce", simulation: { simulated: true } }
    case "failed":
      return { _tag: "Failed", recipient: address, words: reply }
    case "deferred": {
      const hint = outcome.retry_after_ms === null ? undefined : Duration.millis(outcome.retry_after_ms)
      // Attempts lost with a process of ours do not count against the server.
      const wait = nextAttempt(attempt - lost, replyClass(category), hint, random)
      return wait === "expired"
        ? { _tag: "Failed", recipient: address, words: { ...reply, category: "expired" } }
        : {
            _tag: "Deferred",
            recipient: address,
            words: reply,
            next_attempt_at: Timestamp.plus(now, Math.round(Duration.toMillis(wait))),
          }
    }
  }
}

/** Failures before a reply are retried like those of an unavailable server. */
const replyClass = (category: string | null): ReplyClass.ReplyClass =>
  ReplyClass.CLASSES.find((each) => each === category) ?? "unavailable"
