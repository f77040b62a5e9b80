import { bytesOf, type Input, type Name, textOf } from "./Jobs.ts"

/** A mail up to this is read on the event loop, if it has no more lines and colons than those below. */
export const SMALL_MAIL_BYTES = 32 * 1024
/** A line of a header costs about 2 µs. */
export const SMALL_MAIL_LINES = 1000
/** What may begin a part costs about 40 µs. */
export const SMALL_MAIL_PARTS = 30
/** A colon may begin a group of addresses, of which the parser reads all that follows once more, 50 times at most. */
export const SMALL_MAIL_COLONS = 400
/** An encoded word costs about 4 µs. */
export const SMALL_MAIL_WORDS = 500
/** HTML up to this becomes text on the event loop, if it has no more tags than those below. */
export const SMALL_HTML_CHARS = 32 * 1024
/** A tag costs the converter up to 12 µs, nested or not. */
export const SMALL_HTML_TAGS = 600
/** Links of HTML up to this are found on the event loop: 50 ns a character at worst. */
export const SMALL_TRACKED_CHARS = 128 * 1024

/** Whether a job takes a few milliseconds at most, whatever its input holds: all of its work is linear in what is counted here. */
export const isSmall = <N extends Name>(name: N, input: Input<N>): boolean => {
  const bytes = bytesOf(input)
  if (bytes !== undefined) return isSmallMail(bytes)
  const html = textOf(input) ?? ""
  if (name === "links") return html.length <= SMALL_TRACKED_CHARS
  return html.length <= SMALL_HTML_CHARS && has(html, "<", SMALL_HTML_TAGS)
}

const isSmallMail = (bytes: Uint8Array): boolean => {
  if (bytes.length > SMALL_MAIL_BYTES) return false
  const mail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
  return (
    has(mail, "\n", SMALL_MAIL_LINES) &&
    has(mail, "\n--", SMALL_MAIL_PARTS) &&
    has(mail, ":", SMALL_MAIL_COLONS) &&
    has(mail, "=?", SMALL_MAIL_WORDS) &&
    has(mail, "<", SMALL_HTML_TAGS)
  )
}

/** Whether a text stands in another at most so many times. */
const has = (whole: string, text: string, most: number): boolean => {
  let count = 0
  for (let at = whole.indexOf(text); at !== -1; at = whole.indexOf(text, at + text.length))
    if (++count > most) return false
  return true
}
