import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import * as Recipient from "@waybill/domain/email/Recipient"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { DateTime, Duration, Effect, Metric, Random, Result } from "effect"
import { KINDS, type Leased } from "../outbox/OutboxRow.ts"
import { EventStore } from "../commit/EventStore.ts"
import type { View } from "../commit/Commit.ts"
import type { Needs } from "../log/Fact.ts"
import * as Leases from "../outbox/Leases.ts"
import * as LostCalls from "./LostCalls.ts"
import * as Metrics from "../log/Metrics.ts"
import * as PendingDeliveries from "../facts/PendingDeliveries.ts"

const recovered = Metrics.seriesBy(
  Metric.counter("waybill_leases_recovered_total", {
    description: "Outbox rows reclaimed from a process that died, lost its lease, or did not stop in time",
    incremental: true,
  }),
  "kind",
  KINDS,
)

const countRecovered = (rows: ReadonlyArray<Leased>): void => {
  for (const [kind, ofKind] of Map.groupBy(rows, (row) => row.kind)) recovered(kind, ofKind.length)
}

/** Rows appended concurrently, so that they share a commit batch. */
const APPENDS_AT_ONCE = 100

/**
 * Number of losses from which a message or call waits before its next attempt. Fewer losses are attributed to the
 * workers.
 */
export const MIN_LOSSES_TO_PAUSE = 3
/**
 * Pause after `MIN_LOSSES_TO_PAUSE` losses, because the message or call may be what crashes its workers. The pause quadruples
 * with each further loss and varies by half at random, so that work that only happened to be in the same worker comes
 * back separately.
 */
export const LOST_PAUSE = Duration.minutes(1)
export const MAX_LOST_PAUSE = Duration.hours(12)
/** Number of losses, spread over more than a day, after which the work is given up. */
export const MAX_LOST = 10

/**
 * Records the attempts of rows taken over from a dead process as lost and makes them due again, at once or, after
 * repeated losses, after a pause.
 */
export const reclaim = Effect.fn("Reclaim.reclaim")(function* (rows: ReadonlyArray<Leased>) {
  countRecovered(rows)
  const of = (kind: Leased["kind"]) => rows.filter((row) => row.kind === kind)
  yield* Effect.forEach(of("delivery"), recordLost, { concurrency: APPENDS_AT_ONCE, discard: true })
  yield* LostCalls.free(of("webhook"), LOST_PAUSES)
  yield* Leases.release([...of("domain_check"), ...of("test_clock")])
  return rows.length
})

/**
 * Makes a search for expired leases that reclaims those found expired twice in a row. Their holders may be alive:
 * nobody could renew while the database was unreachable, and holders have until the second search to renew or to record
 * their results.
 */
export const makeSearch = Effect.sync(() => {
  let before: ReadonlySet<string> = new Set()
  return Effect.gen(function* () {
    const expiredBefore = before
    // A failed search means that the database is unreachable again, so the next one starts over.
    before = new Set()
    const expired = yield* Leases.expired()
    before = new Set(expired.map(({ token, id }) => `${id} ${token}`))
    return yield* reclaim(
      yield* Leases.takeOverExpired(expired.filter(({ token, id }) => expiredBefore.has(`${id} ${token}`))),
    )
  })
})

/** Returns the pause after a number of losses, before the random variation. */
const pauseAfter = (times: number): Duration.Duration =>
  times < MIN_LOSSES_TO_PAUSE
    ? Duration.zero
    : Duration.min(Duration.times(LOST_PAUSE, 4 ** (times - MIN_LOSSES_TO_PAUSE)), MAX_LOST_PAUSE)

/** Pauses after the first, second, … loss; after one more the work is given up. */
const LOST_PAUSES = Array.from({ length: MAX_LOST - 1 }, (_, i) => pauseAfter(i + 1))

const recordLost = Effect.fnUntraced(function* (row: Leased) {
  const store = yield* EventStore
  const account_id = row.account_id
  if (row.attempt + 1 >= MIN_LOSSES_TO_PAUSE) yield* setPause(row)
  yield* store
    .transact({
      account_id,
      streams: [{ aggregate: Email, id: row.stream_id }],
      leases: [row],
      needs: clockNeeds(row),
      decide: (view) => {
        const state = view.state<Email.State>(Email, row.stream_id)
        const now = timeOf(view, row)
        const attempted = state._tag === "Message" ? PendingDeliveries.due(state, now) : []
        const outcomes = attempted.map(({ address, attempts }) => ({
          _tag: "AttemptLost" as const,
          recipient: address,
          attempt: attempts + 1,
        }))
        return Result.map(EmailReport.record(now, outcomes)(state), (events) => ({
          append: [{ aggregate: Email, id: row.stream_id, events }],
          answer: undefined,
        }))
      },
    })
    .pipe(
      // The holder was alive and settled the row.
      Effect.catchTag("LeaseLost", () => Effect.void),
      // The log has nothing to record, so only the row is released.
      Effect.catch((error) => (error._tag === "StoreUnavailable" ? Effect.fail(error) : Leases.release([row]))),
    )
})

/** The fact that tells the time of a row's test clock; none for a row on real time. */
export const clockNeeds = ({ clock }: Leased): Needs => (typeof clock === "string" ? { clocks: [clock] } : {})

/** Time of a commit: that of the row's test clock, if it lives on one. */
export const timeOf = ({ facts, now }: View, { account_id, clock }: Leased): Timestamp.Timestamp =>
  (typeof clock === "string" ? facts.clock(account_id, clock)?.now : undefined) ?? now

/** Sets the pause in the row only; it is not recorded in the log. */
const setPause = Effect.fnUntraced(function* (row: Leased) {
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id: row.account_id, stream_id: row.stream_id })
  const recipients = state._tag === "Message" ? state.recipients.filter(Recipient.isUnfinished) : []
  const times = 1 + recipients.reduce((max, { lost }) => Math.max(max, lost), 0)
  if (times < MIN_LOSSES_TO_PAUSE || times >= MAX_LOST) return
  const wait = Duration.times(pauseAfter(times), 0.5 + (yield* Random.next))
  const until = DateTime.addDuration(yield* DateTime.now, wait)
  yield* Leases.pause(row, DateTime.formatIso(until))
})
