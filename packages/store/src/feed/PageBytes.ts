import type { Fragment } from "effect/sql/Statement"
import type * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import type { Client } from "../postgres/Sql.ts"

/**
 * Bytes of stored events after which a page ends, because a message with a hundred recipients has 50 KB of them. Their JSON
 * is up to twice as long, and a megabyte of it takes the event loop some 20 ms.
 */
export const MAX_PAGE_BYTES = 1024 * 1024

export interface Bound {
  /** The page ends with the event that reaches so many bytes, so that it always has one. */
  readonly max_bytes: number
  /** Whether the acceptance of its message counts with each event, because it is shown with each. */
  readonly with_messages: boolean
}

/** A row, and how many the query has selected for the page. */
type CutRow = PackedEvent.Row & { readonly selected: number }

/** Ends a page of an account's events by bytes, in Postgres, which knows the length of a value without reading it. */
export const cut = <E>(sql: Client<E>, selected: Fragment, account_id: string, { max_bytes, with_messages }: Bound) => {
  const message = sql`+ CASE WHEN stream = 'email' THEN coalesce((
    SELECT ${PackedSql.bytes(sql, "accepted")} FROM events accepted
    WHERE accepted.account_id = ${account_id} AND accepted.stream_id = selected.stream_id AND accepted.version = 1), 0) ELSE 0 END`
  return sql<CutRow>`
    SELECT position, event_id, account_id, stream_id, stream, version, type, ${PackedSql.columns(sql)}, recorded_at, selected
    FROM (
      SELECT sized.*, count(*) OVER ()::int AS selected,
        sum(bytes) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
      FROM (SELECT selected.*, ${PackedSql.bytes(sql, "selected")} ${with_messages ? message : sql.literal("")} AS bytes
        FROM (${selected}) AS selected) AS sized
    ) AS measured
    WHERE coalesce(bytes_before, 0) < ${max_bytes}::int
    ORDER BY position`
}
