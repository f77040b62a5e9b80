import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import * as Table from "@waybill/domain/values/Table"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import * as EmailStats from "./EmailStats.ts"
import * as GroupTag from "./GroupTag.ts"
import * as RecipientChanges from "./RecipientChanges.ts"
import type { Follower } from "../feed/Follower.ts"
import * as RetentionCutoff from "../feed/RetentionCutoff.ts"
import type { Stored } from "../log/RecordedEvents.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import type { Sql } from "../postgres/Sql.ts"

/**
 * Events of a message that its counts depend on. They are ordered by version, so that the last schedule before an event
 * applies to it, and the status of each recipient before an event is known.
 */
interface HistoryEvent extends RecipientChanges.HistoryEvent {
  readonly account_id: string
  readonly stream_id: string
  readonly domain: string | null
  readonly tags: ReadonlyArray<string> | null
  readonly template: GroupTag.Counted | null
  readonly api_key_id: string | null
  /** Number of recipients of each provider; only in the event of the acceptance. */
  readonly providers: ReadonlyMap<string, number>
  readonly test_clock: string | null
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
  types: [...new Set([...Object.keys(EmailStats.MEASURE_OF), ...RecipientChanges.TYPES])],
  key: KEY,
  count: Effect.fnUntraced(function* (sql, events, table = EmailStats.FOLLOWER) {
    const messages = Map.groupBy(events, messageOf)
    const continued = [...messages.values()].filter((counted) => !isFromStart(counted)).flat()
    const histories = Map.groupBy(yield* historyEvents(sql, continued), messageOf)
    const entries = new Map<string, Entry>()
    for (const [message, counted] of messages) {
      const history = isFromStart(counted) ? counted.map(historyEventOf) : histories.get(message)
      for (const entry of entriesOf(counted, history ?? [])) {
        const key = `${messageOf({ ...entry, stream_id: entry.tag })} ${entry.hour} ${entry.domain} ${entry.measure} ${entry.bucket}`
        const existing = entries.get(key)
        if (existing === undefined) entries.set(key, entry)
        else existing.count += entry.count
      }
    }
    const changed = [...entries.values()]
    const [added, removed] = [changed.filter(({ count }) => count > 0), changed.filter(({ count }) => count < 0)]
    if (added.length > 0) yield* add(sql, table, added)
    if (removed.length > 0) yield* subtract(sql, table, removed)
  }),
  inherit: Effect.fnUntraced(function* (sql, table, cutoffs) {
    const beforeCutoff = RetentionCutoff.table(sql, cutoffs)
    yield* sql`
      DELETE FROM ${sql(table)} AS t USING ${beforeCutoff}
      WHERE t.account_id = cutoff.account_id AND t.hour < cutoff.before AND NOT EXISTS (
        SELECT FROM email_stats s WHERE ${sql.and(KEY.map((column) => sql`s.${sql(column)} = t.${sql(column)}`))})`
    yield* sql`
      WITH kept AS (
        SELECT s.account_id, s.tag, s.hour, s.domain, s.measure, s.bucket, s.count
        FROM email_stats s JOIN ${beforeCutoff} ON s.account_id = cutoff.account_id AND s.hour < cutoff.before)
      INSERT INTO ${sql(table)} AS t (account_id, tag, hour, domain, measure, bucket, count)
      SELECT account_id, tag, hour, domain, measure, bucket, count FROM kept
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

const messageOf = ({ account_id, stream_id }: Pick<HistoryEvent, "account_id" | "stream_id">): string =>
  `${account_id} ${stream_id}`

/**
 * Whether these are all events of a message up to the last of them, so that its history is known without a query. This is
 * usual, since most messages are delivered soon after they were accepted.
 */
const isFromStart = (events: ReadonlyArray<Stored>): boolean => events.every(({ version }, nth) => version === nth + 1)

const HISTORY_TYPES = ["EmailQueued", "EmailRescheduled", ...RecipientChanges.TYPES]

const historyEvents = (sql: Sql, events: ReadonlyArray<Stored>) => {
  if (events.length === 0) return Effect.succeed([])
  const messages = [...new Map(events.map((event) => [messageOf(event), event])).values()]
  const rows = sql<PackedEvent.Row<Event>>`
    SELECT e.account_id, e.stream_id, e.version, e.type, ${PackedSql.columns(sql, "e")}
    FROM unnest(${messages.map((each) => each.account_id)}::text[], ${messages.map((each) => each.stream_id)}::text[])
      AS wanted(account_id, stream_id)
    JOIN events e USING (account_id, stream_id)
    WHERE e.type = ANY(${HISTORY_TYPES}::text[]) ORDER BY e.version`
  return Effect.map(rows, (rows) => rows.map((row) => historyEventOf(PackedEvent.open(row))))
}

type Event = Pick<Stored, "account_id" | "stream_id" | "version" | "type" | "data" | "meta">
type Text = string | null
const RECIPIENTS = ["to", "cc", "bcc"]

const historyEventOf = ({ data, meta: _, ...event }: Event): HistoryEvent => ({
  ...event,
  domain: (data["domain"] ?? null) as Text,
  tags: (data["tags"] ?? null) as HistoryEvent["tags"],
  template: (data["template"] ?? null) as HistoryEvent["template"],
  test_clock: (data["test_clock"] ?? null) as Text,
  created_at: (data["created_at"] ?? null) as HistoryEvent["created_at"],
  scheduled_at: (data["scheduled_at"] ?? null) as HistoryEvent["scheduled_at"],
  recipient: (data["recipient"] ?? null) as Text,
  api_key_id: (data["api_key_id"] ?? null) as Text,
  ...recipientsOf(event.type, data),
})

const NO_PROVIDERS: HistoryEvent["providers"] = new Map()

const recipientsOf = (type: string, data: Event["data"]): Pick<HistoryEvent, "recipients" | "providers"> => {
  if (type !== "EmailQueued") return { recipients: null, providers: NO_PROVIDERS }
  const providers = new Map<string, number>()
  let recipients = 0
  for (const kind of RECIPIENTS)
    for (const { address } of data[kind] as ReadonlyArray<{ readonly address: string }>) {
      const provider = MailboxProvider.of(address)
      providers.set(provider, (providers.get(provider) ?? 0) + 1)
      recipients++
    }
  return { recipients, providers }
}

/**
 * Returns what the events of one message add to the counts. Mail on a test clock is not counted: its hours may be years
 * away.
 */
const entriesOf = (events: ReadonlyArray<Stored>, history: ReadonlyArray<HistoryEvent>): ReadonlyArray<Entry> => {
  const [first] = history
  if (first === undefined || first.domain === null || first.created_at === null || first.test_clock !== null) return []
  const { api_key_id, providers, tags, template } = first
  const whole = [
    "",
    ...new Set(tags),
    ...(template === null ? [] : [GroupTag.ofTemplate(template)]),
    ...(api_key_id === null ? [] : [GroupTag.ofKey(api_key_id)]),
  ]
  const message = { ...first, created_at: first.created_at, domain: first.domain }
  const [provider] = providers.keys()
  if (providers.size === 1 && provider !== undefined)
    return countsOf([...whole, GroupTag.ofProvider(provider)], message, events, history)
  return [
    ...countsOf(whole, message, events, history),
    ...[...providers].flatMap(([each, recipients]) =>
      countsOf(
        [GroupTag.ofProvider(each)],
        { ...message, recipients },
        events.filter((event) => isAt(each, event.type, event.data["recipient"])),
        history
          .filter(({ recipient, type }) => isAt(each, type, recipient))
          .map((event) => (event.recipients === null ? event : { ...event, recipients })),
      ),
    ),
  ]
}

/** Whether an event is about a recipient of a provider, or about all of a message. An open may be of anyone. */
const isAt = (provider: string, type: string, recipient: unknown): boolean =>
  typeof recipient === "string"
    ? MailboxProvider.of(recipient) === provider
    : type !== "EmailOpened" && type !== "EmailClicked"

type Accepted = HistoryEvent & { readonly domain: string; readonly created_at: Timestamp.Timestamp }

/** Returns what the events of the recipients of a message add to the counts of some tags. */
const countsOf = (
  tags: ReadonlyArray<string>,
  first: Accepted,
  events: ReadonlyArray<Stored>,
  history: ReadonlyArray<HistoryEvent>,
): ReadonlyArray<Entry> => {
  const { account_id, created_at, domain } = first
  const counts: Array<Omit<Entry, "tag">> = []
  const add = (at: Timestamp.Timestamp, measure: string, count: number, bucket = 0) =>
    counts.push({ account_id, hour: hourOf(at), domain, measure, bucket, count })
  for (const event of events) {
    const measure = Table.at(EmailStats.MEASURE_OF, event.type)
    if (measure === undefined) continue
    const at = (event.data["at"] ?? created_at) as Timestamp.Timestamp
    add(at, measure, event.type === "EmailQueued" ? (first.recipients ?? 0) : 1)
    if (event.type !== "EmailDelivered") continue
    add(at, EmailStats.LATENCY, 1, EmailStats.bucketOf(Timestamp.between(dueAt(history, event, created_at), at)))
  }
  for (const { count, from, to, version } of RecipientChanges.of(history)) {
    if (!events.some((event) => event.version === version)) continue
    if (from !== "queued") add(created_at, EmailStats.statusMeasure(from), -count)
    if (to !== "queued") add(created_at, EmailStats.statusMeasure(to), count)
  }
  return tags.flatMap((tag) => counts.map((count) => ({ ...count, tag })))
}

/** Cuts the text, which is a hundred times cheaper than a date. */
const hourOf = (at: Timestamp.Timestamp): string => `${at.slice(0, HOUR_CHARS)}:00:00.000Z`
const HOUR_CHARS = "2026-11-26T18".length

/** Returns the time from which the delivery of a message is measured: its last schedule before the event. */
const dueAt = (
  history: ReadonlyArray<HistoryEvent>,
  { version }: Stored,
  created_at: Timestamp.Timestamp,
): Timestamp.Timestamp => {
  const scheduled = history.findLast((each) => each.version < version && each.scheduled_at !== null)?.scheduled_at
  return scheduled === null || scheduled === undefined ? created_at : Timestamp.latest(created_at, scheduled)
}

/** Entries as a table `new` with the columns of the counts. */
const rows = (sql: Sql, entries: ReadonlyArray<Entry>) => sql`
  unnest(${entries.map((each) => each.account_id)}::text[], ${entries.map((each) => each.tag)}::text[],
    ${entries.map((each) => each.hour)}::timestamptz[], ${entries.map((each) => each.domain)}::text[],
    ${entries.map((each) => each.measure)}::text[], ${entries.map((each) => each.bucket)}::int[],
    ${entries.map((each) => each.count)}::bigint[]) AS new(account_id, tag, hour, domain, measure, bucket, count)`

/** Adds counts. Only one follower at a time writes here, because its position is locked. */
const add = Effect.fnUntraced(function* (sql: Sql, table: string, entries: ReadonlyArray<Entry>) {
  const [kept] = yield* sql<{ readonly from: string }>`
    SELECT kept_from::text AS from FROM followers WHERE name = ${EmailStats.FOLLOWER}`
  if (kept === undefined) return
  yield* sql`
    INSERT INTO ${sql(table)} AS s (account_id, tag, hour, domain, measure, bucket, count)
    SELECT account_id, tag, hour, domain, measure, bucket, count FROM ${rows(sql, entries)}
    WHERE hour >= ${kept.from}::timestamptz
    ON CONFLICT (account_id, tag, hour, domain, measure, bucket) DO UPDATE SET count = s.count + excluded.count`
})

/** Subtracts counts, and removes rows that reach zero, so that a rebuild leads to the same rows. */
const subtract = Effect.fnUntraced(function* (sql: Sql, table: string, entries: ReadonlyArray<Entry>) {
  const matching = sql.and(KEY.map((column) => sql`s.${sql(column)} = new.${sql(column)}`))
  yield* sql`DELETE FROM ${sql(table)} AS s USING ${rows(sql, entries)} WHERE ${matching} AND s.count + new.count < 1`
  yield* sql`UPDATE ${sql(table)} AS s SET count = s.count + new.count FROM ${rows(sql, entries)}
    WHERE ${matching} AND s.count + new.count >= 1`
})
