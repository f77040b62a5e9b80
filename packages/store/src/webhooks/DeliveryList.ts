import { Effect } from "effect"
import * as PackedEvent from "../packed/PackedEvent.ts"
import { Sql } from "../postgres/Sql.ts"
import * as WebhookDeliveries from "./WebhookDeliveries.ts"

type Record = WebhookDeliveries.DeliveryRecord

interface Query {
  readonly account_id: string
  readonly webhook_id: string
  readonly limit: number
  /** Id of the last delivery of the previous page; newest first. */
  readonly after?: string
  readonly status?: Record["status"]
  /** Whether the endpoint was called for them. */
  readonly called?: boolean
  /** The email that their events are about. */
  readonly email_id?: string
}

/** Deliveries that a page of a filter examines, or newest events of an email. The page of a rare filter ends early, with a cursor. */
export const MAX_EXAMINED = 10_000

interface Page {
  readonly rows: ReadonlyArray<Record>
  readonly next_cursor: string | null
}

export const list = Effect.fn("DeliveryList.list")(function* (query: Query) {
  const sql = yield* Sql
  const { account_id, after, called, email_id, limit, status, webhook_id } = query
  const none = sql.literal("")
  const ofWebhook = sql`account_id = ${account_id} AND webhook_id = ${webhook_id}
    ${after === undefined ? none : sql`AND id < ${after}`}`
  // Each event by the unique index of webhook and event. There is no index by email.
  const source =
    email_id === undefined
      ? sql`webhook_deliveries d`
      : sql`(SELECT event_id AS event FROM events
          WHERE account_id IN (${account_id}, test_account_of(${account_id})) AND stream_id = ${email_id}
          ORDER BY version DESC LIMIT ${MAX_EXAMINED}::int) AS of_email
        CROSS JOIN LATERAL (SELECT * FROM webhook_deliveries
          WHERE account_id = ${account_id} AND webhook_id = ${webhook_id} AND event_id = event LIMIT 1) AS d`
  const [last] =
    email_id !== undefined || (status === undefined && called === undefined)
      ? []
      : yield* sql<{ readonly id: string }>`
          SELECT id FROM webhook_deliveries WHERE ${ofWebhook} ORDER BY id DESC OFFSET ${MAX_EXAMINED - 1}::int LIMIT 1`
  const found = yield* sql<Record>`
    SELECT ${WebhookDeliveries.columns(sql)} FROM ${source}
    WHERE ${ofWebhook} ${status === undefined ? none : sql`AND status = ${status}`}
      ${called === undefined ? none : sql`AND (attempts > 0) = ${called}`}
      ${last === undefined ? none : sql`AND id >= ${last.id}`}
    ORDER BY id DESC LIMIT ${limit + 1}::int`
  const rows = found.slice(0, limit)
  const next_cursor = found.length > limit ? (rows.at(-1)?.id ?? null) : (last?.id ?? null)
  return { rows, next_cursor } satisfies Page
})

interface EventRow {
  readonly id: string
  readonly stream_id: string
  readonly type: string
  readonly data: PackedEvent.Row["data"]
  readonly meta: PackedEvent.Row["meta"]
  readonly packed: PackedEvent.Row["packed"]
}

/** Returns the recipients that events of emails are about, by the deliveries of the events. */
export const recipients = Effect.fn("DeliveryList.recipients")(function* (
  account_id: string,
  ids: ReadonlyArray<string>,
) {
  if (ids.length === 0) return new Map<string, string>()
  const sql = yield* Sql
  const rows = yield* sql<EventRow>`
    SELECT d.id, e.stream_id, e.type, e.data, e.meta, e.packed FROM webhook_deliveries d
    JOIN events e ON e.account_id = CASE WHEN d.livemode THEN d.account_id ELSE test_account_of(d.account_id) END
      AND e.stream_id = d.stream_id AND e.version = d.stream_version
    WHERE d.account_id = ${account_id} AND d.id = ANY(${ids}::text[]) AND e.stream = 'email'`
  return new Map(
    rows.flatMap((row): ReadonlyArray<readonly [string, string]> => {
      const { data } = PackedEvent.open(row)
      const [first] = ["recipient", "to", "cc", "bcc"].flatMap((name) => data[name] ?? [])
      return typeof first === "string" ? [[row.id, first]] : []
    }),
  )
})
