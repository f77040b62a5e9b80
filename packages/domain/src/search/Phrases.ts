import * as EmailSearch from "./EmailSearch.ts"
import * as MailboxProvider from "./MailboxProvider.ts"
import * as RecipientPart from "./RecipientPart.ts"
import * as ReplyCode from "./ReplyCode.ts"
import * as SearchDates from "./SearchDates.ts"
import * as SearchedStatus from "./SearchedStatus.ts"
import * as SearchText from "./SearchText.ts"

// How words of people become filters: one line a phrase. Without an import of a library, because browsers load it too.

/** Mail that is not delivered, as the overview counts it: also of one recipient, where others were reached. */
const NOT_DELIVERED = `anyone:${SearchedStatus.NOT_DELIVERED}`
/** States of recipients who have not got a mail, or not yet. */
const NOT_GOT = "anyone:queued,sent,deferred,bounced,failed,suppressed,canceled"

type Phrase = readonly [phrase: string, search: string]

/** Phrases for times, each with or without "sent" before it. Weeks and months are those of the calendar, in UTC. */
const TIMES: ReadonlyArray<Phrase> = [
  ["yesterday", "since:yesterday until:today"],
  ["on WEEKDAY", "WEEKDAY"],
  ["last WEEKDAY", "WEEKDAY"],
  ["last hour", "since:1h"],
  ["last NUMBER hours", "since:NUMBERh"],
  ["last NUMBER days", "since:NUMBERd"],
  ["this week", "since:THISWEEK"],
  ["last week", "since:LASTWEEK until:THISWEEK"],
  ["this month", "since:THISMONTH"],
  ["last month", "since:LASTMONTH until:THISMONTH"],
]

/**
 * Phrases in small letters, and the search that each is; of several that fit, the one with most words counts, then the
 * first. Words in capitals stand for one word, as `PLACEHOLDERS` reads it, or for the beginning of a
 * week or month.
 */
export const PHRASES: ReadonlyArray<Phrase> = [
  ["did not WHO GET", `WHO ${NOT_GOT}`],
  ["did WHO not GET", `WHO ${NOT_GOT}`],
  ["has WHO not GET", `WHO ${NOT_GOT}`],
  ["WHO did not GET", `WHO ${NOT_GOT}`],
  ["WHO has not GET", `WHO ${NOT_GOT}`],
  ["WHO never GET", `WHO ${NOT_GOT}`],
  ["not reach WHO", `WHO ${NOT_GOT}`],
  ["did WHO GET", "WHO"],
  ["has WHO GET", "WHO"],
  ["not GET", NOT_GOT],
  ["not ARRIVE", NOT_GOT],
  ["never ARRIVE", NOT_GOT],
  ["not delivered", NOT_DELIVERED],
  ["never delivered", NOT_DELIVERED],
  ["-delivered", NOT_DELIVERED],
  ["-is:delivered", NOT_DELIVERED],
  ["partly bounced", "is:partly-bounced"],
  ["partly failed", "is:partly-failed"],
  ["partly suppressed", "is:partly-suppressed"],
  ["at PLACE", "PLACE"],
  ["mail to WHO", "WHO"],
  ["mails to WHO", "WHO"],
  ["email to WHO", "WHO"],
  ["emails to WHO", "WHO"],
  ["sent to WHO", "WHO"],
  ["with tag WORD", "tag:WORD"],
  ["tag WORD", "tag:WORD"],
  ["tagged WORD", "tag:WORD"],
  ["from SENDER", "from:SENDER"],
  ["sent from SENDER", "from:SENDER"],
  ...TIMES,
  ...TIMES.map(([phrase, search]): Phrase => [`sent ${phrase}`, search]),
  ["sent WEEKDAY", "WEEKDAY"],
  ["sent TIME", "since:TIME"],
  ["right now", ""],
  ["tomorrow", "scheduled:tomorrow"],
  ["scheduled DAY", "scheduled:DAY"],
  ["scheduled for DAY", "scheduled:DAY"],
  ["since TIME", "since:TIME"],
  ["after TIME", "since:TIME"],
  ["until TIME", "until:TIME"],
  ["before TIME", "until:TIME"],
  ["code CODE", "code:CODE"],
  ["error CODE", "code:CODE"],
  ["CODE errors", "code:CODE"],
]

/** Phrases for pairs of metadata. The same words may be in a subject, which is searched first. */
export const PAIRS: ReadonlyArray<Phrase> = [
  ["NAME number VALUE", "metadata:NAME=VALUE"],
  ["NAME id VALUE", "metadata:NAME=VALUE"],
  ["NAME VALUE", "metadata:NAME=VALUE"],
]

