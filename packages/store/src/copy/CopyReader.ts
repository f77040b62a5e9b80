const COPY_DATA = "d".charCodeAt(0)
/** A message begins with its kind and its length, which counts itself. */
const KIND_BYTES = 1
const HEAD_BYTES = 5
/** Initial size of the buffer, which grows to the size of the largest message. */
const FIRST_BYTES = 256 * 1024

const WORD_BYTES = 4
/** The bits of four bytes that no ASCII character has. */
const NOT_ASCII = 0x80_80_80_80
const wordsOf = ({ buffer, byteLength }: Buffer): Int32Array => new Int32Array(buffer, 0, byteLength / WORD_BYTES)

/** Takes the row between two offsets of the reader's bytes. */
export type TakeRow = (reader: CopyReader, from: number, to: number) => void

/**
 * Reads the messages of a `COPY … TO STDOUT` from the bytes that Postgres sends. node-postgres makes objects and events of
 * each, which costs more than Postgres does to send it. All other messages are handed on as they are.
 */
export class CopyReader {
  /** Bytes that arrived together. Reused, so that they are valid only while a row is taken. */
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #words = wordsOf(this.bytes)
  #end = 0
  #latin1 = ""
  readonly #take: TakeRow
  readonly #others: (message: Buffer) => void

  constructor(take: TakeRow, others: (message: Buffer) => void) {
    this.#take = take
    this.#others = others
  }

  read(chunk: Buffer): void {
    this.#append(chunk)
    const complete = this.#complete()
    if (complete === 0) return
    // One text of all rows: a part of it costs a tenth of a text of its own.
    this.#latin1 = this.bytes.toString("latin1", 0, complete)
    for (let at = 0; at < complete;) {
      const next = at + KIND_BYTES + this.int32(at + KIND_BYTES)
      if (this.bytes[at] === COPY_DATA) this.#take(this, at + HEAD_BYTES, next)
      else this.#others(Buffer.from(this.bytes.subarray(at, next)))
      at = next
    }
    this.bytes.copyWithin(0, complete, this.#end)
    this.#end -= complete
  }

  /** Returns the begin of a message of which the rest has not arrived. */
  rest(): Buffer {
    return Buffer.from(this.bytes.subarray(0, this.#end))
  }

  int32(at: number): number {
    const { bytes } = this
    return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
  }

  utf8(from: number, to: number): string {
    return this.bytes.toString("utf8", from, to)
  }

  /** Whether all bytes are ASCII. Those between the first and the last are looked at four at a time. */
  isAscii(from: number, to: number): boolean {
    const bytes = this.bytes
    const words = this.#words
    let at = from
    let all = 0
    for (; at < to && at % WORD_BYTES !== 0; at++) all |= bytes[at] as number
    const lastWord = to >> 2
    for (let word = at >> 2; word < lastWord; word++) all |= words[word] as number
    for (at = Math.max(at, lastWord * WORD_BYTES); at < to; at++) all |= bytes[at] as number
    return (all & NOT_ASCII) === 0
  }

  /** Returns the same as `utf8`, for bytes that are ASCII. */
  latin1(from: number, to: number): string {
    return this.#latin1.slice(from, to)
  }

  /** Returns the end of the last message that has arrived completely. */
  #complete(): number {
    let at = 0
    while (at + HEAD_BYTES <= this.#end) {
      const next = at + KIND_BYTES + this.int32(at + KIND_BYTES)
      if (next > this.#end) break
      at = next
    }
    return at
  }

  #append(chunk: Buffer): void {
    const end = this.#end + chunk.length
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, WORD_BYTES * Math.ceil(end / WORD_BYTES)))
      this.bytes.copy(larger, 0, 0, this.#end)
      this.bytes = larger
      this.#words = wordsOf(larger)
    }
    chunk.copy(this.bytes, this.#end)
    this.#end = end
  }
}
