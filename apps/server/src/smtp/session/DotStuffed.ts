import type { Body } from "./Input.ts"
import type { MessageStream } from "./MessageStream.ts"

const LF = 0x0a
const CR = 0x0d
const DOT = 0x2e

const LINE_END = Buffer.from("\r\n")
/** Beginnings of an end, or of a line with a dot more, that a piece may end with. Longer ones come first. */
const BEGINNINGS = ["\r\n.\r", "\r\n.", "\r\n", "\n.", "\r", "\n"].map((text) => Buffer.from(text))

/**
 * The content of a message after DATA (RFC 5321 §4.5.2). A dot that a client has put before a dot at the beginning of a line is
 * taken away. Only CRLF . CRLF ends the content: with any other line end, a second message could hide in the first.
 */
export class DotStuffed implements Body {
  readonly stream: MessageStream
  /** The last bytes, if only the next ones tell what they are. The content begins as if after a line end. */
  #held: Buffer = LINE_END
  /** Number of bytes held that are no part of the content. */
  #skip = LINE_END.length

  constructor(stream: MessageStream) {
    this.stream = stream
  }

  take(piece: Buffer): Buffer | undefined {
    const bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece])
    const end = heldFrom(bytes)
    let [beforeLast, last] = this.#skip === 0 ? [0, 0] : [CR, LF]
    /** Where the content is written: it moves to the front by each dot that is taken away. */
    let to = this.#skip
    // A loop over the indexes takes the same time for any content. A search takes longest for one that is made for it.
    for (let at = to; at < end; at++) {
      let byte = bytes[at] ?? 0
      if (byte === DOT && last === LF) {
        const next = bytes[at + 1]
        if (next === CR && beforeLast === CR && bytes[at + 2] === LF) {
          this.stream.write(bytes.subarray(this.#skip, to))
          return bytes.subarray(at + 3)
        }
        if (next === DOT) byte = bytes[++at] ?? 0
      }
      beforeLast = last
      last = byte
      bytes[to++] = byte
    }
    this.stream.write(bytes.subarray(this.#skip, to))
    this.#held = bytes.subarray(end)
    if (end > 0) this.#skip = 0
    return undefined
  }
}

/** Returns where the bytes begin that must wait for the next piece. */
const heldFrom = (bytes: Buffer): number => {
  for (const beginning of BEGINNINGS) {
    const at = bytes.length - beginning.length
    if (at >= 0 && bytes.subarray(at).equals(beginning)) return at
  }
  return bytes.length
}
