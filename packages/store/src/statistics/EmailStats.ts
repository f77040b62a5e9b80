import type * as Email from "@waybill/domain/email/Email"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import * as GroupTag from "./GroupTag.ts"
import * as Iso from "../postgres/Iso.ts"
import { Sql } from "../postgres/Sql.ts"

/**
 * Measure that each type of event counts for, per recipient, or per message for opens and clicks. Latencies are counted in
 * buckets under `latency`.
 */
export const MEASURE_OF = {
  EmailQueued: "accepted",
  EmailDelivered: "delivered",
  EmailDeferred: "deferred",
  EmailBounced: "bounced",
  EmailFailed: "failed",
  EmailSuppressed: "suppressed",
  EmailComplained: "complained",
  EmailOpened: "opened",
  EmailClicked: "clicked",
} as const satisfies { readonly [T in Email.Event["_tag"]]?: string }
export type Measure = (typeof MEASURE_OF)[keyof typeof MEASURE_OF]
export const MEASURES: ReadonlyArray<Measure> = Object.values(MEASURE_OF)
export const LATENCY = "latency"

/**
 * Recipients by their current status, counted in the hour of acceptance. Queued recipients have no count of their own:
 * they are the accepted ones that have no other status.
 */
export type CountedStatus = Exclude<EmailStatus.Status, "queued">
const STATUS_PREFIX = "recipients_"
export type StatusMeasure = `${typeof STATUS_PREFIX}${CountedStatus}`
export const statusMeasure = (status: CountedStatus): StatusMeasure => `${STATUS_PREFIX}${status}`

/**
 * Ratio of the upper bounds of two neighbouring latency buckets. Values are then within 5 % of a bucket's middle,
 * buckets of hours and domains are merged by adding counts, and 30 days need 228 buckets.
 */
const GROWTH = 1.1

export const bucketOf = (millis: number): number => (millis <= 1 ? 0 : Math.ceil(Math.log(millis) / Math.log(GROWTH)))

/** Returns the value with the least error for all latencies of a bucket. */
export const millisOf = (bucket: number): number => Math.round((2 * GROWTH ** bucket) / (GROWTH + 1))

/** Maximum number of tags of one account that a result grouped by tag shows; the result says if there are more. */
export const MAX_TAGS = 1_000

export interface Query {
  readonly account_id: string
  /** Whole hours; `to` is exclusive. */
  readonly from: string
  readonly to: string
  readonly by: {
    readonly time: "hour" | "day" | null
    readonly domain: boolean
    readonly tag: boolean
    /** Each version of a template is a group. */
    readonly group?: GroupTag.Group | undefined
  }
  readonly domain?: string
  readonly tag?: string
  /** Id of a template, instead of a tag. */
  readonly template?: string
}

/** Pseudo-measure that marks a result with more tags than are shown. */
const MORE_TAGS = "more_tags"

interface CountRow {
  readonly at: Timestamp | null
  readonly domain: string | null
  readonly tag: string | null
  readonly measure: Measure | StatusMeasure | typeof LATENCY | typeof MORE_TAGS
  readonly bucket: number
  readonly n: bigint
}

export type Row = Pick<CountRow, "at" | "domain" | "tag"> &
  GroupTag.Groups & { readonly [M in Measure]: number } & {
    readonly recipient_counts: { readonly [S in EmailStatus.Status]: number }
    readonly latency_ms: Readonly<Record<"p50" | "p90" | "p95" | "p99", number>> | null
  }

/** Row of the counts with the position; only the position if nothing is counted. */
type CountOrPosition = { readonly position: bigint } & (CountRow | { readonly measure: null })

/** Returns counts, oldest first, and the log position up to which everything is counted. */
export const find = Effect.fn("EmailStats.find")(function* (query: Query) {
  const sql = yield* Sql
  // One statement, so that counts and position are of one snapshot, and of the table that has the name then.
  const found = yield* sql<CountOrPosition>`
    WITH counted AS (${statement(sql, query)})
    SELECT follower.position, counted.* FROM (
      SELECT coalesce((SELECT position FROM followers WHERE name = ${FOLLOWER}), 0) AS position) AS follower
    LEFT JOIN counted ON true
    ORDER BY counted.at, counted.domain, counted.tag, counted.measure, counted.bucket`
  const countRows = found.flatMap((row) => (row.measure === null ? [] : [row]))
  const counts = countRows.filter(({ measure }) => measure !== MORE_TAGS)
  const groups = Map.groupBy(counts, ({ at, domain, tag }) => JSON.stringify([at, domain, tag]))
  const position = found[0]?.position ?? 0n
  return { rows: [...groups.values()].map(rowOf), position, more_tags: counts.length < countRows.length }
})

export const FOLLOWER = "email_stats"

