import type { PgClient } from "@effect/sql-pg"
import type * as EmailStatus from "@waybill/domain/email/EmailStatus"
import type { Statement } from "effect/sql"
import * as IdKey from "../postgres/IdKey.ts"
import * as EmailFacets from "./EmailFacets.ts"
import * as EmailSpan from "./EmailSpan.ts"
import * as TermKey from "./TermKey.ts"

type Fragment = Statement.Fragment

/** Keys of search terms, by what they are about: the log's row has one of each kind. */
export interface Terms {
  readonly recipients: ReadonlyArray<TermKey.TermKey>
  readonly tags: ReadonlyArray<TermKey.TermKey>
  readonly subjects: ReadonlyArray<TermKey.TermKey>
}

/** Returns the keys of recipients and tags, which are told apart by the begin of their terms. */
export const termsOf = (terms: ReadonlyArray<string>): Terms => ({
  recipients: terms.filter((term) => term.startsWith("to:")).map(TermKey.of),
  tags: terms.filter((term) => term.startsWith("tag:")).map(TermKey.of),
  subjects: [],
})

/**
 * A list of message ids that an index holds in order. Every query walks one of these, so its cost does not depend on
 * the amount of mail.
 */
export type Source =
  | { readonly _tag: "All" }
  /** A recipient, a tag, or all texts that contain a searched part; with the log above an id that may be incomplete. */
  | { readonly _tag: "Terms"; readonly terms: Terms; readonly unreadAbove: IdKey.IdKey | null }
  /** The spans in which a key sent mail, and the log above an id of which spans may be incomplete. */
  | { readonly _tag: "Key"; readonly apiKey: IdKey.IdKey; readonly unreadAbove: IdKey.IdKey }
  /**
   * Messages with one of the statuses, and messages with one of the facets. Queued messages are listed with everything
   * that waits for delivery; delivered messages are listed nowhere.
   */
  | {
      readonly _tag: "Status"
      readonly statuses: ReadonlyArray<Exclude<EmailStatus.Status, "delivered">>
      readonly facets: ReadonlyArray<number>
    }
  | { readonly _tag: "Domain"; readonly domain: number }
  | { readonly _tag: "From"; readonly address: TermKey.TermKey }

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

