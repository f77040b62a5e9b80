const TAB = 9
const LF = 10
const CR = 13
const SPACE = 32
const CRLF = Buffer.from("\r\n")
const TWO_LINE_ENDS = Buffer.from("\r\n\r\n")
const TWO_SPACES = Buffer.from("  ")
const SPACE_BEFORE_LINE_END = Buffer.from(" \r")

/** Returns the start of the body, after the first empty line. A message without one is all head (RFC 5322 §2.1). */
export const splitAt = (bytes: Buffer): number => {
  const end = bytes.indexOf("\r\n\r\n")
  return end === -1 ? bytes.length : end + 4
}

export interface HeaderField {
  /** In lower case. */
  readonly name: string
  /** The whole field with its folds, without the last line end. Octets are characters (latin1), so that they pass unchanged. */
  readonly raw: string
}

/** Returns the fields in order. */
export const fields = (bytes: Buffer, bodyAt: number): ReadonlyArray<HeaderField> => {
  const head = bytes.toString("latin1", 0, bodyAt)
  const list: Array<HeaderField> = []
  let start = 0
  while (start < head.length) {
    let end = head.indexOf("\r\n", start)
    if (end === -1) end = head.length
    while (isSpace(head.charCodeAt(end + 2))) {
      const next = head.indexOf("\r\n", end + 2)
      end = next === -1 ? head.length : next
    }
    const raw = head.slice(start, end)
    const colon = raw.indexOf(":")
    if (colon > 0) list.push({ name: raw.slice(0, colon).trim().toLowerCase(), raw })
    start = end + 2
  }
  return list
}

const isSpace = (code: number): boolean => code === SPACE || code === TAB

/** RFC 6376 §3.4.2, without the line end. */
export const relaxedHeader = ({ name, raw }: HeaderField): string => {
  const value = raw.slice(raw.indexOf(":") + 1)
  const single = MORE_THAN_SPACES.test(value) ? value.replace(/\r\n/g, "").replace(/[ \t]{2,}|\t/g, " ") : value
  const start = single.startsWith(" ") ? 1 : 0
  const end = single.endsWith(" ") ? Math.max(start, single.length - 1) : single.length
  return `${name}:${single.slice(start, end)}`
}

/** Not \s: in latin1 a no-break space is half of some UTF-8 character. */
const MORE_THAN_SPACES = /[\r\t]| {2}/

/**
 * RFC 6376 §3.4.4. Nearly every composed body is canonical except for its last line ends, so the bytes are copied only
 * when needed.
 */
export const relaxedBody = (body: Buffer): Buffer => {
  let end = body.length
  while (end >= 2 && body[end - 1] === LF && body[end - 2] === CR) end -= 2
  // Lines of white space only are empty in canonical form.
  const trailing = body[end - 1]
  if (trailing === SPACE || trailing === TAB || needsChange(body, end)) return rewritten(body.subarray(0, end))
  if (end === 0) return Buffer.alloc(0)
  return end + 2 <= body.length ? body.subarray(0, end + 2) : Buffer.concat([body, CRLF])
}

const needsChange = (body: Buffer, end: number): boolean => {
  const head = body.subarray(0, end)
  return head.includes(TAB) || head.includes(TWO_SPACES) || head.includes(SPACE_BEFORE_LINE_END)
}

const rewritten = (body: Buffer): Buffer => {
  const out = Buffer.allocUnsafe(body.length + 2)
  let at = 0
  let space = false
  for (const byte of body) {
    if (byte === SPACE || byte === TAB) {
      space = true
      continue
    }
    if (space && byte !== CR) out[at++] = SPACE
    space = false
    out[at++] = byte
  }
  while (at >= 2 && out[at - 1] === LF && out[at - 2] === CR) at -= 2
  if (at === 0) return Buffer.alloc(0)
  out[at++] = CR
  out[at++] = LF
  return out.subarray(0, at)
}

/** RFC 6376 §3.4.3: only empty lines at the end are removed. An empty body is one line end. */
export const simpleBody = (body: Buffer): Buffer => {
  let end = body.length
  while (end >= 4 && body.subarray(end - 4, end).equals(TWO_LINE_ENDS)) end -= 2
  if (end === 2 && body.subarray(0, 2).equals(CRLF)) return CRLF
  const kept = body.subarray(0, end)
  return end >= 2 && kept.subarray(-2).equals(CRLF) ? kept : Buffer.concat([kept, CRLF])
}
