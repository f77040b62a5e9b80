/** Longer texts are rewritten as bytes: replacement in a string takes 0.1 µs a line, 0.3 s for three million. */
export const LONG_TEXT_CHARS = 64 * 1024

const CR = 13
const LF = 10

/** Converts any line ends of a text to LF. */
export const toLf = (text: string): string => {
  if (!text.includes("\r")) return text
  if (text.length <= LONG_TEXT_CHARS) return text.replace(/\r\n?/gu, "\n")
  const bytes = Buffer.from(text)
  let at = 0
  let previous = 0
  for (const byte of bytes) {
    if (byte !== LF || previous !== CR) bytes[at++] = byte === CR ? LF : byte
    previous = byte
  }
  return bytes.toString("utf8", 0, at)
}

/** Converts the LF line ends of a text to CRLF. */
export const toCrlf = (text: string): string | Buffer =>
  text.length <= LONG_TEXT_CHARS ? text.replaceAll("\n", "\r\n") : inCrlf(Buffer.from(text))

/** Average length of lines above which they are copied one by one, because a search for the next end is cheap then. */
const LONG_LINE_BYTES = 64

/** Converts the LF line ends of bytes to CRLF. */
export const inCrlf = (bytes: Uint8Array): Buffer => {
  let lines = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === LF) lines++
  if (lines === 0) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const out = Buffer.allocUnsafe(bytes.length + lines)
  return lines * LONG_LINE_BYTES < bytes.length ? copyLines(bytes, out) : copyBytes(bytes, out)
}

const copyLines = (bytes: Uint8Array, out: Buffer): Buffer => {
  let at = 0
  let start = 0
  for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
    out.set(bytes.subarray(start, end), at)
    at += end - start
    out[at++] = CR
    out[at++] = LF
    start = end + 1
  }
  out.set(bytes.subarray(start), at)
  return out
}

const copyBytes = (bytes: Uint8Array, out: Buffer): Buffer => {
  let at = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (byte === LF) out[at++] = CR
    out[at++] = byte
  }
  return out
}
