/** Values of CBOR (RFC 8949) that COSE needs: integers, bytes, texts, arrays, maps, tags and null. */
export type Value =
  | number
  | string
  | null
  | Uint8Array
  | ReadonlyArray<Value>
  | ReadonlyMap<number, Value>
  | { readonly tag: number; readonly value: Value }

const MAJOR = { natural: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6 } as const
const NULL = Uint8Array.of(0xf6)

const head = (major: keyof typeof MAJOR, number: number): Uint8Array => {
  const type = MAJOR[major] << 5
  if (number < 24) return Uint8Array.of(type | number)
  const bytes = number < 2 ** 8 ? 1 : number < 2 ** 16 ? 2 : number < 2 ** 32 ? 4 : 8
  const encoded = Buffer.alloc(1 + bytes)
  encoded[0] = type | (24 + Math.log2(bytes))
  if (bytes === 8) encoded.writeBigUInt64BE(BigInt(number), 1)
  else encoded.writeUIntBE(number, 1, bytes)
  return encoded
}

/** Encodes a value, deterministically if the keys of its maps are in order. */
export const encode = (value: Value): Uint8Array => {
  if (value === null) return NULL
  if (typeof value === "number") return value < 0 ? head("negative", -1 - value) : head("natural", value)
  if (typeof value === "string") {
    const bytes = Buffer.from(value)
    return Buffer.concat([head("text", bytes.length), bytes])
  }
  if (value instanceof Uint8Array) return Buffer.concat([head("bytes", value.length), value])
  if (value instanceof Map) {
    const members = [...value].flatMap(([key, each]) => [encode(key), encode(each)])
    return Buffer.concat([head("map", value.size), ...members])
  }
  if (Array.isArray(value)) return Buffer.concat([head("array", value.length), ...value.map(encode)])
  const { tag, value: tagged } = value as { readonly tag: number; readonly value: Value }
  return Buffer.concat([head("tag", tag), encode(tagged)])
}
