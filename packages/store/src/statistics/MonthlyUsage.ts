import * as Email from "@waybill/domain/email/Email"
import * as UsageChange from "@waybill/domain/email/UsageChange"
import { Effect } from "effect"
import type { Counts } from "../feed/Counts.ts"
import * as RetentionCutoff from "../feed/RetentionCutoff.ts"
import { streamKey } from "../log/StreamRef.ts"
import * as LogReads from "../feed/LogReads.ts"
import { eventInPlace } from "../log/eventInPlace.ts"
import type { Stored } from "../log/RecordedEvents.ts"
import type { Sql } from "../postgres/Sql.ts"

const NAME = "monthly_usage"

interface Entry {
  readonly account_id: string
  readonly month: string
  delta: number
}

/**
 * Usage of accounts per month. Commits that accept or cancel mail write it under the row's lock; a rebuild counts it
 * again from the log. A month that was queried has a row even if nothing was accepted.
 */
export const counts: Counts = {
  name: NAME,
  by: "commits",
  types: UsageChange.TAGS,
  key: ["account_id", "month"],
  count: Effect.fnUntraced(function* (sql, events, table = NAME) {
    const entries = new Map<string, Entry>()
    for (const { account_id, delta, month } of yield* changes(sql, events)) {
      const key = `${account_id} ${month}`
      const entry = entries.get(key) ?? { account_id, month, delta: 0 }
      entry.delta += delta
      entries.set(key, entry)
    }
    if (entries.size > 0) yield* add(sql, table, [...entries.values()])
  }),
  // Adds usage whose events retention removed: a month keeps at least its live count.
  inherit: Effect.fnUntraced(function* (sql, table, cutoffs) {
    yield* sql`
      WITH kept AS (
        SELECT u.account_id, u.month, u.accepted FROM monthly_usage u JOIN ${beforeCutoff(sql, cutoffs)})
      INSERT INTO ${sql(table)} AS t (account_id, month, accepted) SELECT account_id, month, accepted FROM kept
      ON CONFLICT (account_id, month) DO UPDATE SET accepted = excluded.accepted WHERE t.accepted < excluded.accepted`
    yield* sql`
      WITH zero AS (SELECT account_id, month FROM monthly_usage WHERE accepted = 0)
      INSERT INTO ${sql(table)} (account_id, month, accepted) SELECT account_id, month, 0 FROM zero ON CONFLICT DO NOTHING`
    yield* sql`
      DELETE FROM ${sql(table)} AS t WHERE accepted = 0 AND NOT EXISTS (
        SELECT FROM monthly_usage u WHERE u.account_id = t.account_id AND u.month = t.month)`
  }),
  unverifiable: Effect.fnUntraced(function* (sql, cutoffs) {
    const [row] = yield* sql<{ readonly n: number }>`
      SELECT count(*)::float8 AS n FROM monthly_usage u JOIN ${beforeCutoff(sql, cutoffs)}`
    return row?.n ?? 0
  }),
}

/**
 * Months that began before the account's log is complete. Compared as text, because a row may hold an invalid month.
 */
const beforeCutoff = (sql: Sql, cutoffs: ReadonlyArray<RetentionCutoff.RetentionCutoff>) => sql`
  ${RetentionCutoff.table(sql, cutoffs)} ON u.account_id = cutoff.account_id
    AND u.month || '-01T00' < to_char(cutoff.before AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24')`

/** Returns what each event adds to its month, by the same fold as commits use. */
const changes = Effect.fnUntraced(function* (sql: Sql, events: ReadonlyArray<Stored>) {
  const byStream = Map.groupBy(events, streamKey)
  const incomplete = [...byStream.values()].flatMap((each) => (isComplete(each) ? [] : each.slice(0, 1)))
  const histories =
    incomplete.length === 0 ? new Map<string, Array<Stored>>() : yield* LogReads.readStreams(sql, incomplete)
  return [...byStream].flatMap(([key, counted]) => changesOf(histories.get(key) ?? counted, counted))
})

/**
 * Whether these events are the complete beginning of a stream, so that no earlier ones need to be read. True for most.
 */
const isComplete = (events: ReadonlyArray<Stored>): boolean => events.every(({ version }, nth) => version === nth + 1)

const changesOf = (history: ReadonlyArray<Stored>, counted: ReadonlyArray<Stored>) => {
  const positions = new Set(counted.map(({ position }) => position))
  let state: Email.State = Email.initial
  return history.flatMap(({ account_id, data, meta, position, type }) => {
    const event = eventInPlace(Email, type, meta.schema_version, { ...data }) as Email.Event
    state = Email.evolve(state, event)
    if (state._tag === "NotCreated" || !positions.has(position)) return []
    return UsageChange.changesOf(event, state).map((change) => ({ account_id, ...change }))
  })
}

const add = (sql: Sql, table: string, entries: ReadonlyArray<Entry>) => sql`
  INSERT INTO ${sql(table)} AS t (account_id, month, accepted)
  SELECT * FROM unnest(${entries.map((each) => each.account_id)}::text[],
    ${entries.map((each) => each.month)}::text[], ${entries.map((each) => each.delta)}::bigint[])
  ON CONFLICT (account_id, month) DO UPDATE SET accepted = t.accepted + excluded.accepted`
