import * as SimulatedSuppression from "@waybill/domain/explanation/SimulatedSuppression"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import * as SearchText from "@waybill/domain/search/SearchText"
import { shownRecipient } from "@waybill/domain/search/shownRecipient"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import * as Paths from "../../api/Paths.ts"
import type { Email, Recipient } from "../../api/Records.ts"

export type EmailFilters = EmailSearch.Filters

/** Returns how many recipients are in each state: "3 delivered", "1 bounced". */
export const outcomesOf = ({ recipient_counts }: Email): ReadonlyArray<string> =>
  SearchedStatus.OF_RECIPIENTS.flatMap((status) => {
    const count = recipient_counts[status] ?? 0
    return count === 0 ? [] : [`${count} ${status}`]
  })

/** Statuses of recipients whom an email did not reach and for whom nothing tries it any more. */
export const GIVEN_UP: ReadonlySet<string> = new Set(["bounced", "failed", "suppressed", "canceled"])

/** Returns how many of an email's recipients got it, if they differ: "2 of 3 delivered". */
export const reachedOf = (email: Email): string | undefined => {
  if (outcomesOf(email).length < 2) return undefined
  const { complained = 0, delivered = 0, sent = 0 } = email.recipient_counts
  return `${delivered + complained + sent} of ${email.recipients.length} ${sent > 0 ? "sent" : "delivered"}`
}

/** Returns why the recipient that an email is listed for was not reached: the answer of its server, or its suppression. */
export const reasonOf = (email: Email): string | undefined => {
  const recipient = shownRecipient(email)
  if (recipient === undefined) return undefined
  const { smtp, status, suppression } = recipient
  if (suppression !== null) return suppressionOf(recipient, email.livemode)
  if (status === "complained") return "Reported as spam"
  if (smtp === null || !ANSWERED.has(status)) return undefined
  const answer = [smtp.code, smtp.enhanced_code, smtp.response].filter((each) => each !== null).join(" ")
  return answer === "" ? undefined : answer
}

/** Statuses of recipients whose server said why. */
const ANSWERED: ReadonlySet<string> = new Set(["bounced", "failed", "deferred"])

/** Returns why nothing was sent to a suppressed recipient. */
export const suppressionOf = ({ address, suppression }: Recipient, livemode: boolean): string =>
  SimulatedSuppression.textOf(address, livemode) ?? `On the suppression list: ${suppression?.replace("_", " ")}`

const valuesOf = (filter: string | undefined): ReadonlyArray<string> | undefined =>
  filter?.split(",").map((value) => value.trim())

/** Whether an email that changed still has the statuses and reply codes of the filter. Its other fields never change. */
export const hasOutcome = (
  email: Email,
  { code, recipient_status, scheduled_after, scheduled_before, status }: EmailFilters,
  now: number,
): boolean => {
  const own = valuesOf(status)
  const recipients = valuesOf(recipient_status)
  const codes = valuesOf(code)?.map(ReplyCode.rangeOf)
  return (
    (own === undefined || own.includes(email.status) || own.includes(shownStatus(email, now))) &&
    (recipients === undefined || email.recipients.some((recipient) => recipients.includes(recipient.status))) &&
    ((scheduled_after ?? scheduled_before) === undefined || shownStatus(email, now) === "scheduled") &&
    (codes === undefined || ReplyCode.haveRecipient(email.recipients, codes))
  )
}

/** Whether a search finds only emails that wait for their time or for delivery. */
export const isWaiting = (filters: EmailFilters): boolean =>
  isScheduled(filters) || /^(?:queued|scheduled)(?:,(?:queued|scheduled))*$/u.test(filters.status ?? "")

/** Whether a search finds only emails that wait for their time. */
const isScheduled = ({ scheduled_after, scheduled_before, status }: EmailFilters): boolean =>
  (scheduled_after ?? scheduled_before) !== undefined || status === "scheduled"

/** Puts scheduled emails in the order in which they are due, if one page has all that a search finds. */
export const inOrder = (rows: ReadonlyArray<Email>, filters: EmailFilters, hasMore: boolean): ReadonlyArray<Email> =>
  isScheduled(filters) && !hasMore && rows.length <= Paths.PAGE
    ? rows.toSorted((one, other) => (one.scheduled_at ?? "").localeCompare(other.scheduled_at ?? ""))
    : rows

export const isFiltered = (search: EmailFilters): boolean => Object.keys(search).length > 0

/** Time to finish a part that is not understood. */
const UNFINISHED_DELAY_MS = 1_500

/** Returns the delay of a search, which is usually that of others. A field whose value is still to come waits for Enter: its values are offered meanwhile. */
export const delayOf = (text: string, context: EmailSearch.Context, usual: number): number | undefined => {
  if (EmailSearch.parse(text, context).isUnderstood) return usual
  return SearchText.tokensOf(text).at(-1)?.value === "" ? undefined : UNFINISHED_DELAY_MS
}
