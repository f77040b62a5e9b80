/**
 * Characters that are invisible or change how others are shown: controls, line separators, bidirectional marks,
 * embeddings and overrides, zero-width spaces, invisible operators, tags, fillers, the empty braille pattern.
 */
const HIDING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Visible characters of the format category: number signs of Arabic, Syriac and Kaithi. */
const NUMBER_SIGN = /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]$/u

const JOINERS = "\u200c\u200d"
/** Variation selectors, which choose between emoji and text style of the character before them. */
const SELECTORS = "\ufe0e\ufe0f"
const SELECTABLE = /^\p{Emoji}$/u
/** Emoji, and scripts in which a joiner changes the shape of a letter. In other scripts a joiner is only invisible. */
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
  text.replaceAll(HIDING, (character, at: number) => (isHidden(text, character, at) ? write(character) : character))

export const hasHidden = (text: string): boolean => replaced(text, () => "") !== text

/** Removes hidden characters from text of others, such as a file name. */
export const removeHidden = (text: string): string => replaced(text, () => "")

const NAMED: { readonly [character: string]: string } = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

const escapeOf = (character: string): string => {
  const point = character.codePointAt(0) ?? 0
  const hex = point.toString(16)
  return NAMED[character] ?? (point <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`)
}

/**
 * Escapes hidden characters, line breaks included, in text of others for a terminal or log line, so that it cannot move
 * the cursor, colour, clear or forge output.
 */
export const escape = (text: string): string => replaced(text, escapeOf)

/** Like `escape`, but keeps line breaks. */
export const escapedLines = (text: string): string =>
  replaced(text, (character) => (character === "\n" ? character : escapeOf(character)))

/** Like `escape`, but keeps the controls that JSON always escapes. */
export const escapedValue = (text: string): string =>
  replaced(text, (character) => (character < " " ? character : escapeOf(character)))

/** Writes hidden characters of JSON as JSON escapes. The value stays the same. */
export const escapedJson = (json: string): string =>
  replaced(json, (character) => (character === "\n" ? character : inJson(character)))

const inJson = (character: string): string =>
  Array.from({ length: character.length }, (_, nth) => {
    const hex = character.charCodeAt(nth).toString(16)
    return `\\u${hex.padStart(4, "0")}`
  }).join("")

/** Returns Unicode's control picture for ASCII controls, and the code point for other characters. */
const picture = (character: string): string => {
  const point = character.codePointAt(0) ?? 0
  if (point < 0x20) return String.fromCodePoint(0x2400 + point)
  return point === 0x7f ? "\u2421" : `[U+${point.toString(16).toUpperCase().padStart(4, "0")}]`
}

/** Like `escaped`, for a screen: shows a picture or the code point. */
export const showHidden = (text: string): string => replaced(text, picture)
