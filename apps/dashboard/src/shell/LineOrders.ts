import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import * as SearchText from "@waybill/domain/search/SearchText"
import { type EmailFilters, GIVEN_UP, isWaiting } from "../emails/search/EmailFilters.ts"

/** Words of a line that say nothing of which emails to cancel. */
const CANCEL_FILLERS: ReadonlySet<string> = new Set([
  "all",
  "email",
  "emails",
  "mail",
  "of",
  "to",
  "for",
  "the",
  "scheduled",
])
const ADDRESS = /^[^@\s]+@[^@\s]+$/u

/**
 * Returns the search for the emails that a line would cancel: "cancel tomorrow's mail", "cancel mail to ana@acme.com",
 * "cancel tag:launch", or the search itself if it finds only mail that waits. Undefined for other lines.
 */
export const waiting = (line: string, now: number): string | undefined => {
  const [first, ...rest] = line.split(/\s+/u)
  const isCommand = first?.toLowerCase() === "cancel"
  const parts = SearchText.tokensOf(isCommand ? rest.join(" ") : line).flatMap(({ field, isQuoted, value }) => {
    if (field !== undefined) return [SearchText.isField(field) ? SearchText.write(field, value) : `${field}:${value}`]
    const word = value.replace(/['’]s$/u, "")
    if (isQuoted || !isCommand) return [`"${value}"`]
    if (CANCEL_FILLERS.has(word.toLowerCase())) return []
    if (SearchDates.upcoming(word, now) !== undefined) return [`scheduled:${word}`]
    return [ADDRESS.test(word) ? SearchText.write("to", word) : `"${word}"`]
  })
  const { filters, isUnderstood } = EmailSearch.parse(parts.join(" "), { keys: undefined, now })
  if (!isUnderstood) return undefined
  if (isWaiting(filters)) return parts.join(" ")
  return isCommand && filters.status === undefined ? [...parts, "is:scheduled"].join(" ") : undefined
}

/** A change that a line asks for, and the search for the email to change. */
export interface MailOrder {
  readonly kind: "resend" | "reschedule"
  readonly sought: string
  /** The emails with which it can be done. */
  readonly filters: EmailFilters
  /** The new time of a scheduled email; undefined if the line has none. */
  readonly at?: string | undefined
}

const RESEND = /^(?:resend|send again) /iu
const RESCHEDULE = /^reschedule /iu
/** Words of a line that say nothing of which email is meant. */
const FILLERS = /^(?:(?:the|mail|email|emails|to) )+/iu
const UNTIL = " to "

/** Returns what a line asks: "resend order 7", "reschedule order 7 to tomorrow 09:00". Undefined for other lines. */
export const ofMail = (line: string, now: number): MailOrder | undefined => {
  if (RESEND.test(line))
    return {
      kind: "resend",
      sought: line.replace(RESEND, "").replace(FILLERS, ""),
      filters: { recipient_status: [...GIVEN_UP].join(",") },
    }
  if (!RESCHEDULE.test(line)) return undefined
  const text = line.replace(RESCHEDULE, "")
  const end = text.lastIndexOf(UNTIL)
  const at = end < 0 ? undefined : timeOf(text.slice(end + UNTIL.length).trim(), now)
  return {
    kind: "reschedule",
    sought: (at === undefined ? text : text.slice(0, end)).replace(FILLERS, ""),
    filters: { status: "scheduled" },
    at,
  }
}

/** Returns a time of the future, in UTC: "2h", "tomorrow", "tomorrow 09:00" or "2026-12-01 09:00". */
const timeOf = (text: string, now: number): string | undefined => {
  const [day = "", hour = "00:00"] = text.split(/\s+/u)
  const days = SearchDates.upcoming(day, now)
  const at = days?.from === undefined ? days?.to : SearchDates.parse(`${days.from.slice(0, 10)}T${hour}`, now)
  return at === undefined || Date.parse(at) <= now ? undefined : at
}
