import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import type { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Client } from "../postgres/Sql.ts"
import type { AnyEvent } from "./RecordedEvents.ts"
import type { ChangedStream } from "./StreamRef.ts"

/**
 * The part of a batch that concerns one table, or a few that belong together: the facts that decisions need of it, the
 * rows that follow from events, and how they are written. All of it is optional. `commit/BatchParts.ts` lists the parts. The
 * functions are methods, so that a part of narrower types fits.
 */
export interface BatchPart<Needs = object, Fact = unknown, Row = unknown> {
  /** Returns queries of the rows that commits need. Those of all parts are one statement. */
  read?(sql: Client<unknown>, needs: ReadonlyArray<OfAccount & Needs>, now: string): ReadonlyArray<Query>
  /** Returns what decisions see of the rows that were read. */
  fact?(rows: ReadonlyArray<object>): Fact
  /** Returns what the next decisions of the batch see, where the earlier ones have added rows. */
  factAfter?(fact: Fact, addedTo: (key: string) => Row | undefined): Fact
  /** Returns the rows that follow from an event, by the states of its stream before and after it. */
  ofEvent?(account_id: AccountId, event: AnyEvent, before: unknown, after: unknown): ReadonlyArray<Row>
  /** Adds the rows that follow from a stream when all commits of the batch are decided. */
  ofStream?(stream: ChangedStream, batch: DecidedBatch<Fact>): void
  /** Rows of the same key become one, which `sum` makes of both. */
  keyOf?(row: Row): string
  sum?(one: Row, other: Row): Row
  /** Returns how the rows are written. */
  write?(sql: Client<unknown>, rows: ReadonlyArray<Row>, batch: WrittenBatch): Writes
}

/** A part that writes rows. */
export type Writing<Row> = BatchPart<never, unknown, Row>

/** Rows that a decision brings itself. */
export type PartRows = readonly [part: BatchPart, rows: ReadonlyArray<unknown>]

export const rowsOf = <Row>(part: Writing<Row>, rows: ReadonlyArray<Row>): PartRows => [part as BatchPart, rows]

export interface OfAccount {
  readonly account_id: AccountId
}

export interface Query {
  readonly rows: Fragment
  /** Whether the query locks the rows by writing them. There is one such query of a part. */
  readonly writes?: true
  /** Reads the rows `apart`, if the query is none of which the plan is kept there (`TablePlace`). */
  readonly apart?: <E>(sql: Client<E>) => Effect.Effect<ReadonlyArray<object>, E>
}

export interface DecidedBatch<Fact> {
  readonly fact: Fact
  readonly now: string
  readonly nowMillis: number
  readonly rows: BatchRows
}

export interface WrittenBatch {
  readonly changedStreams: ReadonlyArray<ChangedStream>
  readonly now: string
  /** Whether statements of one table are faster (`TablePlace`). */
  readonly isApart: boolean
}

/** Parts of the statement that writes a batch. */
export interface Writes {
  /** Statements before it, of rows that it writes as well. */
  readonly before?: ReadonlyArray<Fragment>
  /** Parts that are statements of their own `apart`. */
  readonly separable?: ReadonlyArray<Fragment>
  /** Parts of the statement there as well. */
  readonly joint?: ReadonlyArray<Fragment>
}

/** The rows that a batch writes, by the part that writes them. */
export class BatchRows {
  readonly #rows = new Map<BatchPart, Map<unknown, unknown>>()

  add<Row>(part: Writing<Row>, row: Row): void {
    const rows = this.#rows.get(part as BatchPart) ?? new Map<unknown, unknown>()
    if (rows.size === 0) this.#rows.set(part as BatchPart, rows)
    const key = part.keyOf?.(row) ?? rows.size
    const other = rows.get(key) as Row | undefined
    rows.set(key, other === undefined ? row : (part.sum?.(other, row) ?? row))
  }

  of<Row>(part: Writing<Row>): ReadonlyArray<Row> {
    const rows = this.#rows.get(part as BatchPart)
    return rows === undefined ? [] : ([...rows.values()] as ReadonlyArray<Row>)
  }

  /** Returns the row of a key. */
  at<Row>(part: Writing<Row>, key: string): Row | undefined {
    return this.#rows.get(part as BatchPart)?.get(key) as Row | undefined
  }
}

/** Returns the accounts of commits, a test account as its live account. */
export const liveAccounts = (needs: ReadonlyArray<OfAccount>): ReadonlyArray<string> => [
  ...new Set(needs.map(({ account_id }) => Livemode.liveAccountOf(account_id))),
]

type Names = ReadonlyArray<string> | string | undefined

export interface Pairs {
  readonly accounts: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
}

/** Returns each account and name that commits need, once. */
export const pairs = <N extends OfAccount>(needs: ReadonlyArray<N>, of: (need: N) => Names): Pairs => {
  const accounts: Array<string> = []
  const names: Array<string> = []
  const seen = new Set<string>()
  for (const need of needs) {
    for (const name of [of(need) ?? []].flat()) {
      const key = `${need.account_id} ${name}`
      if (seen.has(key)) continue
      seen.add(key)
      accounts.push(need.account_id)
      names.push(name)
    }
  }
  return { accounts, names }
}

/** Makes the fact that decisions look up by an account and a name. */
export const factByName = <Needs, Row extends OfAccount, Found>(
  wanted: (need: Needs) => Names,
  rows: (sql: Client<unknown>, wanted: Pairs) => Fragment,
  nameOf: (row: Row) => string,
  found: (row: Row | undefined) => Found,
  query: (wanted: Pairs) => Omit<Query, "rows"> = () => ({}),
): BatchPart<Needs, (account: AccountId, name: string) => Found> => ({
  read: (sql, needs) => {
    const all = pairs(needs, wanted)
    return all.names.length === 0 ? [] : [{ rows: rows(sql, all), ...query(all) }]
  },
  fact: (read) => {
    const byName = new Map((read as ReadonlyArray<Row>).map((row) => [`${row.account_id} ${nameOf(row)}`, row]))
    return (account, name) => found(byName.get(`${account} ${name}`))
  },
})
