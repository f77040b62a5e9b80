import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

/** Of what an account may have so many and no more. */
export type Tallied = "api_key" | "domain" | "webhook"

export const counted = (sql: PgClient.PgClient, account_id: string, what: Tallied, now: string) => {
  switch (what) {
    case "api_key":
      return sql`SELECT count(*)::int AS count FROM api_keys WHERE account_id = ${account_id} AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > ${now}::timestamptz)`
    case "domain":
      return sql`SELECT count(*)::int AS count FROM domains WHERE account_id = ${account_id} AND NOT removed`
    case "webhook":
      return sql`SELECT count(*)::int AS count FROM webhooks WHERE account_id = ${account_id} AND NOT removed`
  }
}

/** How many there are at the moment. What is decided by it asks again in its commit. */
export const count = Effect.fn("Tally.count")(function* (account_id: string, what: Tallied, now: string) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* Effect.orDie(
    sql<{ readonly count: number }>`SELECT count FROM (${counted(sql, account_id, what, now)}) AS c`,
  )
  return row?.count ?? 0
})
