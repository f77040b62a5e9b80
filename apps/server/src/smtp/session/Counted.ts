import type { Body } from "./Input.ts"
import type { MessageStream } from "./MessageStream.ts"

/** A part of a message whose size its command says (BDAT, RFC 3030): without an end of its own, and without dots more. */
export class Counted implements Body {
  readonly stream: MessageStream | undefined
  #left: number

  constructor(size: number, stream: MessageStream | undefined) {
    this.#left = size
    this.stream = stream
  }

  take(piece: Buffer): Buffer | undefined {
    const part = piece.subarray(0, this.#left)
    this.#left -= part.length
    this.stream?.write(part)
    return this.#left === 0 ? piece.subarray(part.length) : undefined
  }
}
