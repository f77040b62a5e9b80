import type * as EmailStatus from "@waybill/domain/email/EmailStatus"
import type { Statement } from "effect/sql"
import * as IdKey from "../postgres/IdKey.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"
import * as EmailIds from "./EmailIds.ts"
import * as EmailLogPart from "./EmailLogPart.ts"
import * as EmailSpan from "./EmailSpan.ts"
import * as EmailTerms from "./EmailTerms.ts"
import type * as EmailWords from "./EmailWords.ts"
import type * as TermKey from "../postgres/TermKey.ts"
import type { Sql } from "../postgres/Sql.ts"

type Fragment = Statement.Fragment

/**
 * A list of message ids that an index holds in order. Every query walks one of these, so its cost does not depend on
 * the amount of mail.
 */
export type Source =
  | { readonly _tag: "All" }
  /** A sender, a recipient, a tag, a pair of metadata, or all texts and ids that contain a searched part; and the messages that the follower may not have read. */
  | { readonly _tag: "Terms"; readonly terms: EmailTerms.Terms; readonly unread: ReadonlyArray<IdKey.IdKey> }
  /** The first events of messages, filtered by what they may have of parts. To read them in order costs a fifth of finding each. */
  | { readonly _tag: "Accepted"; readonly parts: ReadonlyArray<EmailWords.Part> }
  /** The spans in which a key sent mail, and the messages that the follower may not have read. */
  | { readonly _tag: "Key"; readonly apiKey: IdKey.IdKey; readonly unread: ReadonlyArray<IdKey.IdKey> }
  /**
   * Messages with one of the statuses, and messages with one of the facets. Queued messages are listed with everything
   * that waits for delivery; delivered messages are listed nowhere.
   */
  | {
      readonly _tag: "Status"
      readonly statuses: ReadonlyArray<Exclude<EmailStatus.Status, "delivered">>
      readonly facets: ReadonlyArray<number>
    }
  /** Messages with one of the reply codes. */
  | { readonly _tag: "Code"; readonly codes: ReadonlyArray<number> }
  | { readonly _tag: "Domain"; readonly domain: number }
  /** Messages that are in all of these. */
  | { readonly _tag: "Common"; readonly sources: ReadonlyArray<Source> }

export const all: Source = { _tag: "All" }

/** Keys of ids between two bounds, both exclusive. */
export interface Range {
  readonly account_id: string
  /** Key of the account. */
  readonly account: IdKey.IdKey
  readonly above: IdKey.IdKey
  readonly below: IdKey.IdKey
}

export type Order = "newest first" | "oldest first"

/** Maximum number of index entries that one statement reads if its source consists of many lists. */
export const MAX_ENTRIES = 65_536

/** Returns how many ids of a source to read, so that it takes not too many entries of its lists. */
export const cap = (ids: number, source: Source, maxEntries = MAX_ENTRIES): number =>
  Math.min(ids, Math.ceil(maxEntries / Math.max(1, listsOf(source))))

/** Number of lists of a source, each of which is in order by itself. */
export const listsOf = (source: Source): number => {
  const unread = "unread" in source && source.unread.length > 0 ? 1 : 0
  switch (source._tag) {
    case "Terms":
      // Recipients and tags are in two tables.
      return EmailTerms.countOf(source.terms) + source.terms.recipients.length + source.terms.tags.length + unread
    case "Status":
      return source.statuses.length + source.facets.length
    case "Code":
      return source.codes.length
    case "Common":
      return source.sources.reduce((sum, each) => sum + listsOf(each), 0)
    default:
      return 1 + unread
  }
}

type Bounds = (column: string) => Fragment

/** A statement under construction: its table, bounds and direction. */
interface Walk {
  readonly range: Range
  readonly log: Fragment
  readonly bounds: Bounds
  readonly order: Order
  readonly direction: Fragment
  readonly limit: number
}

const directionOf = (sql: Sql, order: Order) => sql.literal(order === "newest first" ? "DESC" : "ASC")

const walkOf = (sql: Sql, range: Range, order: Order, limit: number): Walk => {
  const direction = directionOf(sql, order)
  return {
    range,
    order,
    direction,
    limit,
    log: sql`SELECT id FROM email_log WHERE account_id = ${range.account}::uuid`,
    bounds: (column) =>
      sql`${sql.literal(column)} > ${range.above}::uuid AND ${sql.literal(column)} < ${range.below}::uuid
        ORDER BY ${sql.literal(column)} ${direction} LIMIT ${limit}::int`,
  }
}

