import * as PositionNumbers from "@waybill/store/cells/PositionNumbers"
import * as Databases from "@waybill/store/routing/Databases"
import * as EveryDatabase from "@waybill/store/routing/EveryDatabase"
import * as AccountNames from "@waybill/store/routing/directory/AccountNames"
import * as DueRows from "@waybill/store/outbox/DueRows"
import * as LeftAccounts from "@waybill/store/moves/LeftAccounts"
import * as Leases from "@waybill/store/outbox/Leases"
import { Processes } from "@waybill/store/outbox/Processes"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import { Duration, Effect, Layer, type Redacted, Scope } from "effect"
import { repeatWork } from "@waybill/store/postgres/StoreUnavailable"
import {
  drainDeliveries,
  type DeliveryPipelineOptions as DeliveryOptions,
} from "../../worker/delivery/drainDeliveries.ts"
import * as Graphile from "../../worker/Graphile.ts"
import { SigningKeys } from "../../worker/delivery/SigningKeys.ts"

/** Longest pause between checks for due rows, and so the delay of mail that another process has scheduled. */
export const MARK_DUE_EVERY = Duration.millis(500)
/** Shortest pause between checks for due rows, so that a million messages a millisecond apart are not a million checks. */
export const MARK_DUE_PAUSE = Duration.millis(20)
/**
 * Interval between checks for expired leases, which are reclaimed if two checks find them. Longer than the pauses between
 * attempts to commit an outcome after an outage, so that such an outcome comes first.
 */
export const EXPIRED_EVERY = Duration.seconds(15)

/** Interval between checks for accounts that an interrupted move has left. */
const LEFT_EVERY = Duration.seconds(5)
/** Interval between notes of the position that a database has given, which an older copy of it lacks. */
const NOTED_EVERY = Duration.seconds(10)
/** Interval between looks whether the domains of a database are to be compared with the directory. */
const LISTED_EVERY = Duration.minutes(1)

export interface Options<E, R, T> {
  readonly url: Redacted.Redacted
  readonly delivery: DeliveryOptions
  /** Other pipelines and periodic work, built in the worker's scope. */
  readonly tasks?: Effect.Effect<Graphile.Tasks<T>, E, R>
}

/** Runs deliveries, the checks of the outbox and the given tasks. */
export const layer = <E = never, R = never, T = never>(options: Options<E, R, T>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      // Pipelines stop in parallel, since they share the 30 seconds to stop.
      const pipelines = yield* Scope.fork(yield* Effect.scope, "parallel")
      const deliveries = yield* Scope.provide(drainDeliveries(options.delivery), pipelines)
      const tasks = options.tasks === undefined ? {} : yield* Scope.provide(options.tasks, pipelines)
      yield* EveryDatabase.start(checkOutbox)
      yield* EveryDatabase.start(runTasks(options.url, { ...tasks, drain_deliveries: deliveries }))
    }),
  ).pipe(
    Layer.provide(SigningKeys.layer),
    Layer.provide(
      Processes.layer({
        url: options.url,
        reclaim: (dead) => takeOver(Effect.flatMap(Leases.takeOverFrom(dead), Reclaim.reclaim)),
      }),
    ),
  )

/** Takes over the work of a dead process in all databases of its server. One that fails or is slow keeps no other one waiting. */
const takeOver = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
  const exits = yield* Effect.forEach(yield* Databases.onThisServer, ({ run }) => Effect.exit(run(work)), {
    concurrency: "unbounded",
  })
  for (const exit of exits) yield* exit
})

/** Runs all tasks at home, and the wake-ups of a database with a server of its own, whose commits add them there. */
const runTasks = Effect.fnUntraced(function* <R>(url: Redacted.Redacted, tasks: Graphile.Tasks<R>) {
  if (yield* Databases.isHome) return yield* Graphile.runTasks(url, tasks)
  if (yield* Databases.hasOwnServer) yield* Graphile.runTasks(url, Graphile.drainsOf(tasks))
})

/** Marks due rows as ready, and returns the time until the next check. */
const markDue = Effect.map(DueRows.markReady(), ({ next_ms = Infinity }) =>
  Duration.max(MARK_DUE_PAUSE, Duration.min(MARK_DUE_EVERY, Duration.millis(Math.ceil(next_ms)))),
)

/** Checks the outbox of a database for due rows and expired leases. */
const checkOutbox = Effect.gen(function* () {
  const failed = "outbox check failed; it will be retried"
  yield* repeatWork(markDue, { failed, retryAfter: MARK_DUE_EVERY })
  yield* repeatWork(Effect.as(LeftAccounts.restore(), LEFT_EVERY), { failed, retryAfter: LEFT_EVERY })
  yield* repeatWork(Effect.as(PositionNumbers.note(), NOTED_EVERY), { failed, retryAfter: NOTED_EVERY })
  yield* repeatWork(Effect.as(AccountNames.listDomains(), LISTED_EVERY), { failed, retryAfter: LEFT_EVERY })
  yield* repeatWork(Effect.as(yield* Reclaim.makeSearch, EXPIRED_EVERY), { failed, retryAfter: EXPIRED_EVERY })
})
