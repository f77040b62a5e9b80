import type { Column } from "./CopyText.ts"

/** The signature of the format, its flags, and the length of an extension that there is none of. */
const HEADER = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1")
const TRAILER = Buffer.from([0xff, 0xff])
/** What it begins with. It becomes as large as the rows of a slice are, and is kept for those of the next. */
const FIRST_BYTES = 1024 * 1024
/** The most that UTF-8 takes for a unit of UTF-16. */
const BYTES_PER_UNIT = 3
const JSONB_VERSION = 1

type Write = (to: CopyBinary, value: unknown) => void

const text: Write = (to, value) => to.text(String(value))
const WRITERS: { readonly [type: string]: Write | undefined } = {
  text,
  integer: (to, value) => to.integer(Number(value)),
  json: (to, value) => to.text(JSON.stringify(value)),
  jsonb: (to, value) => to.jsonb(JSON.stringify(value)),
}

/** Rows as COPY's binary format has them: Postgres looks for no separator in them and undoes no escape. */
export class CopyBinary {
  readonly options = "(FORMAT binary)"
  chunks: ReadonlyArray<Buffer> = []
  readonly #columns: ReadonlyArray<{ readonly name: string; readonly write: Write }>
  // One for all slices: memory outside of the heap makes the collector go through all that is in it.
  #buffer = Buffer.allocUnsafe(FIRST_BYTES)
  #at = 0

  /** Of tables with other columns the rows travel as text. */
  static takes(columns: ReadonlyArray<Column>): boolean {
    return columns.every(({ type }) => WRITERS[type] !== undefined)
  }

  constructor(columns: ReadonlyArray<Column>) {
    this.#columns = columns.map(({ name, type }) => ({ name, write: WRITERS[type] ?? text }))
  }

  begin(): void {
    this.#at = HEADER.copy(this.#buffer)
  }

  /** A field that the row lacks, like one that is null there, is NULL: as `jsonb_populate_recordset` has it. */
  add(row: object): void {
    this.#room(2)
    this.#at = this.#buffer.writeInt16BE(this.#columns.length, this.#at)
    for (const { name, write } of this.#columns) {
      const value = (row as Readonly<Record<string, unknown>>)[name]
      if (value === null || value === undefined) {
        this.#room(4)
        this.#at = this.#buffer.writeInt32BE(-1, this.#at)
      } else write(this, value)
    }
  }

  integer(value: number): void {
    this.#room(8)
    this.#at = this.#buffer.writeInt32BE(4, this.#at)
    this.#at = this.#buffer.writeInt32BE(value, this.#at)
  }

  text(value: string): void {
    this.#room(4 + value.length * BYTES_PER_UNIT)
    const bytes = this.#buffer.write(value, this.#at + 4)
    this.#at = this.#buffer.writeInt32BE(bytes, this.#at) + bytes
  }

  jsonb(value: string): void {
    this.#room(5 + value.length * BYTES_PER_UNIT)
    const bytes = this.#buffer.write(value, this.#at + 5)
    this.#buffer[this.#at + 4] = JSONB_VERSION
    this.#at = this.#buffer.writeInt32BE(bytes + 1, this.#at) + 1 + bytes
  }

  end(): void {
    this.#room(TRAILER.length)
    this.#at += TRAILER.copy(this.#buffer, this.#at)
    this.chunks = [this.#buffer.subarray(0, this.#at)]
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}
