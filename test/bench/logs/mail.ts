import * as Id from "@waybill/domain/values/Id"
import * as Layout from "@waybill/store/packed/Layout"
import * as IdKey from "@waybill/store/postgres/IdKey"
import * as EmailSpan from "@waybill/store/search/EmailSpan"
import * as EmailWords from "@waybill/store/search/EmailWords"
import { Effect } from "effect"
import type { Sql } from "@waybill/store/postgres/Sql"

/** Time between two messages; a million messages cover about a year. */
export const STEP_MS = 30_000
export const BEGAN_MS = Date.UTC(2025, 0, 1)
/** Rows per statement. */
const BATCH = 5_000
/** Rare messages are ten in number, not a share, so that their cost must not grow with the account. */
export const RARE_EVERY = 1_000
export const RARE_UP_TO = 10_000

/** Returns the id of the account's nth message; fixed, so that every run measures the same log. */
export const emailId = (account_id: string, nth: number): Id.EmailId => {
  const random = new Uint8Array(10)
  const view = new DataView(random.buffer)
  view.setUint32(2, Math.imul(nth + 1, 0x9e37_79b1) >>> 0)
  view.setUint32(6, Id.timeOf(account_id) >>> 0)
  return Id.make("EmailId", BEGAN_MS + nth * STEP_MS, random)
}

/** Every so many messages have metadata: an order of their own, and one of two plans. */
export const PAIRS_EVERY = 4

/** Number of recipients; each has more than a page of messages, in a small account too. */
const RECIPIENTS = 99
export const recipient = (nth: number): string => `user${nth % RECIPIENTS}@example.org`

/** The first key sends nearly everything, the second the rare messages. */
export const apiKeyId = (nth: 0 | 1): Id.ApiKeyId => Id.make("ApiKeyId", BEGAN_MS + nth, new Uint8Array(10))

/** SQL of `EmailSubjects.keyOf` for an ASCII subject. */
const SUBJECT_KEY = "term_key('subject:' || lower(subject))"
/** SQL of `EmailFacets.numberOf`. */
const STATUS_NUMBER =
  "array_position(ARRAY['queued', 'deferred', 'sent', 'delivered', 'bounced', 'failed', 'suppressed', 'canceled', 'complained'], status) - 1"

/** SQL of `EmailCodes.of`: 552 is rare. */
const CODE = `CASE status WHEN 'deferred' THEN 451
  WHEN 'bounced' THEN CASE WHEN n < ${RARE_UP_TO} AND n % 940 = 7 THEN 552 ELSE 550 END ELSE 0 END`

/**
 * Writes the messages of an account in bulk, with realistic shares: nearly all are delivered, one domain and a few
 * senders cover most of them, four in five subjects come from templates. Tags `spring` and `autumn` are both common and
 * never on one message; a quarter have metadata; `rare`, `old@`, `complained`, the reply 552, scheduled mail, a failed recipient of delivered mail and "haystack" are on ten messages among the first ten thousand.
 */
export const write = Effect.fnUntraced(function* (
  sql: Sql,
  account_id: string,
  from: number,
  to: number,
  recipientSql = `'user' || n % ${RECIPIENTS} || '@example.org'`,
) {
  for (let start = from; start < to; start += BATCH)
    yield* sql.withTransaction(writeBatch(sql, account_id, start, Math.min(start + BATCH, to), recipientSql))
  for (const table of [
    "events",
    "email_log",
    "email_log_terms",
    "email_subjects",
    "email_words",
    "email_key_spans",
    "outbox",
  ])
    yield* sql`VACUUM (ANALYZE) ${sql(table)}`
})

