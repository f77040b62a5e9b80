import { unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { type Entry, Roster } from "@waybill/runtime/collections/Roster"
import * as Leases from "@waybill/store/outbox/Leases"
import type { Leased } from "@waybill/store/outbox/OutboxRow"
import * as Outbox from "@waybill/store/outbox/Outbox"
import { Deferred, Duration, Effect, Exit, Fiber, Queue, Schedule } from "effect"

/** Progress of a row: not started, possibly on the wire, or with its outcome being written to the log. */
export type Phase = "claimed" | "started" | "recording"

/** Results of a part of the work, which are written when the time to stop has passed. */
export interface PartialResults {
  readonly exist: () => boolean
  /** Ends the work with the results so far. */
  readonly request: () => void
}

export interface ClaimedRow {
  readonly row: Leased
  phase: Phase
  /** Time at which the lease was last known to begin. */
  leased_at: number
  /** Whether the lease is lost, or may be. Nothing is started any more, even if no fiber works on the row yet. */
  dropped: boolean
  partialResults: PartialResults | undefined
  fiber: Fiber.Fiber<unknown, unknown> | undefined
  /** Place among the rows of this process; undefined before it has one. */
  place: Entry<ClaimedRow> | undefined
}

export interface ClaimedRows {
  readonly size: () => number
  readonly all: () => ReadonlyArray<ClaimedRow>
  readonly add: (row: Leased, now: number) => ClaimedRow
  readonly remove: (claimed: ClaimedRow) => void
  readonly heldBy: (account: string) => number
  readonly accountsWithAtLeast: (rows: number) => ReadonlySet<string>
  /** Ends when there are no rows. */
  readonly empty: Effect.Effect<void>
}

/** Work stops this long before its lease ends, so that the next holder never overlaps with it. */
export const LEASE_MARGIN = Duration.seconds(5)
/** A renewal that takes longer counts as failed; another one fits before the lease ends. */
const RENEW_TIMEOUT = Duration.seconds(10)

/** Rows of one kind that this process works on. */
export const make = (): ClaimedRows => {
  const rows = new Roster<ClaimedRow>()
  const accounts = new Map<string, number>()
  const waiting = new Set<Deferred.Deferred<void>>()
  const count = (account: string, by: number) => {
    const total = (accounts.get(account) ?? 0) + by
    if (total === 0) accounts.delete(account)
    else accounts.set(account, total)
  }
  const endIfEmpty = () => {
    if (rows.size > 0) return
    for (const done of waiting) Deferred.doneUnsafe(done, Exit.void)
    waiting.clear()
  }
  return {
    size: () => rows.size,
    all: () => rows.items,
    add: (row, now) => {
      const claimed: ClaimedRow = {
        row,
        phase: "claimed",
        leased_at: now,
        dropped: false,
        partialResults: undefined,
        fiber: undefined,
        place: undefined,
      }
      claimed.place = rows.add(claimed)
      count(row.account_id, 1)
      return claimed
    },
    remove: (claimed) => {
      if (claimed.place === undefined || !rows.remove(claimed.place)) return
      count(claimed.row.account_id, -1)
      endIfEmpty()
    },
    heldBy: (account) => accounts.get(account) ?? 0,
    accountsWithAtLeast: (least) => new Set([...accounts].flatMap(([account, has]) => (has >= least ? [account] : []))),
    empty: Effect.suspend(() => {
      if (rows.size === 0) return Effect.void
      const done = Deferred.makeUnsafe<void>()
      waiting.add(done)
      return Deferred.await(done)
    }),
  }
}

export const abort = ({ fiber }: ClaimedRow): Effect.Effect<void> =>
  fiber === undefined ? Effect.void : Effect.asVoid(Fiber.interrupt(fiber))

/** Requests partial results from the rows that have some, and waits until they are written. */
export const writePartialResults = (rows: ReadonlyArray<ClaimedRow>): Effect.Effect<void> =>
  Effect.forEach(
    rows.filter(({ partialResults }) => partialResults?.exist() === true),
    ({ fiber, partialResults }) => {
      partialResults?.request()
      return fiber === undefined ? Effect.void : Fiber.await(fiber)
    },
    { concurrency: "unbounded", discard: true },
  )

/**
 * Renews the leases of claimed rows, and drops rows whose lease is lost or may have ended. If other processes could have
 * taken this process for dead, the leases are renewed at once.
 */
export const keepLeases = Effect.fnUntraced(function* (rows: ClaimedRows, trustedSince: () => number | undefined) {
  const due = yield* Queue.sliding<void>(1)
  const renew = Effect.gen(function* () {
    const held = rows.all().map((claimed) => ({ claimed, ...claimed.row }))
    if (held.length === 0) return
    const began = yield* MonotonicClock.millis
    const renewed = yield* Leases.renew(held)
    const missing = held.filter(({ id }) => !renewed.has(id))
    const moved = missing.length === 0 ? renewed : yield* Leases.renewMoved(missing)
    for (const { claimed, id } of held) {
      if (renewed.has(id) || moved.has(id)) claimed.leased_at = began
      else if (claimed.phase !== "recording") yield* drop(claimed)
    }
  })
  const drop = Effect.fnUntraced(function* (claimed: ClaimedRow) {
    if (claimed.dropped) return
    claimed.dropped = true
    yield* Effect.logWarning(
      "work on an outbox row took longer than its lease, and is given up; the row is due again, for any process",
      { id: claimed.row.id },
    )
    yield* abort(claimed)
  })
  const dropOverdue = Effect.gen(function* () {
    const now = yield* MonotonicClock.millis
    const end = Duration.toMillis(Outbox.LEASE) - Duration.toMillis(LEASE_MARGIN)
    const since = trustedSince() ?? -Infinity
    if (rows.all().some((claimed) => claimed.leased_at < since)) Queue.offerUnsafe(due, undefined)
    for (const claimed of rows.all())
      if (claimed.phase !== "recording" && now - claimed.leased_at >= end) yield* drop(claimed)
  })
  yield* Effect.all(
    [
      Effect.timeoutOption(Queue.take(due), Leases.RENEW_EVERY).pipe(
        Effect.andThen(Effect.timeout(renew, RENEW_TIMEOUT)),
        Effect.catchCause((cause) =>
          unlessAway(Effect.logWarning("leases could not be renewed; renewal will be retried", cause), cause),
        ),
        Effect.forever,
      ),
      Effect.repeat(dropOverdue, Schedule.spaced("1 second")),
    ],
    { concurrency: "unbounded", discard: true },
  )
})
