import { nearestName } from "../values/nearestName.ts"
import * as EmailSearch from "./EmailSearch.ts"
import * as MailboxProvider from "./MailboxProvider.ts"
import * as Phrases from "./Phrases.ts"
import * as RecipientPart from "./RecipientPart.ts"
import * as ReplyCode from "./ReplyCode.ts"
import * as SearchDates from "./SearchDates.ts"
import * as SearchedStatus from "./SearchedStatus.ts"
import * as SearchText from "./SearchText.ts"

// Without an import of a library, because browsers load it too.

/** A word of a question; a filter or a text in quotes stays as it is. */
interface Word {
  readonly text: string
  readonly isPlain: boolean
}

/** A reading of some words: their part of the search, which is empty for words that say nothing. */
interface Part {
  readonly search: string
  readonly isRead: boolean
}

/**
 * Returns the search that plain words probably mean: `bounced at gmail yesterday` is
 * `is:bounced provider:gmail since:yesterday until:today`. Undefined if they are no question, or have a negation for which
 * there is no filter. `Phrases.ts` has the words.
 */
export const meantBy = (text: string, context: EmailSearch.Context): string | undefined => {
  if (text.length > EmailSearch.MAX_PART_CHARS) return undefined
  const words = wordsOf(text)
  const parts = joined(partsOf(words, context))
  const isQuestion = parts.some(({ isRead }) => isRead) || words.length > EmailSearch.MAX_WORDS
  if (!isQuestion || parts.some(({ isRead, search }) => !isRead && isOperator(search))) return undefined
  const search = parts.map((part) => part.search).join(" ")
  if (EmailSearch.parse(search, context).isUnderstood) return search === "" ? undefined : search
  // More words than a search has are a text, such as a subject that was pasted.
  return words.every(({ isPlain }) => isPlain) && words.length > EmailSearch.MAX_WORDS
    ? SearchText.writeWord(text.trim())
    : undefined
}

/**
 * Returns the search that is probably meant by words that find nothing: that of a question, or else the words with states
 * spelt rightly and names of several things as of one.
 */
export const insteadOf = (text: string, context: EmailSearch.Context): string | undefined => {
  const meant = meantBy(text, context)
  if (meant !== undefined || text.length > EmailSearch.MAX_PART_CHARS) return meant
  const words = wordsOf(text)
  const search = words.map((word) => (word.isPlain ? mended(word.text) : word.text)).join(" ")
  const isOther = words.some(({ isPlain, text }) => isPlain && mended(text) !== text)
  if (!isOther || words.some((word) => word.isPlain && isOperator(word.text))) return undefined
  return meantBy(search, context) ?? (EmailSearch.parse(search, context).isUnderstood ? search : undefined)
}

/** Shortest word that may be a misspelt state: shorter ones are near to many. */
const MIN_MISSPELT_CHARS = 5

const mended = (word: string): string =>
  (word.length < MIN_MISSPELT_CHARS ? undefined : nearestName(word, SearchedStatus.OF_API)) ?? singularOf(word)

/** Shortest part that a plural is sought by. */
const MIN_SINGULAR_CHARS = 4

/** Returns the part of a plural that the singular has too: both have `receipt` of "receipts", and `deliver` of "deliveries". */
const singularOf = (word: string): string => {
  const part = /^\p{L}+$/u.test(word) ? word.replace(/(?:ies|(?<=ss|x|ch|sh)es|(?<=[^siu])s)$/iu, "") : word
  return part.length < MIN_SINGULAR_CHARS ? word : part
}

/** Whether a word excludes or joins others in other searches: `not`, `-delivered`, `or`. */
export const isOperator = (word: string): boolean =>
  Phrases.NEGATIONS.has(word.toLowerCase()) || /^[-!]\p{L}/u.test(word) || isOr(word)

/** Whether a word joins alternatives in other searches. */
export const isOr = (word: string): boolean => /^(?:or|\|\|?)$/iu.test(word)

const wordsOf = (text: string): ReadonlyArray<Word> =>
  SearchText.tokensOf(text).flatMap(({ end, field, isQuoted, start, value }): ReadonlyArray<Word> => {
    if (field !== undefined || isQuoted) return [{ text: text.slice(start, end), isPlain: false }]
    const word = value.replace("’", "'").replace(/[?!,]$/u, "")
    const spelled = word.replace(/n't$/iu, " not").replace(/'s$/iu, "")
    return spelled.split(" ").flatMap((each) => (each === "" ? [] : [{ text: each, isPlain: true }]))
  })

const partsOf = (words: ReadonlyArray<Word>, context: EmailSearch.Context): ReadonlyArray<Part> => {
  const { now } = context
  const parts: Array<Part> = []
  for (let nth = 0; nth < words.length;) {
    const phrase = keyAt(words, nth, context) ?? phraseAt(words, nth, now)
    const word = words[nth]
    nth += phrase?.length ?? 1
    if (phrase !== undefined) parts.push({ search: phrase.search, isRead: true })
    else if (word?.isPlain === true) parts.push(...wordPart(word.text, now))
    else if (word !== undefined) parts.push({ search: word.text, isRead: false })
  }
  return parts
}

/** Phrases, those of most words first. */
const PHRASES = Phrases.PHRASES.map(([phrase, search]) => ({ words: phrase.split(" "), search })).sort(
  (a, b) => b.words.length - a.words.length,
)

