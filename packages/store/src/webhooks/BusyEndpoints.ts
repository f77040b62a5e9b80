import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"

/** Maximum number of rows of a busy endpoint that one statement defers. */
export const MAX_DEFERRED = 5_000
/**
 * Seconds until deferred rows are due again. They are spread over at least twice that, and longer the more rows there
 * are.
 */
const DEFER_SECONDS = 5
const SPREAD_SECONDS_PER_ROW = 0.01
const MAX_SPREAD_SECONDS = 5 * 60

/** Defers the rows of an endpoint at its limit, so that its backlog is not claimed over and over. */
export const defer = (sql: PgClient.PgClient, account_id: string, webhook_id: string) =>
  Effect.orDie(sql`
    WITH waiting AS (
      SELECT id FROM outbox
      WHERE account_id = ${account_id} AND stream_id = ${webhook_id} AND kind = 'webhook' AND ready AND lease_token IS NULL
      ORDER BY id LIMIT ${MAX_DEFERRED}::int FOR UPDATE SKIP LOCKED
    )
    UPDATE outbox o SET ready = false, available_at = ${spreadTime(sql, sql`(SELECT count(*) FROM waiting)`)}
    FROM waiting w WHERE o.id = w.id`)

/** Defers claimed rows: ends their leases and counts no attempt. */
export const deferClaimed = (
  sql: PgClient.PgClient,
  rows: ReadonlyArray<{ readonly id: string; readonly token: string }>,
) =>
  Effect.orDie(sql`
    UPDATE outbox o
    SET ready = false, lease_token = NULL, lease_until = NULL, lease_owner = NULL,
      available_at = ${spreadTime(sql, sql`${rows.length}::int`)}
    WHERE id = ANY(ARRAY(
      SELECT o.id FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ token }) => token)}::text[]) AS held(id, token)
      JOIN outbox o ON o.id = held.id AND o.lease_token = held.token ORDER BY o.id FOR UPDATE OF o))`)

const spreadTime = (sql: PgClient.PgClient, rows: Statement.Fragment) => sql`
  now() + make_interval(secs => ${DEFER_SECONDS}::float8 + random()
    * least(${MAX_SPREAD_SECONDS}::float8, greatest(${2 * DEFER_SECONDS}::float8, ${rows} * ${SPREAD_SECONDS_PER_ROW}::float8)))`
