import { Array, Result } from "effect"
import * as Acceptance from "./Acceptance.ts"
import type * as Address from "../values/Address.ts"
import * as EmailEvent from "./EmailEvent.ts"
import * as EmailRefusal from "./EmailRefusal.ts"
import * as EmailState from "./EmailState.ts"
import * as EmailStatus from "./EmailStatus.ts"
import type * as Id from "../values/Id.ts"
import { NothingNew } from "../values/Refusal.ts"
import type * as Timestamp from "../values/Timestamp.ts"
import * as Tracking from "../domain/Tracking.ts"

export const stream = "email" as const

export const Event = EmailEvent.Event
export type Event = EmailEvent.Event

export { evolve, initial, type State } from "./EmailState.ts"

export const cancel = (
  now: Timestamp.Timestamp,
  attempt: AttemptState = "none",
  /** Whether the recipients are given back to the monthly volume. */
  isRefunded = true,
): EmailState.Decide<EmailRefusal.NotCancelable | EmailRefusal.EmailNotFound> =>
  EmailState.ofMessage((message) =>
    Result.map(whileWaiting(message, attempt), () =>
      Array.of<Event>({ _tag: "EmailCanceled", ...(isRefunded ? {} : { refunded: false }), at: now }),
    ),
  )

/** Maximum number of reschedules, so that a message's history stays short enough to read at once. */
export const MAX_RESCHEDULES = 1_000

export const reschedule = (
  now: Timestamp.Timestamp,
  scheduled_at: Timestamp.Timestamp,
  attempt: AttemptState = "none",
): EmailState.Decide<
  | EmailRefusal.NotCancelable
  | EmailRefusal.ScheduledAtOutOfRange
  | EmailRefusal.RescheduledTooOften
  | NothingNew
  | EmailRefusal.EmailNotFound
> =>
  EmailState.ofMessage((message) => {
    const refusal = Acceptance.checkSchedule(now, scheduled_at) ?? checkChange(message, scheduled_at)
    return Result.flatMap(whileWaiting(message, attempt), () =>
      refusal === undefined
        ? Result.succeed(Array.of<Event>({ _tag: "EmailRescheduled", scheduled_at, at: now }))
        : Result.fail(refusal),
    )
  })

const checkChange = (message: EmailState.AcceptedEmail, scheduled_at: Timestamp.Timestamp) => {
  if (message.scheduled_at === scheduled_at) return new NothingNew()
  return message.reschedules < MAX_RESCHEDULES
    ? undefined
    : new EmailRefusal.RescheduledTooOften({ most: MAX_RESCHEDULES })
}

/** "under way": a delivery attempt is claimed and may already have succeeded, although the log does not show it yet. */
export type AttemptState = "none" | "under way"

const whileWaiting = (
  message: EmailState.AcceptedEmail,
  attempt: AttemptState,
): Result.Result<EmailState.AcceptedEmail, EmailRefusal.NotCancelable> => {
  const email_status = EmailState.status(message)
  return email_status === "queued" && attempt === "none"
    ? Result.succeed(message)
    : Result.fail(new EmailRefusal.NotCancelable({ email_status }))
}

/** Maximum number of copies that a message names. Later copies name the message, and it does not name them. */
export const MAX_COPIES = 100

/** Returns the event by which a message names its copy; none if it names enough. */
export const resent = (
  message: EmailState.AcceptedEmail,
  copy_id: Id.EmailId,
  now: Timestamp.Timestamp,
): ReadonlyArray<Event> =>
  (message.copies ?? []).length < MAX_COPIES ? [{ _tag: "EmailResent", copy_id, at: now }] : []

/**
 * Builds the command that sends a copy to every recipient whom this message did not reach and for whom it is no longer
 * tried. The list may be empty or hold suppressed recipients; `Acceptance.accept` handles both, as for any send.
 */
export const resendCommand = (message: EmailState.AcceptedEmail): Acceptance.Command => {
  const unreached = new Set<string>()
  for (const { address, status } of message.recipients) if (EmailStatus.isGivenUp(status)) unreached.add(address)
  const notReached = ({ address }: Address.Mailbox) => unreached.has(address)
  const { from, to, cc, bcc, reply_to, subject, headers, tags, content, size_bytes, list_unsubscribe, email_id } =
    message.accepted
  return {
    from,
    to: to.filter(notReached),
    cc: cc.filter(notReached),
    bcc: bcc.filter(notReached),
    reply_to,
    subject,
    headers,
    tags,
    metadata: message.accepted.metadata,
    template: message.accepted.template,
    scheduled_at: null,
    content,
    size_bytes,
    list_unsubscribe,
    reply_tracking: message.accepted.reply_tracking,
    tracking: message.accepted.tracking ?? Tracking.NONE,
    test_clock: message.accepted.test_clock,
    resend_of: email_id,
  }
}
