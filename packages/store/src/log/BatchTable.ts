import type * as Email from "@waybill/domain/email/Email"
import type * as EmailState from "@waybill/domain/email/EmailState"
import type { AccountId } from "@waybill/domain/values/Id"
import type { Fragment } from "effect/sql/Statement"
import type { Client } from "../postgres/Sql.ts"
import type { ChangedStream } from "./StreamRef.ts"

/**
 * A table that commits write besides the log: the rows that follow from their events, and how a batch writes them.
 * `commit/BatchTables.ts` lists all. The functions are methods, so that a table of narrower rows fits.
 */
export interface BatchTable<Row = unknown, Facts = object> {
  /** Returns the rows that follow from an event of a message, by its states before and after the event. */
  ofEmail?(
    account_id: AccountId,
    event: Email.Event,
    before: Email.State,
    after: EmailState.AcceptedEmail,
  ): ReadonlyArray<Row>
  /** Adds the rows that follow from a stream when all commits of the batch are decided. */
  ofStream?(stream: ChangedStream, batch: DecidedBatch<Facts>): void
  /** Rows of the same key become one, which `sum` makes of both. */
  keyOf?(row: Row): string
  sum?(one: Row, other: Row): Row
  /** Returns how a batch writes the table. */
  write(sql: Client<unknown>, batch: WrittenBatch): Writes
}

export interface DecidedBatch<Facts> {
  readonly facts: Facts
  readonly now: string
  readonly nowMillis: number
  readonly rows: BatchRows
}

export interface WrittenBatch {
  readonly changedStreams: ReadonlyArray<ChangedStream>
  readonly rows: BatchRows
  readonly now: string
  /** Whether a statement per table is fast (`TablePlace`). */
  readonly isPerTable: boolean
}

/** How a batch writes a table. One statement writes all tables, by a common table expression for each. */
export interface Writes {
  /** Statements before that one, for rows that both write. */
  readonly first?: ReadonlyArray<Fragment>
  readonly expressions?: ReadonlyArray<Fragment>
  /** Expressions of one table: with a statement per table they are statements of their own. */
  readonly simple?: ReadonlyArray<Fragment>
}

/** Returns SQL that writes rows, unless there are none. */
export const ifAny = <Row>(
  rows: ReadonlyArray<Row>,
  write: (rows: ReadonlyArray<Row>) => Fragment,
): ReadonlyArray<Fragment> => (rows.length === 0 ? [] : [write(rows)])

/** Adds rows that a decision brings, or that follow from one. */
export type AddRows = (to: BatchRows) => void

export const rowsOf =
  <Row>(table: BatchTable<Row>, rows: ReadonlyArray<Row>): AddRows =>
  (to) => {
    for (const row of rows) to.add(table, row)
  }

/** The rows that a batch writes, by their table. */
export class BatchRows {
  readonly #rows = new Map<BatchTable, Map<unknown, unknown>>()

  add<Row>(table: BatchTable<Row>, row: Row): void {
    const rows = this.#find(table) ?? new Map<unknown, Row>()
    if (rows.size === 0) this.#rows.set(table, rows)
    const key = table.keyOf?.(row) ?? rows.size
    const other = rows.get(key)
    rows.set(key, other === undefined ? row : (table.sum?.(other, row) ?? row))
  }

  of<Row>(table: BatchTable<Row>): ReadonlyArray<Row> {
    return [...(this.#find(table)?.values() ?? [])]
  }

  /** Returns the row of a key. */
  at<Row>(table: BatchTable<Row>, key: string): Row | undefined {
    return this.#find(table)?.get(key)
  }

  #find<Row>(table: BatchTable<Row>): Map<unknown, Row> | undefined {
    // Only rows of the table are added under it.
    return this.#rows.get(table) as Map<unknown, Row> | undefined
  }
}
