/** Parts of a statement that look up the keys of all waiting requests and count them, one row per key. */
export const admission = (hashes: string, requests: string): string => `key AS (
      SELECT k.hash, k.account_id, k.id, wanted.requests, coalesce((a.record -> 'granted' ->> 'send')::int, 1000) AS allowed
      FROM unnest(${hashes}::text[], ${requests}::int[]) AS wanted(hash, requests) JOIN api_keys k USING (hash)
      JOIN accounts a USING (account_id)
      WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    ), counted AS (
      INSERT INTO rate_windows AS w (bucket, window_start, count)
      SELECT id || '/send', date_trunc('minute', now()), requests FROM key ORDER BY id
      ON CONFLICT (bucket, window_start) DO UPDATE SET count = w.count + excluded.count RETURNING bucket, count
    )`

export const ADMIT_ALL = {
  name: "admit_all",
  text: `WITH ${admission("$1", "$2")} SELECT hash, account_id, allowed, count
    FROM key JOIN counted ON bucket = id || '/send'`,
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
