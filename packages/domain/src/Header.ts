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

/**
 * Headers that are not the author's: those that servers write about the way and the verdict of a mail, which a reader
 * would believe; those that make a server send something to an address of the author's choice, past the return path; and
 * those that show or name recipients, such as `Resent-Bcc`. The name of a family ends in `-`.
 */
const FOREIGN = [
  "apparently-to",
  "arc-",
  "authentication-results",
  "delivered-to",
  "dkim-",
  "domainkey-",
  "downgraded-",
  "envelope-to",
  "errors-to",
  "original-",
  "received-",
  "resent-",
  "return-receipt-to",
  "x-authentication-results",
  "x-envelope-to",
  "x-original-to",
  "x-rcpt-to",
  "x-received",
  "x-waybill-",
]
const FOREIGN_NAMES = new Set(FOREIGN.filter((name) => !name.endsWith("-")))
const FOREIGN_FAMILIES = FOREIGN.filter((name) => name.endsWith("-"))

export const isForeign = (name: string): boolean => {
  const lower = name.toLowerCase()
  if (isOwned(lower)) return false
  return FOREIGN_NAMES.has(lower) || FOREIGN_FAMILIES.some((family) => lower.startsWith(family))
}

/** One table for every door: HTTP refuses these names, SMTP drops them, and none of them is ever written to the wire. */
export const isAuthors = (name: string): boolean => !isOwned(name) && !isForeign(name)

/** Who handed the mail in, where that is not who it is from (RFC 5322 §3.6.2). Its domain falls under the rule of From. */
export const SENDER = "sender"

export const senderIn = (headers: { readonly [name: string]: string }): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === SENDER)?.[1]

/** For documentation: the names and families of the table, as people write them. */
export const DESCRIBED =
  "From, To, Cc, Bcc, Subject, Date, Message-ID, DKIM-*, Return-Path, Received, Received-*, Content-*, MIME-Version, " +
  "Resent-*, ARC-*, Authentication-Results, Apparently-To, Delivered-To, Original-*, Errors-To, Return-Receipt-To and others like them"
