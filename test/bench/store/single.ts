import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import { keyOf } from "@waybill/store/readmodels/ReadModel"
import * as EmailLog from "@waybill/store/readmodels/emails/EmailLog"
import * as EmailSubjects from "@waybill/store/readmodels/emails/EmailSubjects"
import { system } from "@waybill/store/log/Provenance"
import type { Recorded } from "@waybill/store/log/RecordedEvents"
import { randomBytes } from "node:crypto"
import type pg from "pg"
import { message } from "./message.ts"

/**
 * Commits as a straightforward program does without an event store: one transaction per commit with the same effect,
 * prepared statements, single values instead of arrays, and nothing built that is not sent.
 */
export const single = (pool: pg.Pool, account_id: Id.AccountId) => async (): Promise<void> => {
  const { data, event, id } = message()
  const now = new Date().toISOString()
  const event_id = Id.make("EventId", Date.now(), randomBytes(10))
  const meta = JSON.stringify({ ...system, schema_version: 1 })
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    await client.query(PUBLISH)
    await client.query({ ...SUBSCRIPTIONS, values: [account_id] })
    await client.query({ ...EVENT, values: [account_id, id, event_id, JSON.stringify(data), meta, now] })
    const row = { position: 0n, event_id, account_id, stream_id: id, stream: Email.stream, version: 1 }
    const recorded = { ...row, event, meta: { ...system, schema_version: 1 }, recorded_at: now }
    await consequences(client, recorded, Email.evolve(Email.initial, event))
    await client.query("COMMIT")
  } catch (cause) {
    await client.query("ROLLBACK")
    throw cause
  } finally {
    client.release()
  }
}

const consequences = async (client: pg.PoolClient, recorded: Recorded, state: Email.State): Promise<void> => {
  const { account_id, recorded_at: now, stream_id: id } = recorded
  const [row] = EmailLog.readModel.rows(recorded, state)
  const terms = EmailLog.terms.rows(recorded, state).map(({ term }) => term)
  const [subject] = EmailSubjects.readModel.rows(recorded, state)
  if (row === undefined || subject === undefined) throw new Error("a message has its rows")
  const log: Row = { ...row, ...keyOf(EmailLog.readModel, row) }
  await client.query({ ...LOG, values: LOG_COLUMNS.map((column) => log[column]) })
  await client.query({ ...TERMS, values: [log["account_id"], terms, log["id"]] })
  await client.query({ ...SUBJECT, values: [log["account_id"], subject.term, subject.folded] })
  await client.query({ ...USAGE, values: [account_id, now.slice(0, "2026-11".length)] })
  await client.query({ ...OUTBOX, values: [id, account_id, now] })
  await client.query(WAKE)
}
type Row = Readonly<Record<string, unknown>>

const PUBLISH = {
  name: "publish",
  text: `SELECT 1 FROM (SELECT pg_advisory_xact_lock_shared((22338::bigint << 48)
    | CASE WHEN is_called THEN last_value ELSE last_value - 1 END) FROM event_position) AS promise`,
}
const SUBSCRIPTIONS = {
  name: "subscriptions",
  text: "SELECT account_id, id, events FROM webhooks WHERE account_id = $1 AND enabled AND NOT removed ORDER BY id",
}
const EVENT = {
  name: "event",
  text: `INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
    VALUES ($1, $2, 1, 'email', 'EmailQueued', $3, $4, $5, $6)`,
}
const LOG_COLUMNS = [
  "account_id",
  "id",
  "from_key",
  "subject_key",
  "to_key",
  "tag_key",
  "domain_key",
  "version",
  "status",
  "listed",
  "facets",
  "code",
]
const LOG = {
  name: "log",
  text: `INSERT INTO email_log AS t (${LOG_COLUMNS.join(", ")})
    VALUES (${LOG_COLUMNS.map((_, nth) => `$${nth + 1}`).join(", ")}) ON CONFLICT (account_id, id) DO UPDATE
    SET version = excluded.version, status = excluded.status
    WHERE t.version < excluded.version`,
}
const TERMS = {
  name: "terms",
  text: `INSERT INTO email_log_terms (account_id, term, email_id) SELECT $1, unnest($2::bigint[]), $3
    ON CONFLICT DO NOTHING`,
}
const SUBJECT = {
  name: "subject",
  text: `INSERT INTO email_subjects (account_id, term, folded) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
}
const USAGE = {
  name: "usage",
  text: "UPDATE monthly_usage SET accepted = greatest(0, accepted + 1) WHERE account_id = $1 AND month = $2",
}
const OUTBOX = {
  name: "outbox",
  text: `INSERT INTO outbox (id, account_id, kind, stream_id, available_at, attempt, payload, ready)
    VALUES ($1, $2, 'delivery', $1, $3, 0, '{}', true) ON CONFLICT (id) DO UPDATE SET available_at = excluded.available_at`,
}
const WAKE = { name: "wake", text: "SELECT id FROM graphile_worker.add_job('drain_deliveries')" }
