import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import type { Fragment, Statement } from "effect/sql/Statement"
import type { ContentRow, Write } from "./LogStorage.ts"
import * as Outbox from "../outbox/Outbox.ts"
import { type ReadModel, rowsOf } from "../readmodels/ReadModel.ts"
import type { Stored } from "./RecordedEvents.ts"
import * as WebhookDeliveries from "../webhooks/WebhookDeliveries.ts"

const jsonb = (values: ReadonlyArray<unknown>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.jsonb))
const bytea = (values: ReadonlyArray<Uint8Array>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.bytea))

/**
 * Returns the writes of a batch: one statement with a part for each table, after the changes of outbox rows that the parts
 * write as well. Postgres does only one of two writes to the same row in one statement, so a lease is released before its
 * row is armed again.
 */
export const statements = (
  sql: PgClient.PgClient,
  readModels: ReadonlyArray<ReadModel>,
  write: Write,
): ReadonlyArray<Statement<object>> => {
  const { arm, disarm, release } = write.outbox
  const disarmed = new Set(disarm)
  const released = release.filter((id) => !disarmed.has(id))
  const parts: Array<Fragment> = [events(sql, write.events)]
  for (const model of readModels) {
    const rows = rowsOf(model, write.changedStreams)
    if (rows.length > 0) parts.push(model.write(sql, rows))
  }
  if (write.content.length > 0) parts.push(content(sql, write.content))
  if (write.usage.length > 0) parts.push(usage(sql, write.usage))
  if (write.deliveries.length > 0) parts.push(WebhookDeliveries.insert(sql, write.deliveries))
  if (arm.length > 0) parts.push(Outbox.rows(sql, arm, write.now))
  const ctes = parts.map((part, nth) => sql`${sql.literal(`part_${nth}`)} AS (${part})`)
  return [
    ...(released.length > 0 ? [Outbox.release(sql, released)] : []),
    ...(disarm.length > 0 ? [Outbox.disarm(sql, disarm)] : []),
    sql`WITH ${sql.csv(ctes)} ${Outbox.wakeAll(sql, Outbox.due(arm, write.now))}`,
  ]
}

const events = (sql: PgClient.PgClient, rows: ReadonlyArray<Stored>) => sql`
  INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
  SELECT * FROM unnest(${rows.map((row) => row.account_id)}::text[], ${rows.map((row) => row.stream_id)}::text[],
    ${rows.map((row) => row.version)}::int[], ${rows.map((row) => row.stream)}::text[],
    ${rows.map((row) => row.type)}::text[], ${rows.map((row) => row.event_id)}::text[],
    ${jsonb(rows.map((row) => row.data))}, ${jsonb(rows.map((row) => row.meta))},
    ${rows.map((row) => row.recorded_at)}::timestamptz[])`

const content = (sql: PgClient.PgClient, rows: ReadonlyArray<ContentRow>) => sql`
  INSERT INTO content AS c (account_id, sha256, bytes, expires_on)
  SELECT DISTINCT ON (1, 2) * FROM unnest(${rows.map((row) => row.account_id)}::text[],
    ${rows.map((row) => row.sha256)}::text[], ${bytea(rows.map((row) => row.bytes))},
    ${rows.map((row) => row.expires_on)}::date[]) AS new(account_id, sha256, bytes, expires_on)
  ORDER BY 1, 2, 4 DESC
  ON CONFLICT (account_id, sha256) DO UPDATE SET expires_on = excluded.expires_on
    WHERE c.expires_on < excluded.expires_on`

const usage = (sql: PgClient.PgClient, entries: Write["usage"]) => sql`
  UPDATE monthly_usage u SET accepted = greatest(0, u.accepted + d.delta)
  FROM unnest(${entries.map((entry) => entry.account_id)}::text[], ${entries.map((entry) => entry.month)}::text[],
    ${entries.map((entry) => entry.delta)}::bigint[]) AS d(account_id, month, delta)
  WHERE u.account_id = d.account_id AND u.month = d.month`
