import type { PgClient } from "@effect/sql-pg"
import * as PositionNumbers from "@waybill/store/cells/PositionNumbers"
import * as Cells from "@waybill/store/routing/Cells"
import { FIRST } from "@waybill/store/routing/CellName"
import { CurrentCell } from "@waybill/store/routing/CurrentCell"
import * as ForEachCell from "@waybill/store/routing/ForEachCell"
import * as CanceledContent from "@waybill/store/content/CanceledContent"
import * as AccountNames from "@waybill/store/commit/AccountNames"
import * as Content from "@waybill/store/content/Content"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as DomainKeys from "@waybill/store/secrets/DomainKeys"
import * as ExpiredKeys from "@waybill/store/idempotency/ExpiredKeys"
import * as DueRows from "@waybill/store/outbox/DueRows"
import * as LeftAccounts from "@waybill/store/moves/LeftAccounts"
import * as Leases from "@waybill/store/outbox/Leases"
import { Processes } from "@waybill/store/outbox/Processes"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import * as Retention from "@waybill/store/erasure/Retention"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Secrets } from "@waybill/store/secrets/Secrets"
import * as ProviderEvents from "@waybill/store/providers/ProviderEvents"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourceCounts from "@waybill/store/sources/SourceCounts"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import * as UnreadReports from "@waybill/store/content/UnreadReports"
import { Duration, Effect, Layer, type Redacted, Scope } from "effect"
import { repeatWork } from "@waybill/store/postgres/StoreUnavailable"
import {
  drainDeliveries,
  type DeliveryPipelineOptions as DeliveryOptions,
} from "../../worker/delivery/drainDeliveries.ts"
import * as CellTasks from "../../worker/CellTasks.ts"
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
  /** Further tasks, such as other pipelines, checks and clean-up, built in the worker's scope. */
  readonly also?: Effect.Effect<Graphile.Tasks<T>, E, R>
}

/** Runs the background work of one process. */
export const layer = <E = never, R = never, T = never>(options: Options<E, R, T>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      // Pipelines stop in parallel, since they share the 30 seconds to stop.
      const pipelines = yield* Scope.fork(yield* Effect.scope, "parallel")
      const deliveries = yield* Scope.provide(drainDeliveries(options.delivery), pipelines)
      const also: Graphile.Tasks<T> = options.also === undefined ? {} : yield* Scope.provide(options.also, pipelines)
      yield* ForEachCell.make(checkOutbox)
      const inCells = yield* CellTasks.make
      const tasks: Graphile.Tasks<T | PgClient.PgClient | Secrets> = {
        drain_deliveries: deliveries,
        expire_sandbox: { run: inCells(Sandbox.expire()), cron: "7 * * * *" },
        remove_canceled_content: { run: inCells(CanceledContent.remove()), cron: CanceledContent.REMOVAL_CRON },
        expire_content: { run: inCells(Content.expire()), cron: "17 * * * *" },
        expire_idempotency_keys: { run: inCells(ExpiredKeys.expire()), cron: "27 * * * *" },
        expire_history: { run: inCells(Retention.expire()), cron: "47 * * * *" },
        expire_unread_reports: { run: inCells(UnreadReports.expire()), cron: "57 * * * *" },
        expire_inbound_content: { run: inCells(InboundContent.expire()), cron: "33 * * * *" },
        expire_provider_events: {
          run: inCells(Effect.andThen(ProviderMessages.expire(), ProviderEvents.expire())),
          cron: "37 * * * *",
        },
        expire_source_counts: {
          run: Effect.all([SourceCounts.expire(), SourcePauses.expire(), SourceAddresses.expireHosts()]),
          cron: "23 * * * *",
        },
        sweep_secrets: {
          run: inCells(Effect.flatMap(Secrets, ({ sweep }) => Effect.andThen(DomainKeys.retire(), sweep))),
          cron: "37 3 * * *",
        },
        ...also,
      }
      yield* ForEachCell.make(runTasks(options.url, tasks))
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
