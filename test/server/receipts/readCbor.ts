// Tests read values of every kind.
// oxlint-disable typescript/no-explicit-any

/** Reads a value of CBOR (RFC 8949); of a tagged one, what is tagged. */
export const readCbor = (bytes: Uint8Array): any => {
  const [value, end] = read(Buffer.from(bytes), 0)
  if (end !== bytes.length) throw new Error("bytes after the value")
  return value
}

const read = (bytes: Buffer, at: number): readonly [value: any, end: number] => {
  const first = bytes.readUInt8(at)
  if (first === 0xf6) return [null, at + 1]
  const short = first & 31
  const size = short < 24 ? 0 : 2 ** (short - 24)
  if (size > 8) throw new Error("an indefinite length")
  const number =
    size === 0 ? short : size === 8 ? Number(bytes.readBigUInt64BE(at + 1)) : bytes.readUIntBE(at + 1, size)
  const start = at + 1 + size
  switch (first >> 5) {
    case 0:
      return [number, start]
    case 1:
      return [-1 - number, start]
    case 2:
      return [new Uint8Array(bytes.subarray(start, start + number)), start + number]
    case 3:
      return [bytes.toString("utf8", start, start + number), start + number]
    case 6:
      return read(bytes, start)
    default: {
      const items: Array<unknown> = []
      let end = start
      for (let nth = 0; nth < (first >> 5 === 5 ? 2 : 1) * number; nth++) {
        const [item, next] = read(bytes, end)
        items.push(item)
        end = next
      }
      if (first >> 5 === 4) return [items, end]
      return [new Map(items.flatMap((key, nth) => (nth % 2 === 0 ? [[key, items[nth + 1]]] : []))), end]
    }
  }
}
