/** Looks up a key and counts the request in its rate window. */
export const ADMIT = {
  name: "admit",
  text: `WITH key AS (
      SELECT k.account_id, k.id, coalesce((a.record -> 'granted' ->> 'send')::int, 1000) AS allowed
      FROM api_keys k JOIN accounts a USING (account_id)
      WHERE k.hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    ), counted AS (
      INSERT INTO rate_windows AS w (bucket, window_start, count)
      SELECT id || '/send', date_trunc('minute', now()), 1 FROM key
      ON CONFLICT (bucket, window_start) DO UPDATE SET count = w.count + 1 RETURNING count
    ) SELECT account_id, allowed, count FROM key, counted`,
}

export const APPEND = {
  name: "append",
  text: `INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
    VALUES ($1, $2, 1, 'email', 'EmailQueued', $2, $3, '{}', now())`,
}

export const WAKE = { name: "wake", text: "SELECT id FROM graphile_worker.add_job('drain_deliveries')" }

/** Looks up the keys of all waiting requests and counts them, one row per key. */
export const ADMIT_ALL = {
  name: "admit_all",
  text: `WITH key AS (
      SELECT k.hash, k.account_id, k.id, wanted.requests, coalesce((a.record -> 'granted' ->> 'send')::int, 1000) AS allowed
      FROM unnest($1::text[], $2::int[]) AS wanted(hash, requests) JOIN api_keys k USING (hash)
      JOIN accounts a USING (account_id)
      WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    ), counted AS (
      INSERT INTO rate_windows AS w (bucket, window_start, count)
      SELECT id || '/send', date_trunc('minute', now()), requests FROM key ORDER BY id
      ON CONFLICT (bucket, window_start) DO UPDATE SET count = w.count + excluded.count RETURNING bucket, count
    ) SELECT hash, account_id, allowed, count FROM key JOIN counted ON bucket = id || '/send'`,
}

export const APPEND_ALL = {
  name: "append_all",
  text: `INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
    SELECT a, id, 1, 'email', 'EmailQueued', id, data, '{}', now()
    FROM unnest($1::text[], $2::text[], $3::jsonb[]) AS new(a, id, data)`,
}

/** Adds one job per request in one call. */
export const ADD_ALL = {
  name: "add_all",
  text: `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
    SELECT ROW('drain_deliveries', json_build_object('id', id), NULL, NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec
    FROM unnest($1::text[]) AS new(id)))`,
}

/** Inserts the rows that Waybill inserts for a message, in one statement as Waybill does, and wakes workers once. */
export const WRITE_ALL = {
  name: "write_all",
  text: `WITH new AS MATERIALIZED (
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::uuid[], $7::bigint[], $8::text[])
        AS row(account_id, id, packed, hash, body, key, number, subject)
    ), event AS (
      INSERT INTO events (account_id, stream_id, version, stream, type, event_id, packed, recorded_at)
      SELECT account_id, id, 1, 'email', 'EmailQueued', id, packed, now() FROM new
    ), template AS (
      INSERT INTO content_templates (account_id, id, bytes) SELECT DISTINCT account_id, $9::bytea, $10::bytea FROM new
      ON CONFLICT DO NOTHING
    ), content AS (
      INSERT INTO content (account_id, sha256, bytes, compressed, template, expires_on)
      SELECT account_id, hash, body, true, $9::bytea, current_date + 30 FROM new ON CONFLICT DO NOTHING
    ), logged AS (
      INSERT INTO email_log (account_id, id, from_key, subject_key, to_key, tag_key, domain_key, version, status)
      SELECT md5(account_id)::uuid, key, 1, number, number % 10000, 2, 3, 1, 0 FROM new
    ), term AS (
      INSERT INTO email_log_terms (account_id, term, email_id) SELECT md5(account_id)::uuid, 4, key FROM new
    ), subject AS (
      INSERT INTO email_subjects (account_id, term, folded) SELECT md5(account_id)::uuid, number, subject FROM new
      ON CONFLICT DO NOTHING
    ), usage AS (
      INSERT INTO monthly_usage AS u (account_id, month, accepted)
      SELECT account_id, to_char(now(), 'YYYY-MM'), count(*) FROM new GROUP BY 1
      ON CONFLICT (account_id, month) DO UPDATE SET accepted = u.accepted + excluded.accepted
    ), armed AS (
      INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload)
      SELECT id, account_id, 'delivery', id, now(), true, '{}' FROM new
    ) SELECT id FROM graphile_worker.add_job('drain_deliveries')`,
}