/** Returns the first ids of each list of a source. */
const lists = (sql: Sql, source: Source, walk: Walk): ReadonlyArray<Fragment> => {
  const { bounds, log } = walk
  const one = (list: Fragment) => sql`SELECT list.id FROM (${list}) AS list`
  /** The lists of some keys. That of a single key stays in order, so that Postgres stops where nothing more is needed. */
  const each: Each = (keys, type, list) =>
    keys.length === 1
      ? one(list(sql`${keys[0]}::${sql.literal(type)}`))
      : sql`SELECT list.id FROM unnest(${keys}::${sql.literal(type)}[]) AS part(key)
          CROSS JOIN LATERAL (${list(sql.literal("part.key"))}) AS list`
  const unread =
    "unread" in source && source.unread.length > 0
      ? [one(sql`SELECT id FROM unnest(${source.unread}::uuid[]) AS u(id) WHERE ${bounds("id")}`)]
      : []
  switch (source._tag) {
    case "All":
      return [one(sql`${log} AND ${bounds("id")}`)]
    case "Key":
      return [spansOf(sql, source.apiKey, walk), ...unread]
    case "Terms":
      return [...termLists(sql, source.terms, walk, each), ...unread]
    case "Accepted":
      return [acceptedOf(sql, source.parts, walk)]
    case "Status":
      return statusLists(sql, source, walk, each)
    case "Code":
      return valueLists(sql, "code", source.codes, walk, each)
    case "Domain":
      return [one(sql`${log} AND domain_key = ${source.domain}::int AND ${bounds("id")}`)]
    case "Common":
      return [common(sql, source.sources, walk)]
  }
}

type Each = (keys: ReadonlyArray<number | TermKey.TermKey>, type: string, list: (key: Fragment) => Fragment) => Fragment

/** Columns of the log's row with the keys of some terms. */
const columnsOf = ({ recipients, senders, subjects, tags }: EmailTerms.Terms) =>
  (
    [
      ["from_key", senders],
      ["to_key", recipients],
      ["tag_key", tags],
      ["subject_key", subjects],
    ] as const
  ).filter(([, keys]) => keys.length > 0)

const termLists = (sql: Sql, terms: EmailTerms.Terms, walk: Walk, each: Each): ReadonlyArray<Fragment> => {
  const { bounds, log } = walk
  return [
    ...columnsOf(terms).map(([column, keys]) =>
      each(keys, "bigint", (key) => sql`${log} AND ${sql.literal(column)} = ${key} AND ${bounds("id")}`),
    ),
    ...furtherLists(sql, terms, walk, each),
    ...terms.ids.map((range) => sql`SELECT list.id FROM (${log} AND ${isIn(sql, range)} AND ${bounds("id")}) AS list`),
  ]
}

const furtherLists = (
  sql: Sql,
  { metadata, recipients, tags }: EmailTerms.Terms,
  { bounds, range }: Walk,
  each: Each,
): ReadonlyArray<Fragment> => {
  const keys = [...recipients, ...tags, ...metadata]
  const list = (key: Fragment) => sql`SELECT email_id AS id FROM email_log_terms
    WHERE account_id = ${range.account}::uuid AND term = ${key} AND ${bounds("email_id")}`
  return keys.length === 0 ? [] : [each(keys, "bigint", list)]
}

const isIn = (sql: Sql, range: EmailIds.IdRange) => EmailIds.isWithin(sql, sql.literal("id"), range)

const acceptedOf = (sql: Sql, parts: ReadonlyArray<EmailWords.Part>, { direction, limit, range }: Walk): Fragment => {
  const [above, below] = [IdKey.idOf("EmailId", range.above), IdKey.idOf("EmailId", range.below)]
  const conditions = parts.map((part) => sql`AND ${EmailLogPart.mayHaveAnywhere(sql, part)}`)
  return sql`SELECT id_key(first.stream_id) AS id FROM (
    SELECT accepted.stream_id FROM events accepted
    WHERE accepted.account_id = ${range.account_id} AND accepted.version = 1
      AND accepted.stream_id > ${above} AND accepted.stream_id < ${below} ${sql.join(" ", false)(conditions)}
    ORDER BY accepted.stream_id ${direction} LIMIT ${limit}::int) AS first`
}

/** Lists by a column whose partial index has the values above 0. The condition is repeated, because Postgres does not derive it. */
const valueLists = (
  sql: Sql,
  column: "listed" | EmailFacets.Listed,
  values: ReadonlyArray<number>,
  { bounds, log }: Walk,
  each: Each,
): ReadonlyArray<Fragment> => {
  const value = sql.literal(column)
  const list = (key: Fragment) => sql`${log} AND ${value} > 0 AND ${value} = ${key} AND ${bounds("id")}`
  return values.length === 0 ? [] : [each(values, "smallint", list)]
}

const statusLists = (
  sql: Sql,
  { facets, statuses }: Extract<Source, { readonly _tag: "Status" }>,
  walk: Walk,
  each: Each,
): ReadonlyArray<Fragment> => {
  const { direction, limit, range } = walk
  const listed = statuses.filter(EmailFacets.isListed).map(EmailFacets.numberOf)
  const found = [...valueLists(sql, "listed", listed, walk, each), ...valueLists(sql, "facets", facets, walk, each)]
  const [above, below] = [IdKey.idOf("EmailId", range.above), IdKey.idOf("EmailId", range.below)]
  if (statuses.includes("queued"))
    // A delivery has the id of its message, and its payload says if it is deferred. Postgres reads an account with a large share of them in the order of the key.
    found.push(sql`SELECT id_key(waiting.id) AS id FROM (
      SELECT id FROM outbox
      WHERE account_id = ${range.account_id} AND kind = 'delivery' AND payload = '{}' AND id > ${above} AND id < ${below}
      ORDER BY id ${direction} LIMIT ${limit}::int) AS waiting`)
  return found
}

