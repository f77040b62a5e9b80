import * as Address from "@waybill/domain/values/Address"
import { domainToUnicode } from "node:url"

/** Nobody's domain: RFC 2606 keeps `.invalid` for what must never be resolved. */
const DOMAIN = "erased.invalid"
const ERASED = "erased"
/** How far around an address is looked for what it may be a part of. */
const REACH_CHARS = 256

/** Drawn anew for each erasure. Anything computed from the address could be computed again by who guesses it. */
export const standIn = (random: Uint8Array): Address.Address =>
  `${ERASED}-${Buffer.from(random).toString("hex")}@${DOMAIN}` as Address.Address

export const isStandIn = (address: Address.Address): boolean => Address.domainOf(address) === DOMAIN

/** As it is compared, and with its domain as people write it. */
const variants = (address: Address.Address): ReadonlyArray<string> => {
  const key = Address.keyOf(address)
  return [...new Set([key, `${Address.localOf(key)}@${domainToUnicode(Address.domainOf(key))}`])]
}

/**
 * For `LIKE`, over text whose ASCII letters are small: whatever may hold the address in any spelling, and more that only a
 * mask tells apart. Letters and digits of ASCII are written in one way everywhere; of a database's own idea of small letters
 * nothing is asked, for some know no others.
 */
export const patterns = (address: Address.Address): ReadonlyArray<string> => [
  ...new Set(variants(address).map((each) => `%${(each.match(/[a-z0-9]+/gu) ?? []).join("%")}%`)),
]

const NAMED: Readonly<Record<string, string>> = { "@": "&commat;", "&": "&amp;", "'": "&apos;" }

/** The ways to write a character: as it is, in a URL, in a URL that stands in another, in HTML. */
const spelt = (character: string): string => {
  if (/[a-z0-9]/u.test(character)) return character
  const forms = [...new Set([character, character.toUpperCase()])]
  const inUrl = forms.map((each) => [...Buffer.from(each)].map((byte) => `%(?:25)*${byte.toString(16)}`).join(""))
  const inHtml = forms.map((each) => each.codePointAt(0) ?? 0).map((n) => `&#(?:0*${n}|x0*${n.toString(16)});`)
  const named = NAMED[character]
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/u, "\\$&")
  return `(?:${[plain, ...inUrl, ...inHtml, ...(named === undefined ? [] : [named])].join("|")})`
}

const TOKENS =
  /(?:%(?:25)*[0-9a-f]{2})+|&#(?:\d{1,7}|x[0-9a-f]{1,6});|&(?:commat|amp|apos);|\\u[0-9a-f]{4}|\\[bfnrt]/giu

