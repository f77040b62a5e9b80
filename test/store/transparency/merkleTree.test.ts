import * as MerkleTree from "@waybill/store/transparency/MerkleTree"
import * as TilePath from "@waybill/store/transparency/TilePath"
import { describe } from "vitest"
import { assert, it } from "../../support/effectTest.ts"

/** Leaves, roots and proofs of github.com/transparency-dev/merkle, and the tests of Certificate Transparency before it. */
const LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"].map(
  (leaf) => MerkleTree.leafHash(Buffer.from(leaf, "hex").toString("latin1")),
)
const ROOTS = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
const H = {
  0: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  1: "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
  2: "0298d122906dcfc10892cb53a73992fc5b9f493ea4c9badb27b791b4127a7fe7",
  4: "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
  "0-2": "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "2-4": "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
  "4-6": "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
  "6-8": "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
  "0-4": "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4-8": "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** A tree with all of its tiles, grown by some leaves at a time. */
const grow = (leaves: ReadonlyArray<Uint8Array>, atOnce: number) => {
  const tiles = new Map<string, Uint8Array>()
  let tree: { edge: MerkleTree.Edge; size: number } = { edge: [], size: 0 }
  for (let at = 0; at < leaves.length; at += atOnce) {
    const grown = MerkleTree.append(tree.edge, tree.size, leaves.slice(at, at + atOnce))
    for (const tile of grown.tiles) tiles.set(MerkleTree.keyOf(tile), tile.hashes)
    tree = grown
  }
  return { ...tree, tiles, prove: (ranges: ReadonlyArray<MerkleTree.Range>) => ranges.map(MerkleTree.hashOf(tiles)) }
}

/** The definition of RFC 9162, section 2.1.1. */
const rootOf = (leaves: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = leaves
  if (only === undefined) return MerkleTree.EMPTY_ROOT
  if (leaves.length === 1) return only
  let middle = 1
  while (2 * middle < leaves.length) middle *= 2
  return MerkleTree.nodeHash(rootOf(leaves.slice(0, middle)), rootOf(leaves.slice(middle)))
}

const numbered = (count: number) => Array.from({ length: count }, (_, nth) => MerkleTree.leafHash(String(nth)))

describe("A tree of hashes", () => {
  it("has the roots of known trees", () => {
    for (const [size, root] of ROOTS.entries())
      for (const atOnce of [1, 3, 8]) {
        const { edge } = grow(LEAVES.slice(0, size), atOnce)
        assert.strictEqual(hex(MerkleTree.rootOf(edge)), root, `${size} leaves`)
      }
  })

  it("proves that a leaf is in it, as known proofs do", () => {
    for (const [index, size, proof] of [
      [0, 1, []],
      [0, 2, [H[1]]],
      [1, 2, [H[0]]],
      [2, 3, [H["0-2"]]],
      [1, 5, [H[0], H["2-4"], H[4]]],
      [0, 8, [H[1], H["2-4"], H["4-8"]]],
      [5, 8, [H[4], H["6-8"], H["0-4"]]],
    ] as const) {
      const { prove } = grow(LEAVES.slice(0, size), 3)
      assert.deepStrictEqual(prove(MerkleTree.inclusion(index, size)).map(hex), [...proof])
    }
  })

  it("proves that it extends an earlier one, as known proofs do", () => {
    for (const [earlier, size, proof] of [
      [0, 8, []],
      [1, 1, []],
      [1, 8, [H[1], H["2-4"], H["4-8"]]],
      [2, 5, [H["2-4"], H[4]]],
      [6, 8, [H["4-6"], H["6-8"], H["0-4"]]],
    ] as const) {
      const { prove } = grow(LEAVES.slice(0, size), 8)
      assert.deepStrictEqual(prove(MerkleTree.consistency(earlier, size)).map(hex), [...proof])
    }
  })

  it("has the same root and tiles over several levels, however many leaves come at once", () => {
    const leaves = numbered(66_100)
    const tree = grow(leaves, 1_000)
    const atOnce = grow(leaves, leaves.length)
    assert.strictEqual(hex(MerkleTree.rootOf(tree.edge)), hex(rootOf(leaves)))
    assert.deepStrictEqual([...tree.tiles.keys()].toSorted(), [...atOnce.tiles.keys()].toSorted())
    for (const [key, hashes] of tree.tiles)
      assert.strictEqual(hex(hashes), hex(atOnce.tiles.get(key) ?? hashes.slice(1)))
    const size = leaves.length
    for (const index of [0, 255, 256, 65_535, 65_536, 66_099]) {
      const proof = tree.prove(MerkleTree.inclusion(index, size))
      let root = leaves[index] ?? MerkleTree.EMPTY_ROOT
      for (const [nth, { start }] of MerkleTree.inclusion(index, size).entries()) {
        const other = proof[nth] ?? MerkleTree.EMPTY_ROOT
        root = start > index ? MerkleTree.nodeHash(root, other) : MerkleTree.nodeHash(other, root)
      }
      assert.strictEqual(hex(root), hex(rootOf(leaves)), `leaf ${index}`)
    }
    const keys = MerkleTree.edgeTiles(size).map(MerkleTree.keyOf)
    assert.deepStrictEqual(keys, ["0/258", "1/1", "2/0"])
    assert.deepStrictEqual(MerkleTree.tilesOf(MerkleTree.inclusion(0, size)).map(MerkleTree.keyOf), [
      "0/0",
      "1/0",
      "1/1",
      "0/258",
    ])
  })

  it("has tiles at the paths of c2sp.org/tlog-tiles", () => {
    for (const [request, path] of [
      [{ level: 0, n: 1_234_067, width: 256 }, "tile/0/x001/x234/067"],
      [{ level: 1, n: 0, width: 1 }, "tile/1/000.p/1"],
      [{ level: 0, n: 273, width: 112 }, "tile/0/273.p/112"],
    ] as const) {
      assert.strictEqual(TilePath.of(request), path)
      assert.deepStrictEqual(TilePath.parse(path), request)
    }
    for (const path of [
      "tile/00/000",
      "tile/64/000",
      "tile/0/x000/001",
      "tile/0/1",
      "tile/0/000.p/0",
      "tile/0/000.p/256",
      "tile/0/000.p/01",
      "tile/entries/000",
    ])
      assert.isUndefined(TilePath.parse(path), path)
  })
})
