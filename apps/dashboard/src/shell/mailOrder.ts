import * as SearchDates from "@waybill/domain/search/SearchDates"
import { type EmailFilters, GIVEN_UP } from "../emails/search/EmailFilters.ts"

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
export const mailOrder = (line: string, now: number): MailOrder | undefined => {
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