/** Words before the name of an API key, which may be several words itself. */
const BEFORE_KEY = /^(?:(?:sent )?(?:by|from)|key) /u

const keyAt = (words: ReadonlyArray<Word>, start: number, { keys = [] }: EmailSearch.Context) => {
  const [before] = BEFORE_KEY.exec(lineOf(words.slice(start, start + 2))) ?? []
  if (before === undefined) return undefined
  const line = lineOf(words.slice(start))
  const [key] = keys
    .map(({ name }) => ({ name, line: `${before}${lineOf(wordsOf(name))}` }))
    .filter((each) => line.startsWith(each.line))
    .toSorted((one, other) => other.line.length - one.line.length)
  return key && { length: key.line.split(" ").length - 1, search: SearchText.write("key", key.name) }
}

const lineOf = (words: ReadonlyArray<Word>): string => words.map(({ text }) => `${text.toLowerCase()} `).join("")

const phraseAt = (words: ReadonlyArray<Word>, start: number, now: number) => {
  for (const phrase of PHRASES) {
    const values = valuesOf(phrase.words, words.slice(start, start + phrase.words.length), now)
    if (values === undefined) continue
    const search = phrase.search.replace(/[A-Z]+/gu, (name) => values.get(name) ?? name)
    return { length: phrase.words.length, search }
  }
  return undefined
}

/** Returns the values of the placeholders of a phrase; undefined if the words are not the phrase. */
const valuesOf = (
  phrase: ReadonlyArray<string>,
  words: ReadonlyArray<Word>,
  now: number,
): ReadonlyMap<string, string> | undefined => {
  const values = new Map<string, string>()
  for (const [nth, name] of phrase.entries()) {
    const word = words[nth]
    if (word === undefined || !word.isPlain) return undefined
    const value = isPlaceholder(name) ? PLACEHOLDERS[name](word.text, now) : same(name, word.text)
    if (value === undefined) return undefined
    values.set(name, value)
  }
  return values
}

const same = (name: string, word: string): string | undefined => (name === word.toLowerCase() ? name : undefined)

/** Each reads a word as the value of its place, or as none. */
const PLACEHOLDERS = {
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
  GET: (word: string) => ["get", "got", "receive", "received"].find((each) => each === word.toLowerCase()),
  ARRIVE: (word: string) => ["arrive", "arrived", "come"].find((each) => each === word.toLowerCase()),
  DAY: (word: string, now: number) =>
    [word.toLowerCase()].find((each) => SearchDates.upcoming(each, now) !== undefined),
  TIME: (word: string, now: number) =>
    [word.toLowerCase(), word].find((each) => SearchDates.parse(each, now) !== undefined),
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

const isPlaceholder = (name: string): name is keyof typeof PLACEHOLDERS => Object.hasOwn(PLACEHOLDERS, name)

/** Whether a word may be the name of somebody or something: it means nothing else. */
const isName = (word: string, now: number): boolean => {
  const name = word.toLowerCase()
  return (
    !Phrases.FILLERS.has(name) &&
    !isOperator(word) &&
    statusesIn(name) === undefined &&
    !ReplyCode.isCode(name) &&
    SearchDates.parse(word, now) === undefined
  )
}

const providerIn = (word: string): string | undefined => {
  const provider = MailboxProvider.named(word)
  return provider === undefined ? undefined : SearchText.write("provider", provider)
}

const statusesIn = (name: string): string | undefined =>
  SearchedStatus.OF_EMAILS.find((status) => status === name) ?? Phrases.STATUS_WORDS.get(name)

const wordPart = (word: string, now: number): ReadonlyArray<Part> => {
  const name = word.toLowerCase()
  if (Phrases.FILLERS.has(name)) return []
  const statuses = statusesIn(name)
  const search =
    statuses === undefined ? (codeIn(name) ?? timeIn(word, now) ?? providerIn(word)) : SearchText.write("is", statuses)
  return [{ search: search ?? singularOf(word), isRead: search !== undefined }]
}

const codeIn = (name: string): string | undefined =>
  ReplyCode.isCode(name) ? SearchText.write("code", name) : undefined

/** Reads a date as its day, and other times as those since then. */
const timeIn = (word: string, now: number): string | undefined => {
  const time = PLACEHOLDERS.TIME(word, now)
  if (time === undefined) return undefined
  const since = SearchText.write("since", time)
  const day = /^\d{4}-\d{2}-\d{2}$/u.test(time) ? SearchDates.upcoming(time, now) : undefined
  return day === undefined ? since : `${since} ${SearchText.write("until", SearchDates.write(day.to, now))}`
}

const STATE = /^(?:is|anyone):/u
const isState = (part: Part | undefined): boolean => STATE.test(part?.search ?? "")

/** Joins statuses into one filter, which finds any of them, so that an "or" between them says nothing. */
const joined = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const states = parts.filter(isState)
  const statuses = [...new Set(states.flatMap(({ search }) => search.replace(STATE, "").split(",")))]
  const field = states.some(({ search }) => search.startsWith("anyone:")) ? "anyone" : "is"
  const all = { search: `${field}:${statuses.join(",")}`, isRead: states.some(({ isRead }) => isRead) }
  return parts.flatMap((part, nth) => {
    if (isState(part)) return part === states[0] ? [all] : []
    return isOr(part.search) && isState(parts[nth - 1]) && isState(parts[nth + 1]) ? [] : [part]
  })
}
