import type * as Address from "@waybill/domain/values/Address"
import { Effect } from "effect"
import * as EmailStats from "../statistics/EmailStats.ts"
import * as Mask from "./Mask.ts"
import * as Versions from "../rebuild/versions/Versions.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Renames the tag of counts to the masked tag that the events now have. */
export const erase = Effect.fnUntraced(function* (sql: Sql, address: Address.Address, mask: Mask.Mask) {
  // Reading all tags may exceed the statement timeout.
  yield* sql`SET LOCAL statement_timeout = 0`
  // Locks the followers, so that nobody counts events of before the masking into the live table or a version of it.
  yield* sql`SELECT 1 AS held FROM followers WHERE name = ${EmailStats.FOLLOWER} FOR UPDATE`
  yield* sql`SELECT 1 AS held FROM projection_versions WHERE name = ${EmailStats.FOLLOWER} ORDER BY version FOR UPDATE`
  const versions = yield* Versions.list(sql, EmailStats.FOLLOWER)
  const otherTables = versions.filter(({ state }) => state !== "live").map(Versions.tableOf)
  for (const table of [EmailStats.FOLLOWER, ...otherTables]) {
    const tags = yield* sql<{ readonly account_id: string; readonly tag: string }>`
      SELECT DISTINCT account_id, tag FROM ${sql(table)}
      WHERE tag > '' AND lower(tag COLLATE "C") LIKE ANY(${Mask.patterns(address)}::text[])`
    for (const { account_id, tag } of tags) {
      if (!mask.contains(tag)) continue
      yield* sql`
        WITH removed AS (DELETE FROM ${sql(table)} WHERE account_id = ${account_id} AND tag = ${tag} RETURNING *)
        INSERT INTO ${sql(table)} AS s (account_id, tag, hour, domain, measure, bucket, count)
        SELECT account_id, ${mask.apply(tag)}, hour, domain, measure, bucket, count FROM removed
        ON CONFLICT (account_id, tag, hour, domain, measure, bucket) DO UPDATE SET count = s.count + excluded.count`
    }
  }
})
