import { Data } from "effect"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { zstdCompress, zstdDecompress } from "node:zlib"

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)]

/** A backup that cannot be made or restored, with the reason in words. */
export class BackupRefused extends Data.TaggedError("BackupRefused")<{ readonly message: string }> {}

export interface Header {
  readonly waybill_backup: 1
  readonly release: string
  readonly made_at: string
  readonly migrations: ReadonlyArray<string>
}
export interface Totals {
  readonly tables: number
  readonly row_bytes: number
}

/** A statement, or rows for the `COPY … FROM STDIN` that was the last statement. */
export type Part =
  | { readonly kind: "header"; readonly header: Header }
  | { readonly kind: "statement" | "copy"; readonly text: string }
  | { readonly kind: "rows"; readonly bytes: Buffer }
  | { readonly kind: "end"; readonly totals: Totals }

const KINDS = ["header", "statement", "copy", "rows", "end"] as const
/** A part is its kind, its length, its compressed bytes, and a hash of these and of all parts before it. */
const HEAD_BYTES = 5
const HASH_BYTES = 32
/** Longer than any row: Postgres has no value of more than 1 GiB. A changed length must not ask for all memory. */
const MAX_PART_BYTES = 0x7fff_ffff

const hashOf = (before: Buffer, head: Buffer, bytes: Buffer): Buffer =>
  createHash("sha256").update(before).update(head).update(bytes).digest()

const bytesOf = (part: Part): Buffer => {
  switch (part.kind) {
    case "rows":
      return part.bytes
    case "header":
      return Buffer.from(JSON.stringify(part.header))
    case "end":
      return Buffer.from(JSON.stringify(part.totals))
    default:
      return Buffer.from(part.text)
  }
}

const partOf = (kind: (typeof KINDS)[number], bytes: Buffer): Part => {
  switch (kind) {
    case "rows":
      return { kind, bytes }
    case "header":
      return { kind, header: JSON.parse(bytes.toString()) as Header }
    case "end":
      return { kind, totals: JSON.parse(bytes.toString()) as Totals }
    default:
      return { kind, text: bytes.toString() }
  }
}

/** Writes parts so that a reader finds every change before it uses the part. */
export async function* written(parts: AsyncIterable<Part>): AsyncGenerator<Buffer> {
  let hash: Buffer = Buffer.alloc(0)
  for await (const part of parts) {
    const bytes = await compress(bytesOf(part))
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt8(KINDS.indexOf(part.kind))
    head.writeUInt32BE(bytes.length, 1)
    hash = hashOf(hash, head, bytes)
    yield head
    yield bytes
    yield hash
  }
}

const damaged = () =>
  new BackupRefused({ message: "the file is damaged, or no backup: a part does not have the hash that it should have" })
const incomplete = () => new BackupRefused({ message: "the file is incomplete: its end is missing" })

/** Turns an error of the file or of the database into a refusal. */
export const refusalOf = (cause: unknown): BackupRefused =>
  cause instanceof BackupRefused
    ? cause
    : new BackupRefused({ message: cause instanceof Error ? cause.message : String(cause) })

/** Reads parts, and refuses what is not exactly as it was written. */
export async function* read(bytes: AsyncIterable<Buffer>): AsyncGenerator<Part> {
  const input = new Input(bytes)
  let hash: Buffer = Buffer.alloc(0)
  let isFirst = true
  for (;;) {
    const head = await input.take(HEAD_BYTES)
    const kind = KINDS[head.readUInt8()]
    const length = head.readUInt32BE(1)
    if (kind === undefined || (kind === "header") !== isFirst || length > MAX_PART_BYTES) throw damaged()
    const content = await input.take(length)
    hash = hashOf(hash, head, content)
    if (!hash.equals(await input.take(HASH_BYTES))) throw damaged()
    isFirst = false
    yield partOf(kind, await decompress(content))
    if (kind !== "end") continue
    if (!(await input.isOver())) throw damaged()
    return
  }
}

class Input {
  readonly #reader: AsyncIterator<Buffer>
  #pieces: Array<Buffer> = []
  #bytes = 0

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#reader = bytes[Symbol.asyncIterator]()
  }
  async take(length: number): Promise<Buffer> {
    while (this.#bytes < length) if (!(await this.#more())) throw incomplete()
    const all = this.#pieces.length === 1 ? (this.#pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#pieces)
    this.#pieces = [all.subarray(length)]
    this.#bytes -= length
    return all.subarray(0, length)
  }
  async isOver(): Promise<boolean> {
    return this.#bytes === 0 && !(await this.#more())
  }
  async #more(): Promise<boolean> {
    const next = await this.#reader.next()
    if (next.done === true) return false
    this.#pieces.push(next.value)
    this.#bytes += next.value.length
    return true
  }
}
