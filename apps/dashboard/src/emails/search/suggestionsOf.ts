import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import * as MeantSearch from "@waybill/domain/search/MeantSearch"
import * as Phrases from "@waybill/domain/search/Phrases"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import * as SearchText from "@waybill/domain/search/SearchText"
import type { SearchContext } from "./useSearchContext.ts"

export interface Suggestion {
  readonly name: string
  /** The text of the search box with the suggestion. */
  readonly text: string
}

/** Suggestions for a free word, and values of a field. */
const MAX_SUGGESTIONS = 3
const MAX_VALUES = 10
const MIN_CHARS = 2

/** Classes of reply codes, and codes that servers answer often. */
const CODES = ["4xx", "5xx", "421", "450", "451", "452", "550", "552", "554"]
const DATES = ["today", "yesterday", "24h", "7d", "30d"]
const DAYS = ["today", "tomorrow", "24h", "7d"]

/**
 * Suggests how plain words may be read, or else what the last part may mean: values of a field that is being typed, or of a
 * free word a key, a domain or a status.
 */
export const suggestionsOf = (text: string, context: SearchContext): ReadonlyArray<Suggestion> => {
  const tokens = SearchText.tokensOf(text)
  const token = tokens.at(-1)
  if (token === undefined) return []
  const meant = MeantSearch.meantBy(text, context)
  const part = token.value.toLowerCase()
  const suggestion = (name: string, field: EmailFilter.Field, value: string): Suggestion => ({
    name,
    text: SearchText.replace(text, token, SearchText.write(field, value)),
  })
  const { domains, keys = [] } = context
  if (token.field !== undefined) {
    const { field, value } = token
    if (!SearchText.isField(field) || (value !== "" && token.end < text.length)) return []
    const values = valuesOf(field, context).filter((texts) => texts.some((each) => each?.toLowerCase().includes(part)))
    return values.some((texts) => texts.some((each) => each?.toLowerCase() === part))
      ? []
      : values.slice(0, MAX_VALUES).map(([name, each = name]) => suggestion(name, field, each))
  }
  if (part.length < MIN_CHARS) return []
  // A status after "not" would be the opposite of what is sought.
  const hasStatus = meant === undefined && !tokens.some(({ value }) => Phrases.isOperator(value))
  return [
    ...(meant === undefined ? [] : [{ name: `Read as ${meant}`, text: meant }]),
    ...keys
      .filter(({ name }) => name.toLowerCase().includes(part))
      .map(({ name }) => suggestion(`API key: ${name}`, "key", name)),
    ...domains.filter((name) => name.includes(part)).map((name) => suggestion(`From domain: ${name}`, "domain", name)),
    ...SearchedStatus.OF_EMAILS.filter((status) => hasStatus && status.startsWith(part)).map((status) =>
      suggestion(`Status: ${SearchedStatus.nameOf(status)}`, "is", status),
    ),
  ].slice(0, MAX_SUGGESTIONS)
}

type Value = readonly [name: string, value?: string]

/** Returns the known values of a field, each with what is typed if that is another text. */
const valuesOf = (field: EmailFilter.Field, context: SearchContext): ReadonlyArray<Value> =>
  [...new Set(EmailFilter.withWord(field).map((name) => EmailFilter.of(name).kind))].flatMap(
    (kind) => VALUES[kind]?.(context) ?? [],
  )

/** The values that are known of each kind. */
const VALUES: { readonly [K in EmailFilter.Kind]?: (context: SearchContext) => ReadonlyArray<Value> } = {
  statuses: () => SearchedStatus.OF_EMAILS.map((status) => [status]),
  recipientStatuses: () => SearchedStatus.OF_RECIPIENTS.map((status) => [status]),
  codes: () => CODES.map((code) => [code]),
  providers: () => MailboxProvider.ALL.map((provider) => [MailboxProvider.NAMES[provider], provider]),
  key: ({ keys = [] }) => keys.map(({ name }) => [name]),
  template: ({ templates = [] }) => templates.map(({ alias, name }) => (alias === null ? [name] : [name, alias])),
  domain: ({ domains }) => domains.map((name) => [name]),
  time: () => DATES.map((date) => [date]),
  due: () => DAYS.map((date) => [date]),
}
