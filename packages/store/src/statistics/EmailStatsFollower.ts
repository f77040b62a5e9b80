import type { PgClient } from "@effect/sql-pg"
import type * as Email from "@waybill/domain/email/Email"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import * as EmailStats from "./EmailStats.ts"
import type { Follower } from "../feed/Follower.ts"
import * as RetentionCutoff from "../feed/RetentionCutoff.ts"
import type { Stored } from "../commit/RecordedEvents.ts"

/** Measure that each type of event counts for. */
const MEASURE_OF = {
  EmailQueued: "accepted",
  EmailDelivered: "delivered",
  EmailDeferred: "deferred",
  EmailBounced: "bounced",
  EmailFailed: "failed",
  EmailSuppressed: "suppressed",
  EmailComplained: "complained",
  EmailOpened: "opened",
  EmailClicked: "clicked",
} as const satisfies { readonly [T in Email.Event["_tag"]]?: EmailStats.Measure }
type CountedTag = keyof typeof MEASURE_OF

/**
 * Events of a message that its counts depend on. They are ordered by version, so that the last schedule before an event
 * applies to it.
 */
interface QueuedEvent {
  readonly account_id: string
  readonly stream_id: string
  readonly version: number
  readonly domain: string | null
  readonly tags: ReadonlyArray<string> | null
  readonly created_at: Timestamp.Timestamp | null
  readonly scheduled_at: Timestamp.Timestamp | null
}

interface Entry {
  readonly account_id: string
  readonly tag: string
  readonly hour: string
  readonly domain: string
  readonly measure: string
  readonly bucket: number
  count: number
}

export const KEY = ["account_id", "tag", "hour", "domain", "measure", "bucket"] as const

export const follower: Follower = {
  name: EmailStats.FOLLOWER,
  by: "follower",
  types: Object.keys(MEASURE_OF),
  key: KEY,
  count: Effect.fnUntraced(function* (sql, events, table = EmailStats.FOLLOWER) {
    const queued = Map.groupBy(yield* queuedEvents(sql, events), messageOf)
    const entries = new Map<string, Entry>()
    for (const event of events) {
      for (const entry of entriesOf(event, queued.get(messageOf(event)) ?? [])) {
        const key = `${messageOf({ ...entry, stream_id: entry.tag })} ${entry.hour} ${entry.domain} ${entry.measure} ${entry.bucket}`
        const existing = entries.get(key)
        if (existing === undefined) entries.set(key, entry)
        else existing.count += entry.count
      }
    }
    if (entries.size > 0) yield* add(sql, table, [...entries.values()])
  }),
  inherit: Effect.fnUntraced(function* (sql, table, cutoffs) {
    const beforeCutoff = RetentionCutoff.table(sql, cutoffs)
    yield* sql`
      DELETE FROM ${sql(table)} AS t USING ${beforeCutoff}
      WHERE t.account_id = cutoff.account_id AND t.hour < cutoff.before AND NOT EXISTS (
        SELECT FROM email_stats s WHERE ${sql.and(KEY.map((column) => sql`s.${sql(column)} = t.${sql(column)}`))})`
    yield* sql`
      INSERT INTO ${sql(table)} AS t (account_id, tag, hour, domain, measure, bucket, count)
      SELECT s.account_id, s.tag, s.hour, s.domain, s.measure, s.bucket, s.count
      FROM email_stats s JOIN ${beforeCutoff} ON s.account_id = cutoff.account_id AND s.hour < cutoff.before
      ON CONFLICT (account_id, tag, hour, domain, measure, bucket) DO UPDATE SET count = excluded.count
      WHERE t.count <> excluded.count`
    yield* sql`DELETE FROM ${sql(table)} WHERE hour < (SELECT kept_from FROM followers WHERE name = ${EmailStats.FOLLOWER})`
  }),
  unverifiable: Effect.fnUntraced(function* (sql, cutoffs) {
    const [row] = yield* sql<{ readonly n: number }>`
      SELECT count(*)::float8 AS n FROM email_stats s
      JOIN ${RetentionCutoff.table(sql, cutoffs)} ON s.account_id = cutoff.account_id AND s.hour < cutoff.before`
    return row?.n ?? 0
  }),
}

