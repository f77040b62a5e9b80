export const MAX_HEADERS = 50
export const MAX_HEADER_VALUE_CHARS = 4_000
/** RFC 5322 §2.1.1 caps a line at 998 octets and text can be folded before spaces only, so no run may come near it. */
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
