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
    Object.defineProperty(View.prototype, field.name, {
      get(this: EventView) {
        return PackedEvent.valueOf(field, this.packedStream, this.packedTokens)
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
