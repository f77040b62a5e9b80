import { KINDS } from "@waybill/store/outbox/OutboxRow"
import type { PgClient } from "@effect/sql-pg"
import type { Availability } from "@waybill/store/availability/Availability"
import * as Readiness from "@waybill/store/operations/Readiness"
import { FIRST } from "@waybill/store/routing/CellName"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import { Context, Duration, Effect, Metric } from "effect"

/** Interval in which metrics of the database are read at most once, however many scrapes arrive. */
export const FRESH_FOR = Duration.seconds(5)
/** Maximum time of reading them. */
export const READ_TIMEOUT = Duration.seconds(3)
const EMPTY = Context.empty()

const gauge = (name: string, description: string) => Metric.gauge(name, { description })
const depth = gauge("waybill_queue_depth", "Rows of the outbox, by kind of work and state; the same on every node")
const oldest = gauge("waybill_queue_oldest_seconds", "Time that the oldest ready row has waited, by kind")
const lagEvents = gauge("waybill_projection_lag_events", "Events that a follower has not processed yet")
const lagSeconds = gauge(
  "waybill_projection_lag_seconds",
  "Age of the first event that a follower has not processed yet",
)
const connections = gauge("waybill_database_connections", "Connections of all nodes, by use and state")
const limit = gauge("waybill_database_pool_size", "Maximum number of connections of this process for statements")
const workers = gauge("waybill_workers", "Processes with a worker that are alive")
const position = gauge("waybill_log_position", "Position of the last event in the log")
const size = gauge("waybill_database_size_bytes", "Disk space of the database, without its write-ahead log")
const unreadReports = gauge(
  "waybill_unread_reports_kept",
  "Reports that are kept for an operator because their parsing was ended; the same on every node",
)
const cellUp = gauge("waybill_cell_up", "Whether a cell answered this process")
const cellRate = gauge("waybill_cell_events_per_second", "Events of a cell per second, in the last ten seconds")
const cellWaiting = gauge("waybill_cell_waiting", "Rows of the outbox of a cell that are due and wait")
const cellLag = gauge(
  "waybill_cell_lag_seconds",
  "Age of the first event of a cell that its slowest follower has not processed yet",
)
const up = gauge("waybill_database_up", "Whether this process can use the database")
const isRead = gauge(
  "waybill_database_statistics_up",
  "Whether the last read of the statistics of the database succeeded",
)

/** Returns a function that sets the series of a gauge. Series that are expected or were seen before become 0 if absent. */
const replace = (metric: Metric.Gauge<number>, expected: ReadonlyArray<Record<string, string>> = []) => {
  const series = new Map(
    expected.map((labels) => [JSON.stringify(labels), Metric.withAttributes(metric, labels)] as const),
  )
  return (rows: ReadonlyArray<{ readonly labels: Record<string, string>; readonly value: number }>) => {
    const left = new Set(series.keys())
    for (const { labels, value } of rows) {
      const name = JSON.stringify(labels)
      const one = series.get(name) ?? Metric.withAttributes(metric, labels)
      series.set(name, one)
      left.delete(name)
      one.updateUnsafe(value, EMPTY)
    }
    for (const name of left) series.get(name)?.updateUnsafe(0, EMPTY)
  }
}
const setDepth = replace(
  depth,
  KINDS.flatMap((kind) => InstanceStats.STATES.map((state) => ({ kind, state }))),
)
const setOldest = replace(
  oldest,
  KINDS.map((kind) => ({ kind })),
)
const setLagEvents = replace(lagEvents)
const setLagSeconds = replace(lagSeconds)
const setConnections = replace(connections)
const setCellUp = replace(cellUp)
const setCellRate = replace(cellRate)
const setCellWaiting = replace(cellWaiting)
const setCellLag = replace(cellLag)

const show = (stats: InstanceStats.InstanceStats): void => {
  setDepth(stats.queue.map(({ kind, rows, state }) => ({ labels: { kind, state }, value: rows })))
  setOldest(
    stats.queue
      .filter(({ state }) => state === "ready")
      .map(({ kind, oldest_s }) => ({ labels: { kind }, value: oldest_s })),
  )
  setLagEvents(stats.followers.map(({ behind_events, name }) => ({ labels: { name }, value: behind_events })))
  setLagSeconds(stats.followers.map(({ behind_s, name }) => ({ labels: { name }, value: behind_s })))
  setConnections(
    stats.connections.map(({ application, connections, state }) => ({
      labels: { application, state },
      value: connections,
    })),
  )
  setCellUp(stats.databases.map(({ is_up, name }) => ({ labels: { cell: name }, value: is_up ? 1 : 0 })))
  // One that does not answer has no load that is known.
  const loads = stats.databases.flatMap(({ load, name }) =>
    load === undefined ? [] : [{ labels: { cell: name }, load }],
  )
  setCellRate(loads.map(({ labels, load }) => ({ labels, value: load.per_second })))
  setCellWaiting(loads.map(({ labels, load }) => ({ labels, value: load.waiting })))
  setCellLag(loads.map(({ labels, load }) => ({ labels, value: load.lag_s })))
  workers.updateUnsafe(stats.workers, EMPTY)
  position.updateUnsafe(stats.position, EMPTY)
  size.updateUnsafe(stats.size_bytes, EMPTY)
  unreadReports.updateUnsafe(stats.unread_reports, EMPTY)
}

/**
 * Reads metrics of the database into gauges. A read that fails leaves the last values, and no series before the first one. It says
 * nothing about whether the database can be used, which is asked apart.
 */
export const make = (poolSize: number): Effect.Effect<Effect.Effect<void>, never, Availability | PgClient.PgClient> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Availability | PgClient.PgClient>()
    const statistics = InstanceStats.read().pipe(
      Effect.timeout(READ_TIMEOUT),
      Effect.matchCause({
        onSuccess: (stats) => {
          show(stats)
          isRead.updateUnsafe(1, EMPTY)
        },
        onFailure: () => isRead.updateUnsafe(0, EMPTY),
      }),
    )
    const use = Effect.map(Readiness.database, (problems) => {
      up.updateUnsafe(problems.length === 0 ? 1 : 0, EMPTY)
      return problems.length > 0
    })
    const read = Effect.all([use, statistics], { concurrency: 2 }).pipe(
      Effect.map(([isAway]) => {
        if (isAway) Metric.withAttributes(cellUp, { cell: FIRST }).updateUnsafe(0, EMPTY)
      }),
      Effect.provideContext(context),
    )
    limit.updateUnsafe(poolSize, EMPTY)
    return yield* Effect.cachedWithTTL(read, FRESH_FOR)
  })
