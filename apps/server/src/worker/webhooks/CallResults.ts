import { Sql } from "@waybill/store/postgres/Sql"
import { isConnectionLost, unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import * as SettledCalls from "@waybill/store/webhooks/SettledCalls"
import { Effect, Schedule } from "effect"
import * as WebhookCalls from "../../observability/WebhookCalls.ts"
import { inBatches } from "./inBatches.ts"

/** Maximum number of results that are written in one statement. */
export const MAX_SETTLED_AT_ONCE = 200
/** Number of times that results are written again while the database is away, for about as long as their leases hold. */
export const SETTLE_TRIES = 30
const SETTLE_PAUSE = "1 second"

/** Writes results of calls in batches, and returns for each whether its lease still held. */
export const make = Effect.gen(function* () {
  const sql = yield* Sql

  const write = (results: ReadonlyArray<SettledCalls.Settled>): Effect.Effect<ReadonlyArray<boolean>> =>
    SettledCalls.settle(sql, results).pipe(
      Effect.retry({
        while: ({ why }) => why !== "refuses-writes",
        times: SETTLE_TRIES,
        schedule: Schedule.spaced(SETTLE_PAUSE),
      }),
      Effect.map((rows) => {
        const written = new Set(rows.map(({ id }) => id))
        for (const { attempt, id } of results) if (written.has(id)) WebhookCalls.observe(attempt)
        return results.map(({ id }) => written.has(id))
      }),
      Effect.catchCause((cause) =>
        // A result that the database refuses must not keep the others from being written.
        results.length > 1 && !isConnectionLost(cause)
          ? Effect.map(
              Effect.forEach(results, (result) => write([result])),
              (written) => written.flat(),
            )
          : Effect.as(
              unlessAway(
                Effect.logError("webhook call results could not be written; the calls will be made again", cause),
                cause,
              ),
              results.map(() => false),
            ),
      ),
    )

  const batched = yield* inBatches({ maxItems: MAX_SETTLED_AT_ONCE, run: write })
  return (result: SettledCalls.Settled): Effect.Effect<boolean> =>
    Effect.map(batched(result), (written) => written === true)
})
