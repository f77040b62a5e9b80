import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import * as Iso from "../postgres/Iso.ts"
import { Sql } from "../postgres/Sql.ts"

/** Returns the time of the first failed call after the last successful one; null while the webhook works. */
export const since = Effect.fn("WebhookFailures.since")(function* (account_id: string, webhook_id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly since: Timestamp }>`
    SELECT ${Iso.iso(sql, "since")} AS since FROM webhook_failures
    WHERE account_id = ${account_id} AND webhook_id = ${webhook_id}`
  return rows[0]?.since ?? null
})

/** Deletes the failure records of deleted webhooks. */
export const deleteOfRemoved = Effect.fn("WebhookFailures.deleteOfRemoved")(function* () {
  const sql = yield* Sql
  yield* sql`
    DELETE FROM webhook_failures f USING webhooks w
    WHERE w.account_id = f.account_id AND w.id = f.webhook_id AND w.removed`
})
