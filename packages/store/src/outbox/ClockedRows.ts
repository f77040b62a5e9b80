import type { PgClient } from "@effect/sql-pg"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import * as Iso from "../postgres/Iso.ts"
import { FAR_FUTURE } from "./OutboxRow.ts"
import * as DueRows from "./DueRows.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Work on one test clock. */
export interface ClockedWork {
  /** Whether a row is due or in progress, so that the clock must not move. */
  readonly busy: boolean
  /** Time of the first row that waits for the clock. */
  readonly next: Timestamp.Timestamp | null
}

export const work = Effect.fn("ClockedRows.work")(function* (
  clock: string,
): Effect.fn.Return<ClockedWork, StoreUnavailable, PgClient.PgClient> {
  const sql = yield* Sql
  const [row] = yield* sql<ClockedWork>`
    SELECT EXISTS (SELECT FROM outbox WHERE clock = ${clock} AND available_at < ${FAR_FUTURE}::timestamptz) AS busy,
      (SELECT ${Iso.iso(sql, "clock_due")} FROM outbox WHERE clock = ${clock} AND available_at = ${FAR_FUTURE}::timestamptz
        ORDER BY clock_due LIMIT 1) AS next`
  return row ?? { busy: false, next: null }
})

/**
 * Makes rows ready that waited for the clock until a time, and wakes the workers of their kinds. Without a time, all rows
 * of the clock. One statement takes a limited number; the next call takes the rest.
 */
export const markReady = Effect.fn("ClockedRows.markReady")(function* (
  clock: string,
  until: Timestamp.Timestamp | null,
) {
  const sql = yield* Sql
  const waiting = sql`
    SELECT o.id, now() AS available_at, true AS ready FROM outbox o
    WHERE o.clock = ${clock} AND o.available_at = ${FAR_FUTURE}::timestamptz
      AND (${until}::timestamptz IS NULL OR o.clock_due <= ${until}::timestamptz)
    ORDER BY o.clock_due, o.id LIMIT ${DueRows.MAX_MARKED}::int FOR UPDATE`
  yield* DueRows.armWaiting(sql, waiting)
})
