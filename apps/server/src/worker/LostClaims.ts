import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import type { Leased, OutboxRow } from "@waybill/store/outbox/OutboxRow"
import * as Leases from "@waybill/store/outbox/Leases"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import { Effect } from "effect"
import type { ClaimedRows } from "./ClaimedRows.ts"

/** Maximum number of remembered claims. The leases of older claims have run out, so nobody holds them. */
const MAX_TOKENS = 10_000
/** Time after an outage of the database in which lost claims are looked for, since a claim may still commit late. */
const EXPECTED_MS = 30_000

/** Leases of this process on rows that it does not work on: the reply to a claim was lost, or a failover lost a commit. */
export const make = (kind: OutboxRow["kind"], owner: string, rows: ClaimedRows) => {
  /** Tokens of the claims whose rows arrived. */
  const tokens = new LruCache<string, true>({ maxEntries: MAX_TOKENS })
  // A successor's row may also have been tried, by the process that died with it.
  const wasTried = (row: Leased) => tokens.get(row.token) === true || Leases.isTakenOver(row)
  let expectedUntil = -Infinity
  /** Frees such leases. If the row may have been tried before, its attempt is recorded as lost. */
  const release = Effect.gen(function* () {
    // Taken before the query: a row that is settled meanwhile may still be in its answer. Nothing is claimed meanwhile.
    const known = new Set(rows.all().map(({ row }) => row.id))
    const unknown = (yield* Leases.heldBy(owner)).filter((row) => row.kind === kind && !known.has(row.id))
    yield* Leases.release(unknown.filter((row) => !wasTried(row)))
    yield* Reclaim.reclaim(unknown.filter(wasTried))
  })
  return {
    /** Remembers a claim whose rows arrived. */
    remember: (token: string): void => tokens.set(token, true),
    release,
    /** Notes an outage of the database, after which leases may turn up. */
    expect: Effect.map(MonotonicClock.millis, (now) => void (expectedUntil = now + EXPECTED_MS)),
    releaseIfExpected: Effect.flatMap(MonotonicClock.millis, (now) => (now < expectedUntil ? release : Effect.void)),
  }
}
