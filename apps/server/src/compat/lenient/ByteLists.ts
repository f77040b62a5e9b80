const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN = 0x5b
const CLOSE = 0x5d
const ZERO = 0x30
const NINE = 0x39

/** Fields whose lists of numbers are bytes: of an attachment, and of Node's `Buffer` in JSON. */
const NAMES = ["content", "Content", "data"].map((name) => Buffer.from(`"${name}"`))

/**
 * Replaces lists of bytes in a body by the same bytes in base64. A file written as numbers would otherwise count as so many
 * values, and become as many elements when it is parsed. Text within strings cannot be taken for a list, because a quote in
 * a string has a backslash.
 */
export const compact = (body: Buffer): Buffer => {
  const parts: Array<Buffer> = []
  /** Made for the first list, and large enough for every one. */
  let scratch: Buffer | undefined
  let copied = 0
  for (let at = body.indexOf(OPEN); at >= 0; at = body.indexOf(OPEN, at + 1)) {
    if (!isNamed(body, at)) continue
    scratch ??= Buffer.allocUnsafe((body.length - at) >> 1)
    const list = read(body, at + 1, scratch)
    if (list === undefined) continue
    parts.push(body.subarray(copied, at), Buffer.from(`"${scratch.toString("base64", 0, list.length)}"`))
    copied = list.end
    at = list.end - 1
  }
  return parts.length === 0 ? body : Buffer.concat([...parts, body.subarray(copied)])
}

/** Whether the value that begins at a place belongs to one of the fields. */
const isNamed = (body: Buffer, at: number): boolean => {
  const colon = before(body, at)
  if (body[colon] !== COLON) return false
  const end = before(body, colon) + 1
  return body[end - 1] === QUOTE && NAMES.some((name) => body.subarray(end - name.length, end).equals(name))
}

interface ByteList {
  readonly length: number
  readonly end: number
}

/** Reads the list whose first item begins at a place; returns `undefined` if it is empty or not one of bytes alone. */
const read = (body: Buffer, start: number, bytes: Buffer): ByteList | undefined => {
  let length = 0
  for (let at = after(body, start); ; at = after(body, at + 1)) {
    let value = -1
    for (let byte = body[at] ?? 0; byte >= ZERO && byte <= NINE && value <= 255; byte = body[++at] ?? 0)
      value = Math.max(value, 0) * 10 + byte - ZERO
    if (value < 0 || value > 255) return undefined
    bytes[length++] = value
    at = after(body, at)
    if (body[at] === CLOSE) return { length, end: at + 1 }
    if (body[at] !== COMMA) return undefined
  }
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const after = (body: Buffer, from: number): number => {
  let at = from
  while (isSpace(body[at])) at++
  return at
}

const before = (body: Buffer, from: number): number => {
  let at = from - 1
  while (isSpace(body[at])) at--
  return at
}
