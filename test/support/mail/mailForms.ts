import type { Form } from "../process/documents.ts"

export const CRLF = "\r\n"
export const lines = (...each: ReadonlyArray<string>) => each.join(CRLF)
export const HEAD = lines("From: {from}", "To: ana@example.org", "Subject: s", "MIME-Version: 1.0", "")
export const part = (type: string, more = "") => `--b${CRLF}Content-Type: ${type}${CRLF}${more}${CRLF}`

/** Headers of all parts, without those above. */
export const HEADERS = 250_000

/** Mail in two parts, outside of `alternative`: text is made of the HTML, and HTML of the text. */
export const mixed = (head: string, first: string, second: string): Form => ({
  before: `${head}Content-Type: multipart/mixed; boundary=b${CRLF}${CRLF}${part(first)}x${CRLF}${part(second)}`,
  after: `${CRLF}--b--${CRLF}`,
})
/** A mail of such parts: a short text, and HTML of which text has to be made. */
export const htmlBesideText = (from: string, html: string): string => {
  const { after, before } = mixed(`From: ${from}${CRLF}`, "text/plain", "text/html")
  return before + html + after
}
export const flowed = (more: string): Form => ({
  before: `${HEAD}Content-Type: text/plain; format=flowed${more}${CRLF}${CRLF}`,
  after: CRLF,
})
/** Line length at which the most lines fit. */
export const LINE = `${"x".repeat(62)} ${CRLF}`
export const LARGEST = Infinity
