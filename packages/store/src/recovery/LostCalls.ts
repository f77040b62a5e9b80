import { Duration, Effect, Random } from "effect"
import * as Iso from "../postgres/Iso.ts"
import * as Outbox from "../outbox/Outbox.ts"
import * as WakeUps from "../outbox/WakeUps.ts"
import * as WebhookDeliveries from "../webhooks/WebhookDeliveries.ts"
import { Sql } from "../postgres/Sql.ts"

/** Query of the rows whose call is repeated, with its time and the losses so far. */
const retried = (sql: Sql) => sql`
  SELECT id, ready AND until IS NULL AS ready, coalesce(until, available_at) AS available_at, payload || losses AS payload
  FROM decided WHERE seconds IS NOT NULL`

/** Error recorded in place of a response. */
const LOST = "given up: every worker that made this call ended before it recorded a response"

/**
 * Releases calls whose worker died. The row counts how often that happened: each loss has its pause, and after the last
 * one the call is given up, because it may be what crashes its workers.
 */
export const free = Effect.fn("LostCalls.free")(function* (
  rows: ReadonlyArray<{ readonly id: string; readonly token: string }>,
  pauses: ReadonlyArray<Duration.Duration>,
) {
  if (rows.length === 0) return
  const sql = yield* Sql
  const factors = yield* Effect.forEach(rows, () => Effect.map(Random.next, (random) => 0.5 + random))
  const statement = sql`
    WITH held AS MATERIALIZED (
      SELECT o.id, o.account_id, o.stream_id, o.ready, o.available_at, o.payload, mine.factor, 1 + coalesce((o.payload ->> 'lost')::int, 0) AS lost
      FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ token }) => token)}::text[], ${factors}::float8[])
        AS mine(id, token, factor)
      JOIN outbox o ON o.id = mine.id AND o.lease_token = mine.token ORDER BY o.id FOR UPDATE OF o
    ), paused AS (
      SELECT *, (${pauses.map(Duration.toSeconds)}::float8[])[lost] AS seconds FROM held
    ), decided AS MATERIALIZED (
      SELECT *, CASE WHEN seconds > 0 THEN now() + make_interval(secs => seconds * factor) END AS until,
        jsonb_build_object('lost', lost) AS losses
      FROM paused
    ), given_up AS (
      ${Outbox.settle(sql, sql`SELECT id FROM decided WHERE seconds IS NULL`)}
    ), retried AS (
      ${Outbox.release(sql, retried(sql), ["ready", "available_at", "payload"])}
    ), waiting AS (
      UPDATE webhook_deliveries d SET next_attempt_at = j.until
      FROM decided j WHERE d.account_id = j.account_id AND d.id = j.id AND j.until IS NOT NULL
    ), lost AS MATERIALIZED (
      SELECT j.account_id, j.id, jsonb_build_object('at', ${Iso.iso(sql, "now()")}, 'url', coalesce(w.record ->> 'url', ''),
        'address', NULL, 'request_headers', '{}'::jsonb, 'status', NULL, 'response_headers', '{}'::jsonb,
        'response_body', NULL, 'duration_ms', 0, 'error', ${LOST}::text) AS attempt
      FROM decided j LEFT JOIN webhooks w ON w.account_id = j.account_id AND w.id = j.stream_id
      WHERE j.seconds IS NULL
    )
    UPDATE webhook_deliveries d
    SET status = 'failed', next_attempt_at = NULL, attempts = d.attempts + 1,
      history = ${WebhookDeliveries.earlierAttempts(sql)} || lost.attempt
    FROM lost WHERE d.account_id = lost.account_id AND d.id = lost.id`
  yield* sql.withTransaction(Effect.andThen(statement, WakeUps.wake(sql, ["webhook"])))
})
