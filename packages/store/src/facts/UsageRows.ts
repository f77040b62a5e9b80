import * as UsageChange from "@waybill/domain/email/UsageChange"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import { type BatchRows, type BatchTable, ifAny } from "../log/BatchTable.ts"
import { factByName, type OfAccount, type Pairs } from "../log/Fact.ts"
import * as Arrays from "../postgres/Arrays.ts"
import type { Client } from "../postgres/Sql.ts"

/** Recipients that a batch adds to the usage of a month. */
type AddedUsage = OfAccount & UsageChange.Change
type UsageFact = OfAccount & { readonly month: string; readonly accepted: number }

/**
 * Locks the accounts' usage of a month until the batch is committed, so that the number stays exact. The rows are locked in
 * the order of the key, so that two batches cannot deadlock.
 */
const hold = (sql: Client<unknown>, { accounts, names }: Pairs): Fragment => sql`
  INSERT INTO monthly_usage AS u (account_id, month, accepted)
  SELECT account_id, month, 0 FROM unnest(${Arrays.texts(accounts)}, ${Arrays.texts(names)}) AS wanted(account_id, month)
  ORDER BY account_id, month
  ON CONFLICT (account_id, month) DO UPDATE SET accepted = u.accepted
  RETURNING account_id, month, accepted::float8 AS accepted`

/** Like `hold`, in statements of one table, of which the plans are kept (`TablePlace`); only the first message of a month needs two. */
const holdPerTable = Effect.fnUntraced(function* <E>(sql: Client<E>, { accounts, names }: Pairs) {
  const rows = yield* sql<UsageFact>`
    SELECT account_id, month, accepted::float8 AS accepted FROM monthly_usage
    WHERE account_id = ANY(${accounts}::text[]) AND month = ANY(${names}::text[]) ORDER BY account_id, month FOR UPDATE`
  const there = new Set(rows.map(({ account_id, month }) => `${account_id} ${month}`))
  const lacking = accounts.flatMap((account, nth) => (there.has(`${account} ${names[nth]}`) ? [] : [nth]))
  if (lacking.length === 0) return rows
  const of = (all: ReadonlyArray<string>) => lacking.map((nth) => all[nth] ?? "")
  const began =
    yield* sql<UsageFact>`WITH used AS (${hold(sql, { accounts: of(accounts), names: of(names) })}) SELECT * FROM used`
  return [...rows, ...began]
})

/** Changes the usage of months whose rows are locked. */
const add = (sql: Client<unknown>, entries: ReadonlyArray<AddedUsage>): Fragment => {
  const keys = Arrays.texts(entries.map(({ account_id, month }) => `${account_id} ${month}`))
  // A statement of one table, of which the plan is kept.
  return sql`
  UPDATE monthly_usage SET accepted = greatest(0, accepted
    + (${Arrays.ints(entries.map(({ delta }) => delta))})[array_position(${keys}, account_id || ' ' || month)])
  WHERE account_id = ANY(${Arrays.texts(entries.map(({ account_id }) => account_id))})
    AND month = ANY(${Arrays.texts(entries.map(({ month }) => month))}) AND account_id || ' ' || month = ANY(${keys})`
}

type Accepted = (account: AccountId, month: string) => number

/** Recipients accepted in a month so far. The usage stays locked until the commit. */
export const fact = factByName(
  ({ month }) => month,
  hold,
  ({ month }: UsageFact) => month,
  (row) => row?.accepted ?? 0,
  (months) => ({ writes: true, perTable: (sql) => holdPerTable(sql, months) }),
)

/** Returns the fact with the rows that a batch adds. */
export const withRows =
  (accepted: Accepted, rows: BatchRows): Accepted =>
  (account, month) =>
    accepted(account, month) + (rows.at(table, `${account} ${month}`)?.delta ?? 0)

export const table: BatchTable<AddedUsage> = {
  ofEmail: (account_id, event, _, after) =>
    UsageChange.changesOf(event, after).map(({ delta, month }) => ({ account_id, month, delta })),
  keyOf: ({ account_id, month }) => `${account_id} ${month}`,
  sum: (one, { delta }) => ({ ...one, delta: one.delta + delta }),
  write: (sql, { rows }) => {
    const changed = rows.of(table).filter(({ delta }) => delta !== 0)
    return { simple: ifAny(changed, (rows) => add(sql, rows)) }
  },
}
