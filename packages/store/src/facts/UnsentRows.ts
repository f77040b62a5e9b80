import type { Fragment } from "effect/sql/Statement"
import type { UnsentChange } from "./UnsentChanges.ts"
import * as Arrays from "../postgres/Arrays.ts"
import type { Client } from "../postgres/Sql.ts"

export interface UnsentFact {
  readonly account_id: string
  readonly month: string
  readonly bytes: number
  readonly refunded: number
}

/**
 * Locks what accounts store for unsent mail of a month until the batch is committed, so that the number stays exact. It is
 * locked last of all facts, as the commits of outcomes write it after their outbox rows.
 */
export const hold = (
  sql: Client<unknown>,
  accounts: ReadonlyArray<string>,
  months: ReadonlyArray<string>,
): Fragment => sql`
  INSERT INTO unsent_mail AS u (account_id, month)
  SELECT account_id, month FROM unnest(${Arrays.texts(accounts)}, ${Arrays.texts(months)}) AS wanted(account_id, month)
  ORDER BY account_id, month
  ON CONFLICT (account_id, month) DO UPDATE SET bytes = u.bytes
  RETURNING account_id, month, bytes::float8 AS bytes, refunded::float8 AS refunded`

/** Adds to what accounts store for unsent mail, of months that have a row: those in which mail was scheduled or canceled. */
export const add = (sql: Client<unknown>, changes: ReadonlyArray<UnsentChange>): Fragment => {
  const sorted = changes.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  return sql`
  UPDATE unsent_mail u SET bytes = greatest(0, u.bytes + d.bytes), refunded = u.refunded + d.refunded
  FROM unnest(${Arrays.texts(sorted.map((change) => change.account_id))}, ${Arrays.texts(sorted.map((change) => change.month))},
    ${Arrays.floats(sorted.map((change) => change.bytes))}, ${Arrays.floats(sorted.map((change) => change.refunded))})
    AS d(account_id, month, bytes, refunded)
  WHERE u.account_id = d.account_id AND u.month = d.month`
}

const keyOf = ({ account_id, month }: UnsentChange): string => `${account_id} ${month}`
