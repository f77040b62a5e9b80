/** The place of the first error in a text that is not JSON, and what JSON has there. */
export interface JsonError {
  readonly line: number
  /** Counted in UTF-16 code units, as editors do. */
  readonly column: number
  readonly expected: string
}

/** Most characters that are searched for an error. A search takes about as long as parsing. */
export const MAX_SEARCHED_CHARS = 1_000_000

/**
 * Returns the first error of a text that is not JSON; `undefined` if it is not among the first characters. The errors of
 * `JSON.parse` do not always have a place, and repeat parts of the text.
 */
export const jsonErrorIn = (text: string): JsonError | undefined => {
  const error = firstError(text.slice(0, MAX_SEARCHED_CHARS))
  return error === undefined || error.at >= MAX_SEARCHED_CHARS ? undefined : errorAt(text, error)
}

/** An error at an index of the text. */
interface ErrorAt {
  readonly at: number
  readonly expected: string
}

const firstError = (text: string): ErrorAt | undefined => {
  const open: Array<"object" | "array"> = []
  let expected: Expected = VALUE
  let at = 0
  for (;;) {
    WHITESPACE.lastIndex = at
    WHITESPACE.test(text)
    at = WHITESPACE.lastIndex
    const character = text[at]
    const error = () => ({ at, expected: expected.words })
    if (character === undefined) return expected === END ? undefined : error()
    if (!expected.starts.includes(character)) return error()
    at++
    switch (character) {
      case "{":
      case "[":
        open.push(character === "{" ? "object" : "array")
        expected = character === "{" ? FIRST_NAME : FIRST_ITEM
        continue
      case "}":
      case "]":
        open.pop()
        break
      case ":":
        expected = VALUE
        continue
      case ",":
        expected = open.at(-1) === "object" ? NAME : VALUE
        continue
      case '"': {
        const end = endOfString(text, at)
        if (typeof end !== "number") return end
        at = end
        if (expected === NAME || expected === FIRST_NAME) {
          expected = COLON
          continue
        }
        break
      }
      default:
        SCALAR.lastIndex = at - 1
        if (!SCALAR.test(text)) return { at: at - 1, expected: VALUE.words }
        at = SCALAR.lastIndex
    }
    expected = open.length === 0 ? END : open.at(-1) === "object" ? AFTER_FIELD : AFTER_ITEM
  }
}

interface Expected {
  /** The characters that may come next. */
  readonly starts: string
  readonly words: string
}

const STARTS_OF_VALUE = '{["-0123456789tfn'
const VALUE: Expected = { starts: STARTS_OF_VALUE, words: "a value" }
const FIRST_ITEM: Expected = { starts: `${STARTS_OF_VALUE}]`, words: "a value or `]`" }
const NAME: Expected = { starts: '"', words: "a name in double quotes" }
const FIRST_NAME: Expected = { starts: '"}', words: "a name in double quotes or `}`" }
const COLON: Expected = { starts: ":", words: "`:`" }
const AFTER_FIELD: Expected = { starts: ",}", words: "`,` or `}`" }
const AFTER_ITEM: Expected = { starts: ",]", words: "`,` or `]`" }
const END: Expected = { starts: "", words: "the end" }

const WHITESPACE = /[ \t\n\r]*/uy
/** A number or a word; a letter or digit after it belongs to another value. */
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![a-z])/uy
const HEX = /^[0-9a-fA-F]{4}$/u
const QUOTE = 0x22
const BACKSLASH = 0x5c
/** The first character that a string may hold as it is. */
const SPACE = 0x20

/** Returns the index after the string whose content begins at `start`, or its error. */
const endOfString = (text: string, start: number): number | ErrorAt => {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code < SPACE) return { at, expected: `the end of the string; ${spelled(text[at] ?? "")}` }
    if (code !== BACKSLASH) continue
    const escaped = text[at + 1] ?? ""
    if (escaped === "u" ? !HEX.test(text.slice(at + 2, at + 6)) : escaped === "" || !'"\\/bfnrt'.includes(escaped))
      return { at, expected: String.raw`an escape such as \n, \" or \u00e9` }
    at += escaped === "u" ? 5 : 1
  }
  return { at: text.length, expected: "the end of the string" }
}

const spelled = (character: string): string =>
  character === "\n" || character === "\r"
    ? String.raw`a line break in it is written as \n`
    : `a control character in it is written as \\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

const errorAt = (text: string, { at, expected }: ErrorAt): JsonError => {
  let line = 1
  let start = 0
  for (let end = text.indexOf("\n"); end >= 0 && end < at; end = text.indexOf("\n", end + 1)) {
    line++
    start = end + 1
  }
  return { line, column: at - start + 1, expected }
}
