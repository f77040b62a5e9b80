import { areEqual, type Bytes, concat, sha256 } from "./Bytes.ts"

/** Longest proof: the height of a tree whose size is an exact number of JavaScript, and one more for consistency. */
const MAX_PROOF = 54

/** Hashes that lead from a leaf, or from an earlier tree, to a root. */
export type MerkleProof = ReadonlyArray<Bytes>

/** Hash of a leaf (RFC 9162, section 2.1.1). */
export const leafHash = (entry: Bytes): Promise<Bytes> => sha256(concat(Uint8Array.of(0), entry))

/** Hash of a node over its two children. */
export const nodeHash = (left: Bytes, right: Bytes): Promise<Bytes> => sha256(concat(Uint8Array.of(1), left, right))

const isSize = (number: number): boolean => Number.isSafeInteger(number) && number >= 0
const half = (number: number): number => Math.floor(number / 2)

/**
 * Climbs to the root from a node and from the last one of its level. Returns two roots: one without what is to the right of
 * the node, which is the root of an earlier tree, and the one of the whole tree. Returns undefined if the proof does not end
 * at the root.
 */
const climb = async (node: number, last: number, start: Bytes, proof: MerkleProof) => {
  if (proof.length > MAX_PROOF || ![start, ...proof].every(({ length }) => length === 32)) return undefined
  let [earlier, whole] = [start, start]
  for (const sibling of proof) {
    if (last === 0) return undefined
    if (node % 2 === 1 || node === last) {
      earlier = await nodeHash(sibling, earlier)
      whole = await nodeHash(sibling, whole)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else whole = await nodeHash(whole, sibling)
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 ? { earlier, whole } : undefined
}

/** Returns the root that a proof leads to from a leaf, given by its hash (section 2.1.3.2). */
export const rootOfProof = async (leaf: Bytes, index: number, size: number, proof: MerkleProof) => {
  if (!isSize(index) || !isSize(size) || index >= size) return undefined
  return (await climb(index, size - 1, leaf, proof))?.whole
}

/** Whether a leaf is at an index of the tree with this size and root. */
export const verifyInclusion = async (leaf: Bytes, index: number, size: number, proof: MerkleProof, root: Bytes) => {
  const own = await rootOfProof(leaf, index, size, proof)
  return own !== undefined && areEqual(own, root)
}

/** Whether a tree of n leaves extends one of m: the same leaves in their places, and then others (section 2.1.4.2). */
export const verifyConsistency = async (m: number, rootM: Bytes, n: number, rootN: Bytes, proof: MerkleProof) => {
  if (!isSize(m) || !isSize(n) || m > n || rootM.length !== 32 || rootN.length !== 32) return false
  if (m === n) return proof.length === 0 && areEqual(rootM, rootN)
  // Every tree extends the empty one, whose root is the hash of nothing.
  if (m === 0) return proof.length === 0 && areEqual(rootM, await sha256(new Uint8Array()))
  let [node, last] = [m - 1, n - 1]
  while (node % 2 === 1) [node, last] = [half(node), half(last)]
  // An earlier tree that is whole is itself the first hash, which the proof leaves out.
  const [first = new Uint8Array(), ...rest] = node === 0 ? [rootM, ...proof] : proof
  const roots = await climb(node, last, first, rest)
  return roots !== undefined && areEqual(roots.earlier, rootM) && areEqual(roots.whole, rootN)
}
