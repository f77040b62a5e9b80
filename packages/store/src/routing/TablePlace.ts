import { Effect } from "effect"
import { FIRST } from "./CellName.ts"
import { Cells, schemaOf } from "./Cells.ts"
import { CurrentCell } from "./CurrentCell.ts"

/** Where tables are, and which form of a statement is fast there. */
export interface TablePlace {
  readonly schema: string
  /**
   * Whether writes and reads that need no others are a statement per table, sent together: a node of Citus copies plain inserts,
   * keeps the plans of simple statements, and plans others each time. Elsewhere one statement of all is faster.
   */
  readonly isPerTable: boolean
}

export const HOME: TablePlace = { schema: FIRST, isPerTable: false }

/** The place of the fiber's database. */
export const placeHere = Effect.gen(function* () {
  const cell = yield* CurrentCell
  const server = yield* (yield* Cells).serverOf(cell)
  return { schema: yield* schemaOf(cell), isPerTable: server?.isNode === true } satisfies TablePlace
})
