import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect } from "effect"
import * as EmailStats from "./EmailStats.ts"
import * as EmailStatsFollower from "./EmailStatsFollower.ts"
import { Sql } from "../postgres/Sql.ts"
import * as Definitions from "../database/Definitions.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Months whose table is created in advance. If no worker runs for longer, rows have to be moved later. */
export const MONTHS_AHEAD = 2
/**
 * Time to wait for a lock. While this waits, every later query waits behind it, so it gives up early; the task runs
 * again the next day.
 */
const LOCK_TIMEOUT = "5s"
/**
 * Maximum distance in months, past or future, at which a month gets its own table. Rows beyond it come from a wrong
 * clock and stay in the default partition.
 */
const MAX_MONTHS_AWAY = 240
/** Advisory lock that lets one process at a time change the partitions. */
const MONTHS_LOCK = 0x5742_4d4f

/** Months since the year 0, in UTC. */
type Month = number

const monthOf = (at: string): Month => Number(at.slice(0, 4)) * 12 + Number(at.slice(5, 7)) - 1
const digits = (month: Month, between: string): string =>
  `${String(Math.floor(month / 12)).padStart(4, "0")}${between}${String((month % 12) + 1).padStart(2, "0")}`
const startOf = (month: Month): string => `${digits(month, "-")}-01T00:00:00.000Z`

export interface MaintainedMonths {
  readonly made: ReadonlyArray<string>
  readonly dropped: ReadonlyArray<string>
}

/**
 * Creates the tables of coming months, moves months from the default partition into tables of their own, and drops
 * expired ones. Dropping a month's table removes its rows without a scan. Rows without a table of their own are in the
 * default partition, so no insert fails. Runs daily.
 */
export const keep = Effect.fn("EmailStatsMonths.keep")(function* (months: number) {
  const sql = yield* Sql
  const now = monthOf(Timestamp.fromMillis(yield* Clock.currentTimeMillis))
  const oldest = now - months
  const { defaultTable, existing, version } = yield* withoutFollower(sql, partitions(sql))
  const tableOf = (month: Month) => `${familyOf(version)}_${digits(month, "_")}`
  const expired = existing.filter((month) => month < oldest)
  yield* withoutFollower(sql, dropMonths(sql, startOf(oldest), defaultTable, expired.map(tableOf)))

  const needed = new Set(Array.from({ length: MONTHS_AHEAD + 1 }, (_, nth) => now + nth))
  for (const month of yield* withoutFollower(sql, monthsIn(sql, defaultTable)))
    if (Math.abs(month - now) <= MAX_MONTHS_AWAY) needed.add(month)
  const missing = [...needed].filter((month) => !existing.includes(month)).sort((a, b) => a - b)
  yield* Effect.forEach(
    missing,
    (month) => withoutFollower(sql, createMonth(sql, tableOf(month), month, defaultTable)),
    { discard: true },
  )
  return { made: missing.map(tableOf), dropped: expired.map(tableOf) } satisfies MaintainedMonths
})

/**
 * Runs work while no follower counts. Locks the follower's position first, as the follower does, so that the two cannot
 * deadlock.
 */
