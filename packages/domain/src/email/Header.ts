import * as Text from "../values/Text.ts"
import * as Script from "./Script.ts"

export const MAX_HEADERS = 50
export const MAX_HEADER_VALUE_CHARS = 4_000
/**
 * RFC 5322 §2.1.1 limits a line to 998 octets, and folding is possible only at spaces. Unbroken runs stay well below
 * that.
 */
export const MAX_UNBROKEN_OCTETS = 900
/** Number of UTF-16 code units that never have more octets: each has at most three. */
const ALWAYS_SHORT_CHARS = MAX_UNBROKEN_OCTETS / 3
export const MAX_SUBJECT_CHARS = 998
/** Leaves space for the colon and the first bytes of the value in a line of 76 characters. */
export const MAX_NAME_CHARS = 76
const NAME = /^[!-9;-~]+$/u

export const isName = (name: string): boolean => NAME.test(name) && name.length <= MAX_NAME_CHARS

/** Returns a name for an error, without characters that could break a line. */
export const shownName = (name: string): string => name.slice(0, MAX_NAME_CHARS).replaceAll(/[^!-9;-~]/gu, "?")

/** Headers that may occur once (RFC 5322 §3.6). */
export const SINGLE: ReadonlySet<string> = new Set([
  "sender",
  "reply-to",
  "in-reply-to",
  "references",
  "list-unsubscribe",
  "list-unsubscribe-post",
  "list-id",
])

/** Returns the octets of the first run that is too long, if any. Folding breaks a line before white space and moves all of it. */
export const tooLongRun = (value: string): number | undefined => {
  if (value.length <= ALWAYS_SHORT_CHARS) return undefined
  for (const [, run = ""] of value.matchAll(/[ \t]?([ \t]*[^ \t]+)/gu)) {
    const octets = run.length <= ALWAYS_SHORT_CHARS ? 0 : Text.octets(run)
    if (octets > MAX_UNBROKEN_OCTETS) return octets
  }
  return undefined
}

/** Headers that the service writes on every message. A duplicate would make clients show different mails. */
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

export const isServiceHeader = (name: string): boolean => {
  const lower = name.toLowerCase()
  return OWNED.has(lower) || lower.startsWith("content-")
}

/**
 * Headers that a sender must not set: trace and authentication results, which readers would believe; headers that make
 * a server send mail to an address of the sender's choice; headers that reveal or name recipients, such as
 * `Resent-Bcc`. An entry that ends in `-` is a prefix.
 */
const RESERVED = [
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
const RESERVED_NAMES = new Set(RESERVED.filter((name) => !name.endsWith("-")))
const RESERVED_PREFIXES = RESERVED.filter((name) => name.endsWith("-"))

/** The header by which a test message names the test clock that it lives on. It is taken out of the message. */
export const TEST_CLOCK = "x-waybill-test-clock"

export const isReservedHeader = (name: string): boolean => {
  const lower = name.toLowerCase()
  if (isServiceHeader(lower) || lower === TEST_CLOCK || lower === Script.HEADER) return false
  return RESERVED_NAMES.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))
}

/**
 * Whether the sender may set this header. HTTP refuses other names, SMTP submission drops them, and neither is ever
 * sent.
 */
export const isAllowed = (name: string): boolean => !isServiceHeader(name) && !isReservedHeader(name)

/**
 * The header that names the submitter if it differs from the author (RFC 5322 §3.6.2). Its domain must be verified like
 * that of From.
 */
export const SENDER = "sender"

export const senderIn = (headers: { readonly [name: string]: string }): string | undefined => {
  const sender = Object.keys(headers).find((name) => name.toLowerCase() === SENDER)
  return sender === undefined ? undefined : headers[sender]
}

/** The headers above in their usual spelling, for documentation. */
export const FORBIDDEN_DESCRIPTION =
  "From, To, Cc, Bcc, Subject, Date, Message-ID, DKIM-*, Return-Path, Received, Received-*, Content-*, MIME-Version, " +
  "Resent-*, ARC-*, Authentication-Results, Apparently-To, Delivered-To, Original-*, Errors-To, Return-Receipt-To and similar ones"
