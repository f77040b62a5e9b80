import * as Account from "@waybill/domain/account/Account"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import type * as WebhookState from "@waybill/domain/webhook/WebhookState"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import { Effect } from "effect"
import type { OutboxRow } from "../outbox/OutboxRow.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"
import * as StrayAccounts from "../routing/StrayAccounts.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"
import * as MixedMessages from "./MixedMessages.ts"
import * as WebhookDeliveries from "../webhooks/WebhookDeliveries.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import * as Epoch from "../postgres/Epoch.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Maximum number of mismatches that are listed; one is already an error. */
const MAX_NAMED = 100

/** Deliveries that a webhook should have according to the log, compared with those it has. */
export interface WebhookBalance {
  readonly account_id: string
  readonly webhook_id: string
  readonly events: number
  readonly deliveries: number
  /** Events without their delivery. */
  readonly missing: ReadonlyArray<string>
  /** Deliveries whose event is missing or different in the log, or that are pending without an outbox row. */
  readonly mismatched: ReadonlyArray<string>
}

interface EnabledPeriod extends Subscribed {
  readonly from: bigint
  readonly to: bigint | null
}

interface Subscribed {
  readonly tags: ReadonlyArray<string>
  /** Which `EmailQueued` it receives: those of scheduled emails, of the others, or of all (`null`). */
  readonly scheduled: boolean | null
  /** Whether it receives only those `SuppressionAdded` whose recipients unsubscribed. */
  readonly unsubscribes: boolean
}

/** Checks in the fiber's cell that each matching event during a webhook's enabled time has exactly one delivery. */
export const webhooks = Effect.fn("Conservation.webhooks")(function* () {
  const sql = yield* Sql
  return yield* withoutTimeout(sql, balances(sql))
})

