import * as LineEnds from "./LineEnds.ts"

/** Longer lines are sent as quoted-printable: RFC 5322 §2.1.1 recommends 78, and old relays wrap longer ones. */
const SEVEN_BIT_LINE_LENGTH = 78
/** Line length of both encodings (RFC 2045 §6.7 (5) and §6.8). */
const ENCODED_LINE_LENGTH = 76

/**
 * Tab, LF and printable ASCII. Excluded are white space at the end of a line (relays strip it), lines that begin with
 * "From " (mbox would write ">From ") and lines that begin with a dot (some servers botch dot-stuffing).
 */
const SEVEN_BIT = /^[\t\n\x20-\x7e]*$/
const FRAGILE_LINE = /^(?:From |\.)|[ \t]$/m

/** Text up to here may be quoted-printable; longer text is base64, because each byte of the other is looked at in turn. */
export const MAX_QUOTED_BYTES = 1024 * 1024
/** RFC 5321 §4.5.3.1.6: 1000 octets with the line end. */
const SENDABLE_LINE_LENGTH = 998

const HEX = new Uint8Array(Buffer.from("0123456789ABCDEF"))
const CR = 13
const LF = 10
const TAB = 9
const SPACE = 32
const EQUALS = 61
const DOT = 46
const UPPER_F = 70
/** RFC 2045 §6.7 (2): printable ASCII and tab, but not the equals sign. */
const BARE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === TAB || (byte >= SPACE && byte <= 126 && byte !== EQUALS) ? 1 : 0,
)

export type TransferEncoding = "7bit" | "quoted-printable" | "base64"

export interface EncodedBody {
  readonly encoding: TransferEncoding
  /** ASCII with CRLF line ends; the last line has none, since the break after it belongs to the boundary. */
  readonly content: string | Buffer
}

/** Encodes text with any line ends in the cheapest encoding that carries it. `boundary` can occur in none of them. */
export const encodeText = (text: string, boundary: string): EncodedBody => {
  const lines = LineEnds.toLf(text)
  if (
    SEVEN_BIT.test(lines) &&
    !hasLineOver(lines, SEVEN_BIT_LINE_LENGTH) &&
    !FRAGILE_LINE.test(lines) &&
    !lines.includes(boundary)
  ) {
    return { encoding: "7bit", content: LineEnds.toCrlf(lines) }
  }
  const bytes = Buffer.from(lines)
  // Both encodings write an equals sign only to escape or to pad, never before "_": no boundary can appear.
  return bytes.length > MAX_QUOTED_BYTES || mostlyEscapes(bytes)
    ? { encoding: "base64", content: base64Lines(LineEnds.inCrlf(bytes)) }
    : { encoding: "quoted-printable", content: quotedPrintable(bytes) }
}

/** A loop, since a regular expression that counts the characters of a line starts again at each of them. */
const hasLineOver = (lines: string, most: number): boolean => {
  let start = 0
  for (let end = lines.indexOf("\n"); end >= 0; end = lines.indexOf("\n", start)) {
    if (end - start > most) return true
    start = end + 1
  }
  return lines.length - start > most
}

/**
 * An escape takes three bytes for one, base64 four for three: base64 is shorter once a sixth of the bytes needs
 * escapes.
 */
const mostlyEscapes = (bytes: Uint8Array): boolean => {
  let escapes = 0
  for (let i = 0; i < bytes.length; i++) escapes += BARE[bytes[i] ?? LF] === 0 && bytes[i] !== LF ? 1 : 0
  return escapes * 6 > bytes.length
}

/** A message inside a message may not be encoded (RFC 2046 §5.2.1), so it must already be what SMTP carries. */
export const sevenBitMessage = (content: Uint8Array, boundary: string): string | Buffer | undefined => {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("latin1")
  const lines = LineEnds.toLf(text)
  if (!SEVEN_BIT.test(lines) || hasLineOver(lines, SENDABLE_LINE_LENGTH) || lines.includes(boundary)) return undefined
  return LineEnds.toCrlf(lines)
}

export const base64Lines = (content: Uint8Array): Buffer => {
  const encoded = Buffer.from(
    Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64"),
    "latin1",
  )
  const breaks = Math.max(0, Math.ceil(encoded.length / ENCODED_LINE_LENGTH) - 1)
  const out = Buffer.allocUnsafe(encoded.length + 2 * breaks)
  let at = 0
  for (let i = 0; i < encoded.length; i += ENCODED_LINE_LENGTH) {
    if (i > 0) {
      out[at++] = CR
      out[at++] = LF
    }
    at += encoded.copy(out, at, i, i + ENCODED_LINE_LENGTH)
  }
  return out
}

/** Takes LF line ends, returns CRLF. */
const quotedPrintable = (bytes: Uint8Array): Buffer => {
  // At worst every byte is an escape, and a line holds at least 73 characters before its soft break of three.
  const escaped = bytes.length * 3
  const out = Buffer.allocUnsafe(escaped + Math.ceil(escaped / (ENCODED_LINE_LENGTH - 3)) * 3)
  const end = bytes.length
  let at = 0
  let column = 0
  for (let i = 0; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (byte === LF) {
      out[at++] = CR
      out[at++] = LF
      column = 0
      continue
    }
    const endsLine = i + 1 === end || bytes[i + 1] === LF
    let bare = BARE[byte] === 1 && !(endsLine && (byte === SPACE || byte === TAB))
    // The last column belongs to the soft break, unless the line ends here anyway.
    if (column + (bare ? 1 : 3) > (endsLine ? ENCODED_LINE_LENGTH : ENCODED_LINE_LENGTH - 1)) {
      out[at++] = EQUALS
      out[at++] = CR
      out[at++] = LF
      column = 0
    }
    if (column === 0 && (byte === DOT || (byte === UPPER_F && startsWithFrom(bytes, i)))) bare = false
    if (bare) {
      out[at++] = byte
      column += 1
    } else {
      out[at++] = EQUALS
      out[at++] = HEX[byte >> 4] ?? 0
      out[at++] = HEX[byte & 15] ?? 0
      column += 3
    }
  }
  return out.subarray(0, at)
}

const startsWithFrom = (bytes: Uint8Array, i: number): boolean =>
  bytes[i + 1] === 114 && bytes[i + 2] === 111 && bytes[i + 3] === 109 && bytes[i + 4] === SPACE
