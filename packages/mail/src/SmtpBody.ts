import { Result, Schema } from "effect"
import { isAscii } from "node:buffer"

const LF = 10
const CR = 13
const DOT = 46

/** A bare line break inside a body lets it be read as two mails by a lenient server ("SMTP smuggling"). */
export class BareLineBreak extends Schema.TaggedError<BareLineBreak>()("BareLineBreak", { at: Schema.Int }) {
  override get message() {
    return `the message holds a bare CR or LF at octet ${this.at}`
  }
}

/** A message as it goes over the wire after DATA, without the line that ends it. */
export interface SmtpBody {
  readonly bytes: Uint8Array
  /** Octets before dots were doubled: what SIZE declares (RFC 1870 §4). */
  readonly size: number
  readonly eightBit: boolean
}

/** Doubles the dots that begin a line (RFC 5321 §4.5.2), and refuses what is not made of whole lines. */
export const make = (bytes: Uint8Array): Result.Result<SmtpBody, BareLineBreak> => {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const dots: Array<number> = source[0] === DOT ? [0] : []
  let line = 0
  for (let lf = source.indexOf(LF); lf >= 0; lf = source.indexOf(LF, line)) {
    if (lf === 0 || source[lf - 1] !== CR) return Result.fail(new BareLineBreak({ at: lf }))
    const cr = source.indexOf(CR, line)
    if (cr !== lf - 1) return Result.fail(new BareLineBreak({ at: cr }))
    line = lf + 1
    if (source[line] === DOT) dots.push(line)
  }
  const stray = source.indexOf(CR, line)
  if (stray >= 0) return Result.fail(new BareLineBreak({ at: stray }))
  const whole = line === source.length
  const pieces: Array<Uint8Array> = []
  let from = 0
  for (const dot of dots) {
    pieces.push(source.subarray(from, dot), DOUBLED)
    from = dot
  }
  pieces.push(source.subarray(from))
  if (!whole) pieces.push(BREAK)
  const stuffed = pieces.length === 1 ? source : Buffer.concat(pieces)
  return Result.succeed({ bytes: stuffed, size: source.length, eightBit: !isAscii(source) })
}

const DOUBLED = Buffer.from(".")
const BREAK = Buffer.from("\r\n")
