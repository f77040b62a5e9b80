import type { Context } from "./EmailSearch.ts"
import * as MeantSearch from "./MeantSearch.ts"
import * as Phrases from "./Phrases.ts"
import * as SearchText from "./SearchText.ts"

/** Says which words of a search are taken as text, although other searches have a meaning for them. */
export const searchHints = (text: string, context: Context): ReadonlyArray<string> => {
  const isRead = MeantSearch.meantBy(text, context) !== undefined
  const hints = SearchText.tokensOf(text).flatMap(({ field, isQuoted, value }) => {
    const hint = field === undefined && !isQuoted ? hintOf(value, isRead) : undefined
    return hint === undefined ? [] : [`“${value}” is searched as text: ${hint}`]
  })
  return [...new Set(hints)]
}

const hintOf = (word: string, isRead: boolean): string | undefined => {
  if (Phrases.isOr(word))
    return "emails must match every word. One filter takes several values, such as is:bounced,failed."
  if (word === "AND") return "emails match every word anyway."
  if (/^[-!]\p{L}/u.test(word) || (/^not$/iu.test(word) && !isRead)) return "a search cannot leave emails out."
  return word.includes("*") ? "there are no patterns, and a part of a word finds it." : undefined
}
