import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as PackedEvent from "./PackedEvent.ts"

const TAB = "\t".charCodeAt(0)
const NOT_ASCII = 0x80

/** Tokens of a packed event, of which one becomes a text of its own when it is read. */
class TokensInText implements PackedEvent.PackedTokens {
  readonly #text: string
  /** Begin of each token, and of one more behind the text. */
  readonly #begins: ReadonlyArray<number>

  constructor(text: string, begins: ReadonlyArray<number>) {
    this.#text = text
    this.#begins = begins
  }

  at(nth: number): string | undefined {
    const next = this.#begins[nth + 1]
    return next === undefined ? undefined : this.#text.slice(this.#begins[nth], next - 1)
  }
}

/** Bytes of a packed event in UTF-8, and the text that a part of them is. */
export interface Source {
  readonly bytes: Uint8Array
  readonly latin1: (from: number, to: number) => string
  readonly utf8: (from: number, to: number) => string
}

const tokensOf = (source: Source, from: number, to: number): PackedEvent.PackedTokens => {
  const begins = [0]
  let all = 0
  for (let at = from; at < to; at++) {
    const byte = source.bytes[at] ?? 0
    all |= byte
    if (byte === TAB) begins.push(at + 1 - from)
  }
  if (all >= NOT_ASCII) return PackedEvent.tokensOf(source.utf8(from, to))
  begins.push(to + 1 - from)
  return new TokensInText(source.latin1(from, to), begins)
}

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
  for (const field of fields)
    Object.defineProperty(View.prototype, field.name, {
      get(this: EventView) {
        return PackedEvent.valueOf(field, this.packedStream, this.packedTokens)
      },
    })
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
