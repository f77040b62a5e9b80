import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

/** A database that takes longer than this to say anything serves nobody. */
export const PATIENCE = "2 seconds"

/** What keeps this process from serving; empty when nothing does. Names no host and no error of the database. */
export const problems: Effect.Effect<ReadonlyArray<string>, never, PgClient.PgClient> = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly is_replica: boolean }>`SELECT pg_is_in_recovery() AS is_replica`.pipe(
    Effect.timeout(PATIENCE),
    Effect.matchCause({
      onSuccess: ([row]) => (row?.is_replica === true ? ["the database is a replica, which takes no writes"] : []),
      onFailure: () => ["the database does not answer"],
    }),
  )
})
