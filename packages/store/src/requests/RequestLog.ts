import type { CodeRange } from "@waybill/domain/search/ReplyCode"
import type * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type * as LogDay from "./LogDay.ts"
import * as RequestLogDays from "./RequestLogDays.ts"
import * as RequestRecipients from "./RequestRecipients.ts"
import type { Row } from "./RequestRow.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import { Sql } from "../postgres/Sql.ts"

/** Time after the start of a call in which its messages may have been made, beyond its duration. */
const CLOCK_SLACK_MS = 1_000

export interface Query {
  readonly account_id: string
  readonly limit: number
  /** Id of the last call of the previous page; newest first. */
  readonly after?: string
  readonly statuses?: ReadonlyArray<CodeRange>
  /** A recipient of refused calls, one of the first. */
  readonly recipient?: Address.Address
  readonly api_key_id?: string
  /** A path, or the beginning of paths below it. */
  readonly path?: string
  readonly id?: string
  readonly method?: string
  readonly created_after?: string
  readonly created_before?: string
}

/** A call without its body and answer, which are only read alone. */
export type Summary = Omit<Row, "body" | "answer" | "account_id" | "recipients">
export type Call = Omit<Row, "account_id" | "recipients">

const SUMMARY =
  "id, method, path, query, status, reason, api_key_id, user_id, address, duration_ms, body_bytes, livemode"
/** Higher than any character of a path. */
const AFTER_ALL = "\u{10FFFF}"
/** Statuses of refusals. Each is a list of the index `request_log_refused`, which is read in the order of its ids. */
const REFUSALS = [400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 500, 502, 503, 504]

/** Lists calls, newest first. */
export const list = Effect.fn("RequestLog.list")(function* (query: Query) {
  const sql = yield* Sql
  const { limit, recipient } = query
  if (recipient === undefined) return yield* statement(sql, query)
  // The index of recipients has no order, so that a statement reads all calls of a day, of which an account has a bounded number.
  const found: Array<Summary> = []
  for (const day of yield* RequestLogDays.kept(sql)) {
    found.push(...(yield* recipientStatement(sql, { ...query, limit: limit - found.length }, recipient, day)))
    if (found.length === limit) break
  }
  return found
})

const recipientStatement = (sql: Sql, query: Query, recipient: Address.Address, day: LogDay.Day) => {
  const statuses = query.statuses?.map(({ from, to }) => sql`status BETWEEN ${from}::int AND ${to}::int`)
  return sql<Summary>`
    SELECT ${sql.literal(SUMMARY)} FROM request_log
    WHERE account_id = ${query.account_id} ${conditions(sql, query)}
      AND id >= ${RequestLogDays.startOf(day)} AND id < ${RequestLogDays.startOf(day + 1)}
      AND recipients @> ARRAY[${RequestRecipients.keyOf(query.account_id, recipient)}::bigint]
      ${statuses === undefined ? sql.literal("") : sql`AND (${sql.join(" OR ", false)(statuses)})`}
    ORDER BY id DESC LIMIT ${query.limit}::int`
}

/** Reads each refused status by its own list, and all others in the order of the calls. */
const statement = (sql: Sql, query: Query) => {
  const { limit, statuses } = query
  const page = (condition: Fragment) => sql`
    (SELECT ${sql.literal(SUMMARY)} FROM request_log
    WHERE account_id = ${query.account_id} ${conditions(sql, query)} ${condition}
    ORDER BY id DESC LIMIT ${limit}::int)`
  const refused = REFUSALS.filter((status) => statuses?.some(({ from, to }) => from <= status && status <= to))
  const others = statuses?.filter(({ from }) => from < 400) ?? []
  const pages = [
    ...refused.map((status) => page(sql`AND status = ${status}::int`)),
    ...others.map(({ from, to }) => page(sql`AND status BETWEEN ${from}::int AND ${to}::int`)),
  ]
  if (pages.length === 0) pages.push(page(statuses === undefined ? sql.literal("") : sql`AND false`))
  return sql<Summary>`
    SELECT * FROM (${sql.join(" UNION ALL ", false)(pages)}) AS calls ORDER BY id DESC LIMIT ${limit}::int`
}

const conditions = (sql: Sql, query: Query): Fragment => {
  const { after, api_key_id, created_after, created_before, id, method, path } = query
  const above = created_after === undefined ? undefined : Id.lowest("RequestId", Date.parse(created_after) + 1)
  const below = created_before === undefined ? undefined : Id.lowest("RequestId", Date.parse(created_before))
  return sql.join(
    " ",
    false,
  )([
    sql.literal(""),
    ...(id === undefined ? [] : [sql`AND id = ${id}`]),
    ...(after === undefined ? [] : [sql`AND id < ${after}`]),
    ...(above === undefined ? [] : [sql`AND id >= ${above}`]),
    ...(below === undefined ? [] : [sql`AND id < ${below}`]),
    ...(api_key_id === undefined ? [] : [sql`AND api_key_id = ${api_key_id}`]),
    ...(method === undefined ? [] : [sql`AND method = ${method}`]),
    ...(path === undefined ? [] : [sql`AND path >= ${path} AND path < ${path + AFTER_ALL}`]),
  ])
}

/** Finds a call. `api_key_id` limits it to the calls of a key. */
export const find = Effect.fn("RequestLog.find")(function* (account_id: string, id: string, api_key_id?: string) {
  const sql = yield* Sql
  const rows = yield* sql<Call>`
    SELECT ${sql.literal(SUMMARY)}, body, answer FROM request_log
    WHERE account_id = ${account_id} AND id = ${id}
      ${api_key_id === undefined ? sql.literal("") : sql`AND api_key_id = ${api_key_id}`}`
  return Option.fromUndefinedOr(rows[0])
})

/**
 * Returns the ids of the messages that a call made. They are found by the time in their ids, so that a send need not write
 * them here.
 */
export const messagesOf = Effect.fn("RequestLog.messagesOf")(function* (account_id: string, call: Call) {
  const sql = yield* Sql
  const at = Id.timeOf(call.id)
  const rows = yield* sql<{ readonly id: Id.EmailId }>`
    SELECT stream_id AS id FROM events
    WHERE account_id = ${account_id} AND version = 1
      AND stream_id >= ${Id.lowest("EmailId", at - CLOCK_SLACK_MS)}
      AND stream_id < ${Id.lowest("EmailId", at + call.duration_ms + CLOCK_SLACK_MS)}
      AND ${PackedSql.metaField(sql, "", "request_id")} = ${call.id}
    ORDER BY stream_id`
  return rows.map(({ id }) => id)
})

/** Returns the time of a call. */
export const createdAt = (id: string): Timestamp.Timestamp => Timestamp.fromMillis(Id.timeOf(id))
