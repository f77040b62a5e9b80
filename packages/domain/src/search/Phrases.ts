// How words of people become filters: one line a phrase. Without an import of a library, because browsers load it too.

/** Outcomes of mail that is not delivered, as the overview counts them. */
const NOT_DELIVERED = "bounced,failed"
/** They are those of any recipient, as in the overview: a mail that reached others is delivered. */
const IS_NOT_DELIVERED = `anyone:${NOT_DELIVERED}`
/** States of recipients who have not got a mail, or not yet. */
const NOT_GOT = "anyone:queued,sent,deferred,bounced,failed,suppressed,canceled"

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
  ["stuck", "deferred,queued"],
])

/**
 * Phrases in small letters, and the search that each is; of several that fit, the one with most words counts, then the
 * first. Words in capitals stand for one word, as `PLACEHOLDERS` of `MeantSearch.ts` reads it.
 */
export const PHRASES: ReadonlyArray<readonly [phrase: string, search: string]> = [
  ["did not WHO GET", `WHO ${NOT_GOT}`],
  ["did WHO not GET", `WHO ${NOT_GOT}`],
  ["has WHO not GET", `WHO ${NOT_GOT}`],
  ["WHO did not GET", `WHO ${NOT_GOT}`],
  ["WHO has not GET", `WHO ${NOT_GOT}`],
  ["WHO never GET", `WHO ${NOT_GOT}`],
  ["not reach WHO", `WHO ${NOT_GOT}`],
  ["not GET", NOT_GOT],
  ["not ARRIVE", NOT_GOT],
  ["never ARRIVE", NOT_GOT],
  ["undelivered", IS_NOT_DELIVERED],
  ["not delivered", IS_NOT_DELIVERED],
  ["never delivered", IS_NOT_DELIVERED],
  ["-delivered", IS_NOT_DELIVERED],
  ["-is:delivered", IS_NOT_DELIVERED],
  ["partly bounced", "is:partly-bounced"],
  ["partly failed", "is:partly-failed"],
  ["partly suppressed", "is:partly-suppressed"],
  ["at PLACE", "PLACE"],
  ["mail to WHO", "WHO"],
  ["mails to WHO", "WHO"],
  ["email to WHO", "WHO"],
  ["emails to WHO", "WHO"],
  ["sent to WHO", "WHO"],
  ["sent yesterday", "since:yesterday until:today"],
  ["sent TIME", "since:TIME"],
  ["yesterday", "since:yesterday until:today"],
  ["tomorrow", "scheduled:tomorrow"],
  ["scheduled DAY", "scheduled:DAY"],
  ["scheduled for DAY", "scheduled:DAY"],
  ["since TIME", "since:TIME"],
  ["after TIME", "since:TIME"],
  ["until TIME", "until:TIME"],
  ["before TIME", "until:TIME"],
  ["last hour", "since:1h"],
  ["last 24 hours", "since:24h"],
  ["this week", "since:7d"],
  ["last week", "since:7d"],
  ["this month", "since:30d"],
  ["last month", "since:30d"],
  ["code CODE", "code:CODE"],
  ["error CODE", "code:CODE"],
  ["CODE errors", "code:CODE"],
  ["NAME number VALUE", "metadata:NAME=VALUE"],
  ["NAME id VALUE", "metadata:NAME=VALUE"],
  ["NAME VALUE", "metadata:NAME=VALUE"],
]

/** Words between those that say which emails are meant. */
export const FILLERS: ReadonlySet<string> = new Set(
  (
    "a all an and any are at been by can currently did do does email emails every find for from get got had has have her his how i in is it " +
    "its list mail mails many me message messages my now of on our please send show since still that the their them these they this those to " +
    "was we were what when where which who whom whose why with you your"
  ).split(" "),
)

/** Words that a search has no filter for, so that it would say the opposite without them. */
export const NEGATIONS: ReadonlySet<string> = new Set(["not", "no", "never", "without", "except"])
