import { PgTypes } from "@effect/sql-pg"
import type * as DomainState from "@waybill/domain/domain/DomainState"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import type * as Id from "@waybill/domain/values/Id"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import * as Iso from "../postgres/Iso.ts"
import type { WebhookDelivery } from "./WebhookDelivery.ts"
import * as DispatchedDomains from "./DispatchedDomains.ts"
import * as DueRows from "../outbox/DueRows.ts"
import * as Leases from "../outbox/Leases.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"
import * as EmailLogRecord from "../readmodels/emails/EmailLogRecord.ts"
import type { Signing } from "../readmodels/Webhooks.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import { Sql, type Client } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Maximum number of attempts in a delivery's history: one full retry schedule and as many replays. */
export const MAX_HISTORY = 32
/**
 * Size of a history beyond which only its newest attempt keeps an answer, because each has up to 9 KB that the endpoint
 * chooses. Shortly before, a history holds so many bytes and one more attempt.
 */
export const MAX_HISTORY_BYTES = 16 * 1024

/** The history of a delivery `d`, without the oldest attempt and without answers, if it is full. */
export const earlierAttempts = (sql: Client<unknown>) => sql`
  (SELECT coalesce(jsonb_agg(CASE WHEN octet_length(d.history::text) > ${MAX_HISTORY_BYTES}::int
      THEN earlier || '{"response_headers": {}, "response_body": null}'::jsonb ELSE earlier END ORDER BY nth), '[]'::jsonb)
    FROM jsonb_array_elements(d.history) WITH ORDINALITY AS e(earlier, nth)
    WHERE nth > jsonb_array_length(d.history) - ${MAX_HISTORY - 1}::int)`

/** Type of a call that only tests the endpoint; it belongs to no stream. */
export const TEST_TYPE = "webhook.test"

/** One call: its request and response. */
export interface Attempt {
  readonly at: Timestamp
  readonly url: string
  readonly address: string | null
  readonly request_headers: Readonly<Record<string, string>>
  readonly status: number | null
  readonly response_headers: Readonly<Record<string, string>>
  /** First 4 KB. */
  readonly response_body: string | null
  readonly duration_ms: number
  readonly error: string | null
  /** False if nothing was called, such as for a disabled webhook. Such an entry says why and is no attempt. Absent otherwise. */
  readonly called?: false
}

export interface DeliveryRecord {
  readonly object: "webhook_delivery"
  readonly id: Id.WebhookDeliveryId
  readonly webhook_id: Id.WebhookId
  readonly event_id: Id.EventId
  readonly event_type: string
  readonly livemode: boolean
  readonly status: "pending" | "delivered" | "failed"
  readonly attempts: number
  readonly created_at: Timestamp
  readonly next_attempt_at: Timestamp | null
  readonly delivered_at: Timestamp | null
  readonly last_status: number | null
  readonly last_answer: string | null
  readonly email_id: Id.EmailId | null
  readonly history: ReadonlyArray<Attempt>
}

export const insert = <E>(sql: Client<E>, deliveries: ReadonlyArray<WebhookDelivery>) => sql`
  INSERT INTO webhook_deliveries
    (account_id, id, webhook_id, event_id, event_type, livemode, stream_id, stream_version, created_at, next_attempt_at)
  SELECT account_id, id, webhook_id, event_id, event_type, livemode, stream_id, stream_version, created_at, created_at
  FROM jsonb_populate_recordset(NULL::webhook_deliveries, ${PgTypes.jsonb(deliveries)})
  ON CONFLICT (account_id, webhook_id, event_id) DO NOTHING`

/** Characters of a response that a list shows. */
const LAST_ANSWER_CHARS = 200
const LAST_CALL = "jsonb_path_query_array(history, '$[*] ? (!(@.called == false))') -> -1"

/** Time of the next call of a delivery `d`: that of its work, which is put off while the endpoint is at its limit of calls. */
const NEXT_ATTEMPT = `
  coalesce((SELECT o.available_at FROM outbox o WHERE o.id = d.id AND o.clock IS NULL), d.next_attempt_at)`

