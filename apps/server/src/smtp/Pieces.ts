import { setImmediate } from "node:timers/promises"

/** A shorter piece is copied: an object for each byte, and the packet that it is a part of, would take many times its bytes. */
const SMALL_PIECE_BYTES = 4 * 1024
const FIRST_BLOCK_BYTES = 512
const MAX_BLOCK_BYTES = 64 * 1024
/** Bytes that are joined before other work has its turn. */
export const SLICE_BYTES = 1024 * 1024
const NONE = Buffer.alloc(0)

/** Pieces of a message. They take little more memory than twice their bytes, however the client has cut them. */
export class Pieces {
  #pieces: Array<Buffer> = []
  /** Small pieces are put together here. The next block is twice as long, until a large piece comes. */
  #block: Buffer = NONE
  #used = 0

  add(piece: Buffer): void {
    // One without bytes would keep what it is a part of.
    if (piece.length === 0) return
    if (piece.length >= SMALL_PIECE_BYTES && piece.length * 2 >= piece.buffer.byteLength) {
      this.#endBlock()
      this.#block = NONE
      this.#pieces.push(piece)
      return
    }
    if (piece.length > this.#block.length - this.#used) {
      this.#endBlock()
      const length = Math.min(MAX_BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, 2 * this.#block.length))
      this.#block = Buffer.allocUnsafeSlow(Math.max(piece.length, length))
    }
    this.#used += piece.copy(this.#block, this.#used)
  }

  /** Returns all pieces, joined ones in place of small ones, and keeps none. */
  takeAll(): Array<Buffer> {
    this.#endBlock()
    const all = this.#pieces
    this.clear()
    return all
  }

  clear(): void {
    this.#pieces = []
    this.#block = NONE
    this.#used = 0
  }

  #endBlock(): void {
    if (this.#used > 0) this.#pieces.push(this.#block.subarray(0, this.#used))
    this.#used = 0
  }
}

/** Joins pieces, which are let go meanwhile. The memory of a large message is new, which takes longer than the copying. */
export const joined = async (pieces: Array<Buffer>, length: number): Promise<Buffer> => {
  const whole = Buffer.allocUnsafe(length)
  let to = 0
  let ofSlice = 0
  for (const [nth, piece] of pieces.entries()) {
    // Let go by its index: to take one from the beginning moves all others.
    pieces[nth] = NONE
    to += piece.copy(whole, to)
    ofSlice += piece.length
    if (ofSlice < SLICE_BYTES) continue
    await setImmediate()
    ofSlice = 0
  }
  return whole
}
