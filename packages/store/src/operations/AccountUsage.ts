import { PgClient } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import type { StoredAccount } from "../readmodels/Accounts.ts"
import * as Iso from "../postgres/Iso.ts"
import * as Registrations from "../outbox/Registrations.ts"

export interface AccountUsage {
  readonly record: StoredAccount
  readonly members: number
  readonly emails: number
}

/** Lists all accounts with their usage in a UTC month. For operators. */
export const accounts = Effect.fn("AccountUsage.accounts")(
  function* (month: string) {
    const sql = yield* PgClient.PgClient
    return yield* sql<AccountUsage>`
      SELECT a.record, coalesce(u.accepted, 0)::float8 AS emails,
        (SELECT count(*)::int FROM members m WHERE m.account_id = a.account_id AND m.status <> 'removed') AS members
      FROM accounts a LEFT JOIN monthly_usage u ON u.account_id = a.account_id AND u.month = ${month}
      ORDER BY a.account_id`
  },
  (read) => Effect.orDie(read),
)

export interface Node {
  readonly id: string
  readonly started_at: string
  readonly beat_at: string
  readonly alive: boolean
  readonly leases: number
}

/** Lists the processes with a worker, with their heartbeats and number of leases. */
export const nodes = Effect.fn("AccountUsage.nodes")(
  function* () {
    const sql = yield* PgClient.PgClient
    return yield* sql<Node>`
      SELECT p.id, ${Iso.iso(sql, "p.started_at")} AS started_at, ${Iso.iso(sql, "p.beat_at")} AS beat_at,
        p.beat_at > now() - make_interval(secs => ${Duration.toSeconds(Registrations.SILENT_AFTER)}::float8) AS alive,
        (SELECT count(*)::int FROM outbox o WHERE o.lease_token IS NOT NULL AND o.lease_owner = p.id) AS leases
      FROM processes p ORDER BY p.started_at`
  },
  (read) => Effect.orDie(read),
)
