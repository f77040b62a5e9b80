import * as Livemode from "@waybill/domain/account/Livemode"
import { Duration, Effect } from "effect"
import type { CellName } from "../routing/CellName.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Longest time between the begin of a transaction that changes the directory and its commit. */
const COMMITTED_WITHIN = Duration.minutes(10)

/** The cells of accounts that came or moved since a time, as the directory has them. */
export interface Look {
  /** In milliseconds. */
  readonly at: number
  readonly change: bigint
  readonly cells: ReadonlyMap<string, CellName>
  readonly moving: ReadonlyMap<string, CellName>
}

const changes = (home: Sql) => home<{ readonly at: number; readonly change: bigint }>`
  SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS at, CASE WHEN is_called THEN last_value ELSE 0 END AS change
  FROM cell_change`

export const look = Effect.fnUntraced(function* (home: Sql, since: number) {
  const [now] = yield* changes(home)
  const from = Math.max(0, since - Duration.toMillis(COMMITTED_WITHIN)) / 1000
  const rows = yield* home<{
    readonly account_id: string
    readonly cell: CellName
    readonly is_moving: boolean
  }>`
    SELECT account_id, cell, moving_to IS NOT NULL AS is_moving FROM account_cells
    WHERE changed_at >= to_timestamp(${from}::float8) OR moving_to IS NOT NULL`
  return {
    at: now?.at ?? 0,
    change: now?.change ?? 0n,
    cells: new Map(rows.map(({ account_id, cell }) => [account_id, cell])),
    moving: new Map(rows.flatMap(({ account_id, cell, is_moving }) => (is_moving ? [[account_id, cell]] : []))),
  } satisfies Look
})

/** Whether no account has moved since. The number of changes alone does not say so: it grows before they are committed. */
export const isSame = Effect.fnUntraced(function* (home: Sql, { change, moving }: Look) {
  const [now] = yield* changes(home)
  if (now?.change !== change) return false
  const rows = yield* home<{ readonly account_id: string; readonly cell: CellName }>`
    SELECT account_id, cell FROM account_cells WHERE account_id = ANY(${[...moving.keys()]}::text[])`
  return rows.every(({ account_id, cell }) => moving.get(account_id) === cell)
})

/** The accounts that are in a cell, live and test. */
export const modesOf = (cells: ReadonlyMap<string, CellName>, cell: CellName): ReadonlyArray<string> =>
  [...cells].flatMap(([live, at]) => (at === cell ? [live, Livemode.testAccountOf(live)] : []))
