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
  let dots = source[0] === DOT ? 1 : 0
  let line = 0
  // Searching for the next line break is several times as fast as looking at each byte.
  while (line < source.length) {
    const cr = source.indexOf(CR, line)
    const lf = source.indexOf(LF, line)
    if (cr === -1 && lf === -1) break
    if (cr === -1 || lf !== cr + 1) {
      const isBareLf = lf !== -1 && (cr === -1 || lf < cr)
      return Result.fail(new BareLineBreak({ at: isBareLf ? lf : cr }))
    }
    line = lf + 1
    if (source[line] === DOT) dots++
  }
  const isWhole = line === source.length
  const stuffed = dots === 0 && isWhole ? source : stuff(source, dots, isWhole)
  return Result.succeed({ bytes: stuffed, size: source.length, eightBit: !isAscii(source) })
}

const stuff = (source: Buffer, dots: number, isWhole: boolean): Buffer => {
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
