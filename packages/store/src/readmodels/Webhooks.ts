import { PgClient } from "@effect/sql-pg"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import { Effect, Option } from "effect"
import * as ReadModel from "./ReadModel.ts"

export interface WebhookRecord {
  readonly object: "webhook"
  readonly id: string
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly description: string | null
  readonly enabled: boolean
  readonly disabled_reason: Webhook.DisabledReason | null
  readonly created_at: string
  readonly updated_at: string
}

interface Row {
  readonly account_id: string
  readonly id: string
  readonly version: number
  readonly enabled: boolean
  readonly removed: boolean
  readonly events: ReadonlyArray<string>
  readonly signing: Signing | null
  readonly record: WebhookRecord | null
}

/** Signing secrets of a webhook. `older` exists only if a secret was rotated more than once within a day. */
export interface Signing {
  readonly secret_ref: string
  readonly previous: Webhook.Previous | null
  readonly older?: ReadonlyArray<Webhook.Previous>
}

/** Returns the references of the secrets that sign a call at `now`, newest first. */
export const signingSecrets = ({ older = [], previous, secret_ref }: Signing, now: Timestamp.Timestamp) =>
  Webhook.signingSecrets({ secret_ref, previous: previous === null ? [] : [previous, ...older] }, now)

export const readModel = ReadModel.make({
  name: "webhooks",
  stream: Webhook.stream,
  key: ["account_id", "id"],
  changes: ["version", "enabled", "removed", "events", "signing", "record"],
  rows: ({ account_id, stream_id: id, version }, state: Webhook.State): ReadonlyArray<Row> => {
    if (state._tag === "NotCreated") return []
    const key = { account_id, id, version }
    if (state._tag === "Deleted")
      return [{ ...key, enabled: false, removed: true, events: [], signing: null, record: null }]
    const { created_at, description, disabled_reason, enabled, events, updated_at, url, webhook_id } = state
    const record: WebhookRecord = {
      object: "webhook",
      id: webhook_id,
      url,
      events,
      description,
      enabled,
      disabled_reason,
      created_at,
      updated_at,
    }
    const [previous = null, ...older] = state.previous
    const signing = { secret_ref: state.secret_ref, previous, ...(older.length === 0 ? {} : { older }) }
    return [{ ...key, enabled, removed: false, events, signing, record }]
  },
})

export const list = Effect.fn("Webhooks.list")(function* (account_id: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<{ readonly record: WebhookRecord }>`
    SELECT record FROM webhooks WHERE account_id = ${account_id} AND NOT removed ORDER BY id DESC`)
  return rows.map((row) => row.record)
})

export const find = Effect.fn("Webhooks.find")(function* (account_id: string, id: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<{ readonly record: WebhookRecord }>`
    SELECT record FROM webhooks WHERE account_id = ${account_id} AND id = ${id} AND NOT removed`)
  return Option.fromUndefinedOr(rows[0]?.record)
})
