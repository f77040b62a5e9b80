import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

/** Rows that one statement of the expiry removes, so that it never holds locks for long. */
export const EXPIRY_BATCH = 1_000

/** For cron: keys whose day is over. Until then nothing looks at them either. */
export const expire = Effect.fn("Idempotency.expire")(function* () {
  const sql = yield* PgClient.PgClient
  let removed = 0
  for (let done = -1; done !== 0; removed += done) {
    done = (yield* Effect.orDie(sql`
      DELETE FROM idempotency_keys WHERE (account_id, route, key) IN (
        SELECT account_id, route, key FROM idempotency_keys WHERE expires_at < now() LIMIT ${EXPIRY_BATCH}::int)
      RETURNING key`)).length
  }
  return removed
})
