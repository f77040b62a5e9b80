import * as Account from "@waybill/domain/account/Account"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Context, Effect, Metric } from "effect"
import * as Accounts from "../readmodels/Accounts.ts"
import * as EmailLog from "../readmodels/emails/EmailLog.ts"
import * as EmailWords from "../search/EmailWords.ts"
import * as IdKey from "../postgres/IdKey.ts"
import { rowsOf } from "../rebuild/fill/StreamFold.ts"
import * as ReadModels from "../commit/ReadModels.ts"
import * as Feed from "../feed/Feed.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"
import * as TestAccounts from "../feed/TestAccounts.ts"
import * as StreamRemoval from "./StreamRemoval.ts"
import * as UnreadReports from "../content/UnreadReports.ts"
import * as WebhookFailures from "../webhooks/WebhookFailures.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import * as Leaves from "../transparency/Leaves.ts"
import { Sql } from "../postgres/Sql.ts"

/** Messages that one transaction removes with all their data. The account is locked for that long. */
export const BATCH_MESSAGES = 200
/** Webhook deliveries that one statement removes. */
export const BATCH_DELIVERIES = 1_000

const postponed = Metric.counter("waybill_retention_waits_total", {
  description: "Retention runs of this process postponed because a read model was being rebuilt",
  incremental: true,
})
postponed.updateUnsafe(0, Context.empty())

export interface Removed {
  readonly messages: number
  readonly events: number
  readonly deliveries: number
}

/**
 * Removes what accounts no longer retain. A message's history is removed completely, with its rows in every read model,
 * once the message is final and unchanged for long enough, so the remaining events still fold to the remaining rows.
 * Runs daily.
 */
export const expire = Effect.fn("Retention.expire")(function* () {
  const now = yield* Clock.currentTimeMillis
  const removed = { messages: 0, events: 0, deliveries: 0 }
  let rebuild: StreamRemoval.RebuildUnderWay | undefined
  for (const { id, keeping } of yield* Accounts.list()) {
    if (keeping.log_days !== null && rebuild === undefined)
      rebuild = yield* messages(id, now - keeping.log_days * Timestamp.DAY, removed)
    removed.deliveries += yield* deliveries(id, now - keeping.delivery_days * Timestamp.DAY)
  }
  for (const account_id of yield* TestAccounts.all())
    rebuild ??= yield* messages(account_id, now - Account.TEST_LOG_DAYS * Timestamp.DAY, removed)
  yield* WebhookFailures.deleteOfRemoved()
  if (rebuild !== undefined) {
    yield* Metric.update(postponed, 1)
    yield* Effect.logWarning("retention postponed: expired histories stay until the next run", {
      message: rebuild.message,
    })
  }
  return removed satisfies Removed
})

/**
 * Error for a table lock that could not be had in time, see `StreamRows.DROP_WAIT`. Deliveries of other accounts are
 * not affected.
 */
const STILL_RUNNING = new StreamRemoval.RebuildUnderWay({
  message: "a statement of an interrupted rebuild is still running: wait until it ends",
})

/**
 * Removes messages of an account and adds them to `removed`. Returns the rebuild that prevents the rest, if there is
 * one.
 */
const messages = Effect.fnUntraced(function* (
  account_id: string,
  before: number,
  removed: { messages: number; events: number },
) {
  const sql = yield* Sql
  let after: IdKey.IdKey | undefined = IdKey.LOWEST
  while (after !== undefined) {
    const batch: Batch | StreamRemoval.RebuildUnderWay = yield* sql
      .withTransaction(removeMessages(sql, account_id, before, after))
      .pipe(
        Effect.catchIf(
          (error) => error._tag === "StoreUnavailable" && error.why === "timed-out",
          () => Effect.fail(STILL_RUNNING),
        ),
        Effect.catchTag("RebuildUnderWay", (rebuild) => Effect.succeed(rebuild)),
      )
    if (batch instanceof StreamRemoval.RebuildUnderWay) return batch
    removed.messages += batch.messages
    removed.events += batch.events
    after = batch.last
  }
  yield* EmailWords.removeSpans(sql, IdKey.of(account_id))
  return undefined
})

interface Batch {
  /** Last message examined; undefined if there are no more. */
  readonly last: IdKey.IdKey | undefined
  readonly messages: number
  readonly events: number
}

