import * as Id from "@waybill/domain/values/Id"
import * as IdKey from "../postgres/IdKey.ts"

/** A column of a table: its name, and the name of its type as `format_type` has it. */
export interface Column {
  readonly name: string
  readonly type: string
}

/** Signature of the format, flags, and the length of an empty header extension. */
const HEADER = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1")
const TRAILER = Buffer.from([0xff, 0xff])
/** Maximum number of UTF-8 bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3
const JSONB_VERSION = 1
const TEXT_OID = 25
const BIGINT_OID = 20
const UUID_BYTES = 16
const ACCOUNT = `${Id.PREFIXES.AccountId}_`
/** Value of each hexadecimal digit, by its code. */
const NO_DIGIT = 16
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase())
  return value < 0 ? NO_DIGIT : value
})
const POSTGRES_EPOCH = Date.UTC(2000, 0, 1)

type Write = (to: CopyBinary, value: unknown) => void

const WRITERS: { readonly [type: string]: Write | undefined } = {
  text: (to, value) => to.text(String(value)),
  integer: (to, value) => to.integer(Number(value)),
  smallint: (to, value) => to.smallint(Number(value)),
  bigint: (to, value) => to.bigint(typeof value === "bigint" ? value : BigInt(String(value))),
  uuid: (to, value) => to.uuid(String(value)),
  boolean: (to, value) => to.boolean(value === true),
  "timestamp with time zone": (to, value) => to.timestamp(Date.parse(String(value))),
  "text[]": (to, value) => to.array(TEXT_OID, value as ReadonlyArray<string>, (each) => to.text(each)),
  "bigint[]": (to, value) => to.array(BIGINT_OID, value as ReadonlyArray<bigint>, (each) => to.bigint(BigInt(each))),
  json: (to, value) => to.text(JSON.stringify(value)),
  jsonb: (to, value) => to.jsonb(JSON.stringify(value)),
}

const unsupported =
  ({ name, type }: Column): Write =>
  () => {
    throw new Error(`column ${name}: values of type ${type} have no binary encoding here`)
  }

/** Encodes rows for `COPY … FROM STDIN (FORMAT binary)`, which needs no escaping and no search for separators. */
export class CopyBinary {
  /** Initial size of a buffer, which grows to the size of all rows. */
  static readonly FIRST_BYTES = 1024 * 1024
  chunks: ReadonlyArray<Buffer> = []
  readonly #columns: ReadonlyArray<{ readonly name: string; readonly write: Write }>
  // Used again, because each new buffer outside of V8's heap brings the next garbage collection closer.
  #buffer = Buffer.alloc(0)
  #view = new DataView(this.#buffer.buffer)
  #at = 0
  /** The last account, and where its UUID is. */
  #account = ""
  #accountAt = 0

  constructor(columns: ReadonlyArray<Column>) {
    this.#columns = columns.map((column) => ({ name: column.name, write: WRITERS[column.type] ?? unsupported(column) }))
  }

