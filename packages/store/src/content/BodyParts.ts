/** Parts of a body beyond which no template is looked for, so that no body takes long. */
export const MAX_PARTS = 1_000

/** Bytes that end a part: of a tag, a line, a sentence, and the backslash of an escaped line break. */
const ENDS = Uint8Array.from({ length: 256 }, (_, byte) => ("<>\n.\\".includes(String.fromCharCode(byte)) ? 1 : 0))
/** A signed integer, as the hashes are: with the offset as it is, the loops compute with floating-point numbers. */
const FNV_OFFSET = 0x811c_9dc5 | 0
const FNV_PRIME = 0x0100_0193

/** The parts of one body: where each ends, where the next begins, and its hash. Reused, because bodies pass all the time. */
export class BodyParts {
  count = 0
  readonly #ends = new Int32Array(MAX_PARTS)
  readonly #hashes = new Int32Array(MAX_PARTS)

  /** Returns false for a body of too many parts. */
  read(bytes: Uint8Array): boolean {
    const [ends, hashes, { length }] = [this.#ends, this.#hashes, bytes]
    let [count, hash] = [0, FNV_OFFSET]
    for (let at = 0; at < length; at++) {
      const byte = bytes[at] ?? 0
      hash = Math.imul(hash ^ byte, FNV_PRIME)
      if (ENDS[byte] === 0) continue
      if (count === MAX_PARTS) return false
      ends[count] = at + 1
      hashes[count++] = hash
      hash = FNV_OFFSET
    }
    this.count = count
    return true
  }

  hash(nth: number): number {
    return this.#hashes[nth] ?? 0
  }

  begin(nth: number): number {
    return nth === 0 ? 0 : (this.#ends[nth - 1] ?? 0)
  }

  end(nth: number): number {
    return this.#ends[nth] ?? 0
  }

  length(nth: number): number {
    return this.end(nth) - this.begin(nth)
  }
}

/** Hash of a text that is no part. */
export const hashOf = (text: string): number => {
  let hash = FNV_OFFSET
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash
}