/** Runs with a time limit for locks instead of one for statements, because reading the whole log may exceed that. */
const withoutTimeout = <A>(sql: Sql, look: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> => {
  const limits = Effect.andThen(sql`SET LOCAL statement_timeout = 0`, sql`SET LOCAL lock_timeout = '10s'`)
  return sql.withTransaction(Effect.andThen(limits, look))
}

const balances = Effect.fnUntraced(function* (sql: Sql) {
  const histories = yield* sql<RecordedEvents.Stored>`
    SELECT account_id, stream_id, position, type, data, meta FROM events WHERE stream = ${Webhook.stream} ORDER BY position`
  const byWebhook = Map.groupBy(
    histories.map(RecordedEvents.inCurrentShape),
    (event) => `${event.account_id} ${event.stream_id}`,
  )
  return yield* Effect.forEach(byWebhook.values(), (history) => balanceOf(sql, history))
})

const balanceOf = Effect.fnUntraced(function* (sql: Sql, history: ReadonlyArray<RecordedEvents.Stored>) {
  const [first] = history
  const account_id = first?.account_id ?? ""
  const webhook_id = first?.stream_id ?? ""
  const periods = enabledPeriods(history)
  const importedUpTo = yield* Epoch.importedUpTo(sql)
  const rows = yield* sql<{ readonly event_id: string; readonly deliveries: bigint }>`
    SELECT e.event_id, count(d.id) AS deliveries
    FROM jsonb_to_recordset(${sql.json(periods.map(asText))})
      AS s("from" bigint, "to" bigint, tags text[], scheduled boolean, unsubscribes boolean)
    JOIN events e ON e.account_id IN (${account_id}, test_account_of(${account_id})) AND e.position > s."from" AND (s."to" IS NULL OR e.position <= s."to")
      AND e.type = ANY(s.tags)
      AND (s.scheduled IS NULL OR e.type <> 'EmailQueued' OR s.scheduled = (${PackedSql.field(sql, "e", "EmailQueued", "scheduled_at")} IS NOT NULL))
      AND (NOT s.unsubscribes OR e.type <> 'SuppressionAdded' OR e.data ->> 'reason' = 'unsubscribe')
      -- Older deliveries may have been removed by retention.
      AND e.recorded_at >= now() - make_interval(days => coalesce(
        (SELECT (record -> 'keeping' ->> 'delivery_days')::int FROM accounts WHERE account_id = ${account_id}),
        ${Account.DEFAULT_DELIVERY_DAYS}::int))
    LEFT JOIN webhook_deliveries d
      ON d.account_id = ${account_id} AND d.webhook_id = ${webhook_id} AND d.event_id = e.event_id
    -- Deliveries are not imported.
    WHERE d.id IS NOT NULL OR e.position > ${importedUpTo}::bigint
    GROUP BY e.event_id`
  const wrong = yield* findMismatched(sql, account_id, webhook_id)
  return {
    account_id,
    webhook_id,
    events: rows.length,
    deliveries: rows.reduce((sum, { deliveries }) => sum + Number(deliveries), 0),
    missing: rows.flatMap(({ event_id, deliveries }) => (deliveries === 0n ? [event_id] : [])),
    mismatched: wrong.map(({ id }) => id),
  } satisfies WebhookBalance
})

const asText = ({ from, to, ...subscribed }: EnabledPeriod) => ({
  ...subscribed,
  from: `${from}`,
  to: to === null ? null : `${to}`,
})

/**
 * Finds deliveries that do not match the log. A replay may deliver events outside a webhook's enabled time, but only
 * events of the log.
 */
const findMismatched = (sql: Sql, account_id: string, webhook_id: string) => sql<{ readonly id: string }>`
  SELECT d.id FROM webhook_deliveries d
  LEFT JOIN events e ON e.account_id = CASE WHEN d.livemode THEN d.account_id ELSE test_account_of(d.account_id) END
    AND e.stream_id = d.stream_id AND e.version = d.stream_version
    AND e.event_id = d.event_id
  LEFT JOIN unnest(${DomainEvent.TAGS}::text[], ${DomainEvent.TAGS.map(DomainEvent.publicType)}::text[]) AS t(tag, type)
    ON t.tag = e.type
  LEFT JOIN outbox o ON o.id = d.id
  WHERE d.account_id = ${account_id} AND d.webhook_id = ${webhook_id}
    AND ((t.type IS DISTINCT FROM d.event_type AND d.event_type <> ${WebhookDeliveries.TEST_TYPE})
      OR (d.status = 'pending') <> (o.id IS NOT NULL))
  ORDER BY d.id LIMIT ${MAX_NAMED}::int`

/** Returns the periods in which a webhook was enabled, with its event types. */
const enabledPeriods = (history: ReadonlyArray<RecordedEvents.Stored>): ReadonlyArray<EnabledPeriod> => {
  const periods: Array<EnabledPeriod> = []
  let state: Webhook.State = Webhook.initial
  let open: (Subscribed & { readonly from: bigint }) | undefined
  for (const { data, position, type } of history) {
    state = Webhook.evolve(state, { _tag: type, ...data } as Webhook.Event)
    if (open !== undefined) periods.push({ ...open, to: position })
    open = state._tag === "Webhook" && state.enabled ? { from: position, ...subscribed(state) } : undefined
  }
  if (open !== undefined) periods.push({ ...open, to: null })
  return periods
}

const subscribed = ({ events, format }: WebhookState.Webhook): Subscribed => {
  const { types, ...selected } = WebhookFormat.select(WebhookFormat.received(format, events))
  return { tags: DomainEvent.TAGS.filter((tag) => types.includes(DomainEvent.publicType(tag))), ...selected }
}

/** Mail of an account on one day: accepted recipients and their states. */
export interface EmailBalance {
  readonly account_id: string
  readonly day: string
  readonly accepted: number
  readonly final: number
  readonly in_flight: number
  /** Messages waiting for delivery without an outbox row, or the reverse. */
  readonly mismatched: number
}

/** Statuses of a recipient that is not final, and of one that waits for delivery. */
const IN_FLIGHT = EmailStatus.ALL.filter((status) => !EmailStatus.isFinal(status))
const WAITING: ReadonlyArray<EmailStatus.Status> = ["queued", "deferred"]
const KINDS = ["to", "cc", "bcc"]
/** Checks in the fiber's cell that recipients accepted according to the log are final or in flight according to the log records. */
export const emails = Effect.fn("Conservation.emails")(function* () {
  const sql = yield* Sql
  return yield* withoutTimeout(sql, emailBalances(sql))
})

const emailBalances = Effect.fnUntraced(function* (sql: Sql) {
  // One snapshot for both statements.
  yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`
  const mixed = yield* MixedMessages.list(sql)
  // Freshly restored tables have no statistics, and Postgres would choose a nested loop over whole tables.
  yield* sql`SET LOCAL enable_nestloop = off`
  return yield* sql<EmailBalance>`
    WITH accepted AS (
      SELECT account_id, left(${PackedSql.field(sql, "", "EmailQueued", "created_at")}, 10) AS day, stream_id,
        (${sql.join(" + ", false)(KINDS.map((kind) => sql`(SELECT count(*)::int FROM ${PackedSql.items(sql, "", "EmailQueued", kind)})`))}) AS n
      FROM events WHERE type = 'EmailQueued'
    ), mixed AS (
      SELECT * FROM unnest(${mixed.map((each) => each.account_id)}::text[], ${mixed.map(({ id }) => id)}::text[],
        ${mixed.map(({ final }) => final)}::int[]) AS m(account_id, id, final)
    ), shown AS (
      SELECT a.*, l.id IS NOT NULL AS is_shown, o.id IS NOT NULL AS is_armed,
        ${EmailFacets.haveRecipient(sql, "l", WAITING)} AS is_waiting,
        coalesce(m.final, CASE WHEN ${EmailFacets.hasStatus(sql, "l", IN_FLIGHT)} THEN 0 ELSE a.n END) AS final
      FROM accepted a
      LEFT JOIN email_log l ON l.account_id = id_key(a.account_id) AND l.id = id_key(a.stream_id)
      LEFT JOIN mixed m ON m.account_id = a.account_id AND m.id = a.stream_id
      LEFT JOIN outbox o ON o.id = a.stream_id AND o.kind = 'delivery'
    )
    SELECT account_id, day, sum(n)::float8 AS accepted, coalesce(sum(final) FILTER (WHERE is_shown), 0)::float8 AS final,
      coalesce(sum(n - final) FILTER (WHERE is_shown), 0)::float8 AS in_flight,
      (count(*) FILTER (WHERE coalesce(is_waiting, false) <> is_armed))::float8 AS mismatched
    FROM shown GROUP BY 1, 2 ORDER BY 1, 2`
})

/** Waiting work of one kind, compared with the outbox. */
export interface WorkBalance {
  readonly kind: OutboxRow["kind"]
  readonly waiting: number
  /** Ids of waiting work without an outbox row. */
  readonly missing: ReadonlyArray<string>
  /** Ids of outbox rows without waiting work. */
  readonly unexpected: ReadonlyArray<string>
}

/**
 * Checks in the fiber's cell that work waiting according to the read models has an outbox row, and no other row exists. Due
 * times are not compared.
 */
export const work = Effect.fn("Conservation.work")(function* () {
  const sql = yield* Sql
  const named = (condition: string) =>
    sql.literal(`to_jsonb(coalesce((array_agg(id ORDER BY id) FILTER (WHERE ${condition}))[1:${MAX_NAMED}], '{}'))`)
  const balances = sql<{ readonly [K in keyof WorkBalance]: WorkBalance[K] }>`
    WITH waiting AS (
      SELECT 'delivery' AS kind, id_of('acc', account_id) AS account_id, id_of('msg', id) AS id FROM email_log l
      WHERE ${EmailFacets.haveRecipient(sql, "l", WAITING)}
      UNION ALL SELECT 'webhook', account_id, id FROM webhook_deliveries WHERE status = 'pending'
      UNION ALL SELECT 'domain_check', account_id, id FROM domains
        WHERE NOT removed AND record ->> 'next_check_at' IS NOT NULL
      UNION ALL SELECT 'test_clock', account_id, id FROM test_clocks
        WHERE NOT removed AND record ->> 'status' = 'advancing'
    ), sides AS (
      SELECT kind, account_id, id, waits IS NOT NULL AS waits, armed IS NOT NULL AS armed
      FROM (SELECT *, true AS waits FROM waiting) AS w
      FULL JOIN (SELECT kind, account_id, id, true AS armed FROM outbox o
        -- A deleted clock has a row until what waits on it has ended.
        WHERE NOT EXISTS (SELECT FROM test_clocks c WHERE c.account_id = o.account_id AND c.id = o.id AND c.removed)) AS o USING (kind, account_id, id)
    )
    SELECT kind, (count(*) FILTER (WHERE waits))::float8 AS waiting,
      ${named("NOT armed")} AS missing, ${named("NOT waits")} AS unexpected
    FROM sides WHERE ${yield* StrayAccounts.isOwn(sql, "account_id")} GROUP BY kind ORDER BY kind`
  return yield* withoutTimeout(sql, Effect.andThen(sql`SET LOCAL enable_nestloop = off`, balances))
})

/** Adds up the work of several cells. */
export const totalWork = (rows: ReadonlyArray<WorkBalance>): ReadonlyArray<WorkBalance> =>
  [...Map.groupBy(rows, ({ kind }) => kind)].map(([kind, ofKind]) => ({
    kind,
    waiting: ofKind.reduce((sum, { waiting }) => sum + waiting, 0),
    missing: ofKind.flatMap(({ missing }) => missing),
    unexpected: ofKind.flatMap(({ unexpected }) => unexpected),
  }))
