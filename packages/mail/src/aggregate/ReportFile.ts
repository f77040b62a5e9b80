import { valueOr } from "@waybill/runtime/flow/valueOr"
import { crc32, gunzipSync, inflateRawSync } from "node:zlib"

/** Maximum size of a report when it is unpacked: about 20,000 records. */
export const MAX_TEXT_BYTES = 12 * 1024 * 1024
/** Maximum ratio of a report to its packed form, beyond the first MiB. Reports have 10 to 50. */
export const MAX_RATIO = 200
/** Maximum number of files in an archive. A report is alone in its archive. */
export const MAX_ENTRIES = 10
const FREE_BYTES = 1024 * 1024

export type FileProblem = "too_large" | "not_a_report" | "damaged"

export interface NamedFile {
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
}

const TYPES =
  /^(?:application\/(?:x-)?(?:zip|zip-compressed|gzip|gunzip)|application\/tlsrpt\+(?:gzip|json)|(?:application|text)\/(?:xml|json)|application\/octet-stream)$/u
const NAMES = /\.(?:zip|gz|xml|json)$/iu

/** Whether a file of a mail may be a report, by its type or its name: many say application/octet-stream. */
export const isCandidate = ({ name, type }: Omit<NamedFile, "bytes">): boolean => TYPES.test(type) || NAMES.test(name)

/** Returns the text of a report. Its first bytes tell how it is packed, because types and names are often wrong. */
export const unpack = ({ bytes }: NamedFile): string | FileProblem => {
  const unpacked = isZip(bytes) ? fromZip(bytes) : isGzip(bytes) ? fromGzip(bytes) : bytes
  if (typeof unpacked === "string") return unpacked
  if (unpacked.length > MAX_TEXT_BYTES) return "too_large"
  return textOf(unpacked)
}

export const isProblem = (text: string): text is FileProblem => PROBLEMS.has(text)
const PROBLEMS: ReadonlySet<string> = new Set<FileProblem>(["too_large", "not_a_report", "damaged"])

const isZip = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32LE(0) === LOCAL_HEADER
const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const limitOf = (packed: number): number => Math.min(MAX_TEXT_BYTES, FREE_BYTES + packed * MAX_RATIO)

const fromGzip = (bytes: Buffer): Buffer | FileProblem => bounded(() => gunzipSync(bytes, outputLimit(bytes.length)))

const outputLimit = (packed: number) => ({ maxOutputLength: limitOf(packed) })

/** Runs a decompression, which stops as soon as its output exceeds the limit. */
const bounded = (work: () => Buffer): Buffer | FileProblem => {
  try {
    return work()
  } catch (error) {
    return (error as { readonly code?: string }).code === "ERR_BUFFER_TOO_LARGE" ? "too_large" : "damaged"
  }
}

const LOCAL_HEADER = 0x04034b50
const CENTRAL_HEADER = 0x02014b50
const END_OF_DIRECTORY = Buffer.from([0x50, 0x4b, 0x05, 0x06])
const END_BYTES = 22
const MAX_COMMENT_BYTES = 0xffff
const CENTRAL_BYTES = 46
const LOCAL_BYTES = 30
const STORED = 0
const DEFLATED = 8
const ENCRYPTED = 1

/** Returns the report in an archive. Only the directory is believed, because local headers may lack the sizes. */
const fromZip = (bytes: Buffer): Buffer | FileProblem => {
  const from = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES)
  const end = bytes.lastIndexOf(END_OF_DIRECTORY)
  if (end < from || end + END_BYTES > bytes.length) return "damaged"
  const count = bytes.readUInt16LE(end + 10)
  if (count > MAX_ENTRIES) return "too_large"
  const entries = entriesIn(bytes, bytes.readUInt32LE(end + 16), count)
  if (entries === undefined) return "damaged"
  const entry = entries.find(({ name }) => /\.(?:xml|json)$/iu.test(name)) ?? entries[0]
  return entry === undefined ? "not_a_report" : entryOf(bytes, entry)
}

interface Entry {
  readonly name: string
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly at: number
}

const entriesIn = (bytes: Buffer, start: number, count: number): ReadonlyArray<Entry> | undefined => {
  const entries: Array<Entry> = []
  for (let at = start; entries.length < count;) {
    if (at + CENTRAL_BYTES > bytes.length || bytes.readUInt32LE(at) !== CENTRAL_HEADER) return undefined
    const nameLength = bytes.readUInt16LE(at + 28)
    entries.push({
      name: bytes.toString("latin1", at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameLength),
      flags: bytes.readUInt16LE(at + 8),
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      at: bytes.readUInt32LE(at + 42),
    })
    at += CENTRAL_BYTES + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return entries
}

const entryOf = (bytes: Buffer, { at, crc, flags, method, packed, size }: Entry): Buffer | FileProblem => {
  if (size > limitOf(packed)) return "too_large"
  if (at + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(at) !== LOCAL_HEADER) return "damaged"
  if ((flags & ENCRYPTED) !== 0 || (method !== STORED && method !== DEFLATED)) return "damaged"
  const from = at + LOCAL_BYTES + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28)
  const data = bytes.subarray(from, from + packed)
  if (data.length !== packed) return "damaged"
  const content = method === STORED ? data : bounded(() => inflateRawSync(data, outputLimit(packed)))
  if (typeof content === "string") return content
  return content.length === size && crc32(content) === crc ? content : "damaged"
}

/** Decodes UTF-8 or the encoding that the XML declaration names. */
const textOf = (bytes: Buffer): string | FileProblem => {
  const head = bytes.toString("latin1", 0, 200)
  const [, declared] =
    /^(?:\u00ef\u00bb\u00bf)?\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})["']/u.exec(head) ?? []
  const [first, second] = bytes
  const utf16 =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : undefined
  return valueOr(() => new TextDecoder(utf16 ?? declared ?? "utf-8", { fatal: true }).decode(bytes), "damaged")
}
