import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as PositionSearch from "../feed/PositionSearch.ts"
import * as DueRows from "../outbox/DueRows.ts"
import * as WebhookDeliveries from "./WebhookDeliveries.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import { Sql } from "../postgres/Sql.ts"

/** Maximum number of events of one replay; the next replay continues after them. */
export const MAX_REPLAY_EVENTS = 10_000

export interface Range {
  readonly account_id: AccountId
  readonly webhook_id: string
  readonly created_after: string
  readonly created_before: string
  /** Last position that an earlier replay of the range covered. */
  readonly after_position: bigint
  /** Event tags as in the log, each with its public type. */
  readonly types: ReadonlyArray<{ readonly tag: string; readonly type: string }>
  /** Which `EmailQueued` are replayed: those of scheduled emails, of the others, or of all (`null`). */
  readonly scheduled: boolean | null
  /** Whether only those `SuppressionAdded` are replayed whose recipients unsubscribed. */
  readonly unsubscribes: boolean
  /** Ids for new deliveries, one per event of the replay. */
  readonly ids: ReadonlyArray<string>
  readonly now: string
}

export interface ReplayResult {
  readonly queued: number
  /** Position after which the next replay of the range continues; null if the range is complete. */
  readonly next_position: bigint | null
}

/** An event of the range. */
interface Chosen {
  readonly event_id: string
  readonly position: bigint
  readonly stream_id: string
  readonly version: number
  readonly type: string
  readonly livemode: boolean
}

/** Returns the first events of the range in one mode, by their positions. */
const eventsOf = Effect.fnUntraced(function* (
  sql: Sql,
  { after_position, created_after, created_before, ids, scheduled, types, unsubscribes }: Range,
  account_id: AccountId,
  livemode: boolean,
) {
  const start = { account_id, after_position }
  const { CLOCK_TOLERANCE_MS } = PositionSearch
  const from = yield* PositionSearch.around(sql, start, created_after, -CLOCK_TOLERANCE_MS)
  const to = yield* PositionSearch.around(sql, start, created_before, CLOCK_TOLERANCE_MS)
  return sql`(
    SELECT e.event_id, e.position, e.stream_id, e.version, t.type, ${livemode}::bool AS livemode
    FROM events e
    JOIN unnest(${types.map(({ tag }) => tag)}::text[], ${types.map(({ type }) => type)}::text[]) AS t(tag, type)
      ON e.type = t.tag
    WHERE e.account_id = ${account_id} AND e.position > ${from.atLeast}::bigint
      AND e.position <= ${to.atMost}::bigint AND e.recorded_at >= ${created_after}::timestamptz
      AND e.recorded_at < ${created_before}::timestamptz
      AND (${scheduled}::bool IS NULL OR e.type <> 'EmailQueued'
        OR ${scheduled}::bool = (${PackedSql.field(sql, "e", "EmailQueued", "scheduled_at")} IS NOT NULL))
      AND (NOT ${unsubscribes}::bool OR e.type <> 'SuppressionAdded' OR e.data ->> 'reason' = 'unsubscribe')
    ORDER BY e.position LIMIT ${ids.length + 1}::int)`
})

/**
 * Replays a part of the account's history, live and test mail, also to a webhook younger than the events. Continues by position, because
 * two events may share a timestamp. Events committed meanwhile after that position are delivered as usual.
 */
export const replay = Effect.fn("WebhookReplays.replay")(function* (range: Range) {
  const sql = yield* Sql
  const { account_id, ids, now, webhook_id } = range
  const live = yield* eventsOf(sql, range, account_id, true)
  const test = yield* eventsOf(sql, range, Livemode.testAccountOf(account_id), false)
  const queue = Effect.gen(function* () {
    const chosen = yield* sql<Chosen>`
      SELECT * FROM (${live} UNION ALL ${test}) AS both_modes ORDER BY position LIMIT ${ids.length + 1}::int`
    const replayed = chosen.slice(0, ids.length)
    const more = chosen.length > ids.length
    if (replayed.length === 0) return { queued: 0, next_position: null }
    // Locked before the deliveries and in the order of their ids, as by settling.
    yield* sql`
      SELECT o.id FROM outbox o WHERE o.id = ANY(ARRAY(
        SELECT d.id FROM webhook_deliveries d WHERE d.account_id = ${account_id} AND d.webhook_id = ${webhook_id}
          AND d.event_id = ANY(${replayed.map(({ event_id }) => event_id)}::text[])))
      ORDER BY o.id FOR UPDATE`
    const upserted = yield* sql<{ readonly id: string }>`
      WITH upserted AS (
        INSERT INTO webhook_deliveries AS d
          (account_id, id, webhook_id, event_id, event_type, livemode, stream_id, stream_version, created_at, next_attempt_at)
        SELECT ${account_id}, new.id, ${webhook_id}, new.event_id, new.type, new.livemode, new.stream_id, new.version,
          ${now}::timestamptz, ${now}::timestamptz
        FROM unnest(${ids.slice(0, replayed.length)}::text[], ${replayed.map(({ event_id }) => event_id)}::text[],
          ${replayed.map(({ type }) => type)}::text[], ${replayed.map(({ livemode }) => livemode)}::bool[],
          ${replayed.map(({ stream_id }) => stream_id)}::text[], ${replayed.map(({ version }) => version)}::int[])
          AS new(id, event_id, type, livemode, stream_id, version)
        ON CONFLICT (account_id, webhook_id, event_id)
          DO UPDATE SET status = 'pending', next_attempt_at = excluded.next_attempt_at
        RETURNING d.id)
      SELECT id FROM upserted`
    const calls = upserted.map(({ id }) => WebhookDeliveries.call(account_id, webhook_id, id, now))
    yield* DueRows.arm(sql, calls, now)
    return { queued: upserted.length, next_position: more ? (replayed.at(-1)?.position ?? null) : null }
  })
  return yield* queue.pipe(sql.withTransaction, WebhookDeliveries.retryDeadlocks)
})
