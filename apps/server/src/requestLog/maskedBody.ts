import { MASK, MAX_SEARCHED_CHARS, maskedText } from "./maskedText.ts"
import * as ShownFields from "./ShownFields.ts"

/** Maximum size of a masked body; the rest is cut. */
export const MAX_LOGGED_BODY_BYTES = 16 * 1024
/** Maximum size of a masked answer; the rest is cut. */
export const MAX_LOGGED_ANSWER_BYTES = 4 * 1024
/** Maximum characters between strings, and quotes in strings, that are read, so that a body of millions of them costs little. */
const MAX_READ_CHARS = 256 * 1024
/** Maximum characters of texts that are searched for secrets in a body, which is the most of the work. */
const MAX_SEARCHED_BODY_CHARS = 4 * MAX_LOGGED_BODY_BYTES
/** Maximum fields of an object of headers; of one with more, all values are masked. */
const MAX_HEADER_FIELDS = 200
const MAX_DEPTH = 32
const CUT = "…"

/** How a value is shown. */
type Mode = "shown" | "masked" | "headers"

/** An object of headers, which may be a pair of a name and a value. */
interface HeaderPair {
  readonly hasValue: boolean
  readonly isSecret: boolean
}

/** Thrown at the end of what is shown: the body is cut, too large, or no JSON. */
const END = new Error("end of what is shown")

const BACKSLASH = 0x5c
const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)
const ASCII = /^[ -~]*$/u

/**
 * Reads JSON once, without building its values, and writes it with masks. Strings are found by their quotes, so the
 * megabytes of an attachment cost no more than a search for one byte. Works for what is no valid JSON, too, up to the fault.
 */
class Masking {
  out = ""
  readonly #text: string
  readonly #isShown: (name: string) => boolean
  #at = 0
  #read = 0
  #depth = 0
  #searched = 0

  constructor(bytes: Uint8Array, isShown: (name: string) => boolean) {
    this.#isShown = isShown
    // One character for each byte; text in other scripts is decoded where it is shown.
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
  }

  value(mode: Mode): void {
    const start = this.#peek()
    if (mode === "masked") return this.#mask(start)
    if (mode === "headers") return this.#headers(start)
    if (start === "{") return this.#list("}", () => this.#field())
    if (start === "[") return this.#list("]", () => this.value(mode))
    if (start === '"') return this.#show(this.#string())
    this.#write(this.#word())
  }

  #list(close: "}" | "]", item: () => void): void {
    if (++this.#depth > MAX_DEPTH) throw END
    this.#write(close === "}" ? "{" : "[")
    this.#at++
    while (this.#peek() !== close) {
      item()
      if (this.#peek() !== ",") break
      this.#write(",")
      this.#at++
    }
    if (this.#peek() !== close) throw END
    this.#at++
    this.#depth--
    this.#write(close)
  }

  #field(): void {
    const quoted = this.#fieldName()
    const name = nameOf(quoted) ?? ""
    this.#show(quoted)
    this.#write(":")
    this.value(ShownFields.isHeaders(name) ? "headers" : this.#isShown(name) ? "shown" : "masked")
  }

  /** Returns the name of a field with its quotes. */
  #fieldName(): string {
    if (this.#peek() !== '"') throw END
    const quoted = this.#string()
    if (this.#peek() !== ":") throw END
    this.#at++
    return quoted
  }

  /** Headers are an object by name, or a list of objects that hold a name and a value. Anything else is masked. */
  #headers(start: string): void {
    if (start === "{") return this.#headersOf(this.#pair())
    if (start !== "[") return this.#mask(start)
    this.#list("]", () => {
      const item = this.#peek()
      if (item === "{") this.#headersOf(this.#pair())
      else this.#mask(item)
    })
  }

