import { canonicalJson, type JsonValue, type JsonObject, parseJson } from "./JsonValue.ts"

export interface ReceiptEvent {
  /** The contents of the leaf, which are hashed as canonical JSON. */
  readonly entry: { readonly [name in "event" | "stream" | "type" | "at" | "data"]: string } & {
    readonly version: number
  }
  /** Missing, as `hidden` is, once the data is erased. */
  readonly fields?: Readonly<Record<string, { readonly salt: string; readonly value: JsonValue }>>
  /** Commitments of the fields that are not shown. */
  readonly hidden?: Readonly<Record<string, string>>
  readonly index: number
  readonly proof: ReadonlyArray<string>
}

export interface Receipt {
  readonly origin: string
  readonly email: JsonObject
  readonly events: ReadonlyArray<ReceiptEvent>
  /** A signed note. */
  readonly checkpoint: string
  /** Lines of signatures by witnesses. */
  readonly cosignatures: ReadonlyArray<string>
  readonly keys: ReadonlyArray<string>
}

const MAX_CHARS = 16 * 1024 * 1024

/** Reads a receipt: the members that it knows must be all that there are. The checks tell whether they are right. */
export const parseReceipt = (text: string): Receipt => {
  if (text.length > MAX_CHARS) throw new Error(`It has more than ${MAX_CHARS} characters.`)
  const file = parseJson(text)
  const receipt = known(file as unknown as Receipt)
  if (canonicalJson({ object: "receipt", ...receipt }) !== canonicalJson(file))
    throw new Error("It does not have the members of a receipt, or has others.")
  return receipt
}

const known = ({ checkpoint, cosignatures, email, events, keys, origin }: Receipt): Receipt => ({
  origin: `${origin}`,
  email,
  events: events.map(({ entry: { at, data, event, stream, type, version }, fields, hidden, index, proof }) => ({
    entry: { v: 1, event, stream, version, type, at, data },
    ...(fields === undefined && hidden === undefined ? {} : { fields: openings(fields), hidden: { ...hidden } }),
    index,
    proof,
  })),
  checkpoint: `${checkpoint}`,
  cosignatures: cosignatures.map(String),
  keys: keys.map(String),
})

const openings = (fields: ReceiptEvent["fields"] = {}) =>
  Object.fromEntries(Object.entries(fields).map(([name, { salt, value }]) => [name, { salt, value }]))
