import { domainToASCII } from "node:url"

/** RFC 5321 §4.5.3.1: 64 for the local part, 255 for the domain, and the sign between them. */
const ADDRESS_OCTET_LIMIT = 320

/**
 * RFC 5321 §4.1.2 with the UTF-8 of RFC 6531, and nothing of RFC 5322's obsolete grammar: comments, routes and folding
 * are how addresses have been smuggled past other senders.
 */
const ATOM = /[\w!#$%&'*+\-/=?^`{|}~\u0080-\u{10ffff}]+/u.source
const LOCAL_PART = `${ATOM}(?:\\.${ATOM})*|"(?:[ !#-\\[\\]-~\\u0080-\\u{10ffff}]|\\\\[ -~])*"`
const LABEL = "[A-Za-z0-9_\\u0080-\\u{10ffff}](?:[A-Za-z0-9_\\-\\u0080-\\u{10ffff}]*[A-Za-z0-9_\\u0080-\\u{10ffff}])?"
const DOMAIN = `${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Za-z:.]+\\]`
const ADDRESS = new RegExp(`^(?:${LOCAL_PART})@(?:${DOMAIN})$`, "u")
/** What the wide range above lets in and no mailbox has: C1 controls, line and paragraph separators. */
const INVISIBLE = /[\u0080-\u009f\u00a0\u2028\u2029\ufeff\ud800-\udfff]/u

export const isAddress = (address: string): boolean =>
  Buffer.byteLength(address) <= ADDRESS_OCTET_LIMIT && ADDRESS.test(address) && !INVISIBLE.test(address) &&
  domain(address) !== ""

/** The domain as DNS knows it: lower case, A-labels; empty where IDNA refuses it. */
export const domain = (address: string): string => {
  const name = address.slice(address.lastIndexOf("@") + 1)
  return isAscii(name) ? name.toLowerCase() : domainToASCII(name)
}

/** The address as SMTP and headers carry it: only the local part may still be UTF-8. */
export const make = (address: string): string => `${address.slice(0, address.lastIndexOf("@"))}@${domain(address)}`

export const isUtf8 = (address: string): boolean => !isAscii(address)

const isAscii = (value: string): boolean => /^[\x00-\x7f]*$/.test(value)
