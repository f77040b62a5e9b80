import * as Table from "@waybill/domain/values/Table"
import type * as Fields from "../lenient/Fields.ts"

/** Maximum number of names that one personalization replaces, and all of them together. */
export const MAX_NAMES = 100
/** Maximum characters of a name. */
export const MAX_NAME_CHARS = 100
/** Maximum number of places in one text where a name is replaced. */
export const MAX_PLACES = 10_000
/** Maximum characters that are compared with names: those of the texts times those of the names, at worst. */
const MAX_COMPARED = 2 ** 30

/** Pairs of a name and the text that takes its place. */
export type Pairs = Fields.Texts

/** The texts of a request, searched for names once for all its personalizations. */
export interface Search {
  /** Puts values in the place of names. The longest name counts where several begin, and nothing is replaced within values. */
  readonly fill: (text: string, pairs: Pairs | undefined) => string
}

/**
 * Makes the search for the names of all personalizations; returns a problem if there are too many. Text is replaced as
 * SendGrid replaces it, without regard to HTML.
 */
export const make = (all: ReadonlyArray<Pairs | undefined>, mostChars: number): Search | string => {
  const names = new Set<string>()
  for (const pairs of all)
    for (const name of Object.keys(pairs ?? {})) {
      if (name.length > MAX_NAME_CHARS) return `must have names of at most ${MAX_NAME_CHARS} characters`
      if (name !== "") names.add(name)
      if (names.size > MAX_NAMES) return `must have at most ${MAX_NAMES} different names in all personalizations`
    }
  if (names.size === 0) return { fill: (text) => text }
  const sorted = [...names].toSorted((a, b) => b.length - a.length)
  const pattern = new RegExp(`(${sorted.map(literal).join("|")})`, "gu")
  const charsOfNames = sorted.reduce((sum, { length }) => sum + length, 0)
  let left = MAX_COMPARED
  const found = new Map<string, ReadonlyArray<string>>()
  /** Texts and names in turns, beginning with a text. */
  const partsOf = (text: string): ReadonlyArray<string> => {
    const known = found.get(text)
    if (known !== undefined) return known
    left -= text.length * charsOfNames
    const parts = left < 0 ? undefined : text.split(pattern, 2 * MAX_PLACES + 2)
    if (parts === undefined || parts.length > 2 * MAX_PLACES + 1) throw new Unreplaceable("validation_failed")
    // The texts that all share are few; those of one personalization are searched once anyway.
    if (found.size < MAX_SHARED_TEXTS) found.set(text, parts)
    return parts
  }
  return {
    fill: (text, pairs) => {
      if (pairs === undefined) return text
      const parts = partsOf(text)
      if (parts.length === 1) return text
      const filled = parts.map((part, nth) => (nth % 2 === 0 ? part : String(Table.at(pairs, part) ?? part)))
      if (filled.reduce((sum, { length }) => sum + length, 0) > mostChars) throw new Unreplaceable("payload_too_large")
      return filled.join("")
    },
  }
}

/** A text with more names than `MAX_PLACES`, one that takes too long to search, or one that becomes too large. */
export class Unreplaceable extends Error {
  readonly reason: "payload_too_large" | "validation_failed"
  constructor(reason: Unreplaceable["reason"]) {
    super(`must have at most ${MAX_PLACES} names to replace in each text, and less text for so many names`)
    this.reason = reason
  }
}

const MAX_SHARED_TEXTS = 100

const literal = (name: string): string => name.replaceAll(/[$()*+.?[\\\]^{|}/]/gu, String.raw`\$&`)
