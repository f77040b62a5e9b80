import * as Address from "@waybill/domain/values/Address"
import { domainToUnicode } from "node:url"

/** Domain of replacement addresses. RFC 2606 reserves `.invalid`, so it never resolves. */
const DOMAIN = "erased.invalid"
const ERASED = "erased"
/** Number of characters around an address that are examined for whether it is part of a longer one. */
const REACH_CHARS = 256

/**
 * Returns a replacement address from random bytes. A value computed from the address could be recomputed by anyone who
 * guesses it.
 */
export const replacement = (random: Uint8Array): Address.Address =>
  `${ERASED}-${Buffer.from(random).toString("hex")}@${DOMAIN}` as Address.Address

export const isReplacement = (address: Address.Address): boolean => Address.domainOf(address) === DOMAIN

/** Returns the normalized address, and the same with its domain in Unicode. */
const variants = (address: Address.Address): ReadonlyArray<string> => {
  const key = Address.keyOf(address)
  return [...new Set([key, `${Address.localOf(key)}@${domainToUnicode(Address.domainOf(key))}`])]
}

/**
 * Returns `LIKE` patterns for lower-case text. They match every spelling of the address, and more that only the mask
 * distinguishes. They contain only ASCII letters and digits, which have a single spelling, and do not rely on the
 * database's lowercasing of other letters.
 */
export const patterns = (address: Address.Address): ReadonlyArray<string> => [
  ...new Set(variants(address).map((each) => `%${(each.match(/[a-z0-9]+/gu) ?? []).join("%")}%`)),
]

const NAMED_REFERENCES: Readonly<Record<string, string>> = { "@": "&commat;", "&": "&amp;", "'": "&apos;" }

/** Returns a pattern for the ways to write a character: plain, URL-encoded once or more, and as an HTML reference. */
const encodings = (character: string): string => {
  if (/[a-z0-9]/u.test(character)) return character
  const forms = [...new Set([character, character.toUpperCase()])]
  const inUrl = forms.map((each) => [...Buffer.from(each)].map((byte) => `%(?:25)*${byte.toString(16)}`).join(""))
  const inHtml = forms.map((each) => each.codePointAt(0) ?? 0).map((n) => `&#(?:0*${n}|x0*${n.toString(16)});`)
  const named = NAMED_REFERENCES[character]
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/u, "\\$&")
  return `(?:${[plain, ...inUrl, ...inHtml, ...(named === undefined ? [] : [named])].join("|")})`
}

const ENCODED =
  /(?:%(?:25)*[0-9a-f]{2})+|&#(?:\d{1,7}|x[0-9a-f]{1,6});|&(?:commat|amp|apos);|\\u[0-9a-f]{4}|\\[bfnrt]/giu

