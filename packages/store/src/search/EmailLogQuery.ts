import { PgClient } from "@effect/sql-pg"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect, Option } from "effect"
import * as EmailLogRecord from "../readmodels/EmailLogRecord.ts"
import * as EmailFacets from "./EmailFacets.ts"
import * as EmailLogFilter from "./EmailLogFilter.ts"
import * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailLogWalk from "./EmailLogWalk.ts"
import * as EmailWords from "./EmailWords.ts"
import * as IdKey from "../postgres/IdKey.ts"
import * as Iso from "../postgres/Iso.ts"
import type { Stored } from "../commit/RecordedEvents.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"

/**
 * Ids examined by the first statement of a search, the growth from one statement to the next, and the maximum. Applies
 * to searches that filter by more than their source.
 */
export const FIRST_CHUNK = 64
export const CHUNK_GROWTH = 4
export const MAX_CHUNK = 16_384
/** Maximum number of index entries that one statement reads if its source consists of many lists. */
export const MAX_ENTRIES = 65_536
/**
 * Maximum number of ids examined for one page. Reached only by filters that are all common and rarely match together;
 * their page then ends early, with `has_more` and a cursor.
 */
export const MAX_EXAMINED = 20_000
/**
 * Limits up to which sources are counted to choose the rarest: the first, and the one used if the first choice finds
 * too little.
 */
export const COUNT_CAP = 1_000
export const DEEP_COUNT_CAP = 20_000
/** Maximum number of different texts that contain the searched part, if they are searched by their lists. */
export const MAX_TEXTS = 1_000

export interface Page {
  /** Newest first, whatever the direction. */
  readonly data: ReadonlyArray<EmailLogRecord.EmailLogRecord>
  readonly has_more: boolean
  /** Cursor to continue in the same direction: the next `after`, or the next `before`. */
  readonly next_cursor: string | null
}

/** Returns a page of the log. Its cost depends on the page, not on the account's amount of mail. */
export const list = Effect.fn("EmailLogQuery.list")(function* (query: EmailLogFilter.Query) {
  const filter = EmailLogFilter.filterOf(query, Timestamp.fromMillis(yield* Clock.currentTimeMillis))
  if (filter === undefined) return EMPTY
  const sql = yield* PgClient.PgClient
  return yield* Effect.orDie(search(sql, query.limit, filter))
})

const EMPTY: Page = { data: [], has_more: false, next_cursor: null }

/** Walks the rarest list that the filter names, in growing steps, until the page is full. */
const search = Effect.fnUntraced(function* (sql: PgClient.PgClient, limit: number, filter: EmailLogFilter.Filter) {
  const { order } = filter
  let { range } = filter
  const known: EmailLogFilter.Known = {
    facets: EmailLogFilter.needsFacets(filter) ? yield* EmailFacets.known(sql, range.account) : [],
    unreadAbove: EmailLogFilter.needsUnread(filter) ? yield* EmailWords.unreadAbove(sql) : IdKey.LOWEST,
  }
  const sources = [...EmailLogFilter.sourcesOf(filter, known)]
  let choice: Choice = yield* choose(sql, sources, range, order, [COUNT_CAP])
  let chunk = EmailLogFilter.isExact(filter) ? limit + 1 : FIRST_CHUNK
  const messages: Array<EmailLogWalk.MatchingMessage> = []
  let examined = 0
  let isDeepened = false
  while (examined < MAX_EXAMINED) {
    // At the present rate the next step would not fill the page, so look for a rarer list.
    if (!isDeepened && examined > 0 && messages.length * chunk < (limit + 1 - messages.length) * examined) {
      isDeepened = true
      const texts = yield* textSources(sql, filter, known)
      sources.push(...texts)
      if (!choice.isCertain || texts.length > 0)
        choice = yield* choose(sql, sources, range, order, [COUNT_CAP, DEEP_COUNT_CAP])
    }
    const reach = Math.min(chunk, Math.floor(MAX_ENTRIES / Math.max(1, EmailLogSource.listsOf(choice.source))))
    const step = yield* EmailLogWalk.walk(sql, filter, choice.source, range, reach, limit + 1 - messages.length)
    messages.push(...step.rows)
    if (messages.length > limit || step.isEnd) return pageOf(limit, order, messages, null)
    range = order === "newest first" ? { ...range, below: step.last } : { ...range, above: step.last }
    examined += step.examined
    chunk = Math.min(chunk * CHUNK_GROWTH, MAX_CHUNK)
  }
  const stoppedAt = IdKey.idOf("EmailId", order === "newest first" ? range.below : range.above)
  return pageOf(limit, order, messages, stoppedAt)
})

