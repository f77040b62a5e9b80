import type { AccountId, EmailId, UnreadReportId } from "@waybill/domain/values/Id"
import { Data, Effect, Metric, Option } from "effect"
import * as AccountWrites from "../locks/AccountWrites.ts"
import * as Databases from "../routing/Databases.ts"
import * as AccountLocks from "../locks/AccountLocks.ts"
import * as IdKey from "../postgres/IdKey.ts"
import * as Iso from "../postgres/Iso.ts"
import * as Metrics from "../log/Metrics.ts"
import { Sql } from "../postgres/Sql.ts"
import { away, type StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Unread reports that are kept of one account. */
export const MAX_UNREAD_PER_ACCOUNT = 20
/** Bytes of all unread reports of a database, as they arrived. */
export const MAX_UNREAD_BYTES = 256 * 1024 * 1024
/** Age at which the hourly task removes an unread report. */
export const KEPT_DAYS = 30

/** Advisory lock that serializes inserts, so that the bounds hold for all nodes together. */
const UNREAD_LOCK = 0x5742_5552

const countUnread = Metrics.seriesBy(
  Metric.counter("waybill_unread_reports_total", {
    description: "Reports whose parsing was ended by this process, by whether they were kept unread or refused",
    incremental: true,
  }),
  "outcome",
  ["kept", "refused"],
)

/** Data that a report's return path carries, and the client that delivered the report. */
export interface Addressed {
  readonly account_id: AccountId
  readonly email_id: EmailId
  readonly recipient_index: number
  readonly scope: "domain" | null
  readonly address: string
}

/** Why parsing was ended. */
export type Reason = "deadline" | "memory" | "crash"

export interface UnreadReport extends Addressed {
  readonly id: UnreadReportId
  readonly reason: Reason
  readonly size_bytes: number
  readonly received_at: string
}

/** A bound is reached, so the report is not stored. */
export class Full extends Data.TaggedError("Full")<{}> {}

interface ArrivedReport {
  readonly bytes: Uint8Array
  readonly reason: Reason
  readonly addressed: ReadonlyArray<Addressed & Pick<UnreadReport, "id">>
}

/**
 * Stores a report for every return path that it was sent to, or for none of a database if a bound is reached. Skips return paths
 * whose message was removed by retention meanwhile. Returns the ids of the stored reports.
 */
export const keep = Effect.fn("UnreadReports.keep")(function* (arrived: ArrivedReport) {
  const sql = yield* Sql
  const inserts = Effect.flatMap(Databases.group(arrived.addressed), (placed) =>
    Effect.forEach(placed, ({ rows, run }) => run(sql.withTransaction(insert(sql, { ...arrived, addressed: rows })))),
  )
  const stored = (yield* AccountWrites.retryMoved<ReadonlyArray<ReadonlyArray<UnreadReportId>>, Full, never>(
    inserts,
  ).pipe(Effect.tapError(() => Effect.sync(() => countUnread("refused", 1))))).flat()
  if (stored.length > 0) countUnread("kept", 1)
  return stored
})

const insert = Effect.fnUntraced(function* (
  sql: Sql,
  { addressed, bytes, reason }: ArrivedReport,
): Effect.fn.Return<ReadonlyArray<UnreadReportId>, StoreUnavailable | AccountWrites.AccountMoved | Full> {
  const accounts = addressed.map((each) => each.account_id)
  // Retention holds these locks exclusively: it sees the report and removes it, or the message is already gone here.
  yield* AccountLocks.share(sql, accounts)
  yield* AccountWrites.hold(sql, accounts)
  yield* sql`SELECT 1 AS taken FROM (SELECT pg_advisory_xact_lock(${UNREAD_LOCK}::int, 0)::text) AS t`
  const stored: Array<UnreadReportId> = []
  for (const { account_id, address, email_id, id, recipient_index, scope } of addressed) {
    const [message] = yield* sql<{ readonly has_capacity: boolean }>`
      SELECT (SELECT count(*) FROM unread_reports WHERE account_id = ${account_id}) < ${MAX_UNREAD_PER_ACCOUNT}::int
        AND (SELECT coalesce(sum(size_bytes), 0) FROM unread_reports) + ${bytes.length}::int <= ${MAX_UNREAD_BYTES}::int
        AS has_capacity
      FROM email_log WHERE account_id = ${IdKey.of(account_id)}::uuid AND id = ${IdKey.of(email_id)}::uuid`
    if (message === undefined) continue
    if (!message.has_capacity) return yield* new Full()
    yield* sql`
      INSERT INTO unread_reports
        (account_id, id, email_id, recipient_index, scope, address, reason, size_bytes, bytes)
      VALUES (${account_id}, ${id}, ${email_id}, ${recipient_index}::int, ${scope}, ${address}, ${reason},
        ${bytes.length}::int, ${bytes})`
    stored.push(id)
  }
  return stored
})

/** Unread reports of one account, or of all accounts in databases that answer in time, oldest first. For operators. */
export const list = Effect.fn("UnreadReports.list")(function* (account_id?: string) {
  const sql = yield* Sql
  const rows = sql<UnreadReport>`
    SELECT ${columns(sql)} FROM unread_reports
    ${account_id === undefined ? sql.literal("") : sql`WHERE account_id = ${account_id}`}
    ORDER BY received_at, id`
  if (account_id !== undefined) return yield* Databases.rowsInTimeOfAccount(account_id, rows)
  const found = yield* Databases.rowsInTime(rows)
  return { ...found, rows: found.rows.toSorted((a, b) => (a.received_at < b.received_at ? -1 : 1)) }
})

/** One unread report of any account, with its bytes. For operators. */
export const find = Effect.fn("UnreadReports.find")(function* (id: string) {
  const sql = yield* Sql
  const search = sql<UnreadReport & { readonly bytes: Uint8Array }>`
    SELECT ${columns(sql)}, bytes FROM unread_reports WHERE id = ${id}`
  const { missing, rows } = yield* Databases.rowsInTime(search)
  if (rows.length === 0 && missing.length > 0) return yield* away()
  return Option.fromUndefinedOr(rows[0])
})

export const remove = Effect.fn("UnreadReports.remove")(function* (account_id: AccountId, id: UnreadReportId) {
  const sql = yield* Sql
  const removal = sql`DELETE FROM unread_reports WHERE account_id = ${account_id} AND id = ${id}`
  yield* AccountWrites.run(account_id, removal)
})

/** Removes the unread reports of messages that are removed or erased. */
export const removeOf = (sql: Sql, account_id: string, messages: ReadonlyArray<string>) =>
  sql`DELETE FROM unread_reports WHERE account_id = ${account_id} AND email_id = ANY(${messages}::text[])`

/** Removes unread reports older than `KEPT_DAYS` and returns how many. Runs periodically. */
export const expire = Effect.fn("UnreadReports.expire")(function* () {
  const sql = yield* Sql
  const removed = yield* sql`
    DELETE FROM unread_reports WHERE received_at < now() - make_interval(days => ${KEPT_DAYS}::int) RETURNING id`
  return removed.length
})

const columns = (sql: Sql) => sql`
  id, account_id, email_id, recipient_index, scope, address, reason, size_bytes, ${Iso.iso(sql, "received_at")} AS received_at`
