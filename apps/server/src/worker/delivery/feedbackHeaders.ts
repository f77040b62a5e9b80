import type { AccountId } from "@waybill/domain/values/Id"
import type * as EmailState from "@waybill/domain/email/EmailState"
import * as FeedbackToken from "@waybill/mail/tokens/FeedbackToken"

/** Name of the service in `Feedback-ID`, the same for all mail. */
const SENDER = "waybill"
const MAX_TAG_CHARS = 50
const UNTAGGED = "untagged"

export type FeedbackHeaders = (
  account_id: AccountId,
  message: EmailState.AcceptedEmail,
) => ReadonlyArray<readonly [name: string, value: string]>

/**
 * Makes the headers by which complaints are counted and found: `Feedback-ID` with tag and account, by which Gmail's
 * Postmaster Tools count, and our own with a MAC, which feedback loops send back with the mail.
 */
export const feedbackHeaders =
  (secretKey: Uint8Array): FeedbackHeaders =>
  (account_id, { accepted: { email_id, tags } }) => [
    ["Feedback-ID", `${fieldOf(tags[0])}:${account_id}:${SENDER}`],
    [FeedbackToken.HEADER, FeedbackToken.make(secretKey, { account_id, email_id })],
  ]

/** A tag as a field, which has neither colons nor spaces. */
const fieldOf = (tag: string | undefined): string =>
  tag === undefined ? UNTAGGED : tag.replaceAll(/[^A-Za-z0-9_.-]+/gu, "-").slice(0, MAX_TAG_CHARS)
