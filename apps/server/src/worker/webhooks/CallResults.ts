import { PgClient } from "@effect/sql-pg"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import { Deferred, Effect, Exit, Schedule } from "effect"
import * as WebhookCalls from "../../observability/WebhookCalls.ts"

/** Results that are written down in one statement. */
export const MAX_SETTLED_AT_ONCE = 200
/** While the database is away, results wait for it about as long as their leases hold. */
export const SETTLE_TRIES = 30
const SETTLE_PAUSE = "1 second"

interface Entry {
  readonly settled: WebhookDeliveries.Settled
  readonly done: Deferred.Deferred<boolean>
}

/** Writes down how calls went, those that wait together in one statement. Answers whether the lease still held. */
export const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  let waiting: Array<Entry> = []
  let writing = false

  const answer = (entries: ReadonlyArray<Entry>, held: ReadonlySet<string>) =>
    Effect.sync(() => {
      for (const { done, settled } of entries) {
        if (held.has(settled.id)) WebhookCalls.settled(settled.attempt)
        Deferred.doneUnsafe(done, Exit.succeed(held.has(settled.id)))
      }
    })

  const write = (entries: ReadonlyArray<Entry>): Effect.Effect<void> =>
    WebhookDeliveries.settle(
      sql,
      entries.map(({ settled }) => settled),
    ).pipe(
      Effect.retry({
        while: (error) => error.isRetryable,
        times: SETTLE_TRIES,
        schedule: Schedule.spaced(SETTLE_PAUSE),
      }),
      Effect.flatMap((rows) => answer(entries, new Set(rows.map(({ id }) => id)))),
      // One result that the database does not take must not take the others with it.
      Effect.catchCause((cause) =>
        entries.length > 1
          ? Effect.forEach(entries, (entry) => write([entry]), { discard: true })
          : // Unwritten, it is left to its lease: the call is made again, as "at least once" says.
            Effect.andThen(
              Effect.logError("the result of a webhook call could not be written", cause),
              answer(entries, new Set()),
            ),
      ),
    )

  // Bound to no scope: while a node stops, results come in until the last call has ended.
  const writeAll: Effect.Effect<void> = Effect.suspend(() => {
    const entries = waiting.slice(0, MAX_SETTLED_AT_ONCE)
    waiting = waiting.slice(MAX_SETTLED_AT_ONCE)
    writing = entries.length > 0
    return writing ? Effect.andThen(write(entries), writeAll) : Effect.void
  })

  return (settled: WebhookDeliveries.Settled): Effect.Effect<boolean> =>
    Effect.gen(function* () {
      const done = Deferred.makeUnsafe<boolean>()
      waiting.push({ settled, done })
      if (!writing) {
        writing = true
        yield* Effect.forkDetach(writeAll)
      }
      return yield* Deferred.await(done)
    })
})
