const CR = 0x0d
const LF = 0x0a

/**
 * Writes each bare LF of a message as CRLF while it comes in, and finds a bare CR, piece by piece: a pass over a large message
 * would hold up other work.
 */
export class LineEnds {
  #last = 0
  #hasBareCr = false

  /** Whether a CR without LF has come, when all pieces have. */
  get hasBareCr(): boolean {
    return this.#hasBareCr || this.#last === CR
  }

  next(piece: Buffer): Buffer {
    const first = this.#last
    let last = first
    let bare = 0
    // A loop over the indexes is several times as fast as one over the bytes, or as indexOf for a message of line ends only.
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] ?? 0
      if (byte === LF) bare += last === CR ? 0 : 1
      else if (last === CR) this.#hasBareCr = true
      last = byte
    }
    this.#last = last
    return bare === 0 ? piece : inCrlf(piece, first, bare)
  }
}

const inCrlf = (piece: Buffer, first: number, bare: number): Buffer => {
  const out = Buffer.allocUnsafe(piece.length + bare)
  let to = 0
  let last = first
  for (let at = 0; at < piece.length; at++) {
    const byte = piece[at] ?? 0
    if (byte === LF && last !== CR) out[to++] = CR
    out[to++] = byte
    last = byte
  }
  return out
}
