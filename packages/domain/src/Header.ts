import { Schema } from "effect"
import * as Text from "./Text.ts"

export const MAX_HEADERS = 50
export const MAX_HEADER_NAME_CHARS = 100
export const MAX_HEADER_VALUE_CHARS = 4000
/** RFC 5322 §2.1.1 caps a line at 998 octets and text can be folded at spaces only, so no run may come near it. */
export const MAX_UNBROKEN_OCTETS = 900
export const MAX_SUBJECT_CHARS = 998

/** Set by the service on every message; a second one would make two readers see two different mails. */
const OWNED = new Set([
  "from",
  "to",
  "cc",
  "bcc",
  "subject",
  "date",
  "message-id",
  "dkim-signature",
  "return-path",
  "received",
  "mime-version",
])

export const isOwned = (name: string): boolean => {
  const lower = name.toLowerCase()
  return OWNED.has(lower) || lower.startsWith("content-")
}

// oxlint-disable-next-line no-control-regex
const LINE_BREAK = /[\r\n\u0000]/u

const longestRun = (text: string): number => Math.max(0, ...text.split(/[ \t]/u).map(Text.octets))

const fits = (text: string): true | string => {
  if (LINE_BREAK.test(text)) return "must not contain CR, LF or NUL"
  if (!Text.isWellFormed(text)) return "is not well-formed Unicode"
  const run = longestRun(text)
  return (
    run <= MAX_UNBROKEN_OCTETS || `has ${run} octets without a space; at most ${MAX_UNBROKEN_OCTETS} fit into a line`
  )
}

/** RFC 5322 §3.6.8: printable ASCII without the colon. */
export const Name = Schema.String.check(
  Schema.isMaxLength(MAX_HEADER_NAME_CHARS),
  Schema.isPattern(/^[!-9;-~]+$/u, { message: "a header name has printable ASCII characters other than the colon" }),
  Schema.makeFilter((name: string) => !isOwned(name) || `${name} is set by the service`),
)

export const Value = Schema.String.check(Schema.isMaxLength(MAX_HEADER_VALUE_CHARS), Schema.makeFilter(fits))

/** Custom headers of a request, as key-value pairs. */
export const Headers = Schema.Record(Name, Value).check(
  Schema.makeFilter((headers: { readonly [name: string]: string }) => {
    const count = Object.keys(headers).length
    return count <= MAX_HEADERS || `takes at most ${MAX_HEADERS} headers; ${count} were given`
  }),
)

export const Subject = Schema.String.check(Schema.isMaxLength(MAX_SUBJECT_CHARS), Schema.makeFilter(fits))
