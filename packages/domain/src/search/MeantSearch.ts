import * as EmailSearch from "./EmailSearch.ts"
import * as MailboxProvider from "./MailboxProvider.ts"
import * as SearchDates from "./SearchDates.ts"
import * as SearchText from "./SearchText.ts"

// Without an import of a library, because browsers load it too.

/** Words between those that say which emails are meant. */
const FILLERS: ReadonlySet<string> = new Set(
  "a all an and at by email emails for from in mail mails me my of on since that the to was were which with".split(" "),
)

/**
 * Returns the search that free words probably mean, if they found nothing: the name of a status or of a provider is that
 * filter, a time is the start, and filler words mean nothing. `bounced at gmail yesterday` is
 * `is:bounced provider:gmail since:yesterday`.
 */
export const meantBy = (text: string, context: EmailSearch.Context): string | undefined => {
  const written = SearchText.tokensOf(text).map((token) => ({ token, part: text.slice(token.start, token.end) }))
  const meant = written.map(({ part, token: { field, isQuoted, value } }) =>
    field !== undefined || isQuoted ? part : wordMeaning(value, context.now),
  )
  const search = meant.filter((part) => part !== "").join(" ")
  const isSame = meant.every((part, nth) => part === written[nth]?.part)
  return isSame || search === "" || !EmailSearch.parse(search, context).isUnderstood ? undefined : search
}

const wordMeaning = (word: string, now: number): string => {
  const name = word.toLowerCase()
  if (FILLERS.has(name)) return ""
  if (EmailSearch.EMAIL_STATUSES.some((status) => status === name)) return SearchText.write("is", name)
  if (SearchDates.parse(word, now) !== undefined) return SearchText.write("since", name)
  const provider = MailboxProvider.named(word)
  return provider === undefined ? word : SearchText.write("provider", provider)
}
