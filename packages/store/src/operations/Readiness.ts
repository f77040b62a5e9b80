import { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"

/** A database that takes longer than this to say anything serves nobody. */
export const PATIENCE = "2 seconds"

/** Whether the start is over: whoever waits for that may read then what it has said at its end, the first secrets among it. */
export const Started = Context.Reference<() => boolean>("@waybill/store/Started", { defaultValue: () => () => true })

/** What keeps this process from serving; empty when nothing does. Names no host and no error of the database. */
export const problems: Effect.Effect<ReadonlyArray<string>, never, PgClient.PgClient> = Effect.gen(function* () {
  if (!(yield* Started)()) return ["the start is not over"]
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly is_replica: boolean }>`SELECT pg_is_in_recovery() AS is_replica`.pipe(
    Effect.timeout(PATIENCE),
    Effect.matchCause({
      onSuccess: ([row]) => (row?.is_replica === true ? ["the database is a replica, which takes no writes"] : []),
      onFailure: () => ["the database does not answer"],
    }),
  )
})
