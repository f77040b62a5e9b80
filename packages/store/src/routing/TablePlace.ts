import { Effect } from "effect"
import { FIRST } from "./CellName.ts"
import { Cells, schemaOf } from "./Cells.ts"
import { CurrentCell } from "./CurrentCell.ts"

/** Where tables are, and which form of a statement is fast there. */
export interface TablePlace {
  readonly schema: string
  /**
   * Whether writes and reads that need no others are statements of one table each, sent together: a node of Citus copies plain
   * inserts, keeps the plans of simple statements, and plans others each time. Elsewhere one statement of all is faster.
   */
  readonly isApart: boolean
}

export const HOME: TablePlace = { schema: FIRST, isApart: false }

/** The place of the fiber's database. */
export const placeHere = Effect.gen(function* () {
  const cell = yield* CurrentCell
  const server = yield* (yield* Cells).serverOf(cell)
  return { schema: yield* schemaOf(cell), isApart: server?.isNode === true } satisfies TablePlace
})
