import * as Suppression from "@waybill/domain/suppression/Suppression"
import type * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import { Effect, Option } from "effect"
import { factByName, type OfAccount, type Pairs } from "../log/Fact.ts"
import * as Arrays from "../postgres/Arrays.ts"
import * as ReadModel from "./ReadModel.ts"
import * as ExaminedPage from "./ExaminedPage.ts"
import { type Client, Sql } from "../postgres/Sql.ts"

export const readModel = ReadModel.make({
  name: "suppressions",
  stream: Suppression.stream,
  key: ["account_id", "address"],
  changes: ["version", "id", "reason", "active", "record"],
  rows: ({ account_id, stream_id, version }, state: Suppression.State) => {
    const key = { account_id, address: stream_id, version }
    if (state._tag === "Absent") return [{ ...key, id: "", reason: "", active: false, record: {} }]
    const record = recordOf(state)
    return [{ ...key, id: record.id, reason: record.reason, active: true, record }]
  },
})

/** Selects the active suppressions of accounts and addresses. */
export const select = (sql: Client<unknown>, { accounts, names }: Pairs) => sql`
  SELECT s.account_id, s.address, s.reason
  FROM unnest(${Arrays.texts(accounts)}, ${Arrays.texts(names)}) AS wanted(account_id, address)
  JOIN suppressions s USING (account_id, address) WHERE s.active`

export interface ActiveRow extends OfAccount {
  readonly address: string
  readonly reason: SuppressionState.Reason
}

/** Reasons of the active suppressions of addresses, which are in lower case. */
export const fact = factByName(
  ({ addresses }) => addresses,
  select,
  ({ address }: ActiveRow) => address,
  (row) => row?.reason,
)

export const recordOf = (state: Exclude<Suppression.State, { readonly _tag: "Absent" }>) => {
  const { address, created_at, email_id, reason, suppression_id } = state
  return { object: "suppression" as const, id: suppression_id, email: address, reason, email_id, created_at }
}

export type SuppressionRecord = ReturnType<typeof recordOf>

export interface ListQuery extends Omit<ExaminedPage.PageQuery, "before"> {
  readonly account_id: string
  /** Part of the address, in any case. */
  readonly q?: string
  readonly reason?: SuppressionState.Reason
  /** Whether a message caused it, or a request. */
  readonly source?: "email" | "request"
}

export const list = Effect.fn("Suppressions.list")(function* (query: ListQuery) {
  const sql = yield* Sql
  const { account_id, q, reason, source } = query
  return yield* ExaminedPage.read<SuppressionRecord>(sql, query, {
    ids: "SuppressionId",
    rows: sql`SELECT id, address, reason, record FROM suppressions WHERE account_id = ${account_id} AND active`,
    filter: [
      ...(q === undefined ? [] : [sql`strpos(address, ${q.toLowerCase()}) > 0`]),
      ...(reason === undefined ? [] : [sql`reason = ${reason}`]),
      ...(source === undefined ? [] : [sql`(record ->> 'email_id' IS NULL) = ${source === "request"}::bool`]),
    ],
  })
})

export const find = Effect.fn("Suppressions.find")(function* (account_id: string, address: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: SuppressionRecord }>`
    SELECT record FROM suppressions WHERE account_id = ${account_id} AND address = ${address} AND active`
  return Option.fromUndefinedOr(rows[0]?.record)
})