/**
 * Returns the first ids of the spans of a key. Each span has a message, so as many spans as ids are enough, and two for
 * those that the range cuts. Spans do not overlap, so that the ids are in order.
 */
const spansOf = (sql: Sql, apiKey: IdKey.IdKey, { bounds, direction, limit, log, range }: Walk): Fragment => {
  const spanOf = (key: IdKey.IdKey) => EmailSpan.of(IdKey.idOf("EmailId", key))
  return sql`SELECT message.id FROM (
      SELECT span FROM email_key_spans
      WHERE account_id = ${range.account}::uuid AND api_key_id = ${apiKey}::uuid
        AND span >= ${spanOf(range.above)}::bigint AND span <= ${spanOf(range.below)}::bigint
      ORDER BY span ${direction} LIMIT ${limit + 2}::int) AS s
    CROSS JOIN LATERAL (
      ${log} AND id >= ${EmailSpan.firstKey(sql, sql.literal("s.span"))}
        AND id < ${EmailSpan.firstKey(sql, sql.literal("s.span::bigint + 1"))} AND ${bounds("id")}) AS message
    ORDER BY s.span ${direction}, message.id ${direction} LIMIT ${limit}::int`
}

/** Lists in the same order are merged, which costs far less than to look for the ids of one in another. */
const common = (sql: Sql, sources: ReadonlyArray<Source>, { limit, order, range }: Walk): Fragment => {
  const lists = sources.map(
    (source, nth) => sql`(${ids(sql, source, range, order, limit)}) AS s${sql.literal(String(nth))}`,
  )
  const joins = lists.slice(1).map((list, nth) => sql`JOIN ${list} ON s${sql.literal(String(nth + 1))}.id = s0.id`)
  return sql`SELECT s0.id FROM ${lists[0] ?? sql.literal("")} ${sql.join(" ", false)(joins)}`
}

const together = (sql: Sql, source: Source, range: Range, order: Order, limit: number): Fragment => {
  const each = lists(sql, source, walkOf(sql, range, order, limit)).map((list) => sql`(${list})`)
  if (each.length === 0) return sql`(SELECT NULL::uuid AS id WHERE false) AS lists`
  return sql`(${sql.join(" UNION ALL ", false)(each)}) AS lists`
}

/** Whether no message is in two lists of a source, as it may be in those of two recipients, or of a tag and a subject. */
const isDisjoint = (source: Source): boolean => {
  switch (source._tag) {
    case "Terms":
      // A key that the log's row holds is not among the further ones.
      return source.unread.length === 0 && EmailTerms.countOf(source.terms) === 1
    case "Key":
      return false
    case "Status":
      // A delivery may be of a message that is listed for another recipient.
      return !source.statuses.includes("queued") || source.statuses.length + source.facets.length === 1
    default:
      return true
  }
}

/** Returns the first ids of a source: as many as requested from each of its lists, then the first of all. */
export const ids = (sql: Sql, source: Source, range: Range, order: Order, limit: number): Fragment =>
  sql`SELECT ${sql.literal(isDisjoint(source) ? "" : "DISTINCT")} lists.id FROM ${together(sql, source, range, order, limit)}
    ORDER BY lists.id ${directionOf(sql, order)} LIMIT ${limit}::int`

/** Finds the nth message of a range. */
export const end = (sql: Sql, range: Range, order: Order, nth: number) => {
  const { bounds, log } = walkOf(sql, range, order, 1)
  return sql<{ readonly id: string }>`${log} AND ${bounds("id")} OFFSET ${nth - 1}::int`
}

/** The first ids of a source, up to a number of them. */
export interface Sample {
  readonly count: number
  readonly first: string | null
  readonly last: string | null
}

/** Counts the first ids of each source, up to its size, within the range, and returns the first and last of these. */
export const samples = (
  sql: Sql,
  sources: ReadonlyArray<readonly [source: Source, size: number]>,
  range: Range,
  order: Order,
) => {
  const direction = directionOf(sql, order)
  const each = sources.map(
    (
      [source, size],
      nth,
    ) => sql`SELECT ${sql.literal(String(nth))} AS nth, array_agg(found.id ORDER BY found.id ${direction}) AS ids
      FROM (${ids(sql, source, range, order, size)}) AS found`,
  )
  return sql<Sample>`SELECT coalesce(cardinality(ids), 0) AS count, ids[1] AS first, ids[cardinality(ids)] AS last
    FROM (${sql.join(" UNION ALL ", false)(each)}) AS samples ORDER BY nth`
}
