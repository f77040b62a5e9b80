import * as Email from "@waybill/domain/Email"
import type { AccountId } from "@waybill/domain/Id"
import type * as Timestamp from "@waybill/domain/Timestamp"
import { Effect, Result } from "effect"
import { EventStore } from "./EventStore.ts"
import * as Leases from "./Leases.ts"
import * as Measures from "./Measures.ts"
import * as Pending from "./Pending.ts"

/** Rows whose facts are appended at once, so that they share flights. */
const AT_ONCE = 100

/** Frees what a dead process held. The log says that its attempts were lost, and they are made again at once. */
export const reclaim = Effect.fn("Reclaim.reclaim")(function* (rows: ReadonlyArray<Leases.Leased>) {
  Measures.leasesRecovered(rows)
  const deliveries = rows.filter(({ kind }) => kind === "delivery")
  yield* Effect.forEach(deliveries, lost, { concurrency: AT_ONCE, discard: true })
  yield* Leases.giveBack(rows.filter(({ kind }) => kind !== "delivery"))
  return rows.length
})

const lost = Effect.fnUntraced(function* (row: Leases.Leased) {
  const store = yield* EventStore
  const account_id = row.account_id as AccountId
  yield* store
    .transact({
      account_id,
      streams: [{ aggregate: Email, id: row.stream_id }],
      leases: [row],
      decide: (view) => {
        const state = view.state<Email.State>(Email, row.stream_id)
        const now = view.now as Timestamp.Timestamp
        const attempted = state._tag === "Message" ? Pending.due(state, now) : []
        const outcomes = attempted.map(({ address, attempts }) => ({
          _tag: "AttemptLost" as const,
          recipient: address,
          attempt: attempts + 1,
        }))
        return Result.map(Email.record(now, outcomes)(state), (events) => ({
          append: [{ aggregate: Email, id: row.stream_id, events }],
          answer: undefined,
        }))
      },
    })
    .pipe(
      Effect.catchTags({
        // Its holder was alive after all, and settled it.
        LeaseLost: () => Effect.void,
        IdempotencyKeyReused: Effect.die,
      }),
      // Nobody waits any more: the row alone is left over.
      Effect.catch(() => Leases.giveBack([row])),
    )
})
