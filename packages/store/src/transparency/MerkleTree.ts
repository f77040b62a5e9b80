import { hash } from "node:crypto"

/** A tree of hashes as RFC 9162 defines it, in tiles of 256 hashes as c2sp.org/tlog-tiles serves them. */
export const HASH_BYTES = 32
/** Hashes of a full tile. */
export const TILE_WIDTH = 256
export const TILE_BYTES = TILE_WIDTH * HASH_BYTES

/** Leaves of a tree, from one index up to another one that is not among them. */
export interface Range {
  readonly start: number
  readonly end: number
}

export interface TileKey {
  readonly level: number
  readonly n: number
}
/** Hashes of one level of the tree. */
export interface Tile extends TileKey {
  readonly hashes: Uint8Array
}

/** The last tile of each level, from the leaves up; empty where it would begin a new tile. */
export type Edge = ReadonlyArray<Uint8Array>

export const EMPTY_ROOT: Uint8Array = hash("sha256", "", "buffer")

/** Returns the hash of a leaf with a text. */
export const leafHash = (entry: string): Uint8Array => hash("sha256", `\0${entry}`, "buffer")

const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1)

/** Writes the hash of two children, which lie beside each other in `from`. */
const writeNode = (from: Uint8Array, at: number, to: Buffer, toAt: number): void => {
  node.set(from.subarray(at, at + 2 * HASH_BYTES), 1)
  to.write(hash("sha256", node, "binary"), toAt, "latin1")
}

export const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array => {
  node.set(left, 1)
  node.set(right, 1 + HASH_BYTES)
  return hash("sha256", node, "buffer")
}

/** Returns the root of a subtree whose children are a power of two. */
const subtreeRoot = (children: Uint8Array): Uint8Array => {
  let width = children.length / HASH_BYTES
  if (width === 1) return children
  const level = Buffer.from(children)
  for (; width > 1; width /= 2)
    for (let nth = 0; nth < width / 2; nth++) writeNode(level, 2 * nth * HASH_BYTES, level, nth * HASH_BYTES)
  return level.subarray(0, HASH_BYTES)
}

/** Number of hashes of a level that a tree of some leaves has. */
export const widthOf = (size: number, level: number): number => Math.floor(size / TILE_WIDTH ** level)

/** The tiles of the edge of a tree that are not empty, and not full. */
export const edgeTiles = (size: number): ReadonlyArray<TileKey> => {
  const keys: Array<TileKey> = []
  for (let level = 0; widthOf(size, level) > 0; level++) {
    const width = widthOf(size, level)
    if (width % TILE_WIDTH > 0) keys.push({ level, n: Math.floor(width / TILE_WIDTH) })
  }
  return keys
}

/** Appends leaves. Returns the new edge, and all tiles that are new or longer than before. */
export const append = (edge: Edge, size: number, leaves: ReadonlyArray<Uint8Array>) => {
  const tiles: Array<Tile> = []
  const grown = [...edge]
  let added = leaves
  for (let level = 0; added.length > 0; level++) {
    const hashes = Buffer.concat([edge[level] ?? new Uint8Array(), ...added])
    const first = Math.floor(widthOf(size, level) / TILE_WIDTH)
    const parents: Array<Uint8Array> = []
    let at = 0
    for (; at + TILE_BYTES <= hashes.length; at += TILE_BYTES) {
      const full = hashes.subarray(at, at + TILE_BYTES)
      tiles.push({ level, n: first + parents.length, hashes: full })
      parents.push(subtreeRoot(full))
    }
    grown[level] = hashes.subarray(at)
    if (at < hashes.length) tiles.push({ level, n: first + parents.length, hashes: hashes.subarray(at) })
    added = parents
  }
  return { edge: grown as Edge, size: size + leaves.length, tiles: tiles as ReadonlyArray<Tile> }
}