interface Choice {
  readonly source: EmailLogSource.Source
  /** Whether the source is the rarest for certain: it was counted completely, or there is no other. */
  readonly isCertain: boolean
}

/** Chooses the rarest source by count. If all exceed the caps, the first, which is the most specific. */
const choose = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  sources: ReadonlyArray<EmailLogSource.Source>,
  range: EmailLogSource.Range,
  order: EmailLogSource.Order,
  caps: ReadonlyArray<number>,
) {
  const [first = EmailLogSource.all, second] = sources
  if (second === undefined) return { source: first, isCertain: true } satisfies Choice
  for (const cap of caps) {
    const [row] = yield* EmailLogSource.counts(sql, sources, range, order, cap)
    const counts = row?.counts ?? []
    const fewest = Math.min(...counts)
    if (fewest < cap) return { source: sources[counts.indexOf(fewest)] ?? first, isCertain: true } satisfies Choice
  }
  return { source: first, isCertain: false } satisfies Choice
})

/** Returns, for each part, the lists of all texts that contain it, if they are few. */
const textSources = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  { parts, range }: EmailLogFilter.Filter,
  { unreadAbove }: EmailLogFilter.Known,
) {
  const found = yield* Effect.forEach(parts, (part) =>
    Effect.map(EmailWords.termsWith(sql, range.account, part, MAX_TEXTS), (terms) => ({ part, terms })),
  )
  return found.flatMap(({ part, terms }): ReadonlyArray<EmailLogSource.Source> =>
    terms === undefined
      ? []
      : [{ _tag: "Terms", terms, unreadAbove: EmailWords.isFollowed(part) ? unreadAbove : null }],
  )
})

const pageOf = (
  limit: number,
  order: EmailLogSource.Order,
  messages: ReadonlyArray<EmailLogWalk.MatchingMessage>,
  stoppedAt: string | null,
): Page => {
  const rows = messages.slice(0, limit)
  const next_cursor = messages.length > limit ? (rows.at(-1)?.id ?? null) : stoppedAt
  const data = rows.map((row) => row.record)
  return { data: order === "newest first" ? data : data.toReversed(), has_more: next_cursor !== null, next_cursor }
}

/** Finds one message of an account. */
export const find = Effect.fn("EmailLogQuery.find")(function* (account_id: string, id: string) {
  const sql = yield* PgClient.PgClient
  const records = yield* Effect.orDie(EmailLogRecord.find(sql, account_id, [id]))
  return Option.fromUndefinedOr(records.get(id))
})

export type EmailLogEvent = Pick<Stored, "event_id" | "version" | "position" | "type" | "data" | "meta" | "recorded_at">

/** Returns the events of a message, oldest first, in the current schema; empty for a message of another account. */
export const events = Effect.fn("EmailLogQuery.events")(function* (account_id: string, id: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<PackedEvent.Row<EmailLogEvent & Pick<Stored, "stream_id">>>`
    SELECT event_id, stream_id, version, position, type, ${PackedSql.columns(sql)}, ${Iso.iso(sql, "recorded_at")} AS recorded_at
    FROM events WHERE account_id = ${account_id} AND stream_id = ${id} AND stream = 'email' ORDER BY version`)
  return rows.map((packed): EmailLogEvent => {
    const { stream_id: _, ...row } = PackedEvent.open(packed)
    return { ...row, data: DomainEvent.upcast(row.type, row.meta.schema_version, row.data) }
  })
})
