import type * as EmailEvent from "./EmailEvent.ts"
import * as Id from "../values/Id.ts"
import * as Timestamp from "../values/Timestamp.ts"
import type { AcceptedEmail } from "./EmailState.ts"

/** Events that change an account's use of its monthly quota. */
export const TAGS = ["EmailQueued", "EmailSuppressed", "EmailCanceled"] as const satisfies ReadonlyArray<
  EmailEvent.Event["_tag"]
>
type Counted = Extract<EmailEvent.Event, { readonly _tag: (typeof TAGS)[number] }>

const isCounted = (event: EmailEvent.Event): event is Counted => TAGS.some((tag) => tag === event._tag)

/** Recipients of test mail that an account can send in a UTC month, with the pieces of its messages. */
export const TEST_MONTHLY_EMAILS = 100_000
/** A test message counts once more for each full piece of this size, so that test mail cannot fill the disk. */
export const TEST_PIECE_BYTES = 16 * 1024

/** Returns by how much a message counts more than its recipients. */
export const piecesOf = ({
  livemode,
  size_bytes,
}: {
  readonly livemode?: false
  readonly size_bytes: number
}): number => (livemode === false ? Math.floor(size_bytes / TEST_PIECE_BYTES) : 0)

/** Returns the recipients that a message counts with: at least one, because its content is kept even if none is reached. */
export const volumeOf = (accepted: number): number => Math.max(1, accepted)

export interface Change {
  /** UTC month, such as `2026-11`. */
  readonly month: string
  readonly delta: number
}

/**
 * Returns the change of the monthly count: one per accepted recipient in the month of acceptance. Recipients suppressed
 * at acceptance do not count, except the last of a message that has no others; canceled ones are given back unless the event says otherwise. `message` is the state after the event.
 */
export const changesOf = (event: EmailEvent.Event, message: AcceptedEmail): ReadonlyArray<Change> =>
  isCounted(event) ? [{ month: monthOf(message), delta: delta(event, message) }] : []

/** Returns the UTC month in which a message was accepted, such as `2026-11`. */
export const monthOf = (message: AcceptedEmail): string => acceptedAt(message).slice(0, "2026-11".length)

/** Returns the recipients that the cancellation of a message gives back. `message` is the state after the event. */
export const refundOf = ({ refunded }: EmailEvent.EmailCanceled, { recipients }: AcceptedEmail): number =>
  refunded === false ? 0 : recipients.filter(({ status }) => status === "canceled").length

/** Real time of acceptance, from the id where `created_at` is a time of a test clock. */
const acceptedAt = ({ accepted }: AcceptedEmail): Timestamp.Timestamp =>
  accepted.test_clock === undefined ? accepted.created_at : Timestamp.fromMillis(Id.millisOf(accepted.email_id))

const delta = (event: Counted, message: AcceptedEmail): number => {
  const { accepted, recipients } = message
  switch (event._tag) {
    case "EmailQueued":
      return recipients.length + piecesOf(accepted)
    case "EmailSuppressed":
      return event.at !== accepted.created_at || isAllSuppressed(event, message) ? 0 : -1
    case "EmailCanceled":
      return -refundOf(event, message)
  }
}

/** Whether the event suppresses the last recipient. The simulator suppresses after acceptance. */
const isAllSuppressed = (
  { simulated }: Extract<Counted, { readonly _tag: "EmailSuppressed" }>,
  { recipients }: AcceptedEmail,
): boolean => simulated === undefined && recipients.every(({ status }) => status === "suppressed")