/** Number of lists of a source, each of which is in order by itself. */
export const listsOf = (source: Source): number => {
  const unread = "unreadAbove" in source && source.unreadAbove !== null ? 1 : 0
  switch (source._tag) {
    case "Terms": {
      const { recipients, subjects, tags } = source.terms
      return 2 * (recipients.length + tags.length) + subjects.length + unread
    }
    case "Status":
      return source.statuses.length + source.facets.length
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
  readonly direction: Fragment
  readonly limit: number
}

const directionOf = (sql: PgClient.PgClient, order: Order) => sql.literal(order === "newest first" ? "DESC" : "ASC")

const walkOf = (sql: PgClient.PgClient, range: Range, order: Order, limit: number): Walk => {
  const direction = directionOf(sql, order)
  return {
    range,
    direction,
    limit,
    log: sql`SELECT id FROM email_log WHERE account_id = ${range.account}::uuid`,
    bounds: (column) =>
      sql`${sql.literal(column)} > ${range.above}::uuid AND ${sql.literal(column)} < ${range.below}::uuid
        ORDER BY ${sql.literal(column)} ${direction} LIMIT ${limit}::int`,
  }
}

/** Returns the first ids of each list of a source. */
const lists = (sql: PgClient.PgClient, source: Source, walk: Walk): ReadonlyArray<Fragment> => {
  const { bounds, log } = walk
  const one = (list: Fragment) => sql`SELECT list.id FROM (${list}) AS list`
  /** The lists of several keys, of which `list` reads the one with the key `part.key`. */
  const each = (keys: Fragment, list: Fragment) =>
    sql`SELECT list.id FROM unnest(${keys}) AS part(key) CROSS JOIN LATERAL (${list}) AS list`
  const unread =
    "unreadAbove" in source && source.unreadAbove !== null
      ? [one(sql`${log} AND id > ${source.unreadAbove}::uuid AND ${bounds("id")}`)]
      : []
  switch (source._tag) {
    case "All":
      return [one(sql`${log} AND ${bounds("id")}`)]
    case "Key":
      return [spansOf(sql, source.apiKey, walk), ...unread]
    case "Terms":
      return [...termLists(sql, source.terms, walk, each), ...unread]
    case "Status":
      return statusLists(sql, source, walk, each)
    case "Domain":
      return [one(sql`${log} AND domain_key = ${source.domain}::int AND ${bounds("id")}`)]
    case "From":
      return [one(sql`${log} AND from_key = ${source.address}::bigint AND ${bounds("id")}`)]
  }
}

type Each = (keys: Fragment, list: Fragment) => Fragment

const termLists = (
  sql: PgClient.PgClient,
  { recipients, subjects, tags }: Terms,
  { bounds, log, range }: Walk,
  each: Each,
): ReadonlyArray<Fragment> => {
  const inLog = [
    ["to_key", recipients],
    ["tag_key", tags],
    ["subject_key", subjects],
  ] as const
  const further = [...recipients, ...tags]
  return [
    ...inLog.flatMap(([column, keys]) =>
      keys.length === 0
        ? []
        : [each(sql`${keys}::bigint[]`, sql`${log} AND ${sql.literal(column)} = part.key AND ${bounds("id")}`)],
    ),
    ...(further.length === 0
      ? []
      : [
          each(
            sql`${further}::bigint[]`,
            sql`SELECT email_id AS id FROM email_log_terms
              WHERE account_id = ${range.account}::uuid AND term = part.key AND ${bounds("email_id")}`,
          ),
        ]),
  ]
}

const statusLists = (
  sql: PgClient.PgClient,
  { facets, statuses }: Extract<Source, { readonly _tag: "Status" }>,
  { bounds, direction, limit, log, range }: Walk,
  each: Each,
): ReadonlyArray<Fragment> => {
  const listed = statuses.filter(EmailFacets.isListed).map(EmailFacets.numberOf)
  const found: Array<Fragment> = []
  // The conditions of partial indexes are repeated, because Postgres does not derive them from the key.
  if (listed.length > 0)
    found.push(each(sql`${listed}::smallint[]`, sql`${log} AND listed > 0 AND listed = part.key AND ${bounds("id")}`))
  if (facets.length > 0)
    found.push(each(sql`${facets}::smallint[]`, sql`${log} AND facets > 0 AND facets = part.key AND ${bounds("id")}`))
  const [above, below] = [IdKey.idOf("EmailId", range.above), IdKey.idOf("EmailId", range.below)]
  if (statuses.includes("queued"))
    // A delivery has the id of its message. Postgres reads an account with a large share of them in the order of the key.
    found.push(sql`SELECT id_key(waiting.id) AS id FROM (
      SELECT id FROM outbox
      WHERE account_id = ${range.account_id} AND kind = 'delivery' AND id > ${above} AND id < ${below}
      ORDER BY id ${direction} LIMIT ${limit}::int) AS waiting`)
  return found
}

/**
 * Returns the first ids of the spans of a key. Each span has a message, so as many spans as ids are enough, and two for
 * those that the range cuts. Spans do not overlap, so that the ids are in order.
 */
const spansOf = (
  sql: PgClient.PgClient,
  apiKey: IdKey.IdKey,
  { bounds, direction, limit, log, range }: Walk,
): Fragment => {
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

const together = (sql: PgClient.PgClient, source: Source, range: Range, order: Order, limit: number): Fragment => {
  const each = lists(sql, source, walkOf(sql, range, order, limit)).map((list) => sql`(${list})`)
  // No message has a text that no text of the account contains, or facets that none of its messages has.
  if (each.length === 0) return sql`(SELECT NULL::uuid AS id WHERE false) AS lists`
  return sql`(${sql.join(" UNION ALL ", false)(each)}) AS lists`
}

/** Returns the first ids of a source: as many as requested from each of its lists, then the first of all. */
export const ids = (sql: PgClient.PgClient, source: Source, range: Range, order: Order, limit: number): Fragment =>
  // A message may be in several lists: of two of its recipients, or of a tag and a subject.
  sql`SELECT DISTINCT lists.id FROM ${together(sql, source, range, order, limit)}
    ORDER BY lists.id ${directionOf(sql, order)} LIMIT ${limit}::int`

/** Counts the ids of each source within the range, up to the cap. */
export const counts = (
  sql: PgClient.PgClient,
  sources: ReadonlyArray<Source>,
  range: Range,
  order: Order,
  cap: number,
) => {
  const each = sources.map(
    (source) => sql`(SELECT count(*)::int FROM (
      SELECT 1 FROM ${together(sql, source, range, order, cap)} LIMIT ${cap}::int) AS counted)`,
  )
  return sql<{ readonly counts: ReadonlyArray<number> }>`SELECT ARRAY[${sql.csv(each)}] AS counts`
}
