const CR = 0x0d
const LF = 0x0a
const EQUALS = 0x3d
const SPACE = 0x20
const TAB = 0x09

/** How the lines of a body become its content. */
export interface BodyForm {
  /** The last line end belongs to the boundary behind it (RFC 2046 §5.1.1). Otherwise it is content. */
  readonly dropsLastBreak: boolean
  /** Lines of quoted-printable end in CRLF, as RFC 2045 §6.7 (4) has it. Otherwise they end in LF. */
  readonly keepsCrlf: boolean
  /** Whether lines that are not encoded are taken as they are, such as those of a mail inside a mail. */
  readonly isWhole?: boolean
}

/** Decodes a whole body at once, in time linear in its bytes, into bytes of its own. */
export const decode = (
  lines: Buffer,
  encoding: string,
  { dropsLastBreak, isWhole = false, keepsCrlf }: BodyForm,
): Uint8Array => {
  if (/base64/iu.test(encoding)) return base64(lines)
  const isQuoted = /quoted-printable/iu.test(encoding)
  const text = (isQuoted && keepsCrlf) || isWhole ? Buffer.from(lines) : withLineFeeds(lines)
  const own = dropsLastBreak ? text.subarray(0, endOfLast(text)) : text
  return owned(isQuoted ? quotedPrintable(own) : own)
}

/** Returns where the last line ends without its line end. */
const endOfLast = (text: Buffer): number => text.length - (text.at(-1) !== LF ? 0 : text.at(-2) === CR ? 2 : 1)

/** Copies the bytes into a buffer that holds nothing else. */
const owned = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

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
    const next = afterSoftBreak(text, i + 1)
    if (next > i + 1 || next === text.length) {
      i = next - 1
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

/**
 * Returns where text goes on behind a line end, or behind the end of the body; `at` if neither is there. Spaces before the line
 * end were added on the way (RFC 2045 §6.7 (3)).
 */
const afterSoftBreak = (text: Buffer, at: number): number => {
  let end = at
  while (text[end] === SPACE || text[end] === TAB) end++
  if (text[end] === LF) return end + 1
  return text[end] === CR && text[end + 1] === LF ? end + 2 : at
}

const nibble = (byte = 0): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Bytes that are decoded at a time: text of a whole body would be several times as large in memory. */
const SLICE_BYTES = 256 * 1024

/** Decodes RFC 2045 §6.8. Some programs pad every line, so text behind padding is decoded by itself. */
const base64 = (lines: Buffer): Uint8Array => {
  const out = Buffer.allocUnsafeSlow(Math.ceil(lines.length / 4) * 3)
  let at = 0
  let left = ""
  for (let from = 0; from < lines.length; from += SLICE_BYTES) {
    const slice = lines.toString("latin1", from, Math.min(from + SLICE_BYTES, lines.length))
    const units = `${left}${slice.replaceAll(/[^A-Za-z0-9+/=]+/gu, "")}`.split(/=+/u)
    const last = units.pop() ?? ""
    const whole = last.length - (last.length % 4)
    for (const unit of [...units, last.slice(0, whole)]) at += out.write(unit, at, "base64")
    left = last.slice(whole)
  }
  at += out.write(left, at, "base64")
  return new Uint8Array(out.buffer.transfer(at))
}
