import { readFileSync } from "node:fs"
import type { Bytes } from "../../packages/verify/src/Bytes.ts"
import { leafHash, nodeHash, verifyConsistency, verifyInclusion } from "../../packages/verify/src/MerkleProof.ts"
import { assert, describe, it } from "../support/effectTest.ts"
import { consistencyOf, pathOf, rootOf, sha256 } from "./MadeLog.ts"

interface Vector {
  readonly name: string
  readonly proof: ReadonlyArray<string> | null
  readonly wantErr: boolean
}
interface Inclusion extends Vector {
  readonly leafIdx: number
  readonly treeSize: number
  readonly root: string
  readonly leafHash: string
}
interface Consistency extends Vector {
  readonly size1: number
  readonly size2: number
  readonly root1: string | null
  readonly root2: string | null
}

/** Vectors of github.com/transparency-dev/merkle, one a file there. */
const VECTORS = JSON.parse(readFileSync(new URL("../fixtures/verify/merkle.json", import.meta.url), "utf8")) as {
  readonly inclusion: ReadonlyArray<Inclusion>
  readonly consistency: ReadonlyArray<Consistency>
}

const bytes = (base64: string | null): Bytes => Uint8Array.from(Buffer.from(base64 ?? "", "base64"))
const own = (buffers: ReadonlyArray<Buffer>): ReadonlyArray<Bytes> => buffers.map((each) => Uint8Array.from(each))
const SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33]

describe("Merkle proofs", () => {
  it("hold or fail as the vectors of transparency-dev/merkle say", async () => {
    assert.isAbove(VECTORS.inclusion.length + VECTORS.consistency.length, 190)
    for (const { leafHash: leaf, leafIdx, name, proof, root, treeSize, wantErr } of VECTORS.inclusion) {
      const holds = await verifyInclusion(bytes(leaf), leafIdx, treeSize, (proof ?? []).map(bytes), bytes(root))
      assert.strictEqual(holds, !wantErr, name)
    }
    for (const { name, proof, root1, root2, size1, size2, wantErr } of VECTORS.consistency) {
      const holds = await verifyConsistency(size1, bytes(root1), size2, bytes(root2), (proof ?? []).map(bytes))
      // Some vectors compare texts that are no hashes. Those are refused here.
      assert.strictEqual(holds, !wantErr && bytes(root1).length === 32, name)
    }
  })

  it("hold for every leaf and for every earlier tree, and for no other", async () => {
    const leaves = Array.from({ length: 34 }, (_, nth) => sha256(Buffer.of(0), `leaf ${nth}`))
    for (const size of SIZES) {
      const tree = leaves.slice(0, size)
      const [root = new Uint8Array()] = own([rootOf(tree)])
      for (const [index, leaf] of own(tree).entries()) {
        const proof = own(pathOf(index, tree))
        assert.isTrue(await verifyInclusion(leaf, index, size, proof, root), `${index} of ${size}`)
        assert.isFalse(await verifyInclusion(leaf, index + 1, size, proof, root))
        assert.isFalse(await verifyInclusion(leaf, index, size, [...proof, leaf], root))
        assert.isFalse((await verifyInclusion(leaf, index, size, proof.slice(1), root)) && proof.length > 0)
      }
      for (let earlier = 1; earlier <= size; earlier++) {
        const [before = new Uint8Array()] = own([rootOf(leaves.slice(0, earlier))])
        const proof = own(consistencyOf(earlier, tree))
        assert.isTrue(await verifyConsistency(earlier, before, size, root, proof), `${earlier} to ${size}`)
        const [fork = new Uint8Array()] = own([rootOf([...leaves.slice(1, earlier), sha256("fork")])])
        assert.isFalse(await verifyConsistency(earlier, fork, size, root, proof))
        assert.isFalse(await verifyConsistency(earlier, before, size, fork, proof))
        assert.isFalse(await verifyConsistency(earlier, before, size, root, [...proof, root]))
      }
    }
  })

  it("begin with the empty tree, and stay within numbers that are exact", async () => {
    const empty = Uint8Array.from(sha256(""))
    const leaf = await leafHash(new Uint8Array())
    assert.strictEqual(
      Buffer.from(leaf).toString("hex"),
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    )
    assert.isTrue(await verifyConsistency(0, empty, 1, leaf, []))
    assert.isFalse(await verifyConsistency(0, leaf, 1, leaf, []))
    assert.isFalse(await verifyConsistency(0, empty, 1, leaf, [leaf]))
    assert.isFalse(await verifyConsistency(2, leaf, 1, leaf, []))
    for (const index of [-1, 0.5, NaN, 2 ** 53]) assert.isFalse(await verifyInclusion(leaf, index, 2 ** 53, [], leaf))
    assert.isFalse(await verifyInclusion(leaf, 0, 2 ** 40, Array<Bytes>(60).fill(leaf), leaf))
    // A tree of 2^40 leaves that are all the same, whose proofs are as long as its height.
    const levels = [leaf]
    while (levels.length <= 40) {
      const below = levels.at(-1) ?? leaf
      levels.push(await nodeHash(below, below))
    }
    const root = levels.at(-1) ?? leaf
    assert.isTrue(await verifyInclusion(leaf, 2 ** 39 + 12345, 2 ** 40, levels.slice(0, -1), root))
    assert.isFalse(await verifyInclusion(leaf, 2 ** 40, 2 ** 40, levels.slice(0, -1), root))
  })
})