const messageOf = ({ account_id, stream_id }: Pick<QueuedEvent, "account_id" | "stream_id">): string =>
  `${account_id} ${stream_id}`

const queuedEvents = (sql: PgClient.PgClient, events: ReadonlyArray<Stored>) => {
  const messages = [...new Map(events.map((event) => [messageOf(event), event])).values()]
  return sql<QueuedEvent>`
    SELECT e.account_id, e.stream_id, e.version, e.data ->> 'domain' AS domain, e.data -> 'tags' AS tags,
      e.data ->> 'created_at' AS created_at, e.data ->> 'scheduled_at' AS scheduled_at
    FROM unnest(${messages.map((each) => each.account_id)}::text[], ${messages.map((each) => each.stream_id)}::text[])
      AS wanted(account_id, stream_id)
    JOIN events e USING (account_id, stream_id)
    WHERE e.type IN ('EmailQueued', 'EmailRescheduled') ORDER BY e.version`
}

const entriesOf = (event: Stored, queued: ReadonlyArray<QueuedEvent>): ReadonlyArray<Entry> => {
  const [first] = queued
  if (first === undefined || first.domain === null || first.created_at === null) return []
  const { account_id, domain } = { account_id: event.account_id, domain: first.domain }
  const type = event.type as CountedTag
  const at = (event.data["at"] ?? first.created_at) as Timestamp.Timestamp
  const hour = Timestamp.fromMillis(Math.floor(Timestamp.toMillis(at) / Timestamp.HOUR) * Timestamp.HOUR)
  const entry = (tag: string, measure: string, bucket: number, count: number): Entry => ({
    account_id,
    tag,
    hour,
    domain,
    measure,
    bucket,
    count,
  })
  const count = type === "EmailQueued" ? recipients(event.data) : 1
  const due = queued.findLast(
    ({ scheduled_at, version }) => version < event.version && scheduled_at !== null,
  )?.scheduled_at
  const began = due === null || due === undefined ? first.created_at : Timestamp.latest(first.created_at, due)
  return ["", ...new Set(first.tags)].flatMap((tag) => [
    entry(tag, MEASURE_OF[type], 0, count),
    ...(type === "EmailDelivered"
      ? [entry(tag, EmailStats.LATENCY, EmailStats.bucketOf(Timestamp.between(began, at)), 1)]
      : []),
  ])
}

const recipients = (data: Stored["data"]): number =>
  ["to", "cc", "bcc"].reduce((sum, kind) => {
    const list = data[kind]
    return sum + (Array.isArray(list) ? list.length : 0)
  }, 0)

/** Adds counts. Only one follower at a time writes here, because its position is locked. */
const add = (sql: PgClient.PgClient, table: string, entries: ReadonlyArray<Entry>) => sql`
  INSERT INTO ${sql(table)} AS s (account_id, tag, hour, domain, measure, bucket, count)
  SELECT account_id, tag, hour, domain, measure, bucket, count
  FROM unnest(${entries.map((each) => each.account_id)}::text[], ${entries.map((each) => each.tag)}::text[],
    ${entries.map((each) => each.hour)}::timestamptz[], ${entries.map((each) => each.domain)}::text[],
    ${entries.map((each) => each.measure)}::text[], ${entries.map((each) => each.bucket)}::int[],
    ${entries.map((each) => each.count)}::bigint[]) AS new(account_id, tag, hour, domain, measure, bucket, count)
  WHERE count > 0 AND hour >= (SELECT kept_from FROM followers WHERE name = ${EmailStats.FOLLOWER})
  ON CONFLICT (account_id, tag, hour, domain, measure, bucket) DO UPDATE SET count = s.count + excluded.count`
