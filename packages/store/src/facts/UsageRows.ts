import type { AccountId } from "@waybill/domain/values/Id"
import type { Fragment } from "effect/sql/Statement"
import * as Arrays from "../postgres/Arrays.ts"
import type { Client } from "../postgres/Sql.ts"

/** Recipients that a batch adds to the usage of a month. */
export interface AddedUsage {
  readonly account_id: AccountId
  readonly month: string
  readonly delta: number
}

/** Changes the usage of months, whose rows are locked in the order of their key, as those that a batch reads are. */
export const add = (sql: Client<unknown>, entries: ReadonlyArray<AddedUsage>): Fragment => {
  const rows = entries.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  return sql`
  UPDATE monthly_usage u SET accepted = greatest(0, u.accepted + d.delta)
  FROM unnest(${Arrays.texts(rows.map((entry) => entry.account_id))}, ${Arrays.texts(rows.map((entry) => entry.month))},
    ${Arrays.ints(rows.map((entry) => entry.delta))}) AS d(account_id, month, delta)
  WHERE u.account_id = d.account_id AND u.month = d.month`
}

const keyOf = ({ account_id, month }: AddedUsage): string => `${account_id} ${month}`
