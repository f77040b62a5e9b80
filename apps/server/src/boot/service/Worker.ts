import * as PositionNumbers from "@waybill/store/cells/PositionNumbers"
import * as Cells from "@waybill/store/routing/Cells"
import { FIRST } from "@waybill/store/routing/CellName"
import { CurrentCell } from "@waybill/store/routing/CurrentCell"
import * as ForEachCell from "@waybill/store/routing/ForEachCell"
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

/** Interval between checks for accounts that a move has left between two cells. */
const LEFT_EVERY = Duration.seconds(5)
/** Interval between notes of the position that a cell has given, which an older copy of its database lacks. */
const NOTED_EVERY = Duration.seconds(10)
/** Interval between looks whether the domains of a cell are to be compared with the directory. */
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
      yield* ForEachCell.make(checkOutbox)
      yield* ForEachCell.make(runTasks(options.url, { ...tasks, drain_deliveries: deliveries }))
    }),
  ).pipe(
    Layer.provide(SigningKeys.layer),
    Layer.provide(
      Processes.layer({
        url: options.url,
        reclaim: (dead) => Cells.inEach(Effect.flatMap(Leases.takeOverFrom(dead), Reclaim.reclaim), Cells.ofThisServer),
      }),
    ),
  )

/** Runs all tasks of the first cell, and the wake-ups of a cell with a server of its own, whose commits add them there. */
const runTasks = <R>(url: Redacted.Redacted, tasks: Graphile.Tasks<R>) =>
  Effect.gen(function* () {
    const cell = yield* CurrentCell
    if (cell === FIRST) return yield* Graphile.runTasks(url, tasks)
    const { serverOf } = yield* Cells.Cells
    if ((yield* serverOf(cell)) !== undefined) yield* Graphile.runTasks(url, Graphile.drainsOf(tasks))
  })

/** Marks due rows as ready, and returns the time until the next check. */
const markDue = Effect.map(DueRows.markReady(), ({ next_ms = Infinity }) =>
  Duration.max(MARK_DUE_PAUSE, Duration.min(MARK_DUE_EVERY, Duration.millis(Math.ceil(next_ms)))),
)

/** Checks the outbox of a cell for due rows and expired leases. */
const checkOutbox = Effect.gen(function* () {
  const failed = "outbox check failed; it will be retried"
  yield* repeatWork(markDue, { failed, retryAfter: MARK_DUE_EVERY })
  yield* repeatWork(Effect.as(LeftAccounts.restore(), LEFT_EVERY), { failed, retryAfter: LEFT_EVERY })
  yield* repeatWork(Effect.as(PositionNumbers.note(), NOTED_EVERY), { failed, retryAfter: NOTED_EVERY })
  yield* repeatWork(Effect.as(AccountNames.listDomains(), LISTED_EVERY), { failed, retryAfter: LEFT_EVERY })
  yield* repeatWork(Effect.as(yield* Reclaim.makeSearch, EXPIRED_EVERY), { failed, retryAfter: EXPIRED_EVERY })
})
