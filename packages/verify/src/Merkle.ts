import { areEqual, type Bytes, concat, sha256 } from "./Bytes.ts"

/** Longest proof: the height of a tree whose size is an exact number of JavaScript. */
const MAX_PROOF = 53

/** Hash of a leaf (RFC 9162, section 2.1.1). */
export const leafHash = (entry: Bytes): Promise<Bytes> => sha256(concat(Uint8Array.of(0), entry))

/** Hash of a node over its two children. */
export const nodeHash = (left: Bytes, right: Bytes): Promise<Bytes> => sha256(concat(Uint8Array.of(1), left, right))

const isSize = (number: number): boolean => Number.isSafeInteger(number) && number >= 0
const areHashes = (hashes: ReadonlyArray<Bytes>): boolean => hashes.every(({ length }) => length === 32)
const half = (number: number): number => Math.floor(number / 2)

/** Whether a leaf, given by its hash, is at an index of the tree with this size and root (section 2.1.3.2). */
export const verifyInclusion = async (
  leaf: Bytes,
  index: number,
  size: number,
  proof: ReadonlyArray<Bytes>,
  root: Bytes,
): Promise<boolean> => {
  if (!isSize(index) || !isSize(size) || index >= size || proof.length > MAX_PROOF) return false
  if (!areHashes([leaf, root, ...proof])) return false
  let [node, last, hash] = [index, size - 1, leaf]
  for (const sibling of proof) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      hash = await nodeHash(sibling, hash)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else hash = await nodeHash(hash, sibling)
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && areEqual(hash, root)
}

/** Whether a tree extends an earlier one: the same leaves in the same places, and then others (section 2.1.4.2). */
export const verifyConsistency = async (
  earlierSize: number,
  earlierRoot: Bytes,
  size: number,
  root: Bytes,
  proof: ReadonlyArray<Bytes>,
): Promise<boolean> => {
  if (!isSize(earlierSize) || !isSize(size) || earlierSize > size || proof.length > MAX_PROOF + 1) return false
  if (!areHashes([earlierRoot, root, ...proof])) return false
  if (earlierSize === size) return proof.length === 0 && areEqual(earlierRoot, root)
  // Every tree extends the empty one, whose root is the hash of nothing.
  if (earlierSize === 0) return proof.length === 0 && areEqual(earlierRoot, await sha256(new Uint8Array()))
  let [node, last] = [earlierSize - 1, size - 1]
  while (node % 2 === 1) [node, last] = [half(node), half(last)]
  // An earlier tree that is whole is itself the first hash, and is left out of the proof.
  const [first, ...rest] = node === 0 ? [earlierRoot, ...proof] : proof
  if (first === undefined) return false
  let [earlier, later] = [first, first]
  for (const sibling of rest) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      earlier = await nodeHash(sibling, earlier)
      later = await nodeHash(sibling, later)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else later = await nodeHash(later, sibling)
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && areEqual(earlier, earlierRoot) && areEqual(later, root)
}
