import { MASK, maskedText } from "./maskedText.ts"
import * as ShownFields from "./ShownFields.ts"

/** Maximum size of a masked body; the rest is cut. */
export const MAX_LOGGED_BODY_BYTES = 16 * 1024
/** Maximum characters between strings that are read, so that a body of millions of numbers costs little. */
const MAX_READ_CHARS = 256 * 1024
const MAX_DEPTH = 32
const CUT = "…"

/** How the values of an object or list are shown. In headers every name is shown. */
type Mode = "shown" | "masked" | "headers"

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
  #at = 0
  #read = 0
  #depth = 0
  #headerName = ""

  constructor(bytes: Uint8Array) {
    // One character for each byte; text in other scripts is decoded where it is shown.
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
  }

  value(mode: Mode): void {
    const start = this.#peek()
    if (mode === "masked") return this.#mask(start)
    if (start === "{") return this.#list("}", () => this.#field(mode))
    if (start === "[") return this.#list("]", () => this.value(mode))
    if (start === '"') return this.#write(shown(this.#string()))
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

  #field(mode: Mode): void {
    if (this.#peek() !== '"') throw END
    const quoted = this.#string()
    const name = textOf(quoted) ?? ""
    this.#write(shown(quoted))
    if (this.#peek() !== ":") throw END
    this.#at++
    this.#write(":")
    if (mode === "headers") return this.#headerField(name)
    this.value(ShownFields.isHeaders(name) ? "headers" : ShownFields.isShown(name) ? "shown" : "masked")
  }

  /** Headers are an object by name, or a list of names and values. */
  #headerField(name: string): void {
    const isPair = /^(?:name|value)$/iu.test(name)
    if (/^name$/iu.test(name) && this.#peek() === '"') {
      const at = this.#at
      this.#headerName = textOf(this.#string()) ?? ""
      this.#at = at
    }
    this.value(
      ShownFields.isSecretHeader(isPair ? this.#headerName : name) && !/^name$/iu.test(name) ? "masked" : "headers",
    )
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
    while (end > 0 && this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1)
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

/** Returns a string of JSON with the secrets in it masked. */
const shown = (quoted: string): string => {
  const text = textOf(quoted)
  if (text === undefined) return `"${MASK}"`
  const masked = maskedText(text)
  return masked === text && text.length + 2 === quoted.length ? quoted : JSON.stringify(masked)
}

/**
 * Returns the JSON of a body with secrets and content masked, at most `MAX_LOGGED_BODY_BYTES` of it; empty for a body that is no
 * JSON object or list.
 */
export const maskedBody = (bytes: Uint8Array): string => {
  const first = bytes.find((byte) => !isSpace(byte))
  if (first !== 0x7b && first !== 0x5b) return ""
  const masking = new Masking(bytes)
  try {
    masking.value("shown")
    return cut(masking.out)
  } catch (error) {
    if (error !== END) throw error
    return cut(masking.out + CUT)
  }
}

const cut = (text: string): string => {
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_LOGGED_BODY_BYTES) return text
  // A character that is cut in two becomes a replacement character, which is dropped.
  const kept = Buffer.from(text).subarray(0, MAX_LOGGED_BODY_BYTES - Buffer.byteLength(CUT))
  return kept.toString("utf8").replace(/\uFFFD+$/u, "") + CUT
}
