import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect } from "effect"
import * as Definitions from "../database/Definitions.ts"
import type { Database } from "../routing/Databases.ts"
import * as LogDay from "./LogDay.ts"
import * as RequestLogCounts from "./RequestLogCounts.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Days whose table is made in advance. The first call of another day makes its table itself. */
export const DAYS_AHEAD = 2
const TABLE = "request_log"
/** Time to wait for a lock, because later calls of the API wait behind this one. */
const LOCK_TIMEOUT = "5s"
/** Advisory lock that lets one process at a time change the tables of days. */
const DAYS_LOCK = 0x5742_4d52

/** The first id of a day. */
export const startOf = (day: LogDay.Day): string => Id.lowest("RequestId", day * Timestamp.DAY)
const tableOf = (day: LogDay.Day): string => `${TABLE}_${LogDay.dateOf(day).replaceAll("-", "_")}`

/** Today, and the days whose tables are made in advance. */
const comingDays = Effect.map(Clock.currentTimeMillis, (now) =>
  Array.from({ length: DAYS_AHEAD + 1 }, (_, nth) => LogDay.dayOf(now) + nth),
)

export interface KeptDays {
  readonly made: ReadonlyArray<string>
  readonly dropped: ReadonlyArray<string>
}

/** Makes the tables of coming days, and drops those that ended more than `days` days ago. Runs hourly. */
export const keep = Effect.fn("RequestLogDays.keep")(function* (days: number) {
  const sql = yield* Sql
  const coming = yield* comingDays
  const [today = 0] = coming
  const oldest = tableOf(today - days)
  const existing = yield* tables(sql)
  // The names sort by their day.
  const dropped = existing.filter((name) => name < oldest)
  for (const name of dropped) yield* alone(sql, sql`DROP TABLE IF EXISTS ${sql(name)}`)
  yield* RequestLogCounts.expire(today - days)
  const needed = days === 0 ? [] : coming
  const missing = needed.filter((day) => !existing.includes(tableOf(day)))
  for (const day of missing) yield* make(day)
  return { made: missing.map(tableOf), dropped } satisfies KeptDays
})

/** Makes the table of a day, if there is none. */
export const make = Effect.fn("RequestLogDays.make")(function* (day: LogDay.Day) {
  const sql = yield* Sql
  const name = tableOf(day)
  const [from, to] = [startOf(day), startOf(day + 1)]
  yield* alone(
    sql,
    Effect.gen(function* () {
      if ((yield* tables(sql)).includes(name)) return
      // Attached, because a partition that is created as one locks out readers and writers of all days.
      yield* sql`CREATE TABLE ${sql(name)} (LIKE ${sql(TABLE)} INCLUDING ALL)`
      yield* sql`
        ALTER TABLE ${sql(TABLE)} ATTACH PARTITION ${sql(name)}
        FOR VALUES FROM (${sql.literal(`'${from}'`)}) TO (${sql.literal(`'${to}'`)})`
    }),
  )
})

/**
 * Makes the tables of the days that the log of another database holds, for rows that come from there, and those of coming days, which
 * it may make while they come.
 */
export const copyDays = Effect.fn("RequestLogDays.copyDays")(function* (from: Database, to: Database) {
  const sql = yield* Sql
  const days = yield* from.run(tables(sql))
  const coming = (yield* comingDays).map(tableOf)
  yield* to.run(makeAll([...days, ...coming]))
})

const makeAll = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  for (const day of daysOf(names)) yield* make(day)
})

const daysOf = (names: ReadonlyArray<string>): ReadonlyArray<LogDay.Day> =>
  names.flatMap((name) => {
    const at = Date.parse(name.slice(TABLE.length + 1).replaceAll("_", "-"))
    return Number.isFinite(at) ? [LogDay.dayOf(at)] : []
  })

/** Days that have a table, the last first. */
export const kept = (sql: Sql) => Effect.map(tables(sql), (names) => daysOf(names).toReversed())

const alone = <A>(sql: Sql, work: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> =>
  Definitions.transaction(
    sql,
    Effect.gen(function* () {
      yield* sql`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true) AS set`
      yield* sql`SELECT pg_advisory_xact_lock(${DAYS_LOCK}::int, 0) IS NULL AS taken`
      return yield* work
    }),
  )

const tables = (sql: Sql) =>
  Effect.map(
    sql<{ readonly name: string }>`
      SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = ${TABLE}::regclass ORDER BY 1`,
    (rows) => rows.map(({ name }) => name),
  )
