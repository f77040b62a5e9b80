import { PgClient } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import * as Epoch from "../postgres/Epoch.ts"
import * as Feed from "../feed/Feed.ts"
import * as Registrations from "../outbox/Registrations.ts"

/** Kinds of work in the outbox, as in its CHECK constraint. */
export const KINDS = ["delivery", "webhook", "domain_check", "test_clock"] as const
export const STATES = ["ready", "leased", "scheduled"] as const

export interface QueueStats {
  readonly kind: string
  /** Due and waiting, in progress, or due later. */
  readonly state: (typeof STATES)[number]
  readonly rows: number
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
  /** Last settled position of the log. */
  readonly position: number
  /** Size of the whole database on disk. */
  readonly size_bytes: number
  /** Number of reports that are stored because parsing them was ended. */
  readonly unread_reports: number
}

/** Returns the state of the whole installation, as recorded in its database. */
export const read = Effect.fn("InstanceStats.read")(
  function* () {
    const sql = yield* PgClient.PgClient
    const queue = yield* queueStats(sql)
    const end = yield* Feed.settled(sql)
    const followers = yield* followerStats(sql, end)
    const connections = yield* sql<Connections>`
      SELECT application_name AS application, coalesce(state, 'unknown') AS state, count(*)::int AS connections
      FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'waybill%'
      GROUP BY 1, 2 ORDER BY 1, 2`
    const [totals] = yield* sql<Pick<InstanceStats, "workers" | "size_bytes" | "unread_reports">>`
      SELECT count(*)::int AS workers, pg_database_size(current_database())::float8 AS size_bytes,
        (SELECT count(*) FROM unread_reports)::int AS unread_reports
      FROM processes
      WHERE beat_at > now() - make_interval(secs => ${Duration.toSeconds(Registrations.SILENT_AFTER)}::float8)`
    const { size_bytes = 0, unread_reports = 0, workers = 0 } = totals ?? {}
    return {
      queue,
      followers,
      connections,
      workers,
      position: Number(end),
      size_bytes,
      unread_reports,
    } satisfies InstanceStats
  },
  (read) => Effect.orDie(read),
)

/** Classifies rows by the clock, not by the `ready` mark, so that a missing worker shows. */
const queueStats = (sql: PgClient.PgClient) => sql<QueueStats>`
  SELECT kind, CASE WHEN lease_until > now() THEN 'leased' WHEN ready OR available_at <= now() THEN 'ready'
      ELSE 'scheduled' END AS state,
    count(*)::float8 AS rows, extract(epoch FROM now() - min(available_at))::float8 AS oldest_s
  FROM outbox GROUP BY 1, 2 ORDER BY 1, 2`

const followerStats = Effect.fnUntraced(function* (sql: PgClient.PgClient, end: bigint) {
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
export const eventRates = Effect.fn("InstanceStats.eventRates")(
  function* (within: Duration.Duration, limit = MAX_RECENT_EVENTS) {
    const sql = yield* PgClient.PgClient
    const rows = yield* sql<{ readonly type: string; readonly per_second: number }>`
      WITH last AS MATERIALIZED (SELECT type, recorded_at FROM events ORDER BY position DESC LIMIT ${limit}::int),
      period AS (
        SELECT least(${Duration.toSeconds(within)}::float8, CASE WHEN count(*) = ${limit}::int
          THEN greatest(0.001, extract(epoch FROM now() - min(recorded_at))) END::float8) AS seconds FROM last)
      SELECT last.type, count(*) / period.seconds AS per_second FROM last CROSS JOIN period
      WHERE last.recorded_at > now() - make_interval(secs => ${Duration.toSeconds(within)}::float8)
      GROUP BY last.type, period.seconds ORDER BY last.type`
    return Object.fromEntries(rows.map(({ per_second, type }) => [type, per_second]))
  },
  (read) => Effect.orDie(read),
)
/** Maximum number of events that `eventRates` reads: ten seconds at a thousand messages per second. */
export const MAX_RECENT_EVENTS = 20_000
