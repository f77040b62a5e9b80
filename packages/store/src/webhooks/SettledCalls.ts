import { PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import * as Outbox from "../outbox/Outbox.ts"
import { FAR_FUTURE } from "../outbox/OutboxRow.ts"
import * as WebhookDeliveries from "./WebhookDeliveries.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Result of a call. */
export interface Settled {
  readonly account_id: string
  readonly id: string
  readonly status: WebhookDeliveries.DeliveryRecord["status"]
  readonly next_attempt_at: string | null
  readonly delivered_at: string | null
  readonly attempt: WebhookDeliveries.Attempt
  /** Lease under which the call was made, and the time its row was due. */
  readonly token: string
  readonly armed_at: string
}

/**
 * Records results of calls and reschedules or removes their outbox rows, and returns the ids of the deliveries. Results
 * whose lease was lost are ignored, because the call that replaced them will report. A row that was rescheduled during its
 * call, by a replay, is called again. Calls on a test clock do not count towards the failures that disable a webhook.
 */
export const settle = (sql: Sql, settled: ReadonlyArray<Settled>) =>
  settled.every(({ status }) => status === "delivered")
    ? record(sql, settled)
    : sql.withTransaction(Effect.tap(record(sql, settled), (recorded) => noteFailing(sql, settled, recorded)))

interface Recorded {
  readonly id: string
  readonly account_id: string
  readonly webhook_id: string
  /** Whether the result counts towards the failures of its webhook. */
  readonly counts: boolean
}

const record = (sql: Sql, settled: ReadonlyArray<Settled>) => sql<Recorded>`
  WITH seen AS (
    SELECT * FROM jsonb_to_recordset(${PgTypes.jsonb(settled)}) AS s(account_id text, id text, status text,
      next_attempt_at timestamptz, delivered_at timestamptz, attempt jsonb, token text, armed_at timestamptz)
  ), held AS MATERIALIZED (
    SELECT s.*, o.clock, o.available_at, o.clock_due, o.attempt AS attempts, date_trunc('milliseconds', o.available_at) > s.armed_at AS rearmed
    FROM outbox o JOIN seen s ON s.id = o.id AND s.token = o.lease_token ORDER BY o.id FOR UPDATE OF o
  ), done AS (
    ${Outbox.settle(sql, sql`SELECT id FROM held WHERE next_attempt_at IS NULL AND NOT rearmed`)}
  ), later AS (
    ${Outbox.release(sql, later(sql), ["ready", "available_at", "clock_due", "attempt"])}
  ), successful AS MATERIALIZED (
    SELECT DISTINCT d.account_id, d.webhook_id
    FROM held s JOIN webhook_deliveries d ON d.account_id = s.account_id AND d.id = s.id
    WHERE s.clock IS NULL AND s.status = 'delivered' ORDER BY 1, 2
  ), working AS (
    DELETE FROM webhook_failures f USING successful
    WHERE f.account_id = successful.account_id AND f.webhook_id = successful.webhook_id
  )
  UPDATE webhook_deliveries d
  SET status = CASE WHEN s.rearmed THEN 'pending' ELSE s.status END, attempts = d.attempts + (CASE WHEN s.attempt -> 'called' = 'false' THEN 0 ELSE 1 END),
    next_attempt_at = CASE WHEN s.rearmed THEN d.next_attempt_at ELSE s.next_attempt_at END,
    delivered_at = coalesce(s.delivered_at, d.delivered_at),
    history = ${WebhookDeliveries.earlierAttempts(sql)} || s.attempt
  FROM held s
  WHERE d.account_id = s.account_id AND d.id = s.id
  RETURNING d.id, d.account_id, d.webhook_id, s.clock IS NULL AND NOT EXISTS (
    SELECT 1 FROM webhooks w WHERE w.account_id = d.account_id AND w.id = d.webhook_id AND w.removed) AS counts`

/** Query of the rows whose call is repeated, with its time. */
const later = (sql: Sql) => sql`
  SELECT id, false AS ready,
    CASE WHEN rearmed THEN available_at WHEN clock IS NULL THEN next_attempt_at ELSE ${FAR_FUTURE}::timestamptz END AS available_at,
    CASE WHEN clock IS NULL OR rearmed THEN clock_due ELSE next_attempt_at END AS clock_due,
    CASE WHEN rearmed THEN attempts ELSE attempts + 1 END AS attempt
  FROM held WHERE rearmed OR next_attempt_at IS NOT NULL`

/** Notes since when webhooks fail of which no call was successful. */
const noteFailing = Effect.fnUntraced(function* (
  sql: Sql,
  settled: ReadonlyArray<Settled>,
  recorded: ReadonlyArray<Recorded>,
) {
  const results = new Map(settled.map((each) => [each.id, each]))
  const calls = recorded.flatMap((row) => {
    const result = results.get(row.id)
    return row.counts && result !== undefined ? [{ ...row, at: result.attempt.at, status: result.status }] : []
  })
  const webhooks = Map.groupBy(calls, ({ account_id, webhook_id }) => `${account_id} ${webhook_id}`)
  const failing = [...webhooks.values()]
    .filter((ofWebhook) => ofWebhook.every(({ status }) => status !== "delivered"))
    .flatMap((ofWebhook) => ofWebhook.toSorted((a, b) => (a.at < b.at ? -1 : 1)).slice(0, 1))
  if (failing.length === 0) return
  yield* sql`
    INSERT INTO webhook_failures (account_id, webhook_id, since)
    SELECT * FROM unnest(${failing.map(({ account_id }) => account_id)}::text[],
      ${failing.map(({ webhook_id }) => webhook_id)}::text[], ${failing.map(({ at }) => at)}::timestamptz[])
    ORDER BY 1, 2 ON CONFLICT DO NOTHING`
})
