import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as StoreDatabase from "@waybill/store/database/Database"
import * as SourceCounts from "@waybill/store/sources/SourceCounts"
import type { PgClient } from "@effect/sql-pg"
import { Console, Effect, Redacted } from "effect"
import * as SourceBudget from "../../../apps/server/src/sources/SourceBudget.ts"

/**
 * A worker's budget in a process of its own, so that a test can kill it: `node claimProcess.ts <database> <limit> <most>`.
 * It takes mails one by one, prints a line for each, and ends when the day's limit is used up. After `most` mails it hangs.
 */
const [database = "", limit = "0", most = "0"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const context = yield* Effect.context<PgClient.PgClient>()
  const budget = SourceBudget.make({
    claim: (key, mails, limit) => Effect.provideContext(SourceCounts.claim(key, mails, limit), context),
    report: (reports) => Effect.provideContext(SourceCounts.report(reports), context),
  })
  const key = { address: "192.0.2.1", day: 20_000, provider: "google.com" }
  let taken = 0
  while ((yield* budget.take(key, Number(limit), 1)) === 1) {
    yield* Console.log("mail")
    if (++taken === Number(most)) yield* Effect.never
  }
  yield* budget.flush(true)
})

NodeRuntime.runMain(Effect.provide(program, StoreDatabase.layer({ url: Redacted.make(database), connections: 2 })))
