import * as Livemode from "@waybill/domain/account/Livemode"
import * as Watermark from "./Watermark.ts"
import type { Client } from "../postgres/Sql.ts"

/**
 * Accounts to which a transaction appends. An exclusive transaction has the accounts for itself, for two reasons: when it
 * changes a webhook, no event of the account is appended between its read of the subscriptions and its commit, so an event
 * is sent to exactly the webhooks that precede it in the log; when it decides by a count, the count cannot change.
 */
export interface TransactionScope {
  readonly accounts: ReadonlyArray<string>
  readonly isExclusive: boolean
}

/** Class of the advisory locks of accounts. Batches share an account's lock; an exclusive transaction holds it alone. */
export const ACCOUNT_LOCKS = 0x5742_4143

/** Returns the names of the accounts' locks. A test account has that of its live account, whose webhooks get its events. */
export const locksOf = (accounts: ReadonlyArray<string>): ReadonlyArray<string> => accounts.map(Livemode.liveAccountOf)

/** Takes the locks of accounts in the order of the key, and counts them. */
const taking = <E>(sql: Client<E>, { accounts, isExclusive }: TransactionScope) => sql`
  SELECT count(taken) AS locks FROM (
    SELECT ${sql.literal(isExclusive ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared")}(${ACCOUNT_LOCKS}::int, key)::text AS taken
    FROM (
      SELECT DISTINCT hashtext(account_id) AS key FROM unnest(${locksOf(accounts)}::text[]) AS a(account_id) ORDER BY 1
    ) AS keys
  ) AS taking`

/**
 * Shares the locks of accounts until the end of the transaction, in the order in which batches take them. Names the positions, as
 * every lock, so that a server that the database has left refuses it: they are there no more.
 */
export const share = <E>(sql: Client<E>, accounts: ReadonlyArray<string>) => sql`
  SELECT locks, (SELECT 1 FROM event_position) AS is_here
  FROM (${taking(sql, { accounts, isExclusive: false })}) AS locked`

/**
 * First statement of each transaction: locks its accounts in the order of the key, then announces its writes to the readers
 * of the feed. No reader goes past an announced transaction, so the announcement must follow all waiting for locks; the
 * condition on `locks`, which always holds, makes Postgres evaluate them in this order.
 */
export const begin = <E>(sql: Client<E>, scope: TransactionScope) => sql`
  WITH locked AS MATERIALIZED (${taking(sql, scope)})
  SELECT 1 AS begun FROM locked CROSS JOIN LATERAL (${Watermark.announcement(sql, sql`locked.locks >= 0`)}) AS announcement`

/** Locks accounts exclusively until the end of the transaction: no commit of them is under way then. */
export const lockAccounts = <E>(sql: Client<E>, accounts: ReadonlyArray<string>) =>
  begin(sql, { accounts, isExclusive: true })
