import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import type { CountedKind, Fact } from "../log/Fact.ts"
import { Sql, type Client } from "../postgres/Sql.ts"

const countQuery = (sql: Client<unknown>, account_id: string, kind: CountedKind, now: string) => {
  switch (kind) {
    case "api_key":
      return sql`SELECT count(*)::int AS count FROM api_keys WHERE account_id = ${account_id} AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > ${now}::timestamptz)`
    case "domain":
      return sql`SELECT count(*)::int AS count FROM domains WHERE account_id = ${account_id} AND NOT removed`
    case "webhook":
      return sql`SELECT count(*)::int AS count FROM webhooks WHERE account_id = ${account_id} AND NOT removed`
    case "inbound_route":
      return sql`SELECT count(*)::int AS count FROM inbound_routes WHERE account_id = ${account_id} AND NOT removed`
    case "template":
      return sql`SELECT count(*)::int AS count FROM templates WHERE account_id = ${account_id} AND NOT archived`
    case "test_clock":
      return sql`SELECT count(*)::int AS count FROM test_clocks WHERE account_id = ${account_id} AND NOT removed`
  }
}

/** Counts of objects. */
export const fact: Fact<Counted, (account: AccountId, kind: CountedKind) => number> = {
  read: (sql, needs, now) =>
    needs.flatMap(({ account_id, countOf }) => {
      if (countOf === undefined) return []
      const counted = countQuery(sql, account_id, countOf, now)
      return [{ rows: sql`SELECT ${`${account_id} ${countOf}`}::text AS counted, count FROM (${counted}) AS c` }]
    }),
  of: (rows) => {
    const counts = new Map(rows.map(({ count, counted }) => [counted, count]))
    return (account, kind) => counts.get(`${account} ${kind}`) ?? 0
  },
}

interface Counted {
  readonly counted: string
  readonly count: number
}

/** Counts outside a commit. A decision by a count requests it again as a need of its commit, where it cannot change. */
export const count = Effect.fn("AccountCounts.count")(function* (account_id: string, kind: CountedKind, now: string) {
  const sql = yield* Sql
  const [row] = yield* sql<{
    readonly count: number
  }>`SELECT count FROM (${countQuery(sql, account_id, kind, now)}) AS c`
  return row?.count ?? 0
})
