import { Effect } from "effect"
import { Sql } from "../postgres/Sql.ts"

/** Maximum number of keys that one statement removes, so that it holds no locks for long. */
export const EXPIRY_BATCH = 1_000

/** Removes expired idempotency keys and returns their number. Runs periodically: an expired key is ignored in any case. */
export const expire = Effect.fn("ExpiredKeys.expire")(function* () {
  const sql = yield* Sql
  let removed = 0
  for (let batch = -1; batch !== 0; removed += batch) {
    batch = (yield* sql`
      DELETE FROM idempotency_keys WHERE (account_id, route, key) IN (
        SELECT account_id, route, key FROM idempotency_keys WHERE expires_at < now() LIMIT ${EXPIRY_BATCH}::int)
      RETURNING key`).length
  }
  return removed
})
