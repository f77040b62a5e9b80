import type { Body } from "./Input.ts"
import type { MessageStream } from "./MessageStream.ts"

const LF = 0x0a
const CR = 0x0d
const DOT = 0x2e

const LINE_END = Buffer.from("\r\n")
const DOT_LINE = Buffer.from("\n.")
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
    /** The content moves to the front by the dots that are taken away: `from` is where it is read, `to` where it is written. */
    let from = this.#skip
    let to = from
    const keep = (end: number) => {
      if (to !== from) bytes.copyWithin(to, from, end)
      to += end - from
    }
    for (let at = bytes.indexOf(DOT_LINE); at !== -1; at = bytes.indexOf(DOT_LINE, at + DOT_LINE.length)) {
      const next = bytes[at + 2]
      if (next === DOT) {
        keep(at + 2)
        from = at + 3
      } else if (next === CR && bytes[at + 3] === LF && bytes[at - 1] === CR) {
        keep(at + 1)
        this.stream.write(bytes.subarray(this.#skip, to))
        return bytes.subarray(at + 4)
      }
    }
    const end = heldFrom(bytes, from === this.#skip ? 0 : from)
    if (end > from) keep(end)
    this.stream.write(bytes.subarray(this.#skip, to))
    this.#held = bytes.subarray(end)
    if (end > 0) this.#skip = 0
    return undefined
  }
}

/** Returns where the bytes begin that must wait for the next piece. */
const heldFrom = (bytes: Buffer, from: number): number => {
  for (const beginning of BEGINNINGS) {
    const at = bytes.length - beginning.length
    if (at >= from && bytes.subarray(at).equals(beginning)) return at
  }
  return bytes.length
}
