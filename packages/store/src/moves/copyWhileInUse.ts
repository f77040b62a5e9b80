import { Effect } from "effect"
import type { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import type { CellName } from "../routing/CellName.ts"
import { schemaOf } from "../routing/Cells.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as MovedCounts from "./MovedCounts.ts"
import * as MoveSteps from "./MoveSteps.ts"
import * as MoveTerms from "./MoveTerms.ts"

interface Move {
  readonly accounts: ReadonlyArray<string>
  readonly from: CellName
  readonly report: (line: string) => Effect.Effect<void>
}

/** Copies an account's rows in passes, until few have changed meanwhile. Returns the number of rows that were copied. */
export const copyWhileInUse = Effect.fnUntraced(function* <R>(
  sql: Sql,
  { accounts, from, report }: Move,
  copy: Effect.Effect<number, StoreUnavailable, R>,
) {
  const schema = yield* schemaOf(from)
  let total = 0
  for (let pass = 1; pass <= MoveTerms.MAX_PASSES; pass++) {
    // Followers that are behind count now, so that requests wait only for the rest.
    const written = yield* inCell(from, MoveSteps.lastPosition(sql, schema, accounts))
    yield* inCell(from, MovedCounts.countUpTo(sql, accounts, written))
    const rows = yield* copy
    total += rows
    yield* report(`pass ${pass}: ${rows} rows`)
    if (rows < MoveTerms.FEW_ROWS) break
  }
  return total
})
