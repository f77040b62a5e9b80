import { Effect } from "effect"
import type { Level } from "./RequestLogBounds.ts"
import * as LogDay from "./LogDay.ts"
import { Sql } from "../postgres/Sql.ts"

/** Holder of a bound on a day. Both ids are empty for the database, the caller's for an account. */
export interface Holder {
  readonly account_id: string
  /** Key or member. */
  readonly caller_id: string
  readonly day: LogDay.Day
}

/** Rows and bytes that are added to a holder's day, and calls that were only counted. */
export interface Change extends Holder {
  rows: number
  bytes: number
  notKept: number
}

/** Rows and bytes that the log holds of a holder's day, over all processes. */
export interface Total extends Holder {
  readonly rows: number
  readonly bytes: number
}

export const levelOf = ({ account_id, caller_id }: Holder): Level =>
  account_id === "" ? "all" : caller_id === "" ? "account" : "caller"

/** Changes of accounts of a database and of their callers, with those of all. */
export const withTotal = (changes: ReadonlyArray<Change>): ReadonlyArray<Change> => {
  const days = new Map<LogDay.Day, Change>()
  for (const { bytes, caller_id, day, notKept, rows } of changes) {
    if (caller_id !== "") continue
    const all = days.get(day) ?? { account_id: "", caller_id: "", day, rows: 0, bytes: 0, notKept: 0 }
    all.rows += rows
    all.bytes += bytes
    all.notKept += notKept
    days.set(day, all)
  }
  return [...days.values(), ...changes]
}

/**
 * Adds changes and returns the sums. All processes lock the rows in one order. It runs on a connection of the writer, so the
 * statement is a text.
 */
export const ADD = `
  INSERT INTO request_log_counts AS c (account_id, caller_id, day, kept_rows, kept_bytes, not_kept)
  SELECT account_id, caller_id, day, kept_rows, kept_bytes, not_kept
  FROM unnest($1::text[], $2::text[], $3::date[], $4::bigint[], $5::bigint[], $6::bigint[])
    AS u(account_id, caller_id, day, kept_rows, kept_bytes, not_kept)
  ORDER BY account_id COLLATE "C", caller_id COLLATE "C", day
  ON CONFLICT (account_id, caller_id, day) DO UPDATE SET kept_rows = c.kept_rows + excluded.kept_rows,
    kept_bytes = c.kept_bytes + excluded.kept_bytes, not_kept = c.not_kept + excluded.not_kept
  RETURNING c.account_id, c.caller_id, c.day - date '1970-01-01' AS day, c.kept_rows::float8 AS rows,
    c.kept_bytes::float8 AS bytes`

export const parametersOf = (changes: ReadonlyArray<Change>): ReadonlyArray<ReadonlyArray<string | number>> => [
  changes.map(({ account_id }) => account_id),
  changes.map(({ caller_id }) => caller_id),
  changes.map(({ day }) => LogDay.dateOf(day)),
  changes.map(({ rows }) => rows),
  changes.map(({ bytes }) => bytes),
  changes.map(({ notKept }) => notKept),
]

/** Returns the days of an account, or of one of its keys, on which calls were only counted, the newest first. */
export const notKeptOf = Effect.fn("RequestLogCounts.notKeptOf")(function* (account_id: string, caller_id = "") {
  const sql = yield* Sql
  return yield* sql<{ readonly date: string; readonly count: number }>`
    SELECT day::text AS date, not_kept::float8 AS count FROM request_log_counts
    WHERE account_id = ${account_id} AND caller_id = ${caller_id} AND not_kept > 0 ORDER BY day DESC`
})

/** Deletes the counts of the days before `oldest`, one row for each key that was used on a day. */
export const expire = Effect.fn("RequestLogCounts.expire")(function* (oldest: LogDay.Day) {
  const sql = yield* Sql
  yield* sql`DELETE FROM request_log_counts WHERE day < ${LogDay.dateOf(oldest)}::date`
})
