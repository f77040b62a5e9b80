import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Metric } from "effect"
import { addressViews, PROBLEMS } from "../sources/addressViews.ts"
import * as Database from "./Database.ts"

const EMPTY = Context.empty()

const problems = Metric.gauge("waybill_source_address_problems", {
  description:
    "Source addresses with a problem: names that do not agree, listed in a blocklist, on no worker host, blocked by a provider; the same on every node",
})
const series = PROBLEMS.map((problem) => ({ problem, gauge: Metric.withAttributes(problems, { problem }) }))
// A series that does not exist cannot rise.
for (const { gauge } of series) gauge.updateUnsafe(0, EMPTY)

/** Reads the problems of source addresses into gauges. A read that fails leaves the last values. */
export const make: Effect.Effect<Effect.Effect<void>, never, PgClient.PgClient> = Effect.gen(function* () {
  const context = yield* Effect.context<PgClient.PgClient>()
  const read = addressViews.pipe(
    Effect.timeout(Database.READ_TIMEOUT),
    Effect.map((views) => {
      for (const { gauge, problem } of series)
        gauge.updateUnsafe(views.filter((view) => view.problems.includes(problem)).length, EMPTY)
    }),
    Effect.catchCause(() => Effect.void),
    Effect.provideContext(context),
  )
  return yield* Effect.cachedWithTTL(read, Database.FRESH_FOR)
})
