import * as Livemode from "@waybill/domain/account/Livemode"
import * as MonotonicClock from "@waybill/domain/flow/MonotonicClock"
import { Cells } from "@waybill/store/cell/Cells"
import { CurrentCell } from "@waybill/store/cell/CurrentCell"
import type { OutboxRow } from "@waybill/store/outbox/OutboxRow"
import * as ClaimOnInsert from "@waybill/store/deliveries/ClaimOnInsert"
import * as Leases from "@waybill/store/outbox/Leases"
import * as Outbox from "@waybill/store/outbox/Outbox"
import type { Processes } from "@waybill/store/outbox/Processes"
import { Clock, Duration, Effect, Queue, type Scope } from "effect"
import * as ClaimedRows from "./ClaimedRows.ts"
import type * as LostClaims from "./LostClaims.ts"

/** A lease of this age is not worked on any more. */
const END_MILLIS = Duration.toMillis(Outbox.LEASE) - Duration.toMillis(ClaimedRows.LEASE_MARGIN)

export interface Deps {
  readonly kind: OutboxRow["kind"]
  readonly rows: ClaimedRows.ClaimedRows
  readonly processes: Processes["Service"]
  readonly lostClaims: ReturnType<typeof LostClaims.make>
  /** Returns how many more rows may be claimed. */
  readonly free: () => number
  readonly noteFree: () => void
  /** Makes the pipeline look for work. */
  readonly signal: () => void
  readonly isStopping: () => boolean
}

export interface InsertClaims {
  /** Waits for rows that were claimed and are committed. */
  readonly take: Effect.Effect<ReadonlyArray<ClaimedRows.ClaimedRow>>
  /** Notes the end of a claim, which left rows of the given accounts if more are ready later. */
  readonly noteClaim: (more: Leases.Claimed["more"], without: ReadonlySet<string>) => void
}

/**
 * Claims new deliveries for a pipeline in the transactions that insert them, so that nothing has to find and read them. No
 * message overtakes older ones that wait for a claim, and accounts share the capacity as in a claim.
 */
export const make = Effect.fnUntraced(function* (deps: Deps): Effect.fn.Return<InsertClaims, never, Scope.Scope> {
  const { free, isStopping, kind, lostClaims, noteFree, processes, rows, signal } = deps
  const clock = yield* Clock.Clock
  const cell = yield* CurrentCell
  const { notToStart } = yield* Cells
  const committed = yield* Queue.unbounded<ReadonlyArray<ClaimedRows.ClaimedRow>>()
  /** Accounts of which rows wait for a claim. Until the first claim any account may have some. */
  let waiting: ReadonlySet<string> | "all" = "all"
  const mustWait = (account_id: string) => waiting === "all" || waiting.has(account_id)

  const claim = (
    deliveries: ReadonlyArray<ClaimOnInsert.NewDelivery>,
    leaving: ReadonlySet<string>,
  ): ClaimOnInsert.InsertClaim | undefined => {
    if (isStopping() || !processes.isVisible()) return undefined
    const token = Leases.newToken()
    const reserved = rows.reserve(token)
    const claimed = new Map<string, ClaimOnInsert.NewDelivery>()
    const capacity = free()
    const limit = Math.ceil(capacity / 2)
    for (const delivery of deliveries) {
      const { account_id, id } = delivery.row
      const isFair = claimed.size < limit && rows.heldBy(account_id) < capacity - claimed.size
      if (mustWait(account_id) || leaving.has(Livemode.liveAccountOf(account_id))) continue
      if (!isFair) {
        waiting = "all"
        break
      }
      reserved.take(account_id)
      claimed.set(id, delivery)
    }
    const leased_at = MonotonicClock.millisOf(clock)
    const start = (xmin: string | undefined) => {
      const isOverdue = MonotonicClock.millisOf(clock) - leased_at >= END_MILLIS
      const batch = [...claimed.values()].map(({ accepted, row }) => {
        const added = rows.add({ ...row, token }, leased_at, { ...accepted, xmin })
        added.dropped = isOverdue
        return added
      })
      if (batch.length > 0) {
        lostClaims.remember(token)
        Queue.offerUnsafe(committed, batch)
      }
      // Rows that were left would otherwise wait until the wake-up of their commit has gone through the task runner.
      if (batch.length < deliveries.length) signal()
    }
    let isEnded = false
    return {
      token,
      owner: processes.id,
      ids: new Set(claimed.keys()),
      end: (how, xmin) => {
        if (isEnded) return
        isEnded = true
        if (how === "committed") start(xmin)
        else if (how === "unknown") {
          lostClaims.expectFrom(MonotonicClock.millisOf(clock))
          signal()
        }
        reserved.free()
        if (how !== "committed") noteFree()
      },
    }
  }

  const accountsMoving = Effect.catchCause(notToStart(cell), () => Effect.undefined)
  const claimer: ClaimOnInsert.Claimer = {
    claim: (deliveries) =>
      Effect.map(accountsMoving, (leaving) => (leaving === undefined ? undefined : claim(deliveries, leaving))),
  }
  if (kind === "delivery") yield* (yield* ClaimOnInsert.ClaimOnInsert).register(cell, claimer)
  return {
    take: Effect.map(Queue.takeAll(committed), (batches) => batches.flat()),
    noteClaim: (more, without) => {
      waiting = more === "now" ? "all" : more === "later" ? without : new Set()
    },
  }
})
