import * as UnsentMail from "@waybill/domain/email/UnsentMail"
import type { AccountId } from "@waybill/domain/values/Id"
import type { Fragment } from "effect/sql/Statement"
import { type BatchRows, type BatchTable, ifAny } from "../log/BatchTable.ts"
import { factByName, type OfAccount, type Pairs } from "../log/Fact.ts"
import * as Arrays from "../postgres/Arrays.ts"
import type { Client } from "../postgres/Sql.ts"

/** Content that an account stores for unsent mail of a month, or a change of it. */
type UnsentRow = OfAccount & UnsentMail.Change

/**
 * Locks what accounts store for unsent mail of a month until the batch is committed, so that the number stays exact. It is
 * locked last of all facts, as the commits of outcomes write it after their outbox rows.
 */
const hold = (sql: Client<unknown>, { accounts, names }: Pairs): Fragment => sql`
  INSERT INTO unsent_mail AS u (account_id, month)
  SELECT account_id, month FROM unnest(${Arrays.texts(accounts)}, ${Arrays.texts(names)}) AS wanted(account_id, month)
  ORDER BY account_id, month
  ON CONFLICT (account_id, month) DO UPDATE SET bytes = u.bytes
  RETURNING account_id, month, bytes::float8 AS bytes, refunded::float8 AS refunded`

const keyOf = ({ account_id, month }: UnsentRow): string => `${account_id} ${month}`

/** Adds to what accounts store for unsent mail, of months that have a row: those in which mail was scheduled or canceled. */
const add = (sql: Client<unknown>, changes: ReadonlyArray<UnsentRow>): Fragment => {
  const sorted = changes.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  return sql`
  UPDATE unsent_mail u SET bytes = greatest(0, u.bytes + d.bytes), refunded = u.refunded + d.refunded
  FROM unnest(${Arrays.texts(sorted.map((change) => change.account_id))}, ${Arrays.texts(sorted.map((change) => change.month))},
    ${Arrays.floats(sorted.map((change) => change.bytes))}, ${Arrays.floats(sorted.map((change) => change.refunded))})
    AS d(account_id, month, bytes, refunded)
  WHERE u.account_id = d.account_id AND u.month = d.month`
}

type Unsent = (account: AccountId, month: string) => UnsentMail.Unsent

/** Content stored for unsent mail of a month. It stays locked until the commit. */
export const fact = factByName(
  ({ unsent }) => unsent,
  hold,
  ({ month }: UnsentRow) => month,
  (row): UnsentMail.Unsent => row ?? UnsentMail.NONE,
  () => ({ writes: true }),
)

/** Returns the fact with the rows that a batch adds. */
export const withRows =
  (unsent: Unsent, rows: BatchRows): Unsent =>
  (account, month) =>
    sum(unsent(account, month), rows.at(table, `${account} ${month}`) ?? UnsentMail.NONE)

export const table: BatchTable<UnsentRow> = {
  ofEmail: (account_id, event, before, after) => {
    const change = UnsentMail.changeOf(event, before, after)
    return change === undefined ? [] : [{ account_id, ...change }]
  },
  keyOf,
  sum: (one, other) => ({ ...one, ...sum(one, other) }),
  write: (sql, { rows }) => {
    const changed = rows.of(table).filter(({ bytes, refunded }) => bytes !== 0 || refunded !== 0)
    return { expressions: ifAny(changed, (rows) => add(sql, rows)) }
  },
}

const sum = (one: UnsentMail.Unsent, other: UnsentMail.Unsent): UnsentMail.Unsent => ({
  bytes: one.bytes + other.bytes,
  refunded: one.refunded + other.refunded,
})
