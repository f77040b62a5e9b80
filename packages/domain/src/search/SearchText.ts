import * as EmailFilter from "./EmailFilter.ts"

/** A part of the text of the search box: a word, a phrase in quotes, or a field with its value. */
export interface Token {
  readonly start: number
  readonly end: number
  /** Text before the colon; undefined for free words. It may be a field that does not exist. */
  readonly field: string | undefined
  readonly value: string
  readonly isQuoted: boolean
}

const TOKEN = /([a-z][a-z-]*):(?=\s|$)|(?:([a-z][a-z-]*):)?(?:"([^"]*)(?:"|$)|([^\s"]+))/giu

/** Splits the text of the search box. No part of it is left out. */
export const tokensOf = (text: string): ReadonlyArray<Token> =>
  [...text.matchAll(TOKEN)].flatMap((match): ReadonlyArray<Token> => {
    const [whole, lone, field, quoted, word] = match
    // An address such as https://example.com is no field.
    const isUrl = field !== undefined && word !== undefined && word.startsWith("//")
    const value = isUrl ? whole : (quoted ?? word ?? "").trim()
    const typed = isUrl ? undefined : (field ?? lone)?.toLowerCase()
    const name = typed === undefined ? undefined : (EmailFilter.fieldOf(typed) ?? typed)
    if (name === undefined && value === "") return []
    return [{ start: match.index, end: match.index + whole.length, field: name, value, isQuoted: quoted !== undefined }]
  })

export const isField = (name: string): name is EmailFilter.Field => EmailFilter.FIELDS.some((field) => field === name)

/** Writes a field and its value as they are typed. */
export const write = (field: EmailFilter.Field, value: string): string => `${field}:${writeWord(value)}`

/** Writes a text as one word, in quotes if it is several. */
export const writeWord = (value: string): string =>
  /^[^\s"]+$/u.test(value) ? value : `"${value.replaceAll('"', "")}"`

const tidy = (text: string): string => text.replace(/\s+/gu, " ").trim()

/** Returns the text without a part. */
export const without = (text: string, { end, start }: Pick<Token, "start" | "end">): string =>
  tidy(`${text.slice(0, start)} ${text.slice(end)}`)

/** Returns the text with a part replaced. */
export const replace = (text: string, { end, start }: Pick<Token, "start" | "end">, by: string): string =>
  tidy(`${text.slice(0, start)} ${by} ${text.slice(end)}`)

/** Returns the values of a field, of all places where it is. */
export const valuesOf = (text: string, field: EmailFilter.Field): ReadonlyArray<string> =>
  tokensOf(text).flatMap((token) => (token.field === field ? token.value.split(",").filter((each) => each !== "") : []))

/** Returns the text with these values of a field and no others. */
export const withValues = (text: string, field: EmailFilter.Field, values: ReadonlyArray<string>): string => {
  const rest = tokensOf(text)
    .filter((token) => token.field !== field)
    .map(({ end, start }) => text.slice(start, end))
    .join(" ")
  return tidy(values.length === 0 ? rest : `${rest} ${write(field, values.join(","))}`)
}

/** Returns the search without the states of emails that it asks for; undefined if it has none, or nothing else. */
export const inAnyState = (text: string): string | undefined => {
  const isOfState = ({ field }: Token) => field === "is" || field === "anyone"
  if (!tokensOf(text).some(isOfState)) return undefined
  return withValues(withValues(text, "is", []), "anyone", []) || undefined
}
