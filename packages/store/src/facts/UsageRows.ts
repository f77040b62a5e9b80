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
  const keys = Arrays.texts(entries.map(({ account_id, month }) => `${account_id} ${month}`))
  // A statement of one table, of which Citus keeps the plan.
  return sql`
  UPDATE monthly_usage SET accepted = greatest(0, accepted
    + (${Arrays.ints(entries.map(({ delta }) => delta))})[array_position(${keys}, account_id || ' ' || month)])
  WHERE account_id = ANY(${Arrays.texts(entries.map(({ account_id }) => account_id))})
    AND month = ANY(${Arrays.texts(entries.map(({ month }) => month))}) AND account_id || ' ' || month = ANY(${keys})`
}
