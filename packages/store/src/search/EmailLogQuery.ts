import type * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect, Option } from "effect"
import * as EmailLogRecord from "../readmodels/emails/EmailLogRecord.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"
import * as EmailLogChoice from "./EmailLogChoice.ts"
import * as EmailLogFilter from "./EmailLogFilter.ts"
import * as EmailLogPart from "./EmailLogPart.ts"
import * as EmailLogSource from "./EmailLogSource.ts"
import * as EmailLogWalk from "./EmailLogWalk.ts"
import * as EmailWords from "./EmailWords.ts"
import * as IdKey from "../postgres/IdKey.ts"
import * as PageBytes from "../feed/PageBytes.ts"
import * as Iso from "../postgres/Iso.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import { Sql } from "../postgres/Sql.ts"

/**
 * Ids examined by the first statement of a search, the growth from one statement to the next, and the maximum. Applies
 * to searches that filter by more than their source.
 */
export const FIRST_CHUNK = 64
export const CHUNK_GROWTH = 4
/** The same while first events are read in order, which takes a tenth of the time of a walk. */
const READ_GROWTH = 16
export const MAX_CHUNK = 16_384
/** Ids that a step reads, for one that fills the page at the present rate. */
const SPARE = 1.5
/**
 * Maximum number of ids examined for one page. Reached only by filters that are all common and rarely match together;
 * their page then ends early, with `has_more` and a cursor.
 */
export const MAX_EXAMINED = 20_000
/** Messages that are walked to fill a page sooner than the texts with the searched part are looked up, which takes as long. */
const WALKED = 1_000
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

/** Walks the rarest list that the filter names, in growing steps, until the page is full. */
const search = Effect.fnUntraced(function* (sql: Sql, limit: number, filter: EmailLogFilter.Filter, isCount = false) {
  const { order } = filter
  let { range } = filter
  const known: EmailLogFilter.Known = {
    facets: EmailLogFilter.needsFacets(filter) ? yield* EmailFacets.known(sql, range.account, "facets") : [],
    codes: filter.codes.length === 0 ? [] : yield* EmailFacets.known(sql, range.account, "code"),
    unread: filter.apiKey === null ? [] : yield* unreadOfKey(sql, filter, filter.apiKey),
  }
  const sources = [...EmailLogFilter.sourcesOf(filter, known)]
  const isByKeys = isCount && EmailLogFilter.isByKeys(filter, known)
  let chunk = EmailLogFilter.isExact(filter) ? limit + 1 : FIRST_CHUNK
  const accepted = EmailLogFilter.acceptedOf(filter)
  const choose = Effect.suspend(() =>
    accepted !== undefined && sources.length === 0
      ? EmailLogChoice.window(sql, accepted, range, order, chunk)
      : EmailLogChoice.choose(sql, sources, range, order, chunk),
  )
  let choice = yield* choose
  const messages: Array<EmailLogWalk.MatchingMessage> = []
  let examined = 0
  let bytes = 0
  let hasTexts = false
  const found = (stoppedAt: string | null): Found => ({ messages, stoppedAt })
  while (examined < MAX_EXAMINED) {
    // At the present rate the next step would not fill the page, so look for a rarer list.
    const isSlow = messages.length * chunk < (limit + 1 - messages.length) * examined
    if (isSlow || (examined > 0 && choice.common !== undefined)) {
      const isRare = (limit + 1 - messages.length) * examined > WALKED * (messages.length + 1)
      const lists = hasTexts || !isRare ? [] : yield* textSources(sql, filter)
      hasTexts ||= isRare
      sources.push(...lists)
      if (lists.length > 0) chunk = FIRST_CHUNK
      if (lists.length > 0 || !choice.isCertain) choice = yield* choose
    }
    // No message has a text that no text of the account contains, or facets that none of its messages has.
    if (EmailLogSource.listsOf(choice.source) === 0) return found(null)
    const wanted = limit + 1 - messages.length
    const room = { messages: wanted, bytes: PageBytes.MAX_PAGE_BYTES - bytes, isCount: isByKeys }
    const step = yield* choice.common === undefined
      ? EmailLogWalk.walk(sql, filter, choice.source, range, EmailLogSource.cap(chunk, choice.source), room)
      : EmailLogWalk.walkCommon(sql, filter, choice.common, room)
    messages.push(...step.rows)
    if (messages.length > limit || step.isEnd) return found(null)
    range = order === "newest first" ? { ...range, below: step.last } : { ...range, above: step.last }
    if (step.isFull) break
    bytes += step.bytes
    examined += step.examined
    const needed = (wanted - step.rows.length) / (messages.length / examined)
    const growth = choice.source._tag === "Accepted" ? READ_GROWTH : CHUNK_GROWTH
    chunk = Math.min(Math.max(Math.ceil(SPARE * needed), FIRST_CHUNK), chunk * growth, MAX_CHUNK)
  }
  return found(IdKey.idOf("EmailId", order === "newest first" ? range.below : range.above))
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

const unreadOfKey = (sql: Sql, { range }: EmailLogFilter.Filter, apiKey: Id.ApiKeyId) =>
  EmailWords.unread(sql, range.account_id, EmailLogFilter.isOfKey(sql, apiKey))

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