/** What stands beside an address, as it is read: `%20` is a space there and no digit. */
const decoded = (text: string): string =>
  text.replaceAll(TOKENS, (token) => {
    if (token.startsWith("%")) {
      try {
        return decodeURIComponent(token.replaceAll(/%(?:25)+(?=[0-9a-f]{2})/giu, "%"))
      } catch {
        // Bytes that are no UTF-8 were letters of some other encoding.
        return token
      }
    }
    const code = /^(?:&#(x?)|\\u)([0-9a-f]+);?$/iu.exec(token)
    if (code === null) return " "
    const number = Number.parseInt(code[2] ?? "", token.startsWith("\\") || code[1] !== "" ? 16 : 10)
    return number <= 0x10_ff_ff ? String.fromCodePoint(number) : " "
  })

/** Whether an address stands for itself, is a part of another one, or nobody can tell. */
type Standing = "own" | "part" | "unsure"

const WORD_BEFORE = /([\p{L}\p{N}\p{M}]?)([.+_'-]*)$/u
const IN_QUERY = /[?&][\w.~%-]+=[^\s&"'<>]*$/u

/**
 * RFC 5321 lets a local part have nearly any of the characters that text and URLs put around one, so nothing is a border
 * for certain. By what people have: a letter or a digit right before it makes it somebody else's, and so does one of
 * `. + _ - '` after such a word (`x.ana@`, `x+ana@`). All else is a border, `= / * # & | ~` and the rest of RFC 5321 too: who
 * has `x=ana@` for an address is hardly ever met, `?email=ana@` every day, and whoever asked to be forgotten weighs more.
 * Nobody can tell `d'ana@` (of Ana, in French) from `o'brien@`, a `+` in a query, which may be a space, or a run of
 * such characters after a word: these are left and told.
 */
const before = (text: string, at: number): Standing => {
  const behind = decoded(text.slice(Math.max(0, at - REACH_CHARS), at))
  const [, word = "", joints = ""] = WORD_BEFORE.exec(behind) ?? []
  if (word === "") return "own"
  if (joints.length > 1) return joints.includes("..") ? "own" : "unsure"
  const isSpace = joints === "+" && text[at - 1] === "+" && IN_QUERY.test(behind)
  return joints === "'" || isSpace ? "unsure" : "part"
}

/** A domain goes on with a letter, or with a further label; that may also be the next sentence, or the rest of a file's name. */
const after = (text: string, end: number): Standing => {
  const ahead = decoded(text.slice(end, end + REACH_CHARS))
  if (/^\.\p{Lu}\p{Ll}/u.test(ahead) && !/\p{Lu}/u.test(text[end - 1] ?? "")) return "unsure"
  if (/^\.?[\p{L}\p{N}\p{M}]/u.test(ahead)) return "part"
  return /^-[\p{L}\p{N}-]*\.\p{L}/u.test(ahead) ? "unsure" : "own"
}

const standing = (text: string, at: number, end: number): Standing => {
  const sides = [before(text, at), after(text, end)]
  return sides.includes("part") ? "part" : sides.includes("unsure") ? "unsure" : "own"
}

/** Fields that say something of a person beside the address, of whoever opened or clicked. */
const TRACES: ReadonlyArray<string> = ["ip", "user_agent"]

type Json = unknown
interface Fields {
  readonly [name: string]: Json
}
const isFields = (value: Json): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value)

export interface Mask {
  /** Whether the address stands anywhere in it. */
  readonly stands: (value: Json) => boolean
  /** Whether it holds what may be the address or a part of another one: a mask leaves that as it is. */
  readonly mayStand: (value: Json) => boolean
  /** The same with the stand-in for the address, and without the name that stood with it. */
  readonly apply: <A>(value: A) => A
  /** An opening or a click by that person: also without where it came from. */
  readonly applyToTrace: <A>(value: A) => A
}

export const make = (address: Address.Address, standIn: Address.Address): Mask => {
  const key = Address.keyOf(address)
  const pattern = new RegExp(
    variants(address)
      .map((each) => Array.from(each, spelt).join(""))
      .join("|"),
    "giu",
  )
  const standings = (value: string): ReadonlyArray<Standing> =>
    Array.from(value.matchAll(pattern), ({ 0: found, index }) => standing(value, index, index + found.length))
  const has = (value: Json, wanted: Standing): boolean => {
    if (typeof value === "string") return standings(value).includes(wanted)
    if (Array.isArray(value)) return value.some((each) => has(each, wanted))
    return isFields(value) && Object.entries(value).some((entry) => has(entry, wanted))
  }
  const text = (value: string): string =>
    value.replaceAll(pattern, (found, at: number) =>
      standing(value, at, at + found.length) === "own" ? standIn : found,
    )
  const isKey = (value: Json): boolean => typeof value === "string" && value.toLowerCase() === key
  const named = (fields: Fields): ReadonlyArray<readonly [string, Json]> => {
    const entries = Object.entries(fields)
    if (isKey(fields["address"])) return entries.filter(([name]) => name !== "name")
    // A member always has a name.
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
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, TRACES.includes(name) ? null : each]))
      : value
  return {
    stands: (value) => has(value, "own"),
    mayStand: (value) => has(value, "unsure"),
    apply: <A>(value: A) => masked(value) as A,
    applyToTrace: <A>(value: A) => traced(masked(value)) as A,
  }
}
