import * as Jobs from "./Jobs.ts"

/** Maximum bytes of a mail read on the event loop, if it has no more lines and colons than below. */
export const SMALL_MAIL_BYTES = 32 * 1024
/** A line of a header costs about 2 µs. */
export const SMALL_MAIL_LINES = 1000
/** A possible start of a part costs about 40 µs. */
export const SMALL_MAIL_PARTS = 30
/** A colon may begin a group of addresses, for which the parser reads the rest again, at most 50 times. */
export const SMALL_MAIL_COLONS = 400
/** An encoded word costs about 4 µs. */
export const SMALL_MAIL_WORDS = 500
/** Maximum HTML converted to text on the event loop, if it has no more tags than below. */
export const SMALL_HTML_CHARS = 32 * 1024
/** A tag costs the converter up to 12 µs, nested or not. */
export const SMALL_HTML_TAGS = 600
/** Maximum HTML whose links are found on the event loop: 50 ns a character at worst. */
export const SMALL_TRACKED_CHARS = 128 * 1024

/**
 * Returns whether a job takes a few milliseconds at most, whatever its input: all its work is linear in the counts
 * below.
 */
export const isSmall = <N extends Jobs.Name>(name: N, input: Jobs.Input<N>): boolean => {
  if (NEVER_SMALL.has(name)) return false
  const bytes = Jobs.bytesOf(input)
  if (bytes !== undefined) return isSmallMail(bytes)
  const html = Jobs.textOf(input) ?? ""
  if (name === "links") return html.length <= SMALL_TRACKED_CHARS
  return html.length <= SMALL_HTML_CHARS && has(html, "<", SMALL_HTML_TAGS)
}

/**
 * A small archive may hold a large report, the search for a quote costs more than the reading of a mail, and the time in which
 * a sender is judged grows with the square of a field.
 */
const NEVER_SMALL: ReadonlySet<Jobs.Name> = new Set<Jobs.Name>([
  "aggregate",
  "inbound",
  "inbound_postmark",
  "inbound_sendgrid",
  "questions",
  "sender",
])

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

/** Returns whether a text occurs in another at most the given number of times. */
const has = (whole: string, text: string, most: number): boolean => {
  let count = 0
  for (let at = whole.indexOf(text); at !== -1; at = whole.indexOf(text, at + text.length))
    if (++count > most) return false
  return true
}
