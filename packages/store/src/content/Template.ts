import { createHash } from "node:crypto"
import type { BodyParts } from "./BodyParts.ts"

const ID_BYTES = 16

/** Text that bodies of an account have in common, with which they are stored. It consists of parts of bodies. */
export interface Template {
  readonly id: Uint8Array
  readonly bytes: Buffer
  /** Where each part ends. */
  readonly ends: Int32Array
  readonly hashes: Int32Array
  /** Number of the first part with a hash. */
  readonly places: ReadonlyMap<number, number>
}

/** Makes a template of some parts of a body, in their order. */
export const make = (bytes: Uint8Array, parts: BodyParts, kept: ReadonlyArray<number>): Template => {
  const text = Buffer.concat(kept.map((part) => bytes.subarray(parts.begin(part), parts.end(part))))
  const ends = new Int32Array(kept.length)
  const hashes = new Int32Array(kept.length)
  const places = new Map<number, number>()
  let end = 0
  for (const [nth, part] of kept.entries()) {
    const hash = parts.hash(part)
    ends[nth] = end += parts.length(part)
    hashes[nth] = hash
    if (!places.has(hash)) places.set(hash, nth)
  }
  const id = createHash("sha256").update(text).digest().subarray(0, ID_BYTES)
  return { id, bytes: text, ends, hashes, places }
}

export const beginOf = ({ ends }: Template, part: number): number => (part === 0 ? 0 : (ends[part - 1] ?? 0))
