/** Maximum length of a reply without its code. RFC 5321 §4.5.3.1.5 allows 512 octets for the whole line. */
export const MAX_REPLY_CHARS = 480

/** A reply to a command. The lines of its message are separated by LF, and begin with their enhanced code (RFC 2034). */
export interface Reply {
  readonly code: number
  readonly message: string
  /** Whether the server closes the connection after it. After 421, it always does. */
  readonly isLast?: boolean
}

/** Returns one line of printable ASCII, since the text may quote what a client sent. */
export const line = (enhanced: string, words: string): string =>
  `${enhanced} ${words.replaceAll(/[^\x20-\x7e]+/gu, "?")}`.slice(0, MAX_REPLY_CHARS)

export const of = (code: number, enhanced: string, words: string): Reply => ({ code, message: line(enhanced, words) })

export const last = (code: number, enhanced: string, words: string): Reply => ({
  ...of(code, enhanced, words),
  isLast: true,
})

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x1f\x7f-\x9f]/gu

/** Returns a reply as it is sent. Only this function makes line ends, so that no text can add a reply of its own. */
export const format = ({ code, message }: Reply): string => {
  const lines = message.split("\n").map((each) => each.replaceAll(CONTROL, " "))
  const last = lines.pop() ?? ""
  return `${lines.map((each) => `${code}-${each}\r\n`).join("")}${code} ${last}\r\n`
}