/** Words between those that say which emails are meant. */
export const FILLERS: ReadonlySet<string> = new Set(
  (
    "a all an and any anybody anyone anything are at been by can currently did do does email emails every everybody everyone find for from get got had has have her his how i in is it " +
    "its list mail mails many me message messages my now of on our please send show since somebody someone still that the their them these they this those to " +
    "was we were what when where which who whom whose why with you your"
  ).split(" "),
)

/** Words that a search has no filter for, so that it would say the opposite without them. */
const NEGATIONS: ReadonlySet<string> = new Set(["not", "no", "never", "without", "except"])

/** Whether a word excludes or joins others in other searches: `not`, `-delivered`, `or`. */
export const isOperator = (word: string): boolean =>
  NEGATIONS.has(word.toLowerCase()) || /^[-!]\p{L}/u.test(word) || isOr(word)

/** Whether a word joins alternatives in other searches. */
export const isOr = (word: string): boolean => /^(?:or|\|\|?)$/iu.test(word)

/** Each reads a word as the value of its place, or as none. */
export const PLACEHOLDERS = {
  /** A person or a provider, as a filter. */
  WHO: (word: string, now: number) =>
    isName(word, now)
      ? (providerIn(word) ?? SearchText.write("to", EmailSearch.isAddress(word) ? word : RecipientPart.ofName(word)))
      : undefined,
  /** A provider or a domain, also without its ending, as a filter. */
  PLACE: (word: string, now: number) =>
    isName(word, now) && /^@?\p{L}/u.test(word)
      ? (providerIn(word) ?? SearchText.write("to", `@${word.replace(/^@/u, "")}`))
      : undefined,
  /** An address or a domain. */
  SENDER: (word: string) =>
    [word.toLowerCase()].find((each) => /^(?:[^\s@"]+@)?[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u.test(each)),
  GET: (word: string) => ["get", "got", "receive", "received"].find((each) => each === word.toLowerCase()),
  ARRIVE: (word: string) => ["arrive", "arrived", "come"].find((each) => each === word.toLowerCase()),
  DAY: (word: string, now: number) =>
    [word.toLowerCase()].find((each) => SearchDates.upcoming(each, now) !== undefined),
  TIME: (word: string, now: number) => timeOf(word, now) ?? dateOf(SearchDates.lastWeekday(word, now), now),
  /** A day of the week, as filters. */
  WEEKDAY: (word: string, now: number) => {
    const date = dateOf(SearchDates.lastWeekday(word, now), now)
    return date === undefined ? undefined : dayIn(date, now)
  },
  NUMBER: (word: string) => [word].find((each) => /^[1-9]\d{0,2}$/u.test(each)),
  WORD: (word: string, now: number) => (isName(word, now) ? SearchText.writeWord(word) : undefined),
  CODE: (word: string) => [word.toLowerCase()].find(ReplyCode.isCode),
  /** The name of a pair of metadata, which usually begins with a small letter. */
  NAME: (word: string, now: number) =>
    isName(word, now) && /^\p{L}[\p{L}\p{N}_-]*$/u.test(word)
      ? word.slice(0, 1).toLowerCase() + word.slice(1)
      : undefined,
  /** The value of a pair: a number, or an id with one. */
  VALUE: (word: string, now: number) =>
    /^#?[\p{L}\p{N}_.-]{3,}$/u.test(word) && /\p{N}/u.test(word) && SearchDates.parse(word, now) === undefined
      ? word.replace("#", "")
      : undefined,
}

export const isPlaceholder = (name: string): name is keyof typeof PLACEHOLDERS => Object.hasOwn(PLACEHOLDERS, name)

/** Whether a word may be the name of somebody or something: it means nothing else. */
const isName = (word: string, now: number): boolean => {
  const name = word.toLowerCase()
  return (
    !FILLERS.has(name) &&
    !isOperator(word) &&
    statusesIn(name) === undefined &&
    !ReplyCode.isCode(name) &&
    SearchDates.parse(word, now) === undefined
  )
}

export const providerIn = (word: string): string | undefined => {
  const provider = MailboxProvider.named(word)
  return provider === undefined ? undefined : SearchText.write("provider", provider)
}

export const statusesIn = (name: string): string | undefined =>
  SearchedStatus.OF_EMAILS.find((status) => status === name) ?? SearchedStatus.STATUS_WORDS.get(name)

export const timeOf = (word: string, now: number): string | undefined =>
  [word.toLowerCase(), word].find((each) => SearchDates.parse(each, now) !== undefined)

const dateOf = (iso: string | undefined, now: number): string | undefined => iso && SearchDates.write(iso, now)

/** Writes the day that begins so as filters. */
export const dayIn = (date: string, now: number): string => {
  const end = SearchDates.upcoming(date, now)?.to ?? ""
  return `${SearchText.write("since", date)} ${SearchText.write("until", SearchDates.write(end, now))}`
}