/** Columns of the record of a delivery `d`. */
export const columns = (sql: Client<unknown>) => sql`
  'webhook_delivery' AS object, id, webhook_id, event_id, event_type, livemode, status, attempts, history,
  (${sql.literal(LAST_CALL)} ->> 'status')::int AS last_status,
  nullif(left(coalesce(${sql.literal(LAST_CALL)} ->> 'error', ${sql.literal(LAST_CALL)} ->> 'response_body',
    CASE WHEN attempts = 0 THEN history -> -1 ->> 'error' END), ${LAST_ANSWER_CHARS}::int), '') AS last_answer,
  CASE WHEN starts_with(stream_id, 'msg_') THEN stream_id END AS email_id,
  ${Iso.iso(sql, "created_at")} AS created_at, ${Iso.iso(sql, NEXT_ATTEMPT)} AS next_attempt_at,
  ${Iso.iso(sql, "delivered_at")} AS delivered_at`

export const find = Effect.fn("WebhookDeliveries.find")(function* (account_id: string, webhook_id: string, id: string) {
  const sql = yield* Sql
  const rows = yield* sql<DeliveryRecord>`
    SELECT ${columns(sql)} FROM webhook_deliveries d
    WHERE account_id = ${account_id} AND webhook_id = ${webhook_id} AND id = ${id}`
  return Option.fromUndefinedOr(rows[0])
})

/** Calls the endpoint again with the same event, starting with the first attempt. */
export const replay = Effect.fn("WebhookDeliveries.replay")(function* (
  account_id: string,
  webhook_id: string,
  id: string,
  now: string,
) {
  const sql = yield* Sql
  const rearmed = Effect.gen(function* () {
    // Locks the outbox row before the delivery, in the same order as `settle`.
    yield* Leases.hold(sql, [id])
    const rows = yield* sql`
      UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = ${now}::timestamptz
      WHERE account_id = ${account_id} AND webhook_id = ${webhook_id} AND id = ${id} RETURNING id`
    if (rows.length > 0) yield* DueRows.arm(sql, [call(account_id, webhook_id, id, now)], now)
    return yield* find(account_id, webhook_id, id)
  })
  return yield* rearmed.pipe(sql.withTransaction, retryDeadlocks)
})

export const MAX_DEADLOCKS = 5
/**
 * Retries after a deadlock: rows inserted after the others were locked may be locked in opposite order by two
 * transactions.
 */
export const retryDeadlocks = <A, R>(effect: Effect.Effect<A, StoreUnavailable, R>) =>
  Effect.retry(effect, { while: ({ why }) => why === "conflict", times: MAX_DEADLOCKS })

/** Calls the endpoint with an example event, to check its availability and signature verification. */
export const sendTest = Effect.fn("WebhookDeliveries.sendTest")(function* (delivery: WebhookDelivery) {
  const sql = yield* Sql
  const { account_id, created_at, id, webhook_id } = delivery
  yield* sql.withTransaction(
    Effect.andThen(
      insert(sql, [delivery]),
      DueRows.arm(sql, [call(account_id, webhook_id, id, created_at)], created_at),
    ),
  )
})

export const call = (account_id: string, webhook_id: string, id: string, now: string) => ({
  id,
  account_id: account_id as WebhookDelivery["account_id"],
  kind: "webhook" as const,
  stream_id: webhook_id,
  available_at: now,
  attempt: 0,
  payload: {},
})

/** Data of one call, read for many calls in one query. */
export interface Dispatch {
  readonly account_id: Id.AccountId
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  /** False for an event of test mail. */
  readonly livemode: boolean
  readonly created_at: string
  readonly attempts: number
  /** Null if the webhook is disabled or deleted. */
  readonly webhook: {
    readonly url: string
    readonly signing: Signing
    readonly svix_headers: boolean
    readonly include_raw: true | null
  } | null
  /** Format that the webhook has now, also if it is disabled. */
  readonly format: WebhookFormat.Format
  readonly event: {
    readonly version: number
    readonly stream: string
    readonly stream_id: string
    readonly type: string
    readonly data: Readonly<Record<string, unknown>>
    readonly meta: RecordedEvents.Meta
    readonly recorded_at: string
  } | null
  readonly email: EmailLogRecord.EmailLogRecord | null
  /** Custom headers of the email. */
  readonly headers: Readonly<Record<string, string>>
  /** The domain as the event left it, or as it was before its removal; null for other events. */
  readonly domain: DomainState.Domain | null
  /** Facts of the suppression that the event removes; null for other events. */
  readonly removed: Readonly<Record<string, unknown>> | null
  /** Whether no earlier event of the email has the type of this one. */
  readonly is_first: boolean
}

