import { Duration, Effect } from "effect"
import type { CellName } from "../routing/CellName.ts"
import * as Databases from "../routing/Databases.ts"
import { CurrentCell } from "../routing/CurrentCell.ts"
import * as StrayAccounts from "../routing/StrayAccounts.ts"
import type { StoredAccount } from "../readmodels/Accounts.ts"
import * as Iso from "../postgres/Iso.ts"
import * as Registrations from "../outbox/Registrations.ts"
import { Sql } from "../postgres/Sql.ts"

export interface AccountUsage {
  readonly record: StoredAccount
  readonly cell: CellName
  readonly members: number
  readonly emails: number
}

/** Lists the accounts of all cells that answer in time, with their usage in a UTC month. For operators. */
export const accounts = Effect.fn("AccountUsage.accounts")(function* (month: string) {
  const sql = yield* Sql
  const usages = Effect.flatMap(
    StrayAccounts.isOwn(sql, "a.account_id"),
    (isOwn) => sql<Omit<AccountUsage, "cell">>`
      SELECT a.record, coalesce(u.accepted, 0)::float8 AS emails,
        (SELECT count(*)::int FROM members m WHERE m.account_id = a.account_id AND m.status <> 'removed') AS members
      FROM accounts a LEFT JOIN monthly_usage u ON u.account_id = a.account_id AND u.month = ${month}
      WHERE ${isOwn} ORDER BY a.account_id`,
  )
  const withCell = Effect.flatMap(CurrentCell, (cell) =>
    Effect.map(usages, (rows) => rows.map((row): AccountUsage => ({ ...row, cell }))),
  )
  const { missing, rows } = yield* Databases.rowsInTime(withCell)
  return { rows: rows.toSorted((a, b) => (a.record.id < b.record.id ? -1 : 1)), missing }
})

interface WorkerRow {
  readonly id: string
  readonly started_at: string
  readonly beat_at: string
  readonly alive: boolean
}

/** Lists the processes with a worker, with their heartbeats and number of leases. */
export const nodes = Effect.fn("AccountUsage.nodes")(function* () {
  const sql = yield* Sql
  const processes = yield* sql<WorkerRow>`
      SELECT p.id, ${Iso.iso(sql, "p.started_at")} AS started_at, ${Iso.iso(sql, "p.beat_at")} AS beat_at,
        p.beat_at > now() - make_interval(secs => ${Duration.toSeconds(Registrations.SILENT_AFTER)}::float8) AS alive
      FROM processes p ORDER BY p.started_at`
  const leased = Effect.flatMap(
    StrayAccounts.isOwn(sql, "account_id"),
    (isOwn) => sql<{ readonly owner: string; readonly n: number }>`
      SELECT lease_owner AS owner, count(*)::int AS n FROM outbox WHERE lease_token IS NOT NULL AND ${isOwn} GROUP BY 1`,
  )
  const { rows: leases } = yield* Databases.rowsInTime(leased)
  return processes.map((node) => {
    const own = leases.filter(({ owner }) => owner === node.id)
    return { ...node, leases: own.reduce((sum, { n }) => sum + n, 0) }
  })
})
