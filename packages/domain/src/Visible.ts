/**
 * Characters that show as nothing, or that change how others are shown: controls, line separators, bidirectional marks,
 * embeddings and overrides, zero-width spaces, invisible operators, tags, fillers, the empty braille pattern.
 */
const SUSPECT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Format characters by their category that do show: the signs that Arabic, Syriac and Kaithi numbers stand on. */
const NUMBER_SIGN = /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]$/u

const JOINERS = "\u200c\u200d"
/** They choose between the picture and the letter of what stands before. */
const SELECTORS = "\ufe0e\ufe0f"
const SELECTABLE = /^\p{Emoji}$/u
/** Emoji, and the scripts in which a joiner changes the shape of a letter; in others it only hides. */
const JOINABLE = /^(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{ASCII}])[\p{L}\p{M}\p{Emoji}\ufe0f]$/u

const isHidden = (text: string, character: string, at: number): boolean => {
  if (SELECTORS.includes(character)) return !SELECTABLE.test(before(text, at))
  if (JOINERS.includes(character)) return !JOINABLE.test(before(text, at)) || !JOINABLE.test(after(text, at))
  return !NUMBER_SIGN.test(character)
}

const before = (text: string, at: number): string => {
  const pair = text.slice(Math.max(0, at - 2), at)
  return (pair.codePointAt(0) ?? 0) > 0xffff ? pair : pair.slice(-1)
}
const after = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at + 1) ?? 0)

const replaced = (text: string, write: (character: string) => string): string =>
  text.replaceAll(SUSPECT, (character, at: number) => (isHidden(text, character, at) ? write(character) : character))

export const hasHidden = (text: string): boolean => replaced(text, () => "") !== text

/** Without its hidden characters: for text that others made and that is taken along, such as the name of a file. */
export const withoutHidden = (text: string): string => replaced(text, () => "")

const NAMED: { readonly [character: string]: string } = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

const escape = (character: string): string => {
  const point = character.codePointAt(0) ?? 0
  const hex = point.toString(16)
  return NAMED[character] ?? (point <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`)
}

/**
 * Text of others as a terminal or a line of a log may show it: each hidden character is written as its escape, a line
 * break included, so that none can move the cursor, colour, clear or forge what stands beside it.
 */
export const escaped = (text: string): string => replaced(text, escape)

/** The same for text of several lines, of which only the line breaks are ours. */
export const escapedLines = (text: string): string =>
  replaced(text, (character) => (character === "\n" ? character : escape(character)))

/** JSON with its hidden characters in JSON's own escapes: another spelling of the same value. */
export const escapedJson = (json: string): string =>
  replaced(json, (character) => (character === "\n" ? character : inJson(character)))

const inJson = (character: string): string =>
  Array.from({ length: character.length }, (_, nth) => {
    const hex = character.charCodeAt(nth).toString(16)
    return `\\u${hex.padStart(4, "0")}`
  }).join("")

/** Unicode has pictures of the controls of ASCII; the rest is named by its number. */
const picture = (character: string): string => {
  const point = character.codePointAt(0) ?? 0
  if (point < 0x20) return String.fromCodePoint(0x2400 + point)
  return point === 0x7f ? "\u2421" : `[U+${point.toString(16).toUpperCase().padStart(4, "0")}]`
}

/** The same for a screen: what is hidden is shown as a picture or by its number. */
export const pictured = (text: string): string => replaced(text, picture)
