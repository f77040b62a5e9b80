import { joined, Pieces, SLICE_BYTES } from "../../../../apps/server/src/smtp/Pieces.ts"
import { assert, describe, it } from "../../../support/effectTest.ts"

const PACKET_BYTES = 64 * 1024
const COUNT = 200_000

/** Pieces of one byte, each a part of a packet of its own chunk's commands. */
const bytes = (count: number) => {
  const pieces = new Pieces()
  for (let nth = 0; nth < count; nth++) pieces.add(Buffer.from([nth % 251]))
  return pieces
}

describe("pieces of a message", () => {
  // threat: memory-budgets
  it("of one byte take about as much memory as their bytes, and few objects", () => {
    const all = bytes(COUNT).takeAll()
    assert.isBelow(all.length, 20)
    assert.isBelow(
      all.reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
      2 * COUNT,
    )
    assert.isTrue(Buffer.concat(all).every((byte, nth) => byte === nth % 251))
  })

  it("keep no packet for the few bytes of it that they have", () => {
    const pieces = new Pieces()
    for (let nth = 0; nth < 100; nth++) {
      const packet = Buffer.alloc(PACKET_BYTES, nth)
      pieces.add(packet.subarray(0, 0))
      pieces.add(packet.subarray(0, 5_000))
    }
    const all = pieces.takeAll()
    assert.isBelow(new Set(all.map(({ buffer }) => buffer)).size, 20)
    assert.strictEqual(
      all.reduce((sum, { length }) => sum + length, 0),
      500_000,
    )
    assert.deepStrictEqual(pieces.takeAll(), [])
  })

  it("keep their order, whatever their sizes", async () => {
    const pieces = new Pieces()
    const sizes = [1, 5_000, 3, 70_000, 600, 4_096, SLICE_BYTES, 2]
    for (const [nth, size] of sizes.entries()) pieces.add(Buffer.alloc(size, nth))
    const expected = Buffer.concat(sizes.map((size, nth) => Buffer.alloc(size, nth)))
    assert.isTrue((await joined(pieces.takeAll(), expected.length)).equals(expected))
  })
})