  /** Begins in the buffer of the rows before, or in another one. */
  begin(buffer?: ArrayBuffer): void {
    if (buffer !== undefined) this.#use(buffer)
    else if (this.#buffer.length === 0) this.#use(new ArrayBuffer(CopyBinary.FIRST_BYTES))
    this.#at = HEADER.copy(this.#buffer)
    this.#account = ""
  }

  /** Adds a row. A field that is missing or null becomes NULL, as with `jsonb_populate_recordset`. */
  add(row: object): void {
    this.#int16(this.#columns.length)
    for (const { name, write } of this.#columns) {
      const value = (row as Readonly<Record<string, unknown>>)[name]
      if (value === null || value === undefined) this.#int32(-1)
      else write(this, value)
    }
  }

  integer(value: number): void {
    this.#int32(4)
    this.#int32(value)
  }

  smallint(value: number): void {
    this.#int32(2)
    this.#int16(value)
  }

  bigint(value: bigint): void {
    this.#int32(8)
    this.#reserve(8)
    this.#view.setBigInt64(this.#at, value)
    this.#at += 8
  }

  /** Adds a UUID, written as 32 hexadecimal digits without hyphens, or as an id. */
  uuid(value: string): void {
    this.#int32(UUID_BYTES)
    this.#reserve(UUID_BYTES)
    if (value.length === IdKey.ID_LENGTH) {
      this.#id(value)
      return
    }
    let all = value.length === 2 * UUID_BYTES ? 0 : NO_DIGIT
    for (let nth = 0; nth < UUID_BYTES; nth++) {
      const high = DIGITS[value.charCodeAt(2 * nth)] ?? NO_DIGIT
      const low = DIGITS[value.charCodeAt(2 * nth + 1)] ?? NO_DIGIT
      all |= high | low
      this.#buffer[this.#at + nth] = (high << 4) | low
    }
    if (all >= NO_DIGIT) throw new Error(`${value} is not a UUID without hyphens`)
    this.#at += UUID_BYTES
  }

  /** Adds the UUID of an id. Accounts have many rows after one another, so that of the last one is copied. */
  #id(id: string): void {
    if (id === this.#account)
      for (let at = 0; at < UUID_BYTES; at += 4)
        this.#view.setInt32(this.#at + at, this.#view.getInt32(this.#accountAt + at))
    else {
      IdKey.write(id, this.#buffer, this.#at)
      if (id.startsWith(ACCOUNT)) {
        this.#account = id
        this.#accountAt = this.#at
      }
    }
    this.#at += UUID_BYTES
  }

  boolean(value: boolean): void {
    this.#int32(1)
    this.#reserve(1)
    this.#at = this.#buffer.writeInt8(value ? 1 : 0, this.#at)
  }

  timestamp(millis: number): void {
    this.#int32(8)
    this.#reserve(8)
    this.#view.setBigInt64(this.#at, BigInt(millis - POSTGRES_EPOCH) * 1000n)
    this.#at += 8
  }

  text(value: string): void {
    this.#reserve(4 + value.length * BYTES_PER_UNIT)
    const bytes = this.#buffer.write(value, this.#at + 4)
    this.#at = this.#buffer.writeInt32BE(bytes, this.#at) + bytes
  }

  array<A>(type: number, values: ReadonlyArray<A>, write: (value: A) => void): void {
    this.#int32(0)
    const start = this.#at
    const dimensions = values.length === 0 ? [] : [values.length, 1]
    for (const field of [dimensions.length / 2, 0, type, ...dimensions]) this.#int32(field)
    for (const value of values) write(value)
    this.#buffer.writeInt32BE(this.#at - start, start - 4)
  }

  jsonb(value: string): void {
    this.#reserve(5 + value.length * BYTES_PER_UNIT)
    const bytes = this.#buffer.write(value, this.#at + 5)
    this.#buffer[this.#at + 4] = JSONB_VERSION
    this.#at = this.#buffer.writeInt32BE(bytes + 1, this.#at) + 1 + bytes
  }

  /** Returns all rows. They are valid until rows begin again in their buffer. */
  end(): Uint8Array<ArrayBuffer> {
    this.#reserve(TRAILER.length)
    this.#at += TRAILER.copy(this.#buffer, this.#at)
    const rows = this.#buffer.subarray(0, this.#at)
    this.chunks = [rows]
    return rows
  }

  #int32(value: number): void {
    this.#reserve(4)
    this.#view.setInt32(this.#at, value)
    this.#at += 4
  }

  #int16(value: number): void {
    this.#reserve(2)
    this.#view.setInt16(this.#at, value)
    this.#at += 2
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const smaller = this.#buffer
    this.#use(new ArrayBuffer(Math.max(smaller.length * 2, this.#at + bytes)))
    smaller.copy(this.#buffer, 0, 0, this.#at)
  }

  #use(buffer: ArrayBuffer): void {
    this.#buffer = Buffer.from(buffer)
    this.#view = new DataView(buffer)
  }
}
