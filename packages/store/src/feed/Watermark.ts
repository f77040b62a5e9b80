import type { PgClient } from "@effect/sql-pg"
import type { Fragment } from "effect/sql/Statement"

/**
 * Our corner of the 64-bit advisory keys: 16 bits that spell WB, then 48 bits of position. pg_locks shows the upper
 * half of a key as classid and the lower as objid.
 */
const KEY_SPACE = 0x5742n << 48n
const POSITION_BITS = 0xffff_ffff_ffffn
const CLASS_LOW = Number(KEY_SPACE >> 32n)
const CLASS_HIGH = CLASS_LOW + 0xffff

/**
 * A writer's promise, given once a transaction and before it allocates: "I write nothing at or below this position."
 * Until it commits or is gone, no reader looks past the promise; identity order is not commit order, and a reader
 * without this loses events.
 */
export const publish = (sql: PgClient.PgClient) => sql`
  SELECT 1 AS published FROM (${promise(sql, sql`true`)}) AS promise`

/** The same as part of a statement, read once the condition is known. */
export const promise = (sql: PgClient.PgClient, condition: Fragment) => sql`
  SELECT pg_advisory_xact_lock_shared(
    ${KEY_SPACE}::bigint | (CASE WHEN is_called THEN last_value ELSE last_value - 1 END))
  FROM event_position WHERE ${condition}`

/** The last position allocated so far. To be read before `lowest`, and in a statement of its own. */
export const allocated = (sql: PgClient.PgClient) => sql<{ readonly position: bigint }>`
  SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS position FROM event_position`

/** A position that nothing is ever written at: every promise of before lies below it. */
export const allocate = (sql: PgClient.PgClient) => sql<{ readonly position: bigint }>`
  SELECT nextval('event_position') AS position`

/** The lowest promise of the writers under way, or null when there are none. */
export const lowest = (sql: PgClient.PgClient) => sql<{ readonly position: bigint | null }>`
  SELECT min((classid::bigint << 32 | objid::bigint) & ${POSITION_BITS}::bigint) AS position
  FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid::bigint BETWEEN ${CLASS_LOW}::bigint AND ${CLASS_HIGH}::bigint`