/** Decodes the text beside an address, so that `%20` counts as a space and not as a digit. */
const decoded = (text: string): string =>
  text.replaceAll(ENCODED, (token) => {
    if (token.startsWith("%")) {
      try {
        return decodeURIComponent(token.replaceAll(/%(?:25)+(?=[0-9a-f]{2})/giu, "%"))
      } catch {
        // Bytes that are not UTF-8 are letters in some other encoding.
        return token
      }
    }
    const code = /^(?:&#(x?)|\\u)([0-9a-f]+);?$/iu.exec(token)
    if (code === null) return " "
    const number = Number.parseInt(code[2] ?? "", token.startsWith("\\") || code[1] !== "" ? 16 : 10)
    return number <= 0x10_ff_ff ? String.fromCodePoint(number) : " "
  })

/** Whether an address stands for itself, is part of a longer one, or cannot be told. */
type Occurrence = "own" | "part" | "unsure"

const WORD_BEFORE = /([\p{L}\p{N}\p{M}]?)([.+_'-]*)$/u
const IN_QUERY = /[?&][\w.~%-]+=[^\s&"'<>]*$/u

/**
 * Classifies what precedes an address. RFC 5321 allows nearly any character in a local part, so this follows common
 * use. A letter or digit directly before makes it part of a longer address, and so does one of `. + _ - '` after a word
 * (`x.ana@`, `x+ana@`). Everything else is a border, including `= / * # & | ~`: addresses like `x=ana@` hardly exist,
 * `?email=ana@` is common, and an erasure must not miss it. Undecidable cases are not masked, but reported: `d'ana@`
 * (French for "of Ana") or `o'brien@`, a `+` in a query, which may be a space, and several such characters after a
 * word.
 */
const classifyBefore = (text: string, at: number): Occurrence => {
  const behind = decoded(text.slice(Math.max(0, at - REACH_CHARS), at))
  const [, word = "", joiners = ""] = WORD_BEFORE.exec(behind) ?? []
  if (word === "") return "own"
  if (joiners.length > 1) return joiners.includes("..") ? "own" : "unsure"
  const isSpace = joiners === "+" && text[at - 1] === "+" && IN_QUERY.test(behind)
  return joiners === "'" || isSpace ? "unsure" : "part"
}

/**
 * Classifies what follows an address. A letter or a further label continues its domain, but may also begin the next
 * sentence or the rest of a file name.
 */
const classifyAfter = (text: string, end: number): Occurrence => {
  const ahead = decoded(text.slice(end, end + REACH_CHARS))
  if (/^\.\p{Lu}\p{Ll}/u.test(ahead) && !/\p{Lu}/u.test(text[end - 1] ?? "")) return "unsure"
  if (/^\.?[\p{L}\p{N}\p{M}]/u.test(ahead)) return "part"
  return /^-[\p{L}\p{N}-]*\.\p{L}/u.test(ahead) ? "unsure" : "own"
}

const classify = (text: string, at: number, end: number): Occurrence => {
  const sides = [classifyBefore(text, at), classifyAfter(text, end)]
  return sides.includes("part") ? "part" : sides.includes("unsure") ? "unsure" : "own"
}

/** Fields about the person besides the address, recorded with opens and clicks. */
const TRACE_FIELDS: ReadonlyArray<string> = ["ip", "user_agent"]

type Json = unknown
interface Fields {
  readonly [name: string]: Json
}
const isFields = (value: Json): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value)

export interface Mask {
  /** Whether the address occurs anywhere in a value. */
  readonly contains: (value: Json) => boolean
  /** Whether a value holds the address in a way that may be part of another one. A mask does not change those. */
  readonly mayContain: (value: Json) => boolean
  /** Replaces the address, and removes the name given with it. */
  readonly apply: <A>(value: A) => A
  /** Masks an open or click by the person; also removes its network address and user agent. */
  readonly applyToTrace: <A>(value: A) => A
}

export const make = (address: Address.Address, replacement: Address.Address): Mask => {
  const key = Address.keyOf(address)
  const pattern = new RegExp(
    variants(address)
      .map((each) => Array.from(each, encodings).join(""))
      .join("|"),
    "giu",
  )
  const occurrences = (value: string): ReadonlyArray<Occurrence> =>
    Array.from(value.matchAll(pattern), ({ 0: match, index }) => classify(value, index, index + match.length))
  const has = (value: Json, occurrence: Occurrence): boolean => {
    if (typeof value === "string") return occurrences(value).includes(occurrence)
    if (Array.isArray(value)) return value.some((each) => has(each, occurrence))
    return isFields(value) && Object.entries(value).some((entry) => has(entry, occurrence))
  }
  const text = (value: string): string =>
    value.replaceAll(pattern, (match, at: number) =>
      classify(value, at, at + match.length) === "own" ? replacement : match,
    )
  const isKey = (value: Json): boolean => typeof value === "string" && value.toLowerCase() === key
  const named = (fields: Fields): ReadonlyArray<readonly [string, Json]> => {
    const entries = Object.entries(fields)
    if (isKey(fields["address"])) return entries.filter(([name]) => name !== "name")
    // The name of a member is required, so it is replaced.
    return isKey(fields["email"]) ? entries.map(([name, each]) => [name, name === "name" ? ERASED : each]) : entries
  }
  const masked = (value: Json): Json => {
    if (typeof value === "string") return text(value)
    if (Array.isArray(value)) return value.map(masked)
    if (!isFields(value)) return value
    return Object.fromEntries(named(value).map(([name, each]) => [text(name), masked(each)]))
  }
  const traced = (value: Json): Json =>
    isFields(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, each]) => [name, TRACE_FIELDS.includes(name) ? null : each]),
        )
      : value
  return {
    contains: (value) => has(value, "own"),
    mayContain: (value) => has(value, "unsure"),
    apply: <A>(value: A) => masked(value) as A,
    applyToTrace: <A>(value: A) => traced(masked(value)) as A,
  }
}
