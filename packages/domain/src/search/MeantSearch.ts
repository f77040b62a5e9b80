import { nearestName } from "../values/nearestName.ts"
import * as EmailSearch from "./EmailSearch.ts"
import * as Phrases from "./Phrases.ts"
import * as ReplyCode from "./ReplyCode.ts"
import * as SearchDates from "./SearchDates.ts"
import * as SearchedStatus from "./SearchedStatus.ts"
import * as SearchText from "./SearchText.ts"
import { HIDDEN_OUTCOMES } from "./shownStatus.ts"

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
 * `anyone:bounced provider:gmail since:yesterday until:today`. Undefined if they are no question, or have a negation for
 * which there is no filter. `Phrases.ts` has the words.
 */
export const meantBy = (text: string, context: EmailSearch.Context): string | undefined => questionsOf(text, context)[0]

/** Returns what a question may mean: a name and a number are words, and a pair of metadata if the words find nothing. */
const questionsOf = (text: string, context: EmailSearch.Context): ReadonlyArray<string> => [
  ...new Set([PHRASES, WITH_PAIRS].flatMap((phrases) => questionOf(text, context, phrases) ?? [])),
]

const questionOf = (text: string, context: EmailSearch.Context, phrases: ReadonlyArray<Phrase>): string | undefined => {
  if (text.length > EmailSearch.MAX_PART_CHARS) return undefined
  const words = wordsOf(text)
  const parts = joined(partsOf(words, context, phrases))
  const isQuestion = parts.some(({ isRead }) => isRead) || words.length > EmailSearch.MAX_WORDS
  if (!isQuestion || parts.some(({ isRead, search }) => !isRead && Phrases.isOperator(search))) return undefined
  const search = parts.flatMap((part) => part.search || []).join(" ")
  if (EmailSearch.parse(search, context).isUnderstood) return search === "" ? undefined : search
  // More words than a search has are a text, such as a subject that was pasted.
  return words.every(({ isPlain }) => isPlain) && words.length > EmailSearch.MAX_WORDS
    ? SearchText.writeWord(text.trim())
    : undefined
}

/**
 * Returns the searches that are probably meant by words that find nothing, in the order in which they are tried: those of a
 * question, or else the words with states spelt rightly and names of several things as of one.
 */
export const readingsOf = (text: string, context: EmailSearch.Context): ReadonlyArray<string> => {
  const questions = questionsOf(text, context)
  if (questions.length > 0 || text.length > EmailSearch.MAX_PART_CHARS) return questions
  const words = wordsOf(text)
  const search = words.map((word) => (word.isPlain ? mended(word.text) : word.text)).join(" ")
  const isOther = words.some(({ isPlain, text }) => isPlain && mended(text) !== text)
  if (!isOther || words.some((word) => word.isPlain && Phrases.isOperator(word.text))) return []
  const mendedQuestions = questionsOf(search, context)
  return mendedQuestions.length > 0 || !EmailSearch.parse(search, context).isUnderstood ? mendedQuestions : [search]
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

const wordsOf = (text: string): ReadonlyArray<Word> =>
  SearchText.tokensOf(text).flatMap(({ end, field, isQuoted, start, value }): ReadonlyArray<Word> => {
    if (field !== undefined || isQuoted) return [{ text: text.slice(start, end), isPlain: false }]
    const word = value.replace("’", "'").replace(/[?!,]$/u, "")
    const spelled = word.replace(/n't$/iu, " not").replace(/'s$/iu, "")
    return spelled.split(" ").flatMap((each) => (each === "" ? [] : [{ text: each, isPlain: true }]))
  })

const partsOf = (
  words: ReadonlyArray<Word>,
  context: EmailSearch.Context,
  phrases: ReadonlyArray<Phrase>,
): ReadonlyArray<Part> => {
  const { now } = context
  const parts: Array<Part> = []
  for (let nth = 0; nth < words.length;) {
    const phrase = keyAt(words, nth, context) ?? phraseAt(words, nth, now, phrases)
    const word = words[nth]
    nth += phrase?.length ?? 1
    if (phrase !== undefined) parts.push({ search: phrase.search, isRead: true })
    else if (word?.isPlain === true) parts.push(...wordPart(word.text, now))
    else if (word !== undefined) parts.push({ search: word.text, isRead: false })
  }
  return parts
}

interface Phrase {
  readonly words: ReadonlyArray<string>
  readonly search: string
}

/** Returns phrases, those of most words first. */
const sorted = (phrases: typeof Phrases.PHRASES): ReadonlyArray<Phrase> =>
  phrases
    .map(([phrase, search]) => ({ words: phrase.split(" "), search }))
    .toSorted((a, b) => b.words.length - a.words.length)
const PHRASES = sorted(Phrases.PHRASES)
const WITH_PAIRS = sorted([...Phrases.PHRASES, ...Phrases.PAIRS])

/** Words before the name of an API key, which may be several words itself. */
const BEFORE_KEY = ["key", "api key", "by", "from", "using"]
  .concat(["by", "from", "using", "with"].flatMap((word) => [`${word} key`, `${word} api key`]))
  .flatMap((words) => [`${words} `, `sent ${words} `])

const keyAt = (words: ReadonlyArray<Word>, start: number, { keys = [] }: EmailSearch.Context) => {
  const line = lineOf(words.slice(start))
  const [key] = BEFORE_KEY.filter((before) => line.startsWith(before))
    .flatMap((before) => keys.map(({ name }) => ({ name, line: `${before}${lineOf(wordsOf(name))}` })))
    .filter((each) => line.startsWith(each.line))
    .toSorted((one, other) => other.line.length - one.line.length)
  return key && { length: key.line.split(" ").length - 1, search: SearchText.write("key", key.name) }
}

const lineOf = (words: ReadonlyArray<Word>): string => words.map(({ text }) => `${text.toLowerCase()} `).join("")

const phraseAt = (words: ReadonlyArray<Word>, start: number, now: number, phrases: ReadonlyArray<Phrase>) => {
  for (const phrase of phrases) {
    const values = valuesOf(phrase.words, words.slice(start, start + phrase.words.length), now)
    if (values === undefined) continue
    const search = phrase.search.replace(/[A-Z]+/gu, (name) => values.get(name) ?? beginning(name, now))
    return { length: phrase.words.length, search }
  }
  return undefined
}

const beginning = (name: string, now: number): string => {
  const date = SearchDates.BEGINNINGS.get(name)?.(now)
  return date === undefined ? name : SearchDates.write(date.toISOString(), now)
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
    const value = Phrases.isPlaceholder(name) ? Phrases.PLACEHOLDERS[name](word.text, now) : same(name, word.text)
    if (value === undefined) return undefined
    values.set(name, value)
  }
  return values
}

