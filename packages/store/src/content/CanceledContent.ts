import type * as Email from "@waybill/domain/email/Email"
import * as UnsentMail from "@waybill/domain/email/UnsentMail"
import * as UsageChange from "@waybill/domain/email/UsageChange"
import type { AccountId } from "@waybill/domain/values/Id"
import { Clock, DateTime, Duration, Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as AccountWrites from "../locks/AccountWrites.ts"
import * as StrayAccounts from "../routing/StrayAccounts.ts"
import { neededContent } from "./neededContent.ts"
import { type BatchTable, ifAny } from "../log/BatchTable.ts"
import * as Arrays from "../postgres/Arrays.ts"
import { Sql, type Client } from "../postgres/Sql.ts"

/** Content of a message that was canceled before it was sent, which is removed within an hour. */
interface CanceledContent {
  readonly account_id: AccountId
  readonly email_id: string
  /** UTC month in which the message was accepted. */
  readonly month: string
  readonly bytes: number
  /** Hash of each part, as often as the message has it. */
  readonly hashes: ReadonlyArray<string>
}

/**
 * Time that the content of canceled mail is kept, so that a copy can be sent if it was canceled by mistake. Its removal runs every
 * 10 minutes, so it leaves within an hour.
 */
export const KEPT_FOR = Duration.minutes(45)
/** Canceled messages whose content one transaction removes. Each reads all mail of the account that waits. */
export const REMOVAL_BATCH = 5_000
/** Months whose counts are kept. Mail of older ones is sent. */
const KEPT_MONTHS = 4

/** Notes content that is to be removed. Part of the commit that cancels its message. */
const insert = (sql: Client<unknown>, canceled: ReadonlyArray<CanceledContent>, now: string): Fragment => sql`
  INSERT INTO canceled_content (account_id, email_id, month, bytes, hashes, canceled_at)
  SELECT account_id, email_id, month, bytes, string_to_array(hashes, ' '), ${now}::timestamptz
  FROM unnest(${Arrays.texts(canceled.map((each) => each.account_id))}, ${Arrays.texts(canceled.map((each) => each.email_id))},
    ${Arrays.texts(canceled.map((each) => each.month))}, ${Arrays.floats(canceled.map((each) => each.bytes))},
    ${Arrays.texts(canceled.map((each) => each.hashes.join(" ")))}) AS new(account_id, email_id, month, bytes, hashes)
  ON CONFLICT (account_id, email_id) DO NOTHING`

export const table: BatchTable<CanceledContent> = {
  ofStream: ({ account_id, added, state, stream_id }, { rows }) => {
    if (!added.some(({ event }) => event._tag === "EmailCanceled")) return
    const message = state as Email.State
    if (message._tag === "NotCreated" || !UnsentMail.isCanceled(message)) return
    const { content, size_bytes } = message.accepted
    const hashes = [content.sha256, ...content.attachments.map(({ sha256 }) => sha256)]
    rows.add(table, { account_id, email_id: stream_id, month: UsageChange.monthOf(message), bytes: size_bytes, hashes })
  },
  write: (sql, { now, rows }) => ({ expressions: ifAny(rows.of(table), (canceled) => insert(sql, canceled, now)) }),
}

/**
 * Removes the content of mail that was canceled a while ago, unless other mail uses it too, and no longer counts it. Returns
 * the number of messages. Runs periodically.
 */
export const remove = Effect.fn("CanceledContent.remove")(function* () {
  const sql = yield* Sql
  const now = yield* Clock.currentTimeMillis
  const before = DateTime.formatIso(DateTime.makeUnsafe(now - Duration.toMillis(KEPT_FOR)))
  const accounts = yield* sql<{ readonly account_id: string }>`
    SELECT DISTINCT account_id FROM canceled_content
    WHERE canceled_at < ${before}::timestamptz AND ${yield* StrayAccounts.isOwn(sql, "account_id")}`
  let removed = 0
  for (const { account_id } of accounts)
    for (let done = REMOVAL_BATCH; done === REMOVAL_BATCH; removed += done)
      done = yield* AccountWrites.run(account_id, sql.withTransaction(removeSome(sql, account_id, before)))
  const oldest = DateTime.formatIso(DateTime.subtract(DateTime.makeUnsafe(now), { months: KEPT_MONTHS })).slice(0, 7)
  yield* sql`DELETE FROM unsent_mail WHERE month < ${oldest}`
  return removed
})

const removeSome = Effect.fnUntraced(function* (sql: Sql, account_id: string, before: string) {
  const messages = yield* sql<{ readonly email_id: string; readonly hashes: ReadonlyArray<string> }>`
    SELECT email_id, hashes FROM canceled_content
    WHERE account_id = ${account_id} AND canceled_at < ${before}::timestamptz
    ORDER BY email_id LIMIT ${REMOVAL_BATCH}::int FOR UPDATE`
  if (messages.length === 0) return 0
  yield* sql`
    WITH gone AS (
      DELETE FROM canceled_content WHERE account_id = ${account_id}
        AND email_id = ANY(${Arrays.texts(messages.map(({ email_id }) => email_id))}) RETURNING month, bytes),
    sums AS (SELECT month, sum(bytes) AS bytes FROM gone GROUP BY month)
    UPDATE unsent_mail u SET bytes = greatest(0, u.bytes - sums.bytes) FROM sums
    WHERE u.account_id = ${account_id} AND u.month = sums.month`
  // After the counts, in the order in which commits lock both.
  yield* removeUses(sql, account_id, countOf(messages.flatMap(({ hashes }) => hashes)))
  return messages.length
})

/** Returns how often a message of the batch uses each content. */
const countOf = (hashes: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const uses = new Map<string, number>()
  for (const hash of hashes) uses.set(hash, (uses.get(hash) ?? 0) + 1)
  return uses
}

/**
 * Takes back uses of content, and removes what nothing else uses. A commit that uses it too counts that first or waits for the
 * locks, which are taken in the order of the commits. The statements after it see its outbox row.
 */
const removeUses = Effect.fnUntraced(function* (sql: Sql, account_id: string, uses: ReadonlyMap<string, number>) {
  const hashes = sql`unnest(${Arrays.byteas([...uses.keys()].map((hash) => Buffer.from(hash, "hex")))},
    ${Arrays.ints([...uses.values()])}) AS taken(sha256, uses)`
  yield* sql`
    SELECT 1 AS locked FROM content c WHERE c.account_id = ${account_id}
      AND c.sha256 IN (SELECT sha256 FROM ${hashes}) ORDER BY c.sha256 FOR UPDATE`
  yield* sql`
    UPDATE content c SET uses = greatest(0, c.uses - taken.uses) FROM ${hashes}
    WHERE c.account_id = ${account_id} AND c.sha256 = taken.sha256`
  yield* sql`
    WITH needed AS MATERIALIZED (${neededContent(sql, sql`(${account_id})`)})
    DELETE FROM content c USING ${hashes} WHERE c.account_id = ${account_id} AND c.sha256 = taken.sha256 AND c.uses = 0
      AND NOT EXISTS (SELECT 1 FROM needed n WHERE n.sha256 = c.sha256)`
})
