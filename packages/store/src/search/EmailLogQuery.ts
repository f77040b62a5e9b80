import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect, Option } from "effect"
import * as EmailLogRecord from "../readmodels/emails/EmailLogRecord.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"
import type { Known } from "./EmailLogCriteria.ts"
import * as EmailLogFilter from "./EmailLogFilter.ts"
import * as EmailLogPart from "./EmailLogPart.ts"
import * as EmailLogPlan from "./EmailLogPlan.ts"
import * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailLogWalk from "./EmailLogWalk.ts"
import * as EmailWords from "./EmailWords.ts"
import * as Iso from "../postgres/Iso.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import { Sql } from "../postgres/Sql.ts"

/** Maximum number of different texts that contain the searched part, if they are searched by their lists. */
export const MAX_TEXTS = 500

export interface Page {
  /** Newest first, whatever the direction. */
  readonly data: ReadonlyArray<EmailLogRecord.EmailLogRecord>
  readonly has_more: boolean
  /** Cursor to continue in the same direction: the next `after`, or the next `before`. */
  readonly next_cursor: string | null
}

/** Most messages that a search counts exactly. */
export const MAX_COUNTED = 1_000

/** How many messages a search finds: exactly, or more than so many. */
export interface Count {
  readonly count: number
  readonly is_exact: boolean
}

/** Returns a page of the log. Its cost depends on the page, not on the account's amount of mail. */
export const list = Effect.fn("EmailLogQuery.list")(function* (query: EmailLogFilter.Query) {
  const filter = EmailLogFilter.filterOf(query, Timestamp.fromMillis(yield* Clock.currentTimeMillis))
  if (filter === undefined) return EMPTY
  const sql = yield* Sql
  return pageOf(query.limit, filter.order, yield* search(sql, query.limit, filter))
})

/**
 * Counts the messages that a search finds, within the bounds of a page, so that a count of rare combinations may stop
 * earlier. Different texts with the same key count as one.
 */
export const count = Effect.fn("EmailLogQuery.count")(function* (query: EmailLogFilter.Query) {
  const { after: _, before: __, ...whole } = query
  const filter = EmailLogFilter.filterOf(whole, Timestamp.fromMillis(yield* Clock.currentTimeMillis))
  if (filter === undefined) return { count: 0, is_exact: true } satisfies Count
  const { messages, stoppedAt } = yield* search(yield* Sql, MAX_COUNTED, filter, true)
  return {
    count: Math.min(messages.length, MAX_COUNTED),
    is_exact: messages.length <= MAX_COUNTED && stoppedAt === null,
  } satisfies Count
})

const EMPTY: Page = { data: [], has_more: false, next_cursor: null }

/** Messages that a search has found, one more than the limit if there are more, and where it stopped before its end. */
interface Found {
  readonly messages: ReadonlyArray<EmailLogWalk.MatchingMessage>
  readonly stoppedAt: string | null
}

/** Does what the plan says, until the page is full or nothing is left. */
const search = Effect.fnUntraced(function* (sql: Sql, limit: number, filter: EmailLogFilter.Filter, isCount = false) {
  const { order } = filter
  const messages: Array<EmailLogWalk.MatchingMessage> = []
  let state = EmailLogPlan.begin(filter, limit, yield* knownOf(sql, filter), isCount)
  for (;;) {
    const step = EmailLogPlan.next(state)
    switch (step._tag) {
      case "Stop":
        return { messages, stoppedAt: step.at } satisfies Found
      case "Compare":
        state = EmailLogPlan.compared(state, step, yield* EmailLogSource.samples(sql, step.sized, state.range, order))
        break
      case "FindEnd":
        state = EmailLogPlan.ended(
          state,
          step,
          (yield* EmailLogSource.end(sql, state.range, order, step.messages))[0]?.id,
        )
        break
      case "FindTexts":
        state = EmailLogPlan.withTexts(state, yield* textSources(sql, filter))
        break
      case "Walk": {
        const walked = yield* EmailLogWalk.walk(sql, filter, step.source, step.range, step.chunk, step.room)
        messages.push(...walked.rows)
        state = EmailLogPlan.walked(state, walked)
      }
    }
  }
})

/** Reads what the lists of a filter depend on. */
const knownOf = Effect.fnUntraced(function* (sql: Sql, { criteria, range }: EmailLogFilter.Filter) {
  const needs = (what: keyof Known) => criteria.find((each) => each.needs === what)
  const unread = needs("unread")
  return {
    facets: needs("facets") === undefined ? [] : yield* EmailFacets.known(sql, range.account, "facets"),
    codes: needs("codes") === undefined ? [] : yield* EmailFacets.known(sql, range.account, "code"),
    unread: unread === undefined ? [] : yield* EmailWords.unread(sql, range.account_id, unread.where(sql)),
  } satisfies Known
})

/** Returns, for each part, the lists of all texts that contain it, unless they are many. */
const textSources = Effect.fnUntraced(function* (sql: Sql, { parts, range }: EmailLogFilter.Filter) {
  const sources = yield* Effect.forEach(parts, (part) => textSource(sql, range, part))
  return sources.filter((source) => source !== undefined)
})

const textSource = Effect.fnUntraced(function* (sql: Sql, { account_id }: EmailLogSource.Range, part: EmailWords.Part) {
  const found = yield* EmailWords.withPart(sql, account_id, part, EmailLogPart.mayHave(sql, part), MAX_TEXTS)
  return found && ({ _tag: "Terms", ...found } satisfies EmailLogSource.Source)
})

const pageOf = (limit: number, order: EmailLogSource.Order, { messages, stoppedAt }: Found): Page => {
  const rows = messages.slice(0, limit)
  const next_cursor = messages.length > limit ? (rows.at(-1)?.id ?? null) : stoppedAt
  const data = rows.flatMap(({ record }) => (record === undefined ? [] : [record]))
  return { data: order === "newest first" ? data : data.toReversed(), has_more: next_cursor !== null, next_cursor }
}

/** Finds one message of an account. */
export const find = Effect.fn("EmailLogQuery.find")(function* (account_id: string, id: string) {
  const sql = yield* Sql
  const records = yield* EmailLogRecord.find(sql, account_id, [id])
  return Option.fromUndefinedOr(records.get(id))
})

/** Whether the database at home has any email of any account. */
export const hasAny = Effect.fn("EmailLogQuery.hasAny")(function* () {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly has: boolean }>`SELECT EXISTS (SELECT FROM email_log) AS has`
  return rows[0]?.has === true
})

export type EmailLogEvent = Pick<
  RecordedEvents.Stored,
  "event_id" | "version" | "position" | "type" | "data" | "meta" | "recorded_at"
>

/** Returns the events of a message, oldest first, in the current schema; empty for a message of another account. */
export const events = Effect.fn("EmailLogQuery.events")(function* (account_id: string, id: string) {
  const sql = yield* Sql
  const rows = yield* sql<PackedEvent.Row<EmailLogEvent & Pick<RecordedEvents.Stored, "stream_id">>>`
    SELECT event_id, stream_id, version, position, type, ${PackedSql.columns(sql)}, ${Iso.iso(sql, "recorded_at")} AS recorded_at
    FROM events WHERE account_id = ${account_id} AND stream_id = ${id} AND stream = 'email' ORDER BY version`
  return rows.map((packed): EmailLogEvent => {
    const { stream_id: _, ...row } = PackedEvent.open(packed)
    return RecordedEvents.inCurrentShape(row)
  })
})
