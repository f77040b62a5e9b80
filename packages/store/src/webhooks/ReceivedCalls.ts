import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId, InboundId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as DueRows from "../outbox/DueRows.ts"
import * as WebhookDeliveries from "./WebhookDeliveries.ts"
import { Sql } from "../postgres/Sql.ts"

/** A call that tells a webhook of a received mail. */
export interface ReceivedCall {
  readonly inbound_id: string
  readonly webhook_id: string
  readonly status: "pending" | "delivered" | "failed"
}

/** Lists the calls for mails, as far as they are kept. */
export const list = Effect.fn("ReceivedCalls.list")(function* (account_id: AccountId, ids: ReadonlyArray<InboundId>) {
  const sql = yield* Sql
  return yield* sql<ReceivedCall>`
    SELECT e.stream_id AS inbound_id, d.webhook_id, d.status
    FROM events e
    JOIN webhooks w ON w.account_id = ${Livemode.liveAccountOf(account_id)}
    JOIN webhook_deliveries d ON d.account_id = w.account_id AND d.webhook_id = w.id AND d.event_id = e.event_id
    WHERE e.account_id = ${account_id} AND e.stream_id = ANY(${ids}::text[]) AND e.version = 1`
})

/** A webhook to call again, and the id of a call that it has not had before. */
export interface Again {
  readonly webhook_id: string
  readonly id: string
}

/** Calls webhooks for a mail once more, with the event of its arrival. */
export const repeat = Effect.fn("ReceivedCalls.repeat")(function* (
  account_id: AccountId,
  inbound_id: InboundId,
  webhooks: ReadonlyArray<Again>,
  now: string,
) {
  const sql = yield* Sql
  const owner = Livemode.liveAccountOf(account_id)
  const work = Effect.gen(function* () {
    // Locked before the deliveries and in the order of their ids, as by settling.
    yield* sql`
      SELECT o.id FROM outbox o WHERE o.id = ANY(ARRAY(
        SELECT d.id FROM webhook_deliveries d
        JOIN events e ON e.account_id = ${account_id} AND e.stream_id = ${inbound_id} AND e.version = 1
        WHERE d.account_id = ${owner} AND d.webhook_id = ANY(${webhooks.map(({ webhook_id }) => webhook_id)}::text[])
          AND d.event_id = e.event_id))
      ORDER BY o.id FOR UPDATE`
    const queued = yield* sql<{ readonly id: string; readonly webhook_id: string }>`
      INSERT INTO webhook_deliveries AS d
        (account_id, id, webhook_id, event_id, event_type, livemode, stream_id, stream_version, created_at, next_attempt_at)
      SELECT ${owner}, new.id, new.webhook_id, e.event_id, 'email.received', ${Livemode.isLive(account_id)}::bool,
        e.stream_id, e.version, ${now}::timestamptz, ${now}::timestamptz
      FROM unnest(${webhooks.map(({ webhook_id }) => webhook_id)}::text[], ${webhooks.map(({ id }) => id)}::text[])
        AS new(webhook_id, id)
      JOIN events e ON e.account_id = ${account_id} AND e.stream_id = ${inbound_id} AND e.version = 1
      ON CONFLICT (account_id, webhook_id, event_id)
        DO UPDATE SET status = 'pending', next_attempt_at = excluded.next_attempt_at
      RETURNING d.id, d.webhook_id`
    const calls = queued.map(({ id, webhook_id }) => WebhookDeliveries.call(owner, webhook_id, id, now))
    yield* DueRows.arm(sql, calls, now)
  })
  if (webhooks.length > 0) yield* work.pipe(sql.withTransaction, WebhookDeliveries.retryDeadlocks)
})
