/** Messages of DNS (RFC 1035) as far as DANE needs them: node:dns does not tell whether an answer is authentic. */

export const TYPES = { A: 1, CNAME: 5, MX: 15, AAAA: 28, TLSA: 52 } as const
export type Type = keyof typeof TYPES

/** Size of answers over UDP that pass every network unfragmented (DNS flag day 2020). */
export const UDP_BYTES = 1232
const HEADER_BYTES = 12
const MAX_NAME_CHARS = 253
const MAX_LABEL_CHARS = 63
/** More records than any domain has servers or keys; the message is not read further. */
export const MAX_RECORDS = 100

const FLAGS = { response: 0x8000, truncated: 0x0200, recursionDesired: 0x0100, authentic: 0x0020 } as const
const CLASS_IN = 1
const OPT = 41

export interface Tlsa {
  readonly usage: number
  readonly selector: number
  readonly matching: number
  readonly data: Buffer
}

export type AnswerRecord = { readonly name: string } & (
  | { readonly type: "A" | "AAAA" }
  | { readonly type: "CNAME"; readonly target: string }
  | { readonly type: "MX"; readonly preference: number; readonly exchange: string }
  | ({ readonly type: "TLSA" } & Tlsa)
)

export interface DnsMessage {
  readonly id: number
  readonly isResponse: boolean
  readonly isTruncated: boolean
  /** The AD bit: the resolver has validated every record of the answer. */
  readonly isAuthentic: boolean
  readonly code: number
  readonly question: { readonly name: string; readonly type: number }
  readonly answers: ReadonlyArray<AnswerRecord>
}

/** Encodes a query; undefined for a name that DNS cannot carry. The AD bit asks for that of the answer (RFC 6840 §5.7). */
export const encodeQuery = (id: number, name: string, type: Type): Buffer | undefined => {
  const labels = name.split(".").map((label) => Buffer.from(label, "latin1"))
  if (name.length > MAX_NAME_CHARS || !labels.every(({ length }) => length > 0 && length <= MAX_LABEL_CHARS))
    return undefined
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(id, 0)
  header.writeUInt16BE(FLAGS.recursionDesired | FLAGS.authentic, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(1, 10)
  const question = Buffer.alloc(4)
  question.writeUInt16BE(TYPES[type], 0)
  question.writeUInt16BE(CLASS_IN, 2)
  // EDNS (RFC 6891): the root's name, its type, our size, and no options.
  const edns = Buffer.alloc(11)
  edns.writeUInt16BE(OPT, 1)
  edns.writeUInt16BE(UDP_BYTES, 3)
  const written = labels.flatMap((label) => [Buffer.from([label.length]), label])
  return Buffer.concat([header, ...written, Buffer.from([0]), question, edns])
}

/** Decodes a response with one question; undefined for bytes that are none. */
export const decode = (bytes: Buffer): DnsMessage | undefined => {
  try {
    return read(bytes)
  } catch (error) {
    // Reading beyond the end.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const read = (bytes: Buffer): DnsMessage | undefined => {
  const flags = bytes.readUInt16BE(2)
  if (bytes.readUInt16BE(4) !== 1) return undefined
  const name = nameAt(bytes, HEADER_BYTES)
  const type = bytes.readUInt16BE(name.end)
  const count = bytes.readUInt16BE(6)
  if (count > MAX_RECORDS) return undefined
  const answers: Array<AnswerRecord> = []
  for (let nth = 0, at = name.end + 4; nth < count; nth++) {
    const owner = nameAt(bytes, at)
    const length = bytes.readUInt16BE(owner.end + 8)
    const start = owner.end + 10
    if (start + length > bytes.length) return undefined
    const isIn = bytes.readUInt16BE(owner.end + 2) === CLASS_IN
    const record = isIn ? recordAt(bytes, owner.name, bytes.readUInt16BE(owner.end), start, length) : undefined
    if (record !== undefined) answers.push(record)
    at = start + length
  }
  return {
    id: bytes.readUInt16BE(0),
    isResponse: (flags & FLAGS.response) !== 0,
    isTruncated: (flags & FLAGS.truncated) !== 0,
    isAuthentic: (flags & FLAGS.authentic) !== 0,
    code: flags & 0x000f,
    question: { name: name.name, type },
    answers,
  }
}

const recordAt = (
  bytes: Buffer,
  name: string,
  type: number,
  start: number,
  length: number,
): AnswerRecord | undefined => {
  switch (type) {
    case TYPES.A:
      return { type: "A", name }
    case TYPES.AAAA:
      return { type: "AAAA", name }
    case TYPES.CNAME:
      return { type: "CNAME", name, target: nameAt(bytes, start).name }
    case TYPES.MX:
      return { type: "MX", name, preference: bytes.readUInt16BE(start), exchange: nameAt(bytes, start + 2).name }
    case TYPES.TLSA:
      if (length < 3) throw new RangeError("a TLSA record ends before its data")
      return {
        type: "TLSA",
        name,
        usage: bytes.readUInt8(start),
        selector: bytes.readUInt8(start + 1),
        matching: bytes.readUInt8(start + 2),
        // A copy, so that a key does not hold the whole message in memory.
        data: Buffer.from(bytes.subarray(start + 3, start + length)),
      }
    default:
      return undefined
  }
}

/** Reads a name in lower case. A pointer must lead backwards, so that a name ends. */
const nameAt = (bytes: Buffer, start: number): { readonly name: string; readonly end: number } => {
  const labels: Array<string> = []
  let end: number | undefined
  let chars = 0
  for (let at = start, before = start; ;) {
    const length = bytes.readUInt8(at)
    if (length >= 0xc0) {
      const target = bytes.readUInt16BE(at) & 0x3fff
      if (target >= before) throw new RangeError("a name points forwards")
      end ??= at + 2
      at = before = target
      continue
    }
    if (length > MAX_LABEL_CHARS) throw new RangeError("a label of an unknown kind")
    if (length === 0) return { name: labels.join("."), end: end ?? at + 1 }
    const label = bytes.toString("latin1", at + 1, at + 1 + length)
    chars += length + 1
    if (at + 1 + length > bytes.length || chars > MAX_NAME_CHARS + 1) throw new RangeError("a name is too long")
    // A dot inside a label would make it look like two.
    if (!/^[!-\-/-~]+$/u.test(label)) throw new RangeError("a name has a character that no server's has")
    labels.push(label.toLowerCase())
    at += 1 + length
  }
}
