import type { Fragment } from "effect/sql/Statement"
import * as Databases from "../routing/Databases.ts"
import type { Client } from "../postgres/Sql.ts"

/**
 * Key spaces of the announcements among the 64-bit advisory locks: 16 bits, then 48 bits of position. pg_locks shows the
 * upper half of a key as classid and the lower half as objid. Home has the bits that spell WB. Each other database has
 * others, so that a slow writer holds up only the readers of its own; two that share theirs only wait for each other.
 */
const HOME_SPACE = 0x5742
const SPACE = `(CASE current_schema() WHEN '${Databases.home.name}' THEN ${HOME_SPACE} ELSE hashtext(current_schema()) & 32767 END)::bigint`
const POSITION_BITS = 0xffff_ffff_ffffn

/**
 * Announces a writer, once in each transaction and before it allocates positions: it will write nothing at or below the
 * current position. No reader goes past an announcement before its transaction ends. Transactions do not commit in the
 * order of their positions, so a reader without this would miss events. The query is part of a statement, and announces once
 * the condition is evaluated.
 */
export const announcement = <E>(sql: Client<E>, condition: Fragment) => sql`
  SELECT pg_advisory_xact_lock_shared(
    (${sql.literal(SPACE)} << 48) | (CASE WHEN is_called THEN last_value ELSE last_value - 1 END))
  FROM event_position WHERE ${condition}`

/** Reads the last allocated position; to be read before `lowest`, in a statement of its own. */
export const allocated = <E>(sql: Client<E>) => sql<{ readonly position: bigint }>`
  SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS position FROM event_position`

/** Allocates a position that no event will have; every earlier announcement is below it. */
export const allocate = <E>(sql: Client<E>) => sql<{ readonly position: bigint }>`
  SELECT nextval('event_position') AS position`

/** Reads the lowest announced position of the transactions under way; null when there are none. */
export const lowest = <E>(sql: Client<E>) => sql<{ readonly position: bigint | null }>`
  SELECT min((classid::bigint << 32 | objid::bigint) & ${POSITION_BITS}::bigint) AS position
  FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid::bigint >> 16 = ${sql.literal(SPACE)}`
