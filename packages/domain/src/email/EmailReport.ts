import { Array, Result } from "effect"
import * as Address from "../values/Address.ts"
import type { Event } from "./EmailEvent.ts"
import type { EmailNotFound } from "./EmailRefusal.ts"
import * as EmailState from "./EmailState.ts"
import * as DeliveryOutcome from "./DeliveryOutcome.ts"
import * as Recipient from "./Recipient.ts"
import { NothingNew } from "../values/Refusal.ts"
import * as Text from "../values/Text.ts"
import type * as Timestamp from "../values/Timestamp.ts"

/** Maximum number of opens, and of clicks, in one message's history. Mail scanners can cause any number of them. */
export const MAX_TRACKED_EVENTS = 1000
const MAX_USER_AGENT_CHARS = 512
const MAX_URL_CHARS = 2048
const MAX_IP_CHARS = 64
const MAX_FEEDBACK_TYPE_CHARS = 64

/**
 * Records outcomes for several recipients at once. Outcomes that change nothing (a repeated report, a final recipient)
 * are left out; if none remains, fails with `NothingNew`.
 */
export const record = (
  now: Timestamp.Timestamp,
  outcomes: ReadonlyArray<DeliveryOutcome.Outcome>,
): EmailState.Decide<NothingNew | EmailNotFound> =>
  EmailState.ofMessage((message) => {
    let recipients = message.recipients
    const events: Event[] = []
    for (const outcome of outcomes) {
      const recipient = find(recipients, outcome.recipient)
      const event = recipient === undefined ? undefined : eventOf(now, recipient, outcome)
      if (event === undefined) continue
      events.push(event)
      recipients = EmailState.evolveOne(recipients, event)
    }
    return Array.isReadonlyArrayNonEmpty(events) ? Result.succeed(events) : Result.fail(new NothingNew())
  })

const find = (recipients: ReadonlyArray<Recipient.Recipient>, address: Address.Address) =>
  recipients.find((each) => each.address === address) ??
  recipients.find((each) => Address.keyOf(each.address) === Address.keyOf(address))

/** Returns the event of an outcome, or `undefined` if the outcome changes nothing for this recipient. */
const eventOf = (
  at: Timestamp.Timestamp,
  recipient: Recipient.Recipient,
  outcome: DeliveryOutcome.Outcome,
): Recipient.Event | undefined => {
  const { address, attempts } = recipient
  if (outcome._tag === "AttemptLost") {
    const isNew = Recipient.isUnfinished(recipient) && outcome.attempt > attempts
    return isNew ? { _tag: "EmailAttemptLost", recipient: address, attempt: outcome.attempt, at } : undefined
  }
  const _tag = `Email${outcome._tag}` as const
  if (!Recipient.accepts(recipient, _tag)) return undefined
  if (outcome._tag === "Suppressed") {
    const { reason, simulation } = outcome
    return { _tag: "EmailSuppressed", recipient: address, reason, ...simulation, at }
  }
  const words = DeliveryOutcome.clipped(outcome.words, attempts)
  switch (outcome._tag) {
    case "Deferred":
      // An attempt has one outcome, so the same attempt number is the same report again.
      return outcome.words.attempt !== null && outcome.words.attempt <= attempts
        ? undefined
        : { _tag: "EmailDeferred", recipient: address, ...words, next_attempt_at: outcome.next_attempt_at, at }
    case "Bounced":
      return {
        _tag: "EmailBounced",
        recipient: address,
        bounce_type: DeliveryOutcome.bounceType(words.category),
        ...words,
        ...outcome.simulation,
        at,
      }
    case "Delivered":
      return { _tag: "EmailDelivered", recipient: address, ...words, ...outcome.handover, at }
    case "Sent":
      return { _tag: "EmailSent", recipient: address, ...words, ...outcome.handover, at }
    case "Failed":
      return { _tag: "EmailFailed", recipient: address, ...words, at }
  }
}

export const recordDelivered = (
  now: Timestamp.Timestamp,
  recipient: Address.Address,
  words: DeliveryOutcome.ServerResponse,
) => record(now, [{ _tag: "Delivered", recipient, words }])

export const recordBounced = (
  now: Timestamp.Timestamp,
  recipient: Address.Address,
  words: DeliveryOutcome.ServerResponse,
) => record(now, [{ _tag: "Bounced", recipient, words }])

export const recordComplained = (
  now: Timestamp.Timestamp,
  recipient: Address.Address,
  feedback_type: string | null,
  simulation?: DeliveryOutcome.Simulation,
): EmailState.Decide<NothingNew | EmailNotFound> =>
  EmailState.ofMessage((message) => {
    const complainant = find(message.recipients, recipient)
    if (complainant === undefined || !Recipient.accepts(complainant, "EmailComplained"))
      return Result.fail(new NothingNew())
    const feedbackType = clip(feedback_type, MAX_FEEDBACK_TYPE_CHARS)
    return Result.succeed(
      Array.of<Event>({
        _tag: "EmailComplained",
        recipient: complainant.address,
        feedback_type: feedbackType,
        ...simulation,
        at: now,
      }),
    )
  })

/** The client that opened or clicked, as far as it identifies itself. */
export interface Visitor {
  readonly user_agent: string | null
  readonly ip: string | null
}

export const recordOpened = (
  now: Timestamp.Timestamp,
  visitor: Visitor,
): EmailState.Decide<NothingNew | EmailNotFound> =>
  EmailState.ofMessage((message) =>
    message.opens >= MAX_TRACKED_EVENTS
      ? Result.fail(new NothingNew())
      : Result.succeed(
          Array.of<Event>({ _tag: "EmailOpened", recipient: onlyRecipient(message), ...clipped(visitor), at: now }),
        ),
  )

export const recordClicked = (
  now: Timestamp.Timestamp,
  url: string,
  visitor: Visitor,
): EmailState.Decide<NothingNew | EmailNotFound> =>
  EmailState.ofMessage((message) =>
    message.clicks >= MAX_TRACKED_EVENTS
      ? Result.fail(new NothingNew())
      : Result.succeed(
          Array.of<Event>({
            _tag: "EmailClicked",
            recipient: onlyRecipient(message),
            url: Text.clip(url, MAX_URL_CHARS),
            ...clipped(visitor),
            at: now,
          }),
        ),
  )

const onlyRecipient = ({ recipients }: EmailState.AcceptedEmail): Address.Address | null =>
  recipients.length === 1 ? (recipients[0]?.address ?? null) : null

const clipped = ({ user_agent, ip }: Visitor): Visitor => ({
  user_agent: clip(user_agent, MAX_USER_AGENT_CHARS),
  ip: clip(ip, MAX_IP_CHARS),
})

const clip = (text: string | null, max: number): string | null => (text === null ? null : Text.clip(text, max))
