import { PgClient } from "@effect/sql-pg"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { FOLLOWER as LIVE } from "./EmailStats.ts"
import { KEY } from "./EmailStatsFollower.ts"

/** Months that have their table before they begin: workers may be gone for as long, and nothing has to be moved. */
export const MONTHS_AHEAD = 2
/** Who reads for longer is not waited for: everybody after would wait behind it. The next day tries again. */
const LOCK_TIMEOUT = "5s"
/** What lies further back or ahead than that was dated by a clock that was wrong, and stays where it is. */
const MONTHS_OF_OWN = 240
/** Any number, as long as it is ours: one at a time changes what tables there are. */
const MONTHS_LOCK = 0x5742_4d4f

/** Months since the year 0, in UTC. */
type Month = number

const monthOf = (at: string): Month => Number(at.slice(0, 4)) * 12 + Number(at.slice(5, 7)) - 1
const digits = (month: Month, between: string): string =>
  `${String(Math.floor(month / 12)).padStart(4, "0")}${between}${String((month % 12) + 1).padStart(2, "0")}`
const beginning = (month: Month): string => `${digits(month, "-")}-01T00:00:00.000Z`

export interface Kept {
  readonly made: ReadonlyArray<string>
  readonly dropped: ReadonlyArray<string>
}

/**
 * For cron: makes the tables of the months to come, gives one to each month that has none yet, and drops those that are
 * over. Statistics are the one large table whose rows are over for everybody at once, so that a month of them goes with its
 * files, however much it held. What has no table of its own lies in the rest, so that nothing is ever refused.
 */
export const keep = Effect.fn("EmailStatsMonths.keep")(function* (months: number) {
  const sql = yield* PgClient.PgClient
  const now = monthOf(Timestamp.fromMillis(yield* Clock.currentTimeMillis))
  const oldest = now - months
  const { rest, there, version } = yield* alone(sql, parted(sql))
  const tableOf = (month: Month) => `${familyOf(version)}_${digits(month, "_")}`
  const over = there.filter((month) => month < oldest)
  yield* alone(sql, forget(sql, beginning(oldest), rest, over.map(tableOf)))

  const wanted = new Set(Array.from({ length: MONTHS_AHEAD + 1 }, (_, nth) => now + nth))
  for (const month of yield* alone(sql, monthsIn(sql, rest)))
    if (Math.abs(month - now) <= MONTHS_OF_OWN) wanted.add(month)
  const missing = [...wanted].filter((month) => !there.includes(month)).sort((a, b) => a - b)
  yield* Effect.forEach(missing, (month) => alone(sql, make(sql, tableOf(month), month, rest)), { discard: true })
  return { made: missing.map(tableOf), dropped: over.map(tableOf) } satisfies Kept
})

/** Beside nobody who counts: its place in the log is taken first, as the follower does, so that neither waits in a ring. */
const alone = <A>(sql: PgClient.PgClient, work: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  Effect.orDie(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true) AS set`
        // Years in one piece, as an earlier release has left them, take longer to sort out than a request may.
        yield* sql`SET LOCAL statement_timeout = 0`
        yield* sql`SELECT pg_advisory_xact_lock(${MONTHS_LOCK}::int, 0) IS NULL AS taken`
        yield* sql`SELECT position FROM followers WHERE name = ${LIVE} FOR UPDATE`
        return yield* work
      }),
    ),
  )

/** The version that was live before keeps the tables of its months, with their names. */
const familyOf = (version: number): string => (version === 1 ? LIVE : `${LIVE}_v${version}`)

const MONTH = /_([0-9]{4}_[0-9]{2})$/u

/** The live table with what it is parted into. As the migrations or a swap have left it, it is in one piece. */
const parted = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const [found] = yield* sql<{ readonly is_whole: boolean; readonly rest: string | null; readonly version: number }>`
    SELECT c.relkind = 'r' AS is_whole, p.partdefid::regclass::text AS rest, coalesce(
      (SELECT version FROM projection_versions WHERE name = ${LIVE} AND state = 'live'), 1) AS version
    FROM pg_class c LEFT JOIN pg_partitioned_table p ON p.partrelid = c.oid WHERE c.oid = ${LIVE}::regclass`
  const { is_whole = false, version = 1 } = found ?? {}
  const rest = found?.rest ?? `${familyOf(version)}_rest`
  if (is_whole) yield* part(sql, rest)
  const tables = yield* sql<{ readonly name: string }>`
    SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = ${LIVE}::regclass`
  const there = tables.flatMap(({ name }) => {
    const month = MONTH.exec(name)?.[1]
    return month === undefined ? [] : [monthOf(month)]
  })
  return { rest, there, version }
})

/** What is there becomes the rest, and is neither copied nor read. */
const part = Effect.fnUntraced(function* (sql: PgClient.PgClient, rest: string) {
  yield* sql`ALTER INDEX ${sql(`${LIVE}_pkey`)} RENAME TO ${sql(`${rest}_pkey`)}`
  yield* sql`ALTER TABLE ${sql(LIVE)} RENAME TO ${sql(rest)}`
  yield* sql`
    CREATE TABLE ${sql(LIVE)} (LIKE ${sql(rest)} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMMENTS)
    PARTITION BY RANGE (hour)`
  yield* sql`
    ALTER TABLE ${sql(LIVE)} ADD CONSTRAINT ${sql(`${LIVE}_pkey`)} PRIMARY KEY (${sql.literal(KEY.join(", "))})`
  yield* sql`ALTER TABLE ${sql(LIVE)} ATTACH PARTITION ${sql(rest)} DEFAULT`
})

/** From then on nobody counts it again either, whatever the log still tells. */
const forget = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  from: string,
  rest: string,
  over: ReadonlyArray<string>,
) {
  yield* sql`
    UPDATE followers SET kept_from = ${from}::timestamptz WHERE name = ${LIVE} AND kept_from < ${from}::timestamptz`
  yield* Effect.forEach(over, (table) => sql`DROP TABLE ${sql(table)}`, { discard: true })
  yield* sql`DELETE FROM ${sql(rest)} WHERE hour < ${from}::timestamptz`
})

const monthsIn = (sql: PgClient.PgClient, table: string) =>
  Effect.map(
    sql<{ readonly month: string }>`
      SELECT DISTINCT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM ${sql(table)}`,
    (rows) => rows.map(({ month }) => monthOf(month)),
  )

/** Filled before it is attached, since what lies in the rest may not belong to another. */
const make = Effect.fnUntraced(function* (sql: PgClient.PgClient, table: string, month: Month, rest: string) {
  const [from, to] = [beginning(month), beginning(month + 1)]
  yield* sql`CREATE TABLE ${sql(table)} (LIKE ${sql(LIVE)} INCLUDING ALL)`
  yield* sql`
    WITH moved AS (
      DELETE FROM ${sql(rest)} WHERE hour >= ${from}::timestamptz AND hour < ${to}::timestamptz RETURNING *)
    INSERT INTO ${sql(table)} SELECT * FROM moved`
  yield* sql`
    ALTER TABLE ${sql(LIVE)} ATTACH PARTITION ${sql(table)}
    FOR VALUES FROM (${sql.literal(`'${from}'`)}) TO (${sql.literal(`'${to}'`)})`
})
