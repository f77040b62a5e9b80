import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import * as SearchText from "@waybill/domain/search/SearchText"
import { isWaiting } from "../emails/search/EmailFilters.ts"

/** Words of a line that say nothing of which emails to cancel. */
const FILLERS: ReadonlySet<string> = new Set(["all", "email", "emails", "mail", "of", "to", "for", "the", "scheduled"])
const ADDRESS = /^[^@\s]+@[^@\s]+$/u

/**
 * Returns the search for the emails that a line would cancel: "cancel tomorrow's mail", "cancel mail to ana@acme.com",
 * "cancel tag:launch", or the search itself if it finds only mail that waits. Undefined for other lines.
 */
export const waitingOf = (line: string, now: number): string | undefined => {
  const [first, ...rest] = line.split(/\s+/u)
  const isCommand = first?.toLowerCase() === "cancel"
  const parts = SearchText.tokensOf(isCommand ? rest.join(" ") : line).flatMap(({ field, isQuoted, value }) => {
    if (field !== undefined) return [SearchText.isField(field) ? SearchText.write(field, value) : `${field}:${value}`]
    const word = value.replace(/['’]s$/u, "")
    if (isQuoted || !isCommand) return [`"${value}"`]
    if (FILLERS.has(word.toLowerCase())) return []
    if (SearchDates.upcoming(word, now) !== undefined) return [`scheduled:${word}`]
    return [ADDRESS.test(word) ? SearchText.write("to", word) : `"${word}"`]
  })
  const { filters, isUnderstood } = EmailSearch.parse(parts.join(" "), { keys: undefined, now })
  if (!isUnderstood) return undefined
  if (isWaiting(filters)) return parts.join(" ")
  return isCommand && filters.status === undefined ? [...parts, "is:scheduled"].join(" ") : undefined
}