const writeBatch = Effect.fnUntraced(function* (
  sql: Sql,
  account_id: string,
  from: number,
  to: number,
  recipientSql: string,
) {
  const nths = Array.from({ length: to - from }, (_, i) => from + i)
  const list = nths.map((nth) => emailId(account_id, nth))
  yield* sql`
    CREATE TEMP TABLE mail ON COMMIT DROP AS
    SELECT id, n, n < ${RARE_UP_TO}::int AND n % ${RARE_EVERY}::int = 500 AS is_rare,
      CASE WHEN n < ${RARE_UP_TO}::int AND n % ${RARE_EVERY}::int = 500 THEN 'ana.rare@pm.me'
        ELSE ${sql.literal(recipientSql)} END AS recipient,
      CASE WHEN n < ${RARE_UP_TO}::int AND n % ${RARE_EVERY}::int = 500 THEN ${apiKeyId(1)} ELSE ${apiKeyId(0)} END AS api_key_id,
      CASE WHEN n % 10 < 7 THEN 'acme.test' ELSE 'd' || n % 7 || '.test' END AS domain
    FROM unnest(${nths}::int[], ${list}::text[]) AS numbered(n, id)`
  yield* sql`
    CREATE TEMP TABLE message ON COMMIT DROP AS
    SELECT *,
      CASE WHEN is_rare THEN 'old@' || domain ELSE (ARRAY['hello', 'billing', 'support'])[1 + n % 3] || '@' || domain END
        AS sender,
      CASE WHEN is_rare THEN 'complained' WHEN n % 47 = 7 THEN 'bounced' WHEN n % 97 = 3 THEN 'deferred'
        WHEN n < ${RARE_UP_TO}::int AND n % ${RARE_EVERY}::int = 700 THEN 'queued' ELSE 'delivered' END AS status,
      -- Bits of EmailFacets.ts: scheduled; or delivered with a failed, or with a bounced recipient.
      CASE WHEN n < ${RARE_UP_TO}::int AND n % ${RARE_EVERY}::int = 700 THEN 512
        WHEN n < ${RARE_UP_TO}::int AND n % ${RARE_EVERY}::int = 600 THEN 8 + 32
        WHEN n % 47 <> 7 AND n % 97 <> 3 AND n % 53 = 9 AND NOT is_rare THEN 8 + 16 ELSE 0 END AS facets,
      CASE WHEN is_rare THEN 'A needle in the haystack ' || n WHEN n % 5 = 0 THEN 'Your order #' || n || ' has shipped'
        ELSE (ARRAY['Your receipt', 'Welcome to Acme', 'Reset your password', 'Invoice for last month'])[1 + n % 4] END
        AS subject,
      CASE WHEN is_rare THEN ARRAY['rare'] ELSE '{}' END || CASE WHEN n % 10 < 4 THEN ARRAY['receipt'] ELSE '{}' END
        || CASE WHEN n % 2 = 0 THEN ARRAY['spring'] ELSE ARRAY['autumn'] END AS tags,
      CASE WHEN n % ${PAIRS_EVERY}::int = 0
        THEN json_build_object('order', n::text, 'plan', (ARRAY['free', 'pro'])[1 + n / ${PAIRS_EVERY}::int % 2]) END AS metadata
    FROM mail`
  const account = IdKey.of(account_id)
  yield* sql`
    INSERT INTO email_log
    SELECT ${account}::uuid, id_key(id), term_key('from:' || sender), ${sql.literal(SUBJECT_KEY)}, term_key('to:' || recipient),
      (SELECT min(term_key('tag:' || tag)) FROM unnest(tags) AS tag), (term_key('domain:' || domain) >> 32)::int, 2,
      ${sql.literal(STATUS_NUMBER)}, CASE WHEN status IN ('queued', 'delivered') THEN 0 ELSE ${sql.literal(STATUS_NUMBER)} END,
      facets, ${sql.literal(CODE)}
    FROM message ORDER BY id`
  yield* sql`
    INSERT INTO email_log_terms
    SELECT ${account}::uuid, further.term, id_key(id) FROM message CROSS JOIN LATERAL (
      (SELECT term_key('tag:' || tag) AS term FROM unnest(tags) AS tag ORDER BY 1 OFFSET 1)
      UNION ALL SELECT term_key('metadata:' || key || E'\\n' || value) FROM json_each_text(metadata)) AS further
    ORDER BY 2, 3`
  yield* sql`
    INSERT INTO email_subjects SELECT DISTINCT ${account}::uuid, ${sql.literal(SUBJECT_KEY)}, lower(subject) FROM message
    ON CONFLICT DO NOTHING`
  // The words and spans that the follower of a search writes.
  yield* sql`
    INSERT INTO email_words SELECT DISTINCT ${account}::uuid, 'to:' || recipient, recipient FROM message
    UNION SELECT DISTINCT ${account}::uuid, 'from:' || sender, sender FROM message
    UNION SELECT DISTINCT ${account}::uuid, 'tag:' || tag, tag FROM message CROSS JOIN unnest(tags) AS tag
    UNION SELECT ${account}::uuid, 'name:' || name, '' FROM unnest(ARRAY['order', 'plan']) AS name
    ON CONFLICT DO NOTHING`
  yield* sql`
    INSERT INTO email_key_spans SELECT DISTINCT ${account}::uuid, id_key(api_key_id), span FROM message
    JOIN unnest(${nths}::int[], ${list.map(EmailSpan.of)}::int[]) AS spans(n, span) USING (n)
    ON CONFLICT DO NOTHING`
  yield* sql`
    INSERT INTO outbox (id, account_id, kind, stream_id, available_at, attempt, payload)
    SELECT id, ${account_id}, 'delivery', id, now(), CASE status WHEN 'queued' THEN 0 ELSE 1 END,
      CASE status WHEN 'queued' THEN '{}' ELSE '{"deferred": true}' END::jsonb
    FROM message WHERE status IN ('queued', 'deferred')`
  const began = sql`to_timestamp(${BEGAN_MS / 1000}::float8 + n * ${STEP_MS / 1000}::float8)`
  const at = sql`to_char(${began} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const usual = (tokens: number) => sql.literal(Array.from({ length: tokens }, () => "''").join(", "))
  // Packed as the service does it, in the order of the layouts.
  yield* sql`
    INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, packed, recorded_at)
    SELECT nextval('event_position'), ${account_id}, id, 1, 'email', 'EmailQueued', 'evt_1' || id, array_to_string(ARRAY[
      ${usual(Layout.HEAD.length)}, ${at}, sender, recipient, ${usual(3)}, subject, '', to_json(tags)::text,
      CASE WHEN facets = 512 THEN '2126-01-01T00:00:00.000Z' ELSE '' END, domain, 'dom_' || right(id, 26), '', '', api_key_id,
      md5(id) || md5(id) || 'ht', (5000 + n % 1000)::text, ${usual(8)}, coalesce(metadata::text, '')], E'\t'), ${began}
    FROM message ORDER BY id`
  yield* sql`
    INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, packed, recorded_at)
    SELECT nextval('event_position'), ${account_id}, id, 2, 'email', CASE status WHEN 'bounced' THEN 'EmailBounced' WHEN 'deferred' THEN 'EmailDeferred'
        WHEN 'complained' THEN 'EmailComplained' ELSE 'EmailDelivered' END, 'evt_2' || id, array_to_string(ARRAY[
      ${usual(Layout.HEAD.length)}, ${at}, recipient] || CASE status WHEN 'complained' THEN ARRAY['', '', '']
        ELSE ARRAY['1', CASE (${sql.literal(CODE)}) WHEN 0 THEN 250 ELSE (${sql.literal(CODE)}) END::text, '',
            'Queued as ' || md5(id), 'mx1.example.org', 'TLSv1.3', '120', '']
          || CASE status WHEN 'bounced' THEN ARRAY['hard', '', ''] WHEN 'deferred' THEN ARRAY['2126-01-01T00:00:00.000Z']
            ELSE '{}' END END, E'\t'), ${began}
    FROM message WHERE status <> 'queued' ORDER BY id`
  yield* sql`UPDATE followers SET position = (SELECT max(position) FROM events) WHERE name = ${EmailWords.follower.name}`
})
