import { Result, Schema } from "effect"
import { isAscii } from "node:buffer"

const LF = 10
const CR = 13
const DOT = 46

/**
 * A bare line break inside a body, which a lenient server could read as the start of a second mail ("SMTP smuggling").
 */
export class BareLineBreak extends Schema.TaggedError<BareLineBreak>()("BareLineBreak", { at: Schema.Int }) {
  override get message() {
    return `the message contains a bare CR or LF at byte ${this.at}`
  }
}

/** A message as sent after DATA, without the line that ends it. */
export interface SmtpBody {
  readonly bytes: Uint8Array
  /** Octets before dots were doubled: the number that SIZE declares (RFC 1870 §4). */
  readonly size: number
  readonly eightBit: boolean
}

/** Doubles the dots that begin a line (RFC 5321 §4.5.2), and refuses text that is not made of whole lines. */
export const make = (bytes: Uint8Array): Result.Result<SmtpBody, BareLineBreak> => {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const at = bareLineBreak(source)
  if (at >= 0) return Result.fail(new BareLineBreak({ at }))
  const isWhole = source.length === 0 || source[source.length - 1] === LF
  const hasDots = source[0] === DOT || source.includes("\n.")
  const stuffed = !hasDots && isWhole ? source : stuff(source, isWhole)
  return Result.succeed({ bytes: stuffed, size: source.length, eightBit: !isAscii(source) })
}

/** Text is searched in blocks, which is several times as fast as bytes, and needs no copy of the whole. */
const SEARCH_BYTES = 16 * 1024
const BARE = /\r(?!\n)|(?<!\r)\n/u

/** Returns the position of the first CR or LF without the other; -1 if there is none. */
const bareLineBreak = (source: Buffer): number => {
  let start = 0
  while (start < source.length) {
    const end = start + SEARCH_BYTES
    // The two of a line break are in the same block.
    const next = source[end - 1] === CR ? end + 1 : end
    const at = source.toString("latin1", start, next).search(BARE)
    if (at >= 0) return start + at
    start = next
  }
  return -1
}

const stuff = (source: Buffer, isWhole: boolean): Buffer => {
  let dots = 0
  for (let at = -1; (at = source.indexOf(DOT, at + 1)) >= 0;) if (at === 0 || source[at - 1] === LF) dots++
  const out = Buffer.allocUnsafe(source.length + dots + (isWhole ? 0 : BREAK.length))
  let to = 0
  let previous = LF
  for (const byte of source) {
    if (byte === DOT && previous === LF) out[to++] = DOT
    out[to++] = byte
    previous = byte
  }
  if (!isWhole) BREAK.copy(out, to)
  return out
}

const BREAK = Buffer.from("\r\n")
