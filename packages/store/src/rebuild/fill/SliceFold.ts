import pg from "pg"
import * as Copy from "../../copy/Copy.ts"
import { type Column, CopyBinary } from "../../copy/CopyBinary.ts"
import { keyText, type ReadModel } from "../../readmodels/ReadModel.ts"
import { aggregateOf } from "../../log/aggregateOf.ts"
import { COLUMNS, HistoryReader } from "./HistoryReader.ts"
import { StreamFold } from "./StreamFold.ts"

export type StreamKey = readonly [account: string, stream: string]

/** A range of streams in key order. */
export interface Range {
  readonly after: StreamKey
  /** Last stream of the range; null for the range that is open to the end of the log. */
  readonly upto: StreamKey | null
}

export interface SliceRows {
  /** Number of events of the range. */
  readonly events: number
  /** Rows of the range as COPY takes them. */
  readonly rows: Uint8Array<ArrayBuffer>
}

/** Folds one range after another on one connection. */
export class SliceFold {
  readonly #client: pg.Client
  readonly #model: ReadModel
  readonly #copy: CopyBinary

  constructor(client: pg.Client, model: ReadModel, columns: ReadonlyArray<Column>) {
    this.#client = client
    this.#model = model
    this.#copy = new CopyBinary(columns)
  }

  /** Reads and folds a range. Its rows are in the buffer, unless they are larger than it, or in a new one. */
  async fold(range: Range, buffer?: ArrayBuffer): Promise<SliceRows> {
    const aggregate = aggregateOf(this.#model.stream)
    this.#copy.begin(buffer ?? new ArrayBuffer(CopyBinary.FIRST_BYTES))
    const add = adderOf(this.#model, this.#copy)
    const histories = new HistoryReader(aggregate, new StreamFold(this.#model, aggregate), (found) => {
      for (const row of found) add(row)
    })
    await Copy.out(this.#client, readStatement(this.#model, range), (reader, from, to) =>
      histories.row(reader, from, to),
    )
    histories.end()
    return { events: histories.events, rows: this.#copy.end() }
  }
}

const readStatement = ({ stream }: ReadModel, { after, upto }: Range): string => {
  const keyLiteral = (key: StreamKey) => `(${key.map((part) => pg.escapeLiteral(part)).join(", ")})`
  const end = upto === null ? "" : `AND (account_id, stream_id) <= ${keyLiteral(upto)}`
  return `COPY (SELECT ${COLUMNS} FROM events
    WHERE (account_id, stream_id) > ${keyLiteral(after)} ${end} AND stream = ${pg.escapeLiteral(stream)}
    ORDER BY account_id, stream_id, version) TO STDOUT (FORMAT binary)`
}

/** Adds rows to the copy, and each row that several streams share only once. */
const adderOf = (model: ReadModel, copy: CopyBinary): ((row: object) => void) => {
  if (model.isShared !== true) return (row) => copy.add(row)
  const seen = new Set<string>()
  return (row) => {
    const key = keyText(model, row)
    if (seen.has(key)) return
    seen.add(key)
    copy.add(row)
  }
}