interface DispatchRow extends Omit<Dispatch, "domain" | "email" | "event" | "headers" | "is_first"> {
  readonly event: PackedEvent.Row<NonNullable<Dispatch["event"]>> | null
  readonly history: EmailLogRecord.History
}

/** When the event of a call occurred: on real time, or on the test clock of its message. */
export const occurredAt = ({ created_at, email, event }: Pick<Dispatch, "created_at" | "email" | "event">): unknown =>
  typeof email?.["test_clock"] === "string"
    ? (event?.data["at"] ?? event?.data["created_at"] ?? created_at)
    : (event?.recorded_at ?? created_at)

export const dispatches = (sql: Sql, account_ids: ReadonlyArray<string>, ids: ReadonlyArray<string>) =>
  Effect.flatMap(select(sql, account_ids, ids), (rows) => DispatchedDomains.add(sql, rows.map(dispatchOf)))

/** Folds the record of the email, and converts the event to the current schema. */
const dispatchOf = ({ event, history, ...row }: DispatchRow): Dispatch => {
  const message = EmailLogRecord.messageOf(event?.stream_id ?? "", history)
  return {
    ...row,
    domain: null,
    email: message === undefined ? null : EmailLogRecord.of(message, history?.length ?? 0),
    headers: message?.accepted.headers ?? {},
    is_first: event === null || EmailLogRecord.isFirst(history, event.version),
    event: event === null ? null : RecordedEvents.inCurrentShape(PackedEvent.open(event)),
  }
}

const select = (sql: Sql, account_ids: ReadonlyArray<string>, ids: ReadonlyArray<string>) => sql<DispatchRow>`
  SELECT d.account_id, d.id, d.webhook_id, d.event_id, d.event_type, d.livemode, d.attempts, ${Iso.iso(sql, "d.created_at")} AS created_at,
    CASE WHEN w.enabled AND NOT w.removed THEN jsonb_build_object('url', w.record -> 'url', 'signing', w.signing,
      'svix_headers', w.svix_headers, 'include_raw', w.record -> 'include_raw') END AS webhook, coalesce(w.format, ${WebhookFormat.DEFAULT_FORMAT}) AS format, 
    CASE WHEN e.stream = 'email' THEN ${EmailLogRecord.history(sql, sql`owner.id`, sql`d.stream_id`)} END AS history,
    CASE WHEN e.type = 'SuppressionRemoved' THEN (SELECT a.data FROM events a WHERE a.account_id = owner.id
      AND a.stream_id = d.stream_id AND a.type = 'SuppressionAdded' AND a.version < e.version
      ORDER BY a.version DESC LIMIT 1) END AS removed,
    CASE WHEN e.position IS NOT NULL THEN jsonb_build_object('version', e.version, 'stream', e.stream,
      'stream_id', e.stream_id, 'type', e.type, 'data', e.data, 'meta', e.meta, 'packed', e.packed,
      'recorded_at', ${Iso.iso(sql, "e.recorded_at")}) END AS event
  FROM unnest(${account_ids}::text[], ${ids}::text[]) AS wanted(account_id, id)
  JOIN webhook_deliveries d USING (account_id, id)
  CROSS JOIN LATERAL (SELECT CASE WHEN d.livemode THEN d.account_id ELSE test_account_of(d.account_id) END AS id) AS owner
  LEFT JOIN webhooks w ON w.account_id = d.account_id AND w.id = d.webhook_id
  LEFT JOIN events e ON e.account_id = owner.id AND e.stream_id = d.stream_id AND e.version = d.stream_version`