const removeMessages = Effect.fnUntraced(function* (sql: Sql, account_id: string, before: number, after: IdKey.IdKey) {
  const owner = Livemode.liveAccountOf(account_id)
  const tables = yield* StreamRemoval.takeAccount(sql, account_id, [Email.stream])
  const account = IdKey.of(account_id)
  const candidates = yield* sql<{ readonly key: string; readonly id: string; readonly expired: boolean }>`
    SELECT l.key, l.id, (
          SELECT max(${PackedSql.occurredAt(sql, "e")}) FROM events e
          WHERE e.account_id = ${account_id} AND e.stream_id = l.id) < ${Timestamp.fromMillis(before)}
        AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = l.id AND o.account_id = ${account_id})
        AND NOT EXISTS (
          SELECT 1 FROM events e CROSS JOIN webhooks w JOIN webhook_deliveries d
            ON d.account_id = ${owner} AND d.webhook_id = w.id AND d.event_id = e.event_id AND d.status = 'pending'
          WHERE e.account_id = ${account_id} AND e.stream_id = l.id AND w.account_id = ${owner})
        -- Followers must have read the events first.
        AND NOT EXISTS (
          SELECT 1 FROM events e WHERE e.account_id = ${account_id} AND e.stream_id = l.id
            AND e.position > (SELECT min(position) FROM followers)) AS expired
    FROM (
      SELECT id AS key, id_of('msg', id) AS id FROM email_log
      WHERE account_id = ${account}::uuid AND id > ${after}::uuid AND id < ${IdKey.of(Id.lowest("EmailId", before))}::uuid
      ORDER BY email_log.id LIMIT ${BATCH_MESSAGES}::int) AS l
    ORDER BY l.key`
  const expired = candidates.flatMap(({ id, expired }) => (expired ? [id] : []))
  const last = candidates.length < BATCH_MESSAGES ? undefined : candidates.at(-1)?.key
  if (expired.length === 0) return { last, messages: 0, events: 0 }
  const tablesOf = yield* tables
  yield* sql`
    DELETE FROM webhook_deliveries d USING webhooks w, events e
    WHERE e.account_id = ${account_id} AND e.stream_id = ANY(${expired}::text[]) AND w.account_id = ${owner}
      AND d.account_id = ${owner} AND d.webhook_id = w.id AND d.event_id = e.event_id`
  const events = yield* sql<PackedEvent.Row>`
    WITH removed AS (
      DELETE FROM events WHERE account_id = ${account_id} AND stream_id = ANY(${expired}::text[]) RETURNING *)
    SELECT ${Feed.columns(sql)} FROM removed`
  yield* Leaves.remove(
    sql,
    expired.map((stream_id) => Leaves.keyOf({ account_id, stream_id })),
  )
  const histories = [
    ...Map.groupBy(
      events.toSorted((a, b) => a.version - b.version),
      ({ stream_id }) => stream_id,
    ).values(),
  ].map((stream) => stream.map((stored) => RecordedEvents.decode(Email, PackedEvent.open(stored))))
  for (const model of ReadModels.readModels.filter(({ stream }) => stream === Email.stream)) {
    const rows = histories.flatMap((history) => rowsOf(model, Email, history))
    for (const table of tablesOf(model)) yield* StreamRemoval.remove(sql, model, table, rows)
  }
  const words = histories.flatMap((history) => {
    const message = RecordedEvents.fold(Email, history) as Email.State
    return message._tag === "NotCreated" ? [] : EmailLog.wordsOf(message)
  })
  yield* EmailWords.removeUnused(sql, account, [...new Set(words)])
  yield* UnreadReports.removeOf(sql, account_id, expired)
  return { last, messages: expired.length, events: events.length }
})

const deliveries = Effect.fnUntraced(function* (account_id: string, before: number) {
  const sql = yield* Sql
  let removed = 0
  for (let done = BATCH_DELIVERIES; done === BATCH_DELIVERIES; removed += done) {
    done = (yield* sql`
      DELETE FROM webhook_deliveries WHERE account_id = ${account_id} AND id = ANY(ARRAY(
        SELECT id FROM webhook_deliveries
        WHERE account_id = ${account_id} AND id < ${Id.lowest("WebhookDeliveryId", before)} AND status <> 'pending'
        ORDER BY id LIMIT ${BATCH_DELIVERIES}::int))
      RETURNING id`).length
  }
  return removed
})
