import { Readable } from "node:stream"

/** Bytes that may wait for the reader of a message. A client can make an object of each, which takes a hundred times as much. */
const WAITING_BYTES = 1024

/** The bytes of a message while they come in. */
export class MessageStream extends Readable {
  /** Number of bytes so far, whether or not they were read. */
  byteLength = 0
  /** Whether the last byte has come. */
  isWhole = false
  #isFull = false
  readonly #onDrained: () => void

  constructor(onDrained: () => void) {
    super({ highWaterMark: WAITING_BYTES })
    this.#onDrained = onDrained
  }

  /** Whether the reader must read before more bytes are written. `onDrained` is called when it has. */
  get isFull(): boolean {
    return this.#isFull && !this.destroyed
  }

  write(piece: Buffer): void {
    if (piece.length === 0 || this.destroyed) return
    this.byteLength += piece.length
    this.#isFull = !this.push(piece)
  }

  end(): void {
    this.isWhole = true
    if (!this.destroyed) this.push(null)
  }

  override _read(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#onDrained()
  }
}
