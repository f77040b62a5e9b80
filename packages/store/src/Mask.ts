import * as Address from "@waybill/domain/Address"

/** Nobody's domain: RFC 2606 keeps `.invalid` for what must never be resolved. */
const DOMAIN = "erased.invalid"
const ERASED = "erased"

/** Drawn anew for each erasure. Anything computed from the address could be computed again by who guesses it. */
export const standIn = (random: Uint8Array): Address.Address =>
  `${ERASED}-${Buffer.from(random).toString("hex")}@${DOMAIN}` as Address.Address

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&")

/** What of an address may stand around it without being another address. */
const BEFORE = "(?<![\\p{L}\\p{N}!#$%&'*+/=?^_`{|}~.-])"
const AFTER = "(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])"

/** The spellings in which an address stands in text: as it is, and as a part of a URL. */
export const spellings = (address: Address.Address): ReadonlyArray<string> => {
  const key = Address.keyOf(address)
  const inUrl = encodeURIComponent(key).toLowerCase()
  return inUrl === key ? [key] : [key, inUrl]
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
  /** The same with the stand-in for the address, and without the name that stood with it. */
  readonly apply: <A>(value: A) => A
  /** An opening or a click by that person: also without where it came from. */
  readonly applyToTrace: <A>(value: A) => A
}

export const make = (address: Address.Address, standIn: Address.Address): Mask => {
  const key = Address.keyOf(address)
  // The encoded form has a letter or digit of its own in front where an address would have a border.
  const pattern = new RegExp(
    spellings(address)
      .map((each, nth) => (nth === 0 ? `${BEFORE}${escaped(each)}${AFTER}` : escaped(each)))
      .join("|"),
    "giu",
  )
  const text = (value: string): string => value.replaceAll(pattern, standIn)
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
    stands: (value) => JSON.stringify(masked(value)) !== JSON.stringify(value),
    apply: <A>(value: A) => masked(value) as A,
    applyToTrace: <A>(value: A) => traced(masked(value)) as A,
  }
}
