import * as Webhook from "@waybill/domain/webhook/Webhook"
import type * as WebhookState from "@waybill/domain/webhook/WebhookState"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import type { WebhookDeliveryId, WebhookId } from "@waybill/domain/values/Id"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Iso from "../postgres/Iso.ts"
import * as ReadModel from "./ReadModel.ts"
import { Sql } from "../postgres/Sql.ts"

export interface WebhookRecord {
  readonly object: "webhook"
  readonly id: WebhookId
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly description: string | null
  readonly format: WebhookFormat.Format
  readonly svix_headers: boolean
  readonly include_raw?: true
  readonly enabled: boolean
  readonly disabled_reason: WebhookState.DisabledReason | null
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

interface Row {
  readonly account_id: string
  readonly id: string
  readonly version: number
  readonly enabled: boolean
  readonly removed: boolean
  /** Event types that are sent to the webhook: its subscriptions as far as its format has such events. */
  readonly events: ReadonlyArray<string>
  readonly format: WebhookFormat.Format
  readonly svix_headers: boolean
  readonly signing: Signing | null
  readonly record: WebhookRecord | null
}

/** Signing secrets of a webhook, newest first. */
export interface Signing {
  readonly secret_ref: string
  readonly previous: ReadonlyArray<WebhookState.Previous>
  /** The password of the URL, if it has one. */
  readonly password_ref?: string
}

export const readModel = ReadModel.make({
  name: "webhooks",
  stream: Webhook.stream,
  key: ["account_id", "id"],
  changes: ["version", "enabled", "removed", "events", "format", "svix_headers", "signing", "record"],
  rows: ({ account_id, stream_id: id, version }, state: Webhook.State): ReadonlyArray<Row> => {
    if (state._tag === "NotCreated") return []
    const key = { account_id, id, version }
    if (state._tag === "Deleted") return [{ ...key, ...DELETED }]
    const { enabled, events, format, password_ref, previous, secret_ref, svix_headers } = state
    const signing: Signing = { secret_ref, previous, ...(password_ref === undefined ? {} : { password_ref }) }
    const received = WebhookFormat.received(format, events)
    const record = recordOf(state)
    return [{ ...key, enabled, removed: false, events: received, format, svix_headers, signing, record }]
  },
})

export const recordOf = (state: Extract<Webhook.State, { readonly _tag: "Webhook" }>) => {
  const { created_at, description, disabled_reason, enabled, events, format, include_raw, svix_headers } = state
  const { updated_at, url } = state
  return {
    object: "webhook" as const,
    id: state.webhook_id,
    url,
    events,
    description,
    format,
    svix_headers,
    ...(include_raw === undefined ? {} : { include_raw }),
    enabled,
    disabled_reason,
    created_at,
    updated_at,
  }
}

const DELETED = {
  enabled: false,
  removed: true,
  events: [],
  format: WebhookFormat.DEFAULT_FORMAT,
  svix_headers: false,
  signing: null,
  record: null,
} as const

/** Minutes without an accepted call after which a webhook is shown as failing: a call is repeated after 5 s and 5 minutes. */
const FAILING_AFTER_MINUTES = 5

/**
 * Newest deliveries of a webhook among which its last call is looked for: many may wait while the endpoint fails. Fewer in a
 * list, which has up to 20 webhooks.
 */
const EXAMINED = { alone: 10_000, listed: 1_000 } as const
/** Newest of these that were called, of which the histories are read: the last call may repeat one of them. */
const LAST_DELIVERIES = 200
/** Characters of a response that a webhook shows. */
const LAST_ANSWER_CHARS = 200

/** A webhook with what its endpoint answered, which no event says. */
export interface ListedWebhook extends WebhookRecord {
  readonly failing_since: Timestamp | null
  readonly last_call: LastCall | null
}

interface LastCall {
  readonly delivery_id: WebhookDeliveryId
  readonly at: Timestamp
  readonly status: number | null
  readonly duration_ms: number
  readonly error: string | null
  readonly answer: string | null
}

/** Selects webhooks. The last call is that of the latest signature: calls on a test clock have the time of the clock. */
const select = (sql: Sql, account_id: string, which: Fragment, examined: number) => sql<{
  readonly record: ListedWebhook
}>`
  SELECT w.record || jsonb_build_object('failing_since', ${Iso.iso(sql, "f.since")}, 'last_call', last.call) AS record
  FROM webhooks w
  LEFT JOIN webhook_failures f ON f.account_id = w.account_id AND f.webhook_id = w.id
    AND f.since <= now() - make_interval(mins => ${FAILING_AFTER_MINUTES}::int)
  LEFT JOIN LATERAL (
    WITH newest AS MATERIALIZED (
      SELECT id, attempts, delivered_at FROM webhook_deliveries d
      WHERE d.account_id = w.account_id AND d.webhook_id = w.id ORDER BY id DESC LIMIT ${examined}::int
    ), candidates AS MATERIALIZED (
      (SELECT id FROM newest WHERE attempts > 0 ORDER BY id DESC LIMIT ${LAST_DELIVERIES}::int)
      UNION (SELECT id FROM newest WHERE delivered_at <= now() ORDER BY delivered_at DESC LIMIT 1)
    )
    SELECT jsonb_build_object('delivery_id', id, 'at', called.at, 'status', call -> 'status',
      'duration_ms', call -> 'duration_ms', 'error', call -> 'error',
      'answer', nullif(left(call ->> 'response_body', ${LAST_ANSWER_CHARS}::int), '')) AS call
    FROM candidates JOIN webhook_deliveries d USING (id)
      CROSS JOIN LATERAL (SELECT jsonb_path_query_array(history, '$[*] ? (!(@.called == false))') -> -1) AS latest (call)
      CROSS JOIN LATERAL (SELECT to_timestamp((call #>> '{request_headers,webhook-timestamp}')::float8)) AS signed (at)
      CROSS JOIN LATERAL (SELECT CASE WHEN signed.at <> date_trunc('second', (call ->> 'at')::timestamptz)
        THEN ${Iso.iso(sql, "signed.at")} ELSE call ->> 'at' END) AS called (at)
    WHERE d.account_id = w.account_id AND call IS NOT NULL ORDER BY called.at DESC LIMIT 1) AS last ON true
  WHERE w.account_id = ${account_id} AND NOT w.removed ${which} ORDER BY w.id DESC`

export const list = Effect.fn("Webhooks.list")(function* (account_id: string) {
  const sql = yield* Sql
  const rows = yield* select(sql, account_id, sql.literal(""), EXAMINED.listed)
  return rows.map((row) => row.record)
})

/** Returns the name of the newest signing secret of a webhook; null if there is no such webhook. */
export const secretRef = Effect.fn("Webhooks.secretRef")(function* (account_id: string, id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly secret_ref: string }>`
    SELECT signing ->> 'secret_ref' AS secret_ref FROM webhooks
    WHERE account_id = ${account_id} AND id = ${id} AND NOT removed`
  return rows[0]?.secret_ref ?? null
})

export const find = Effect.fn("Webhooks.find")(function* (account_id: string, id: string) {
  const sql = yield* Sql
  const rows = yield* select(sql, account_id, sql`AND w.id = ${id}`, EXAMINED.alone)
  return Option.fromUndefinedOr(rows[0]?.record)
})