const same = (name: string, word: string): string | undefined => (name === word.toLowerCase() ? name : undefined)

/** Writes the search for a status in words, of any recipient if lists may hide it, as the overview counts it. */
export const ofStatuses = (statuses: string): string =>
  SearchText.write(HIDDEN_OUTCOMES.some((hidden) => statuses.split(",").includes(hidden)) ? "anyone" : "is", statuses)

const wordPart = (word: string, now: number): ReadonlyArray<Part> => {
  const name = word.toLowerCase()
  if (Phrases.FILLERS.has(name)) return []
  const statuses = Phrases.statusesIn(name)
  const search =
    statuses === undefined ? (codeIn(name) ?? timeIn(word, now) ?? Phrases.providerIn(word)) : ofStatuses(statuses)
  return [{ search: search ?? singularOf(word), isRead: search !== undefined }]
}

const codeIn = (name: string): string | undefined =>
  ReplyCode.isCode(name) ? SearchText.write("code", name) : undefined

/** Reads a date as its day, and other times as those since then. */
const timeIn = (word: string, now: number): string | undefined => {
  const time = Phrases.timeOf(word, now)
  if (time === undefined) return undefined
  return /^\d{4}-\d{2}-\d{2}$/u.test(time) ? Phrases.dayIn(time, now) : SearchText.write("since", time)
}

const STATE = /^(?:is|anyone):/u
const isState = (part: Part | undefined): boolean => STATE.test(part?.search ?? "")

/** Joins statuses into one filter, which finds any of them, so that an "or" between them says nothing. */
const joined = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const states = parts.filter(isState)
  const statuses = [...new Set(states.flatMap(({ search }) => search.replace(STATE, "").split(",")))]
  const isOfRecipients =
    states.some(({ search }) => search.startsWith("anyone:")) &&
    statuses.every((status) => SearchedStatus.OF_RECIPIENTS.some((each) => each === status))
  const field = isOfRecipients ? "anyone" : "is"
  const all = { search: `${field}:${statuses.join(",")}`, isRead: states.some(({ isRead }) => isRead) }
  return parts.flatMap((part, nth) => {
    if (isState(part)) return part === states[0] ? [all] : []
    return Phrases.isOr(part.search) && isState(parts[nth - 1]) && isState(parts[nth + 1]) ? [] : [part]
  })
}