/** Returns the root of the tree with an edge. */
export const rootOf = (edge: Edge): Uint8Array => {
  let root: Uint8Array | undefined
  for (const hashes of edge) {
    let end = hashes.length / HASH_BYTES
    while (end > 0) {
      // The lowest bit of the width is the last subtree.
      const width = end & -end
      const left = subtreeRoot(hashes.subarray((end - width) * HASH_BYTES, end * HASH_BYTES))
      root = root === undefined ? left : nodeHash(left, root)
      end -= width
    }
  }
  return root ?? EMPTY_ROOT
}

/** Returns the largest power of two below a number. */
const powerBelow = (number: number): number => {
  let power = 1
  while (2 * power < number) power *= 2
  return power
}

/** Returns the ranges whose hashes prove that a leaf is in a tree, from its sibling up. */
export const inclusion = (index: number, size: number): ReadonlyArray<Range> => {
  const proof: Array<Range> = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + powerBelow(end - start)
    const isLeft = index < middle
    proof.push(isLeft ? { start: middle, end } : { start, end: middle })
    ;[start, end] = isLeft ? [start, middle] : [middle, end]
  }
  return proof.reverse()
}

/** Computes the root that a proof leads to, from the hashes of its ranges. */
export const rootFrom = (
  leaf: Uint8Array,
  index: number,
  ranges: ReadonlyArray<Range>,
  proof: ReadonlyArray<Uint8Array>,
): Uint8Array =>
  ranges.reduce((hash, { start }, nth) => {
    const other = proof[nth] ?? EMPTY_ROOT
    return start > index ? nodeHash(hash, other) : nodeHash(other, hash)
  }, leaf)

/** Returns the ranges whose hashes prove that a tree extends an earlier one. */
export const consistency = (earlier: number, size: number): ReadonlyArray<Range> => {
  if (earlier === 0 || earlier === size) return []
  const proof: Array<Range> = []
  let [start, end] = [0, size]
  let isWhole = true
  while (earlier < end) {
    const middle = start + powerBelow(end - start)
    const isLeft = earlier <= middle
    proof.push(isLeft ? { start: middle, end } : { start, end: middle })
    if (!isLeft) isWhole = false
    ;[start, end] = isLeft ? [start, middle] : [middle, end]
  }
  // The verifier knows the root of the earlier tree.
  if (!isWhole) proof.push({ start, end })
  return proof.reverse()
}

interface Subtree extends TileKey {
  readonly from: number
  readonly width: number
}

/** Splits a range of a proof into whole subtrees, each of which lies in one tile. */
const subtreesOf = ({ end, start }: Range): ReadonlyArray<Subtree> => {
  const subtrees: Array<Subtree> = []
  for (let at = start; at < end;) {
    let leaves = powerBelow(end - at + 1)
    at += leaves
    let level = 0
    for (; leaves >= TILE_WIDTH; leaves /= TILE_WIDTH) level++
    const from = at / TILE_WIDTH ** level - leaves
    const n = Math.floor(from / TILE_WIDTH)
    subtrees.push({ level, n, from: from - n * TILE_WIDTH, width: leaves })
  }
  return subtrees
}

export const keyOf = ({ level, n }: TileKey): string => `${level}/${n}`

/** Returns the tiles that hold the hashes of ranges. */
export const tilesOf = (ranges: ReadonlyArray<Range>): ReadonlyArray<TileKey> => [
  ...new Map(ranges.flatMap(subtreesOf).map(({ level, n }) => [keyOf({ level, n }), { level, n }])).values(),
]

/** Computes the hash of a range from the tiles that hold it. */
export const hashOf =
  (tiles: ReadonlyMap<string, Uint8Array>) =>
  (range: Range): Uint8Array => {
    const hashes = subtreesOf(range).map((subtree) => {
      const tile = tiles.get(keyOf(subtree))
      const children = tile?.subarray(subtree.from * HASH_BYTES, (subtree.from + subtree.width) * HASH_BYTES)
      if (children?.length !== subtree.width * HASH_BYTES) throw new Error(`the tile ${keyOf(subtree)} is too short`)
      return subtreeRoot(children)
    })
    return hashes.reduceRight((right, left) => nodeHash(left, right))
  }