export const statement = (sql: Sql, query: Query) => {
  const { by } = query
  const at =
    by.time === null
      ? sql.literal("NULL::text")
      : Iso.iso(sql, by.time === "hour" ? "s.hour" : "date_trunc('day', s.hour, 'UTC')")
  // A single tag is looked up by key, so that accounts with many tags do not read all of them.
  const range =
    query.template !== undefined
      ? GroupTag.versions(query.template)
      : by.group !== undefined
        ? GroupTag.range(by.group)
        : by.tag && query.tag === undefined
          ? GroupTag.OTHERS
          : undefined
  const tags =
    range === undefined ? sql`SELECT ${query.tag ?? ""} AS tag, 1 AS nth` : everyTag(sql, query.account_id, [range])
  return sql<CountRow>`
    WITH RECURSIVE tags AS (${tags})
    SELECT ${at} AS at, ${sql.literal(by.domain ? "s.domain" : "NULL::text")} AS domain,
      ${sql.literal(by.tag || by.group !== undefined ? "s.tag" : "NULL::text")} AS tag, s.measure, s.bucket, sum(s.count)::bigint AS n
    FROM (SELECT tag FROM tags WHERE nth <= ${MAX_TAGS}::int) AS tags CROSS JOIN LATERAL (
      SELECT * FROM email_stats
      WHERE account_id = ${query.account_id} AND tag = tags.tag
        AND hour >= ${query.from}::timestamptz AND hour < ${query.to}::timestamptz
        ${query.domain === undefined ? sql.literal("") : sql`AND domain = ${query.domain}`}
    ) AS s
    GROUP BY 1, 2, 3, 4, 5
    UNION ALL SELECT NULL, NULL, NULL, ${MORE_TAGS}, 0, 1 FROM tags WHERE nth > ${MAX_TAGS}::int
    ORDER BY 1, 2, 3, 4, 5`
}

/** Jumps from one tag of a range to the next, up to the first beyond the maximum. */
const everyTag = (sql: Sql, account_id: string, ranges: ReadonlyArray<GroupTag.Range>) => sql`
  SELECT first.tag, given.before, 1 AS nth
  FROM unnest(${ranges.map(({ after }) => after)}::text[], ${ranges.map(({ before }) => before)}::text[])
    AS given (after, before) CROSS JOIN LATERAL (
    SELECT tag FROM email_stats
    WHERE account_id = ${account_id} AND tag > given.after AND tag < given.before ORDER BY tag LIMIT 1) AS first
  UNION ALL
  SELECT next.tag, tags.before, tags.nth + 1 FROM tags CROSS JOIN LATERAL (
    SELECT tag FROM email_stats
    WHERE account_id = ${account_id} AND tag > tags.tag AND tag < tags.before ORDER BY tag LIMIT 1) AS next
  WHERE tags.nth <= ${MAX_TAGS}::int`

/**
 * Returns the hours in which mail was last accepted by templates, whatever its version. Each version is one look-up in the
 * counts.
 */
export const templatesUsed = Effect.fn("EmailStats.templatesUsed")(function* (
  account_id: string,
  ids: ReadonlyArray<string>,
) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly tag: string; readonly hour: Timestamp }>`
    WITH RECURSIVE tags AS (${everyTag(sql, account_id, ids.map(GroupTag.versions))})
    SELECT tags.tag, ${Iso.iso(sql, "last.hour")} AS hour FROM tags CROSS JOIN LATERAL (
      SELECT hour FROM email_stats
      WHERE account_id = ${account_id} AND tag = tags.tag AND measure = 'accepted' ORDER BY hour DESC LIMIT 1) AS last
    ORDER BY last.hour`
  return new Map(rows.flatMap(({ hour, tag }) => [[GroupTag.parse(tag)?.template ?? "", hour] as const]))
})

const isMeasure = (measure: string): measure is Measure => (MEASURES as ReadonlyArray<string>).includes(measure)

const rowOf = (countRows: ReadonlyArray<CountRow>): Row => {
  const counts = Object.fromEntries(MEASURES.map((measure) => [measure, 0])) as Record<Measure, number>
  const byMeasure = new Map<string, number>()
  const latencies: Array<readonly [bucket: number, n: number]> = []
  for (const { bucket, measure, n } of countRows) {
    if (measure === LATENCY) latencies.push([bucket, Number(n)])
    else if (isMeasure(measure)) counts[measure] = Number(n)
    else byMeasure.set(measure, Number(n))
  }
  const { at = null, domain = null, tag = null } = countRows[0] ?? {}
  const groups = tag === null ? undefined : GroupTag.parse(tag)
  const recipient_counts = statusCounts(counts.accepted, (status) => byMeasure.get(statusMeasure(status)) ?? 0)
  return {
    at,
    domain,
    tag: groups === undefined ? tag : null,
    ...(groups ?? GroupTag.NONE),
    ...counts,
    recipient_counts,
    latency_ms: latencyOf(latencies),
  }
}

const statusCounts = (accepted: number, countOf: (status: CountedStatus) => number): Row["recipient_counts"] => {
  const counts = EmailStatus.ALL.map((status) => [status, status === "queued" ? 0 : countOf(status)] as const)
  const others = counts.reduce((sum, [, n]) => sum + n, 0)
  return { ...(Object.fromEntries(counts) as Row["recipient_counts"]), queued: accepted - others }
}

/** Expects buckets in ascending order. */
const latencyOf = (buckets: ReadonlyArray<readonly [bucket: number, n: number]>): Row["latency_ms"] => {
  const total = buckets.reduce((sum, [, n]) => sum + n, 0)
  if (total === 0) return null
  const quantile = (share: number): number => {
    let remaining = Math.ceil(total * share)
    for (const [bucket, n] of buckets) {
      remaining -= n
      if (remaining <= 0) return millisOf(bucket)
    }
    return 0
  }
  return { p50: quantile(0.5), p90: quantile(0.9), p95: quantile(0.95), p99: quantile(0.99) }
}