  #headersOf({ hasValue, isSecret }: HeaderPair): void {
    this.#list("}", () => {
      const quoted = this.#fieldName()
      const field = nameOf(quoted)
      this.#show(quoted)
      this.#write(":")
      const isName = hasValue && field !== undefined && ShownFields.isHeaderName(field)
      const start = this.#peek()
      const isMasked = isName ? false : isSecret || ShownFields.isSecretHeader(field)
      if (isMasked || start === "{" || start === "[") this.#mask(start)
      else this.value("shown")
    })
  }

  /**
   * Reads an object of headers in advance, because the name of a header may stand behind its value, and several times. One that
   * is cut off may hold a secret.
   */
  #pair(): HeaderPair {
    const [at, read] = [this.#at, this.#read]
    const names: Array<string | undefined> = []
    let hasValue = false
    let isComplete = false
    try {
      this.#skipFields((field) => {
        hasValue ||= ShownFields.isHeaderValue(field)
        if (ShownFields.isHeaderName(field) && this.#peek() === '"') {
          const start = this.#at
          names.push(nameOf(this.#string()))
          this.#at = start
        }
      })
      isComplete = true
    } catch (error) {
      if (error !== END) throw error
    }
    this.#at = at
    this.#read = read
    const isNameless = hasValue && names.length === 0
    return { hasValue, isSecret: !isComplete || isNameless || names.some(ShownFields.isSecretHeader) }
  }

  /** Calls `see` with the name of each field of an object, before its value. */
  #skipFields(see: (field: string) => void): void {
    this.#at++
    for (let fields = 0; this.#peek() !== "}"; fields++) {
      if (fields === MAX_HEADER_FIELDS) throw END
      see(nameOf(this.#fieldName()) ?? "")
      this.#skip(this.#peek())
      if (this.#peek() !== ",") break
      this.#at++
    }
    if (this.#peek() !== "}") throw END
  }

  #mask(start: string): void {
    const from = this.#at
    this.#skip(start)
    const value = this.#text.slice(from, Math.min(this.#at, from + 5))
    if (value === "null" || value === "true" || value === "false" || value === '""') return this.#write(value)
    this.#write(`"${start === '"' ? `[masked, ${this.#at - from - 2} bytes]` : MASK}"`)
  }

  #skip(start: string): void {
    if (start === '"') return void this.#string()
    if (start !== "{" && start !== "[") return void this.#word()
    let depth = 0
    do {
      const next = this.#peek()
      if (next === '"') this.#string()
      else {
        if (next === "{" || next === "[") depth++
        else if (next === "}" || next === "]") depth--
        this.#at++
      }
    } while (depth > 0)
  }

  /** Returns a string with its quotes. */
  #string(): string {
    const start = this.#at
    let end = this.#text.indexOf('"', start + 1)
    while (end > 0 && this.#isEscaped(end)) {
      if (++this.#read > MAX_READ_CHARS) throw END
      end = this.#text.indexOf('"', end + 1)
    }
    if (end < 0) throw END
    this.#at = end + 1
    return this.#text.slice(start, this.#at)
  }

  #isEscaped(end: number): boolean {
    let slashes = 0
    while (this.#text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    return slashes % 2 === 1
  }

  /** Returns a number, `true`, `false` or `null`. */
  #word(): string {
    const match = /[\w.+-]{1,40}/uy
    match.lastIndex = this.#at
    const [word] = match.exec(this.#text) ?? []
    if (word === undefined || !/^(?:-?\d[\d.eE+-]*|true|false|null)$/u.test(word)) throw END
    this.#at += word.length
    return word
  }

  /** Returns the next character that is no white space. */
  #peek(): string {
    const start = this.#at
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++
    this.#read += this.#at - start + 1
    if (this.#at >= this.#text.length || this.#read > MAX_READ_CHARS) throw END
    return this.#text.charAt(this.#at)
  }

  #show(quoted: string): void {
    this.#searched += Math.min(quoted.length, MAX_SEARCHED_CHARS)
    if (this.#searched > MAX_SEARCHED_BODY_CHARS) throw END
    this.#write(shown(quoted))
  }

  #write(piece: string): void {
    this.out += piece
    if (this.out.length > MAX_LOGGED_BODY_BYTES) throw END
  }
}

/** Returns the text of a string of JSON; undefined if it is none. */
const textOf = (quoted: string): string | undefined => {
  const inner = quoted.slice(1, -1)
  if (ASCII.test(inner) && !inner.includes("\\")) return inner
  try {
    return JSON.parse(Buffer.from(quoted, "latin1").toString("utf8")) as string
  } catch {
    return undefined
  }
}

/** Characters of JSON of the longest name that is compared with others. */
const MAX_NAME_CHARS = 1_000

/** Returns the name that a string of JSON holds; undefined if it is none, or longer than the name of anything that is shown. */
const nameOf = (quoted: string): string | undefined => (quoted.length > MAX_NAME_CHARS ? undefined : textOf(quoted))

/** Strings of JSON of more characters are decoded in part only. */
const MAX_DECODED_CHARS = 4 * MAX_SEARCHED_CHARS
/** Maximum length of an escape such as `\u00e9`. */
const ESCAPE_CHARS = 6

/** Returns the beginning of a long string of JSON, which ends before an escape or character that would be cut in two. */
const beginningOf = (quoted: string): string | undefined => {
  for (let end = MAX_DECODED_CHARS; end > MAX_DECODED_CHARS - ESCAPE_CHARS; end--) {
    const text = textOf(`${quoted.slice(0, end)}"`)
    if (text !== undefined) return text
  }
  return undefined
}

/** Returns a string of JSON with the secrets in it masked. */
const shown = (quoted: string): string => {
  if (quoted.length > MAX_DECODED_CHARS) {
    const beginning = beginningOf(quoted)
    return JSON.stringify(beginning === undefined ? MASK : maskedText(beginning, `${quoted.length - 2} bytes`))
  }
  const text = textOf(quoted)
  if (text === undefined) return `"${MASK}"`
  const masked = maskedText(text)
  return masked === text && text.length + 2 === quoted.length ? quoted : JSON.stringify(masked)
}

/**
 * Returns the JSON of a body, or of an answer with its own fields, with secrets and content masked, at most so many bytes of it;
 * empty if it is no JSON object or list.
 */
export const maskedBody = (
  bytes: Uint8Array,
  isShown = ShownFields.isShown,
  maximum = MAX_LOGGED_BODY_BYTES,
): string => {
  const first = bytes.find((byte) => !isSpace(byte))
  if (first !== 0x7b && first !== 0x5b) return ""
  const masking = new Masking(bytes, isShown)
  try {
    masking.value("shown")
    return cut(masking.out, maximum)
  } catch (error) {
    if (error !== END) throw error
    return cut(masking.out + CUT, maximum)
  }
}

const cut = (text: string, maximum: number): string => {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maximum) return text
  // A character that is cut in two becomes a replacement character, which is dropped.
  const kept = Buffer.from(text).subarray(0, maximum - Buffer.byteLength(CUT))
  return kept.toString("utf8").replace(/\uFFFD+$/u, "") + CUT
}
