/** A column of the table that is filled: its name, and what Postgres calls its type. */
export interface Column {
  readonly name: string
  readonly type: string
}

type Write = (value: unknown) => string

const SPECIAL = /[\\\n\r\t]/
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }

const escape = (text: string): string =>
  SPECIAL.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character) : text

const arrayOf = (values: unknown): string =>
  `{${(values as ReadonlyArray<unknown>)
    .map((value) => (value === null ? "NULL" : `"${String(value).replaceAll(/["\\]/g, "\\$&")}"`))
    .join(",")}}`

const writerOf = (type: string): Write => {
  if (type === "json" || type === "jsonb") return (value) => escape(JSON.stringify(value))
  if (type.endsWith("[]")) return (value) => escape(arrayOf(value))
  return (value) => (typeof value === "string" ? escape(value) : String(value))
}

/** Rows as COPY's text format has them, in pieces that are sent as they are. */
export class CopyText {
  readonly options = ""
  chunks: Array<Buffer> = []
  readonly #columns: ReadonlyArray<{ readonly name: string; readonly write: Write }>
  #text = ""

  constructor(columns: ReadonlyArray<Column>) {
    this.#columns = columns.map(({ name, type }) => ({ name, write: writerOf(type) }))
  }

  begin(): void {
    this.chunks = []
  }

  /** A field that the row lacks, like one that is null there, is NULL: as `jsonb_populate_recordset` has it. */
  add(row: object): void {
    let line = ""
    for (const { name, write } of this.#columns) {
      const value = (row as Readonly<Record<string, unknown>>)[name]
      if (line !== "") line += "\t"
      line += value === null || value === undefined ? "\\N" : write(value)
    }
    this.#text += `${line}\n`
    if (this.#text.length >= CHUNK_CHARS) this.end()
  }

  /** Gives out what there is; more may follow. */
  end(): void {
    if (this.#text === "") return
    this.chunks.push(Buffer.from(this.#text))
    this.#text = ""
  }
}

/** Large enough that a message costs nothing, small enough to be thrown away young. */
const CHUNK_CHARS = 256 * 1024
