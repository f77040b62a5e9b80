import type * as EmailStatus from "../email/EmailStatus.ts"
import { nearestName } from "../values/nearestName.ts"
import { HIDDEN_OUTCOMES } from "./shownStatus.ts"

// The statuses by which mail is searched. Without an import of a library, because browsers load it too.

/** Statuses of recipients, in the order of a menu. */
export const OF_RECIPIENTS: ReadonlyArray<EmailStatus.Status> = [
  "queued",
  "sent",
  "delivered",
  "deferred",
  "bounced",
  "failed",
  "suppressed",
  "canceled",
  "complained",
]

const PARTLY = "partly-"

/** Statuses of emails that the API filters by: one that is queued for later is `scheduled`. */
export const OF_API: ReadonlyArray<EmailStatus.Status | "scheduled"> = ["scheduled", ...OF_RECIPIENTS]

/** Statuses of emails as lists show them: also `scheduled` and `partly-bounced`, for one that reached others. */
export const OF_EMAILS: ReadonlyArray<string> = OF_API.flatMap((status) =>
  HIDDEN_OUTCOMES.some((outcome) => outcome === status) ? [status, `${PARTLY}${status}`] : [status],
)

/** Returns the name that people read: "Partly bounced". */
export const nameOf = (status: string): string => status.slice(0, 1).toUpperCase() + status.slice(1).replace("-", " ")

/** Outcomes of mail that is not delivered, as the overview counts them. */
export const NOT_DELIVERED = "bounced,failed"

/** Words for statuses, also after `is:` and `anyone:`. */
export const STATUS_WORDS: ReadonlyMap<string, string> = new Map([
  ["undelivered", NOT_DELIVERED],
  ["bounce", "bounced"],
  ["bounces", "bounced"],
  ["rejected", "bounced"],
  ["failure", "failed"],
  ["failures", "failed"],
  ["complaint", "complained"],
  ["complaints", "complained"],
  ["spam", "complained"],
  ["blocked", "suppressed"],
  ["delayed", "deferred"],
  ["waiting", "queued"],
  ["pending", "queued"],
  ["stuck", "deferred"],
])

/** Returns the statuses that an unknown word probably means, if it is another word for some or is near to one. */
export const meantBy = (word: string, known: ReadonlyArray<string>): string | undefined =>
  STATUS_WORDS.get(word) ?? known.find((each) => word === `${PARTLY}${each}`) ?? nearestName(word, known)

/** Returns the filters for emails in other states that have these outcomes for a recipient, if lists hide some of them. */
export const hiddenBy = (statuses: ReadonlyArray<string>): StatusFilters | undefined => {
  const outcomes = HIDDEN_OUTCOMES.filter((outcome) => statuses.includes(outcome))
  const others = OF_RECIPIENTS.filter((status) => !statuses.includes(status))
  return outcomes.length === 0 ? undefined : { status: others.join(","), recipient_status: outcomes.join(",") }
}

/** Filters of the API. */
interface StatusFilters {
  readonly status?: string
  readonly recipient_status?: string
}

/**
 * Returns the filters that the statuses of emails are; undefined if the API has none for them. A partly bounced email is
 * delivered or sent, and bounced for a recipient, so that it goes together with bounced ones only.
 */
export const filtersOf = (
  statuses: ReadonlyArray<string>,
  recipientStatus: string | undefined,
): StatusFilters | undefined => {
  const partly = statuses.flatMap((status) => (status.startsWith(PARTLY) ? [status.slice(PARTLY.length)] : []))
  if (partly.length === 0) return {}
  const others = statuses.filter((status) => !status.startsWith(PARTLY))
  return recipientStatus === undefined && others.every((status) => partly.includes(status))
    ? { status: [...others, "delivered", "sent"].join(","), recipient_status: partly.join(",") }
    : undefined
}