const withoutFollower = <A>(sql: Sql, work: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> =>
  Definitions.transaction(
    sql,
    Effect.gen(function* () {
      yield* sql`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true) AS set`
      // Splitting years of rows of one table may exceed the statement timeout.
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SELECT pg_advisory_xact_lock(${MONTHS_LOCK}::int, 0) IS NULL AS taken`
      yield* sql`SELECT position FROM followers WHERE name = ${EmailStats.FOLLOWER} FOR UPDATE`
      return yield* work
    }),
  )

/** Returns the prefix of table names. Each version keeps its own, so the previously live version keeps its tables. */
const familyOf = (version: number): string =>
  version === 1 ? EmailStats.FOLLOWER : `${EmailStats.FOLLOWER}_v${version}`

const MONTH = /_([0-9]{4}_[0-9]{2})$/u

/**
 * Returns the partitions of the live table. A table left unpartitioned by a migration or a swap is partitioned first.
 */
const partitions = Effect.fnUntraced(function* (sql: Sql) {
  const [row] = yield* sql<{
    readonly is_plain: boolean
    readonly default_table: string | null
    readonly version: number
  }>`
    SELECT c.relkind = 'r' AS is_plain, p.partdefid::regclass::text AS default_table, coalesce(
      (SELECT version FROM projection_versions WHERE name = ${EmailStats.FOLLOWER} AND state = 'live'), 1) AS version
    FROM pg_class c LEFT JOIN pg_partitioned_table p ON p.partrelid = c.oid WHERE c.oid = ${EmailStats.FOLLOWER}::regclass`
  const { is_plain = false, version = 1 } = row ?? {}
  const defaultTable = row?.default_table ?? `${familyOf(version)}_rest`
  if (is_plain) yield* partitionTable(sql, defaultTable)
  const tables = yield* sql<{ readonly name: string }>`
    SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = ${EmailStats.FOLLOWER}::regclass`
  const existing = tables.flatMap(({ name }) => {
    const month = MONTH.exec(name)?.[1]
    return month === undefined ? [] : [monthOf(month)]
  })
  return { defaultTable, existing, version }
})

/** Makes the existing table the default partition, without copying or reading it. */
const partitionTable = Effect.fnUntraced(function* (sql: Sql, defaultTable: string) {
  yield* sql`ALTER INDEX ${sql(`${EmailStats.FOLLOWER}_pkey`)} RENAME TO ${sql(`${defaultTable}_pkey`)}`
  yield* sql`ALTER TABLE ${sql(EmailStats.FOLLOWER)} RENAME TO ${sql(defaultTable)}`
  yield* sql`
    CREATE TABLE ${sql(EmailStats.FOLLOWER)} (LIKE ${sql(defaultTable)} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMMENTS)
    PARTITION BY RANGE (hour)`
  yield* sql`
    ALTER TABLE ${sql(EmailStats.FOLLOWER)} ADD CONSTRAINT ${sql(`${EmailStats.FOLLOWER}_pkey`)} PRIMARY KEY (${sql.literal(EmailStatsFollower.KEY.join(", "))})`
  yield* sql`ALTER TABLE ${sql(EmailStats.FOLLOWER)} ATTACH PARTITION ${sql(defaultTable)} DEFAULT`
})

/** Drops months before `from` and records `from`, so that no later count brings them back. */
const dropMonths = Effect.fnUntraced(function* (
  sql: Sql,
  from: string,
  defaultTable: string,
  expired: ReadonlyArray<string>,
) {
  yield* sql`
    UPDATE followers SET kept_from = ${from}::timestamptz WHERE name = ${EmailStats.FOLLOWER} AND kept_from < ${from}::timestamptz`
  yield* Effect.forEach(expired, (table) => sql`DROP TABLE ${sql(table)}`, { discard: true })
  yield* sql`DELETE FROM ${sql(defaultTable)} WHERE hour < ${from}::timestamptz`
})

const monthsIn = (sql: Sql, table: string) =>
  Effect.map(
    sql<{ readonly month: string }>`
      SELECT DISTINCT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM ${sql(table)}`,
    (rows) => rows.map(({ month }) => monthOf(month)),
  )

/**
 * Moves the rows of a month into its new table before attaching it, because attaching fails while the default partition
 * holds such rows.
 */
const createMonth = Effect.fnUntraced(function* (sql: Sql, table: string, month: Month, defaultTable: string) {
  const [from, to] = [startOf(month), startOf(month + 1)]
  yield* sql`CREATE TABLE ${sql(table)} (LIKE ${sql(EmailStats.FOLLOWER)} INCLUDING ALL)`
  yield* sql`
    WITH moved AS (
      DELETE FROM ${sql(defaultTable)} WHERE hour >= ${from}::timestamptz AND hour < ${to}::timestamptz RETURNING *)
    INSERT INTO ${sql(table)} SELECT * FROM moved`
  yield* sql`
    ALTER TABLE ${sql(EmailStats.FOLLOWER)} ATTACH PARTITION ${sql(table)}
    FOR VALUES FROM (${sql.literal(`'${from}'`)}) TO (${sql.literal(`'${to}'`)})`
})
