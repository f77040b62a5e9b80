import { Duration, Effect } from "effect"
import type { CellName } from "../routing/CellName.ts"
import type { RunQuery } from "./ExaminedKeys.ts"

/** Time that due work and followers may be late before the cell is named; the same as of the alert. */
export const LATE_AFTER = Duration.minutes(5)

/** A cell that answers, and what an operator should know of it. */
export interface ExaminedCell {
  readonly name: CellName
  /** Migrations of this release that its server does not have. */
  readonly pending: ReadonlyArray<string>
  /** Age of the first event that its slowest follower has not counted. */
  readonly lag_s: number
  /** Rows of the outbox that are due for longer than `LATE_AFTER` and that no process works on. */
  readonly overdue: number
}

const LOAD = `
  SELECT coalesce(max(extract(epoch FROM now() - (
      SELECT e.recorded_at FROM events e WHERE e.position > f.position ORDER BY e.position LIMIT 1))), 0)::float8 AS lag_s,
    (SELECT count(*) FROM outbox WHERE available_at < now() - make_interval(secs => $1::float8)
      AND (lease_until IS NULL OR lease_until <= now()) AND account_id <> ALL($2::text[]))::float8 AS overdue
  FROM followers f`

/** Reads how late a cell is; nothing of a cell without tables. */
export const read = <E>(query: RunQuery<E>, name: CellName, strays: ReadonlyArray<string>) =>
  Effect.map(
    query<Pick<ExaminedCell, "lag_s" | "overdue">>(LOAD, [Duration.toSeconds(LATE_AFTER), strays]),
    ([row]): ExaminedCell => ({ name, pending: [], lag_s: row?.lag_s ?? 0, overdue: row?.overdue ?? 0 }),
  )
