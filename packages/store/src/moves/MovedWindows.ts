import * as Livemode from "@waybill/domain/account/Livemode"
import { Effect } from "effect"
import * as RateWindows from "../admission/RateWindows.ts"
import type { Sql } from "../postgres/Sql.ts"
import type { CellName } from "../routing/CellName.ts"
import { inCell } from "../routing/CurrentCell.ts"

/** Brings the rate windows of an account and of its keys to the server of its new cell, so that a move begins none anew. */
export const copy = Effect.fnUntraced(function* (sql: Sql, account_id: string, from: CellName, to: CellName) {
  const keys = yield* inCell(
    from,
    sql<{ readonly id: string }>`SELECT id FROM api_keys WHERE account_id = ${account_id}`,
  )
  const owners = [...keys.map(({ id }) => id), account_id, Livemode.testAccountOf(account_id)]
  const windows = yield* inCell(
    from,
    sql<{ readonly bucket: string; readonly window_start: string; readonly count: number }>`
      SELECT bucket, window_start::text AS window_start, count FROM rate_windows
      WHERE split_part(${RateWindows.nameOf(sql)}, '/', 1) = ANY(${owners}::text[])`,
  )
  yield* inCell(
    to,
    sql`
      INSERT INTO rate_windows AS w (bucket, window_start, count)
      SELECT * FROM unnest(${windows.map(({ bucket }) => bucket)}::text[],
        ${windows.map(({ window_start }) => window_start)}::timestamptz[], ${windows.map(({ count }) => count)}::int[])
      ON CONFLICT (bucket, window_start) DO UPDATE SET count = greatest(w.count, excluded.count)`,
  )
})
