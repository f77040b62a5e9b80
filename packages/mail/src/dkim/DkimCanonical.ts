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
  readonly name: string
  /** The whole field with its folds, without the last line end. */
  readonly raw: Buffer
}

/** Returns the fields in order. A raw field keeps its octets, since addresses may be UTF-8. */
export const fields = (head: Buffer): ReadonlyArray<HeaderField> => {
  const list: Array<HeaderField> = []
  let start = 0
  while (start < head.length) {
    let end = head.indexOf(CRLF, start)
    if (end === -1) end = head.length
    while (head[end + 2] === SPACE || head[end + 2] === TAB) {
      const next = head.indexOf(CRLF, end + 2)
      end = next === -1 ? head.length : next
    }
    const raw = head.subarray(start, end)
    const colon = raw.indexOf(":")
    if (colon > 0) list.push({ name: raw.toString("latin1", 0, colon).trim().toLowerCase(), raw })
    start = end + 2
  }
  return list
}

/** RFC 6376 §3.4.2, without the line end. latin1 on both sides, so octets pass unchanged. */
export const relaxedHeader = ({ name, raw }: HeaderField): string => {
  const value = raw.toString("latin1", raw.indexOf(":") + 1)
  // Not \s: in latin1 a no-break space is half of some UTF-8 character.
  return `${name}:${value
    .replace(/\r\n/g, "")
    .replace(/[ \t]{2,}|\t/g, " ")
    .replace(/^ | $/g, "")}`
}

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
