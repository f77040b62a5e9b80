/** A part of the address of a recipient. */
export interface RecipientPart {
  readonly text: string
  /** Whether a word of the address begins with it, and ends with it. */
  readonly begins: boolean
  readonly ends: boolean
}

/** Reads a part as it is typed: `ana` is anywhere, `^ana` where a word begins, and `^bo$` a whole word. */
export const of = (typed: string): RecipientPart => {
  const [, begins = "", text = typed, ends = ""] = /^(\^?)(.+?)(\$?)$/su.exec(typed) ?? []
  return { text, begins: begins !== "", ends: ends !== "" }
}

/** Shortest part that names begin with rather often; a shorter name is sought as a whole word. */
const MIN_BEGINNING_CHARS = 3

/** Writes the name of somebody as a part: `^ana` does not find tanaka, and `^bo$` does not find bounced. */
export const ofName = (name: string): string =>
  /^[\p{L}\p{N}]/u.test(name) ? `^${name}${name.length < MIN_BEGINNING_CHARS ? "$" : ""}` : name

/**
 * Returns a regular expression, of JavaScript and of Postgres, that an address in small letters has if it has the part where
 * its marks say; undefined for a part without marks.
 */
export const expressionOf = (part: RecipientPart): string | undefined =>
  part.begins || part.ends
    ? `${part.begins ? "(^|[^a-z0-9])" : ""}${part.text.replace(/[\\^$.|?*+()[\]{}]/gu, "\\$&")}${part.ends ? "($|[^a-z0-9])" : ""}`
    : undefined
