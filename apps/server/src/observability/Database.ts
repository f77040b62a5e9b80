import type { PgClient } from "@effect/sql-pg"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import { Context, Duration, Effect, Metric } from "effect"

/** Numbers of the database are read at most this often, however many ask. */
export const FRESH_FOR = Duration.seconds(5)
/** A database that takes longer has other worries than our numbers. */
export const PATIENCE = Duration.seconds(3)
const NOWHERE = Context.empty()

const gauge = (name: string, description: string) => Metric.gauge(name, { description })
const depth = gauge("waybill_queue_depth", "Rows of the outbox, by kind of work and state; the same on every node")
const oldest = gauge("waybill_queue_oldest_seconds", "How long the first due row waits that nobody works on, by kind")
const lagEvents = gauge("waybill_projection_lag_events", "Places of the log that a follower has not come to yet")
const lagSeconds = gauge("waybill_projection_lag_seconds", "Age of the first event that a follower has not counted")
const connections = gauge("waybill_database_connections", "Connections of all nodes, by their use and state")
const limit = gauge("waybill_database_pool_size", "Connections that this process may open for its statements")
const workers = gauge("waybill_workers", "Processes with a worker that have shown themselves lately")
const position = gauge("waybill_log_position", "The last place in the log")
const size = gauge("waybill_database_size_bytes", "What the database takes of its disk, write-ahead log not counted")
const unreadReports = gauge(
  "waybill_unread_reports_kept",
  "Reports that are kept for an operator because their parsing was ended; the same on every node",
)
const answers = gauge("waybill_database_up", "Whether the database answered this process")

/** Nought is a number too: what the database no longer tells of, or not yet, is not there. */
const replace = (metric: Metric.Gauge<number>, expected: ReadonlyArray<Record<string, string>> = []) => {
  const known = new Map(
    expected.map((labels) => [JSON.stringify(labels), Metric.withAttributes(metric, labels)] as const),
  )
  return (rows: ReadonlyArray<{ readonly labels: Record<string, string>; readonly value: number }>) => {
    const left = new Set(known.keys())
    for (const { labels, value } of rows) {
      const name = JSON.stringify(labels)
      const series = known.get(name) ?? Metric.withAttributes(metric, labels)
      known.set(name, series)
      left.delete(name)
      series.updateUnsafe(value, NOWHERE)
    }
    for (const name of left) known.get(name)?.updateUnsafe(0, NOWHERE)
  }
}
const setDepth = replace(
  depth,
  InstanceStats.KINDS.flatMap((kind) => InstanceStats.STATES.map((state) => ({ kind, state }))),
)
const setOldest = replace(
  oldest,
  InstanceStats.KINDS.map((kind) => ({ kind })),
)
const setLagEvents = replace(lagEvents)
const setLagSeconds = replace(lagSeconds)
const setConnections = replace(connections)

const show = (pulse: InstanceStats.Pulse): void => {
  setDepth(pulse.queue.map(({ kind, rows, state }) => ({ labels: { kind, state }, value: rows })))
  setOldest(
    pulse.queue
      .filter(({ state }) => state === "ready")
      .map(({ kind, oldest_s }) => ({ labels: { kind }, value: Math.max(0, oldest_s) })),
  )
  setLagEvents(pulse.followers.map(({ behind_events, name }) => ({ labels: { name }, value: behind_events })))
  setLagSeconds(pulse.followers.map(({ behind_s, name }) => ({ labels: { name }, value: behind_s })))
  setConnections(
    pulse.connections.map(({ application, connections, state }) => ({
      labels: { application, state },
      value: connections,
    })),
  )
  workers.updateUnsafe(pulse.workers, NOWHERE)
  position.updateUnsafe(pulse.position, NOWHERE)
  size.updateUnsafe(pulse.size_bytes, NOWHERE)
  unreadReports.updateUnsafe(pulse.unread_reports, NOWHERE)
}

/** Reads what the database knows into gauges; a read that fails leaves the last numbers and says so. */
export const make = (poolSize: number): Effect.Effect<Effect.Effect<void>, never, PgClient.PgClient> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<PgClient.PgClient>()
    const look = InstanceStats.read().pipe(
      Effect.timeout(PATIENCE),
      Effect.matchCauseEffect({
        onSuccess: (pulse) =>
          Effect.sync(() => {
            show(pulse)
            answers.updateUnsafe(1, NOWHERE)
          }),
        onFailure: () => Effect.sync(() => answers.updateUnsafe(0, NOWHERE)),
      }),
      Effect.provideContext(context),
    )
    limit.updateUnsafe(poolSize, NOWHERE)
    return yield* Effect.cachedWithTTL(look, FRESH_FOR)
  })
