import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as PackedEvent from "./PackedEvent.ts"

const TAB = "\t"

/** Tokens of a packed event, of which one becomes a text of its own when it is read. */
class TokensInText implements PackedEvent.PackedTokens {
  readonly #text: string
  /** Begin of each token that was found. The last one ends with the text. */
  readonly #begins = [0]

  constructor(text: string) {
    this.#text = text
  }

  at(nth: number): string | undefined {
    const begins = this.#begins
    while (begins.length <= nth + 1) {
      const last = begins[begins.length - 1] as number
      if (last > this.#text.length) return undefined
      const end = this.#text.indexOf(TAB, last)
      begins.push((end < 0 ? this.#text.length : end) + 1)
    }
    return this.#text.slice(begins[nth], (begins[nth + 1] as number) - 1)
  }
}

/** Bytes of a packed event in UTF-8, and the text that a part of them is. */
export interface Source {
  readonly isAscii: (from: number, to: number) => boolean
  readonly latin1: (from: number, to: number) => string
  readonly utf8: (from: number, to: number) => string
}

const tokensOf = (source: Source, from: number, to: number): PackedEvent.PackedTokens =>
  new TokensInText(source.isAscii(from, to) ? source.latin1(from, to) : source.utf8(from, to))

/** Forms whose values take longest to read, and often are those of the event before: senders and tags. */
const REMEMBERED: ReadonlyArray<PackedEvent.Reading["form"]> = ["mailbox", "json"]

/** Number of values of a field that are remembered, each in a place of its own, where it replaces another. */
const PLACES = 64

const placeOf = (token: string): number => {
  const { length } = token
  return (
    (length + token.charCodeAt(length - 3) + 7 * token.charCodeAt(length - 4) + token.charCodeAt(length >> 1)) % PLACES
  )
}

/** Returns the reader of a field, which remembers values. Nothing changes a value, because states share them. */
const readerOf = (field: PackedEvent.Reading): ((stream: string, tokens: PackedEvent.PackedTokens) => unknown) => {
  if (!REMEMBERED.includes(field.form)) return (stream, tokens) => PackedEvent.valueOf(field, stream, tokens)
  const remembered: Array<{ readonly token: string; readonly value: unknown } | undefined> = Array.from({
    length: PLACES,
  })
  return (stream, tokens) => {
    const token = tokens.at(field.nth)
    if (token === undefined || token.length < SHORTEST) return PackedEvent.valueOf(field, stream, tokens)
    const place = placeOf(token)
    const known = remembered[place]
    if (known?.token === token) return known.value
    const value = Object.freeze(PackedEvent.valueOf(field, stream, tokens))
    // A part of a text would keep all of it in memory.
    remembered[place] = { token: Buffer.from(token).toString(), value }
    return value
  }
}
const SHORTEST = 4

/**
 * The data of a packed event, of which a field is unpacked when it is read. A fold of one read model reads few fields of
 * an event, so that a rebuild would unpack most of them for nothing. Fields are not own properties: a copy by `...` has
 * none.
 */
abstract class EventView {
  abstract readonly _tag: string
  readonly packedTokens: PackedEvent.PackedTokens
  readonly packedStream: string

  constructor(tokens: PackedEvent.PackedTokens, stream_id: string) {
    this.packedTokens = tokens
    this.packedStream = stream_id
  }
}

interface Kind {
  /** Version of the schema whose events need no conversion. */
  readonly version: number
  readonly View: new (tokens: PackedEvent.PackedTokens, stream_id: string) => EventView & Record<string, unknown>
}

const kindOf = (type: string, fields: ReadonlyArray<PackedEvent.Reading>): Kind => {
  class View extends EventView {
    readonly _tag = type
  }
  for (const field of fields) {
    const read = readerOf(field)
    Object.defineProperty(View.prototype, field.name, {
      get(this: EventView) {
        return read(this.packedStream, this.packedTokens)
      },
    })
  }
  return { View: View as unknown as Kind["View"], version: DomainEvent.schemaVersion(type) }
}

const KINDS: ReadonlyMap<string, Kind> = new Map(
  [...PackedEvent.readings].map(([type, fields]) => [type, kindOf(type, fields)]),
)

/** Returns a view of an event between two offsets; undefined if its data must be converted from an older schema. */
export const read = (type: string, stream_id: string, source: Source, from: number, to: number) => {
  const kind = KINDS.get(type)
  if (kind === undefined) return undefined
  const tokens = tokensOf(source, from, to)
  return PackedEvent.schemaVersionOf(tokens) === kind.version ? new kind.View(tokens, stream_id) : undefined
}
