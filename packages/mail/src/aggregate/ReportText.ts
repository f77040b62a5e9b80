import { isIP } from "node:net"

/** Maximum length of the names and ids that are kept of a report. */
export const MAX_NAME_CHARS = 100
export const MAX_ID_CHARS = 255
/** Maximum number of messages or sessions of one line of a report. */
const MAX_COUNT = 1_000_000_000_000

/** Returns one line of a stranger's text without control characters, cut to a length. */
export const line = (text: string, most = MAX_NAME_CHARS): string =>
  text
    .slice(0, most * 4)
    .replaceAll(UNSHOWN, " ")
    .replaceAll(/ {2,}/gu, " ")
    .trim()
    .slice(0, most)

/** Returns the name that a reporter gives itself, unless it is an address, which could be that of a person. */
export const orgName = (text: string): string => (text.includes("@") ? "" : line(text))

/** Control characters and those that change the order or the place of others. */
// oxlint-disable-next-line no-control-regex
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/g

const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/u

/** Returns a domain in lower case without a trailing dot; undefined for anything else. */
export const domain = (text: string | undefined): string | undefined => {
  const name = (text ?? "").trim().toLowerCase().replace(/\.$/u, "")
  return DOMAIN.test(name) ? name : undefined
}

/** Returns the domain of an address or of a bare domain. */
export const domainOf = (text: string): string | undefined => domain(text.slice(text.lastIndexOf("@") + 1))

/** Returns an address in its shortest form, so that two spellings are one source; undefined for anything else. */
export const address = (text: string): string | undefined => {
  const trimmed = text.trim().replace(/^\[(.{1,60})\]$/u, "$1")
  if (isIP(trimmed) === 4) return trimmed
  if (isIP(trimmed) !== 6 || trimmed.includes("%")) return undefined
  const short = new URL(`http://[${trimmed}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/u.exec(short) ?? []
  return high === undefined || low === undefined ? short : [...octets(high), ...octets(low)].join(".")
}

const octets = (group: string): ReadonlyArray<number> => {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 0xff]
}

/** Parses a number of messages; undefined for anything that is not one. */
export const count = (value: unknown): number | undefined => {
  const number = typeof value === "string" && /^\s*\d{1,13}\s*$/u.test(value) ? Number(value) : value
  return typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= MAX_COUNT
    ? number
    : undefined
}
