import { Duration, Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Databases from "../routing/Databases.ts"
import * as StrayAccounts from "../routing/StrayAccounts.ts"
import * as Epoch from "../postgres/Epoch.ts"
import * as Feed from "../feed/Feed.ts"
import * as Registrations from "../outbox/Registrations.ts"
import { Sql } from "../postgres/Sql.ts"

export const STATES = ["ready", "leased", "scheduled"] as const

export interface QueueStats {
  readonly kind: string
  /** Due and waiting, in progress, or due later. */
  readonly state: (typeof STATES)[number]
  readonly rows: number
  /** Those of the rows that were attempted before. */
  readonly deferred: number
  /** Seconds since the earliest row was due; negative if it is due in the future. */
  readonly oldest_s: number
}
export interface FollowerStats {
  readonly name: string
  readonly behind_events: number
  /** Age of the first event that the follower has not counted. */
  readonly behind_s: number
}
export interface Connections {
  readonly application: string
  readonly state: string
  readonly connections: number
}
export interface InstanceStats {
  readonly queue: ReadonlyArray<QueueStats>
  readonly followers: ReadonlyArray<FollowerStats>
  readonly connections: ReadonlyArray<Connections>
  /** Number of processes with a worker that sent a heartbeat lately. */
  readonly workers: number
  /** Watermark of the log. */
  readonly position: number
  /** Size of the whole database on disk. */
  readonly size_bytes: number
  /** Number of reports that are stored because parsing them was ended. */
  readonly unread_reports: number
  /** Databases with whether they answer, and their own figures. The other ones are sums, or the greatest, of those that do. */
  readonly databases: ReadonlyArray<{
    readonly name: string
    readonly is_up: boolean
    readonly load: Load | undefined
  }>
}
export interface Load {
  /** Events per second in the last seconds. */
  readonly per_second: number
  /** Rows of the outbox that are due and wait. */
  readonly waiting: number
  /** Age of the first event that the slowest follower has not counted. */
  readonly lag_s: number
}

/** Returns the state of the whole installation, as recorded in its database. */
export const read = Effect.fn("InstanceStats.read")(function* () {
  const sql = yield* Sql
  const databases = yield* Effect.forEach(
    yield* Databases.all,
    (each) =>
      Effect.map(Databases.inTime(each, statsHere(sql), ANSWER_WITHIN), (stats) => ({ name: each.name, stats })),
    { concurrency: CONCURRENT_READS },
  )
  const answers = databases.flatMap(({ stats }) => stats ?? [])
  const connections = yield* sql<Connections>`
      SELECT application_name AS application, coalesce(state, 'unknown') AS state, count(*)::int AS connections
      FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'waybill%'
      GROUP BY 1, 2 ORDER BY 1, 2`
  const [totals] = yield* sql<Pick<InstanceStats, "workers" | "size_bytes">>`
      SELECT count(*)::int AS workers, pg_database_size(current_database())::float8 AS size_bytes
      FROM processes
      WHERE beat_at > now() - make_interval(secs => ${Duration.toSeconds(Registrations.SILENT_AFTER)}::float8)`
  const { size_bytes = 0, workers = 0 } = totals ?? {}
  return {
    queue: sumOfQueues(answers.flatMap(({ queue }) => queue)),
    followers: slowest(answers.flatMap(({ followers }) => followers)),
    connections,
    workers,
    position: Math.max(...answers.map(({ end }) => Number(end))),
    size_bytes,
    unread_reports: answers.reduce((sum, { unread_reports }) => sum + unread_reports, 0),
    databases: databases.map(({ name, stats }) =>
      stats === undefined ? { name, is_up: false, load: undefined } : { name, is_up: true, load: loadOf(stats) },
    ),
  } satisfies InstanceStats
})

/** Time for a database to answer, within that of reading the metrics, so that a slow one does not hide the others. */
const ANSWER_WITHIN = Duration.seconds(2)
const CONCURRENT_READS = 8

const statsHere = Effect.fnUntraced(function* (sql: Sql) {
  const isOwn = yield* StrayAccounts.isOwn(sql, "account_id")
  const queue = yield* queueStats(sql, isOwn)
  const end = yield* Feed.watermark(sql)
  const followers = yield* followerStats(sql, end)
  const [row] = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM unread_reports WHERE ${isOwn}`
  const rates = yield* ratesHere(sql, RATE_PERIOD, MAX_EVENTS_OF_RATE)
  return { queue, end, followers, rates, unread_reports: row?.n ?? 0 }
})

const loadOf = ({ followers, queue, rates }: Effect.Success<ReturnType<typeof statsHere>>): Load => ({
  per_second: rates.reduce((sum, { per_second }) => sum + per_second, 0),
  waiting: queue.reduce((sum, { rows, state }) => sum + (state === "ready" ? rows : 0), 0),
  lag_s: Math.max(0, ...followers.map(({ behind_s }) => behind_s)),
})

/** Returns the load of the fiber's database. */
export const loadHere = Effect.map(Effect.flatMap(Sql, statsHere), loadOf)

/** Period of the rate of a database, and maximum number of its events that are read for it: an index scan of a millisecond. */
const RATE_PERIOD = Duration.seconds(10)
const MAX_EVENTS_OF_RATE = 1_000

const sumOfQueues = (rows: ReadonlyArray<QueueStats>): ReadonlyArray<QueueStats> =>
  [...Map.groupBy(rows, ({ kind, state }) => `${kind} ${state}`).values()].flatMap((same) => {
    const [first] = same
    if (first === undefined) return []
    const sum = (of: "rows" | "deferred") => same.reduce((total, row) => total + row[of], 0)
    return [
      {
        ...first,
        rows: sum("rows"),
        deferred: sum("deferred"),
        oldest_s: Math.max(...same.map(({ oldest_s }) => oldest_s)),
      },
    ]
  })

/** Adds up what a follower still has to count in all databases; its age is that of the one that is furthest behind. */
const slowest = (rows: ReadonlyArray<FollowerStats>): ReadonlyArray<FollowerStats> =>
  [...Map.groupBy(rows, ({ name }) => name)].map(([name, same]) => ({
    name,
    behind_events: same.reduce((sum, { behind_events }) => sum + behind_events, 0),
    behind_s: Math.max(...same.map(({ behind_s }) => behind_s)),
  }))

/** Classifies rows by the clock, not by the `ready` mark, so that a missing worker shows. */
const queueStats = (sql: Sql, isOwn: Fragment) => sql<QueueStats>`
  SELECT kind, CASE WHEN lease_until > now() THEN 'leased' WHEN ready OR available_at <= now() THEN 'ready'
      ELSE 'scheduled' END AS state,
    count(*)::float8 AS rows, (count(*) FILTER (WHERE attempt > 0))::float8 AS deferred,
    greatest(extract(epoch FROM now() - min(available_at)), 0)::float8 AS oldest_s
  FROM outbox WHERE ${isOwn} GROUP BY 1, 2 ORDER BY 1, 2`

const followerStats = Effect.fnUntraced(function* (sql: Sql, end: bigint) {
  const gaps = yield* Epoch.gaps(sql)
  const rows = yield* sql<Omit<FollowerStats, "behind_events"> & { readonly position: bigint }>`
    SELECT f.name, f.position,
      coalesce(extract(epoch FROM now() - (
        SELECT e.recorded_at FROM events e WHERE e.position > f.position AND e.position <= ${end}::bigint
        ORDER BY e.position LIMIT 1)), 0)::float8 AS behind_s
    FROM followers f ORDER BY f.name`
  return rows.map(({ behind_s, name, position }): FollowerStats => ({
    name,
    behind_events: Number(Epoch.distance(gaps, position, end)),
    behind_s,
  }))
})

/**
 * Returns the events per second, by type, over the given period, or over the shorter one that the last `limit` events
 * cover.
 */
export const eventRates = Effect.fn("InstanceStats.eventRates")(function* (
  within: Duration.Duration,
  limit = MAX_RECENT_EVENTS,
) {
  const sql = yield* Sql
  const rates = ratesHere(sql, within, limit)
  const { rows } = yield* Databases.rowsInTime(rates)
  const types = Map.groupBy(rows, ({ type }) => type)
  return Object.fromEntries(
    [...types].map(([type, same]) => [type, same.reduce((sum, { per_second }) => sum + per_second, 0)]),
  )
})
/** Returns the events per second of the fiber's database, by type. */
const ratesHere = (sql: Sql, within: Duration.Duration, limit: number) =>
  Effect.flatMap(
    StrayAccounts.isOwn(sql, "account_id"),
    (isOwn) => sql<{ readonly type: string; readonly per_second: number }>`
      WITH last AS MATERIALIZED (SELECT type, recorded_at FROM events WHERE ${isOwn} ORDER BY position DESC LIMIT ${limit}::int),
      period AS (
        SELECT least(${Duration.toSeconds(within)}::float8, CASE WHEN count(*) = ${limit}::int
          THEN greatest(0.001, extract(epoch FROM now() - min(recorded_at))) END::float8) AS seconds FROM last)
      SELECT last.type, count(*) / period.seconds AS per_second FROM last CROSS JOIN period
      WHERE last.recorded_at > now() - make_interval(secs => ${Duration.toSeconds(within)}::float8)
      GROUP BY last.type, period.seconds ORDER BY last.type`,
  )

/** Maximum number of events that `eventRates` reads: ten seconds at a thousand messages per second. */
export const MAX_RECENT_EVENTS = 20_000
