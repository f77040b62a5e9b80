import * as BodyScan from "../../requests/BodyScan.ts"

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN = 0x5b
const CLOSE = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const ZERO = 0x30
const NINE = 0x39

/** Where a value of a body stands; of what stands elsewhere, nothing is a list of bytes. */
type Place = "message" | "attachment" | "content" | "bytes" | "elsewhere"

/** Places of the fields of an object, by the place of the object and their names in lower case. */
const FIELDS: Readonly<Record<Place, ReadonlyMap<string, Place>>> = {
  message: new Map([
    ["messages", "message"],
    ["attachments", "attachment"],
  ]),
  attachment: new Map([["content", "content"]]),
  // Form in which Node writes a `Buffer` in JSON.
  content: new Map([["data", "bytes"]]),
  bytes: new Map(),
  elsewhere: new Map(),
}
const MAX_NAME_BYTES = "attachments".length
/** The end of the name of the field without which a body has no attachment. Few texts of mail have many of its first letter. */
const ATTACHMENTS = Buffer.from('hments"')

/**
 * Replaces lists of bytes in attachments by the same bytes in base64. A file written as numbers would otherwise count as so
 * many values, and become as many elements when it is parsed. Stops where a body is too complex to be parsed anyway.
 */
export const compact = (body: Buffer): Buffer => {
  if (body.indexOf(ATTACHMENTS) < 0) return body
  const parts: Array<Buffer> = []
  /** Made for the first list, and large enough for every one. */
  let scratch: Buffer | undefined
  let copied = 0
  /** Places of the objects and lists that are open. */
  const open: Array<Place> = []
  /** The place of the value that comes next. */
  let next: Place = "message"
  let text = { start: 0, end: 0 }
  let values = 1
  for (let at = 0; at < body.length; at++) {
    switch (body[at]) {
      case QUOTE:
        text = { start: at + 1, end: BodyScan.endOfString(body, at) }
        at = text.end
        break
      case COLON:
        next = placeOf(open.at(-1), body, text)
        break
      case COMMA:
        values++
        next = open.at(-1) ?? "elsewhere"
        break
      case OPEN:
        if (next === "content" || next === "bytes") {
          scratch ??= Buffer.allocUnsafe((body.length - at) >> 1)
          const list = read(body, at + 1, scratch)
          if (list !== undefined) {
            parts.push(body.subarray(copied, at), Buffer.from(`"${scratch.toString("base64", 0, list.length)}"`))
            copied = list.end
            at = list.end - 1
            break
          }
          next = "elsewhere"
        }
        open.push(next)
        values++
        break
      case OPEN_OBJECT:
        open.push(next)
        values++
        break
      case CLOSE:
      case CLOSE_OBJECT:
        open.pop()
        break
    }
    if (values > BodyScan.MAX_VALUES || open.length > BodyScan.MAX_DEPTH) return body
  }
  return parts.length === 0 ? body : Buffer.concat([...parts, body.subarray(copied)])
}

const placeOf = (object: Place | undefined, body: Buffer, name: { readonly start: number; readonly end: number }) => {
  const fields = FIELDS[object ?? "elsewhere"]
  if (fields.size === 0 || name.end - name.start > MAX_NAME_BYTES) return "elsewhere"
  return fields.get(body.toString("latin1", name.start, name.end).toLowerCase()) ?? "elsewhere"
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
