import { Effect, Random } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Leases from "../outbox/Leases.ts"
import * as Outbox from "../outbox/Outbox.ts"
import type { LeaseRef } from "../outbox/OutboxRow.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Maximum number of rows of a busy endpoint that one statement defers. */
export const MAX_DEFERRED = 5_000
/**
 * Seconds until deferred rows are due again. They are spread over at least twice that, and longer the more rows there
 * are.
 */
const DEFER_SECONDS = 5
const SPREAD_SECONDS_PER_ROW = 0.01
const MAX_SPREAD_SECONDS = 5 * 60
/** Number of different times over which rows are spread. */
const HASH_VALUES = 2 ** 20

/** Defers the rows of an endpoint at its limit, so that its backlog is not claimed over and over. */
export const defer = (sql: Sql, account_id: string, webhook_id: string) =>
  Effect.flatMap(Random.nextInt, (seed) =>
    Outbox.arm(sql, {
      waiting: spread(
        sql,
        sql`
      SELECT id FROM outbox
      WHERE account_id = ${account_id} AND stream_id = ${webhook_id} AND kind = 'webhook' AND ready AND lease_token IS NULL
      ORDER BY id LIMIT ${MAX_DEFERRED}::int FOR UPDATE SKIP LOCKED`,
        seed,
      ),
    }),
  )

/** Defers claimed rows: ends their leases and counts no attempt. */
export const deferClaimed = (sql: Sql, rows: ReadonlyArray<LeaseRef>) =>
  Effect.flatMap(Random.nextInt, (seed) =>
    Outbox.release(sql, spread(sql, Leases.held(sql, rows), seed), ["ready", "available_at"]),
  )

/** Gives each waiting row a time of its own, which the seed decides. */
const spread = (sql: Sql, ids: Fragment, seed: number) => sql`
  WITH waiting AS MATERIALIZED (${ids})
  SELECT id, false AS ready, now() + make_interval(secs => ${DEFER_SECONDS}::float8
    + (hashtextextended(id, ${seed}::bigint) & ${HASH_VALUES - 1}::bigint) / ${HASH_VALUES}::float8
    * least(${MAX_SPREAD_SECONDS}::float8,
      greatest(${2 * DEFER_SECONDS}::float8, (SELECT count(*) FROM waiting) * ${SPREAD_SECONDS_PER_ROW}::float8))) AS available_at
  FROM waiting`
