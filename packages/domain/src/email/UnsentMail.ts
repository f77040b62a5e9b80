import type * as EmailEvent from "./EmailEvent.ts"
import type * as EmailState from "./EmailState.ts"
import * as Recipient from "./Recipient.ts"
import * as UsageChange from "./UsageChange.ts"

/** Bytes of content of scheduled test mail of a UTC month, whatever the plan. */
export const TEST_SCHEDULED_BYTES = 256 * 1024 * 1024

/** Content that an account stores for mail that may never be sent, and so cost no volume. */
export interface Unsent {
  /** Bytes of scheduled mail of the month that is not sent yet, and of canceled mail whose content is still stored. */
  readonly bytes: number
  /** Canceled recipients of the month that were refunded. */
  readonly refunded: number
}
export const NONE: Unsent = { bytes: 0, refunded: 0 }

export interface Change extends Unsent {
  /** UTC month of acceptance, such as `2026-11`. */
  readonly month: string
}

/** Whether a message was canceled before it reached anybody. Its content is removed. */
export const isCanceled = ({ recipients }: EmailState.AcceptedEmail): boolean =>
  recipients.some(({ status }) => status === "canceled") &&
  recipients.every(({ status }) => status === "canceled" || status === "suppressed")

/** Returns the bytes that a message counts with. Mail that was not scheduled keeps its volume until it is canceled. */
const bytesOf = (state: EmailState.State): number => {
  if (state._tag === "NotCreated") return 0
  const { accepted, recipients } = state
  const isWaiting = accepted.scheduled_at !== null && recipients.some(Recipient.isUnfinished)
  return isWaiting || isCanceled(state) ? accepted.size_bytes : 0
}

/** Returns how an event changes what an account stores for unsent mail; undefined if it does not. */
export const changeOf = (
  event: EmailEvent.Event,
  before: EmailState.State,
  after: EmailState.AcceptedEmail,
): Change | undefined => {
  const isCancel = event._tag === "EmailCanceled"
  // The most frequent case: mail that was not scheduled is sent.
  if (!isCancel && after.accepted.scheduled_at === null) return undefined
  const bytes = bytesOf(after) - bytesOf(before)
  const refunded = isCancel ? UsageChange.refundOf(event, after) : 0
  return bytes === 0 && refunded === 0 ? undefined : { month: UsageChange.monthOf(after), bytes, refunded }
}
