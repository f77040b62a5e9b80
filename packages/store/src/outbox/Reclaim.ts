import * as Email from "@waybill/domain/email/Email"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Recipient from "@waybill/domain/email/Recipient"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { DateTime, Duration, Effect, Random, Result } from "effect"
import { EventStore } from "../commit/EventStore.ts"
import * as Leases from "./Leases.ts"
import * as LostCalls from "../webhooks/LostCalls.ts"
import * as Measures from "../statistics/Measures.ts"
import * as PendingDeliveries from "./PendingDeliveries.ts"

/** Rows whose facts are appended at once, so that they share flights. */
const AT_ONCE = 100

/** What was lost less often than this, a message or a call, had bad luck with its workers. */
export const LOST_AT_ONCE = 3
/**
 * One that was lost more often may be what ends them: it waits, at first about as long as this and each time four times
 * longer, by chance a half more or less, so that those that only happened to be beside it come back without it.
 */
export const LOST_PAUSE = Duration.minutes(1)
export const MAX_LOST_PAUSE = Duration.hours(12)
/** After so many, over more than a day, it is given up. */
export const MAX_LOST = 10

/**
 * Frees what a dead process held, and nobody else may begin by now. The log says that its attempts were lost, and they are made again at once, unless that
 * has happened before.
 */
export const reclaim = Effect.fn("Reclaim.reclaim")(function* (rows: ReadonlyArray<Leases.Leased>) {
  Measures.leasesRecovered(rows)
  const of = (kind: Leases.Leased["kind"]) => rows.filter((row) => row.kind === kind)
  yield* Effect.forEach(of("delivery"), lost, { concurrency: AT_ONCE, discard: true })
  yield* LostCalls.free(of("webhook"), LOST_PAUSES)
  yield* Leases.giveBack(of("domain_check"))
  return rows.length
})

/**
 * Looks at leases that nobody has renewed, and frees what the look before has found run out as well. Their holders may
 * live: while the database was away nobody could renew, and once it is back they have until the second look to do that, or
 * to write down what they have learnt.
 */
export const makeLook = Effect.sync(() => {
  let before: ReadonlySet<string> = new Set()
  return Effect.gen(function* () {
    const known = before
    // A look that fails says that the database is away again.
    before = new Set()
    const found = yield* Leases.expired()
    before = new Set(found.map(({ token, id }) => `${id} ${token}`))
    return yield* reclaim(yield* Leases.seize(found.filter(({ token, id }) => known.has(`${id} ${token}`))))
  })
})

/** How long to wait after so many losses, but for chance. */
const pauseAfter = (times: number): Duration.Duration =>
  times < LOST_AT_ONCE
    ? Duration.zero
    : Duration.min(Duration.times(LOST_PAUSE, 4 ** (times - LOST_AT_ONCE)), MAX_LOST_PAUSE)

/** After the first loss, the second, and so on; after one more there is none. */
const LOST_PAUSES = Array.from({ length: MAX_LOST - 1 }, (_, i) => pauseAfter(i + 1))

const lost = Effect.fnUntraced(function* (row: Leases.Leased) {
  const store = yield* EventStore
  const account_id = row.account_id as AccountId
  if (row.attempt + 1 >= LOST_AT_ONCE) yield* rest(row)
  yield* store
    .transact({
      account_id,
      streams: [{ aggregate: Email, id: row.stream_id }],
      leases: [row],
      decide: (view) => {
        const state = view.state<Email.State>(Email, row.stream_id)
        const now = view.now as Timestamp.Timestamp
        const attempted = state._tag === "Message" ? PendingDeliveries.due(state, now) : []
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

/** The log knows nothing of the pause: only the row keeps to it. */
const rest = Effect.fnUntraced(function* (row: Leases.Leased) {
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id: row.account_id as AccountId, stream_id: row.stream_id })
  const recipients = state._tag === "Message" ? state.recipients.filter(Recipient.isUnfinished) : []
  const times = 1 + recipients.reduce((most, { lost }) => Math.max(most, lost), 0)
  if (times < LOST_AT_ONCE || times >= MAX_LOST) return
  const wait = Duration.times(pauseAfter(times), 0.5 + (yield* Random.next))
  const until = DateTime.addDuration(yield* DateTime.now, wait)
  yield* Leases.hold(row, DateTime.formatIso(until))
})
