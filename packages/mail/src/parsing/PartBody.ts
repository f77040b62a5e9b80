const CR = 0x0d
const LF = 0x0a
const EQUALS = 0x3d
const LINE_END = Buffer.from([LF])

/**
 * The body of one part while a message is read, in place of the parser's decoders. Those take each line by itself, 13
 * µs each; this one keeps views of the message and decodes them all at once, in time linear in their bytes.
 */
export class PartBody {
  readonly #encoding: string
  #pieces: Array<Uint8Array> = []

  constructor(encoding: string) {
    this.#encoding = encoding
  }

  /** Adds whole lines as they stand in the message; only the message's last line may lack its line end. */
  add(lines: Uint8Array): void {
    if (lines.length > 0) this.#pieces.push(lines)
  }

  /** Called by the parser with a line without its line end. */
  update(line: Uint8Array): void {
    this.#pieces.push(line, LINE_END)
  }

  /** Called by the parser at the end of the part. */
  finalize(): Promise<ArrayBuffer> {
    const lines = Buffer.concat(this.#pieces)
    this.#pieces = []
    return Promise.resolve(decode(lines, this.#encoding))
  }
}

const decode = (lines: Buffer, encoding: string): ArrayBuffer => {
  if (/base64/iu.test(encoding)) return owned(base64(lines))
  const text = withLineFeeds(lines)
  return owned(/quoted-printable/iu.test(encoding) ? quotedPrintable(text) : text)
}

/** Returns the bytes in a buffer that holds nothing else. */
const owned = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer

/** Ends every line with one LF, the last too; CRs before a line end belong to it. */
const withLineFeeds = (lines: Buffer): Buffer => {
  if (lines.length === 0) return lines
  const out = Buffer.allocUnsafe(lines.length + 1)
  let at = 0
  let returns = 0
  for (const byte of lines) {
    if (byte === CR) {
      returns++
      continue
    }
    if (byte !== LF) for (; returns > 0; returns--) out[at++] = CR
    returns = 0
    out[at++] = byte
  }
  if (lines.at(-1) !== LF) out[at++] = LF
  return out.subarray(0, at)
}

/**
 * Decodes RFC 2045 §6.7; an equals sign that escapes nothing stands for itself. Works in place: the result is never
 * longer.
 */
const quotedPrintable = (text: Buffer): Buffer => {
  let at = 0
  for (let i = 0; i < text.length; i++) {
    const byte = text[i] ?? 0
    if (byte !== EQUALS) {
      text[at++] = byte
      continue
    }
    if (text[i + 1] === LF) {
      i++
      continue
    }
    const high = nibble(text[i + 1])
    const low = high < 0 ? -1 : nibble(text[i + 2])
    if (low < 0) text[at++] = byte
    else {
      text[at++] = high * 16 + low
      i += 2
    }
  }
  return text.subarray(0, at)
}

const nibble = (byte = 0): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Decodes RFC 2045 §6.8. Some programs pad every line, so text behind padding is decoded by itself. */
const base64 = (lines: Buffer): Buffer => {
  const text = lines.toString("latin1").replaceAll(/[^A-Za-z0-9+/=]+/gu, "")
  const first = text.indexOf("=")
  if (first === -1 || first >= text.length - 2) return Buffer.from(text, "base64")
  return Buffer.concat(text.split(/=+/u).map((unit) => Buffer.from(unit, "base64")))
}
