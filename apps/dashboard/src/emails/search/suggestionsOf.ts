import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as SearchText from "@waybill/domain/search/SearchText"
import type { SearchContext } from "./useSearchContext.ts"

export interface Suggestion {
  readonly name: string
  /** The text of the search box with the suggestion. */
  readonly text: string
}

const MAX_SUGGESTIONS = 3
const MIN_CHARS = 2

/** Suggests what the last free word may mean: a key, a domain or a status. */
export const suggestionsOf = (text: string, { domains, keys = [] }: SearchContext): ReadonlyArray<Suggestion> => {
  const token = SearchText.tokensOf(text).at(-1)
  if (token === undefined || token.field !== undefined || token.value.length < MIN_CHARS) return []
  const part = token.value.toLowerCase()
  const suggestion = (name: string, field: SearchText.Field, value: string): Suggestion => ({
    name,
    text: SearchText.replace(text, token, SearchText.write(field, value)),
  })
  return [
    ...keys
      .filter(({ name }) => name.toLowerCase().includes(part))
      .map(({ name }) => suggestion(`API key: ${name}`, "key", name)),
    ...domains.filter((name) => name.includes(part)).map((name) => suggestion(`From domain: ${name}`, "domain", name)),
    ...EmailSearch.EMAIL_STATUSES.filter((status) => status.startsWith(part)).map((status) =>
      suggestion(`Status: ${status}`, "is", status),
    ),
  ].slice(0, MAX_SUGGESTIONS)
}
