import * as Account from "@waybill/domain/account/Account"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import * as Databases from "../routing/Databases.ts"
import * as StrayAccounts from "../routing/StrayAccounts.ts"
import { type Fact, liveAccounts, type OfAccount } from "../log/Fact.ts"
import * as ReadModel from "./ReadModel.ts"
import { Sql } from "../postgres/Sql.ts"

export interface StoredAccount {
  readonly object: "account"
  readonly id: AccountId
  readonly name: string
  readonly plan: Account.Account["plan"]
  readonly granted: Account.Limits
  readonly limits: ReturnType<typeof Account.limitsOf>
  readonly content_days: number
  readonly keeping: Account.Keeping
  readonly links_stopped_at?: Timestamp.Timestamp
  readonly allowed_headers?: ReadonlyArray<string>
  readonly created_at: Timestamp.Timestamp
}

export const readModel = ReadModel.make({
  name: "accounts",
  stream: Account.stream,
  key: ["account_id"],
  changes: ["version", "plan", "record"],
  rows: ({ version }, state: Account.State) => {
    if (state._tag === "NotCreated") return []
    const { account_id, allowed_headers, content_days, created_at, granted, keeping, links_stopped_at, name, plan } =
      state
    const limits = Account.limitsOf(state)
    const record: StoredAccount = {
      object: "account",
      id: account_id,
      name,
      plan,
      granted,
      limits,
      content_days,
      keeping,
      ...(links_stopped_at === undefined ? {} : { links_stopped_at }),
      ...(allowed_headers === undefined ? {} : { allowed_headers }),
      created_at,
    }
    return [{ account_id, version, plan, record }]
  },
})

type Row = OfAccount & { readonly record: StoredAccount }

/** Accounts, for commits that need a month's usage. A test account has the record of its live account. */
export const fact: Fact<Row, (account: AccountId) => StoredAccount | undefined> = {
  read: (sql, needs) =>
    needs.every(({ month }) => month === undefined)
      ? []
      : [{ rows: sql`SELECT account_id, record FROM accounts WHERE account_id = ANY(${liveAccounts(needs)}::text[])` }],
  of: (rows) => {
    const accounts = new Map(rows.map(({ account_id, record }) => [account_id, record]))
    return (account) => accounts.get(Livemode.liveAccountOf(account))
  },
}

/** Lists the accounts of the fiber's database. */
export const list = Effect.fn("Accounts.list")(function* () {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: StoredAccount }>`
    SELECT record FROM accounts WHERE ${yield* StrayAccounts.isOwn(sql, "account_id")} ORDER BY account_id`
  return rows.map((row) => row.record)
})

/** Lists the accounts of all databases that answer in time, each with the name of its own, and names the others. */
export const all = Effect.fn("Accounts.all")(function* () {
  const named = Effect.flatMap(Databases.name, (cell) =>
    Effect.map(list(), (accounts) => accounts.map((account) => ({ ...account, cell }))),
  )
  const { missing, rows } = yield* Databases.rowsInTime(named)
  return { rows: rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)), missing }
})

export const find = Effect.fn("Accounts.find")(function* (account_id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: StoredAccount }>`
    SELECT record FROM accounts WHERE account_id = ${account_id}`
  return Option.fromUndefinedOr(rows[0]?.record)
})

/** Returns the accounts of the fiber's database whose tracked links are stopped. They are few and have a partial index. */
export const withLinksStopped = Effect.fn("Accounts.withLinksStopped")(function* () {
  const sql = yield* Sql
  const rows = yield* StrayAccounts.leaveOut(yield* linksStopped(sql))
  return rows.map((row) => row.account_id)
})

/** The condition is exactly that of the index `accounts_links_stopped`. */
const linksStopped = (sql: Sql) => sql<{ readonly account_id: string }>`
  SELECT account_id FROM accounts WHERE record ? 'links_stopped_at'`

/** Returns the recipients accepted in a UTC month, less canceled ones. */
export const usedRecipients = Effect.fn("Accounts.usedRecipients")(function* (account_id: string, month: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly accepted: bigint }>`
    SELECT accepted FROM monthly_usage WHERE account_id = ${account_id} AND month = ${month}`
  return Number(rows[0]?.accepted ?? 0n)
})

/** Returns the bytes of content that are stored for mail of a UTC month that is not sent yet, or was canceled. */
export const unsentBytes = Effect.fn("Accounts.unsentBytes")(function* (account_id: string, month: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly bytes: bigint }>`
    SELECT bytes FROM unsent_mail WHERE account_id = ${account_id} AND month = ${month}`
  return Number(rows[0]?.bytes ?? 0n)
})
