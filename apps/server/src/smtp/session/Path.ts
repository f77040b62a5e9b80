import { isIPv4, isIPv6 } from "node:net"
import { domainToUnicode } from "node:url"

/** The address of MAIL or RCPT, and the parameters after it. */
export interface Path {
  /** The address as it is written, with the labels of its domain in Unicode; empty for the sender of a report. */
  readonly address: string
  readonly parameters: ReadonlyArray<string>
}

/** RFC 5321 §4.5.3.1.3 allows 256 octets with the angle brackets. Some servers make local parts of more than 64. */
const MAX_ADDRESS_CHARS = 253

/** An address in angle brackets, which old programs leave out, and what follows it. Spaces can only be in quotes. */
const PATH = /^(?:<((?:"(?:[^"\\<>]|\\[^<>])*"|[^"<>\s])*)>|([^"<>@\s]+@[^"<>@\s]+))(?:\s+(.*))?$/u
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x1f\x7f-\x9f]/u
/** Characters that are not shown, by which two addresses could look alike. */
const INVISIBLE = /[\u200b\u2060\ufeff]/u
/** RFC 5321 §4.1.2: a route is accepted and ignored. */
const SOURCE_ROUTE = /^@[^\s,:@]+(?:,@[^\s,:@]+)*:/u
/** An @ can only be in quotes. */
const LOCAL = /^(?:"(?:[^"\\]|\\.)*"|[^"@])+$/u
const DOMAIN = /^[a-z0-9._\u{80}-\u{10ffff}-]+$/iu
const MISPLACED_DOT = /^\.|\.$|\.\.|\.-|-\./u

/**
 * Reads a command such as `MAIL FROM:<ana@example.org> SIZE=100`. Returns `undefined` if its address cannot be read. What
 * Postfix reads of a sender is read too: no angle brackets, no domain, a dot at the end of the domain.
 */
export const parse = (command: "MAIL FROM" | "RCPT TO", line: string): Path | undefined => {
  const colon = line.indexOf(":")
  if (colon === -1 || line.slice(0, colon).trim().toUpperCase() !== command) return undefined
  const [, path, bare, rest = ""] = PATH.exec(line.slice(colon + 1).trim()) ?? []
  const isSender = command === "MAIL FROM"
  const written = path ?? (isSender ? bare : undefined)
  const parameters = rest === "" ? [] : rest.split(/\s+/u)
  if (written === undefined || parameters.some((each) => CONTROL.test(valueOf(each)))) return undefined
  const text = written.replace(SOURCE_ROUTE, "")
  // RFC 5321 §4.1.1.3: the postmaster needs no domain.
  const isShort = text === "" || (!isSender && text.toLowerCase() === "postmaster")
  const address = isShort ? text : mailbox(text, isSender)
  return address === undefined ? undefined : { address, parameters }
}

/** Returns the value of a parameter, which is in xtext (RFC 3461 §4); empty without one. */
export const valueOf = (parameter: string): string => {
  const equals = parameter.indexOf("=")
  if (equals === -1) return ""
  return parameter
    .slice(equals + 1)
    .replaceAll(/\+([0-9A-F]{2})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

const mailbox = (text: string, isSender: boolean): string | undefined => {
  if (text.length > MAX_ADDRESS_CHARS || CONTROL.test(text) || INVISIBLE.test(text)) return undefined
  const at = text.lastIndexOf("@")
  if (at === -1) return isSender && LOCAL.test(text) ? text : undefined
  const local = text.slice(0, at)
  if (!LOCAL.test(local)) return undefined
  const domain = text.slice(at + 1).replace(isSender ? /\.$/u : "", "")
  if (domain.startsWith("[") && domain.endsWith("]"))
    return isLiteral(domain.slice(1, -1)) ? `${local}@${domain}` : undefined
  if (!DOMAIN.test(domain) || MISPLACED_DOT.test(domain)) return undefined
  const labels = domain.split(".").map((label) => (label.startsWith("xn--") ? domainToUnicode(label) : label))
  return `${local}@${labels.join(".")}`
}

const isLiteral = (text: string): boolean => (/^IPv6:/iu.test(text) ? isIPv6(text.slice(5)) : isIPv4(text))
