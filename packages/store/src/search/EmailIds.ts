import type { Statement } from "effect/sql"
import * as IdKey from "../postgres/IdKey.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Fewest letters after `msg_` that are searched as the beginning of an id. Messages of about 20 minutes share so many. */
export const MIN_LETTERS = 6

/** A whole id, or its beginning. */
const BEGINNING = new RegExp(`^msg_[0-7][0-9a-hjkmnp-tv-z]{${MIN_LETTERS - 1},25}$`, "u")

/** Keys of the ids with the same beginning, which are a range because ids sort by time. Both bounds are included. */
export interface IdRange {
  /** The beginning that they share. */
  readonly beginning: string
  readonly lowest: IdKey.IdKey
  readonly highest: IdKey.IdKey
}

/** Returns the ids that begin with a text; none if it is not the beginning of an id, or too short to search. */
export const startingWith = (beginning: string): ReadonlyArray<IdRange> => {
  const keyOf = (others: string) => IdKey.of(beginning.padEnd(IdKey.ID_LENGTH, others))
  return BEGINNING.test(beginning) ? [{ beginning, lowest: keyOf("0"), highest: keyOf("z") }] : []
}

/** Whether a column with the key of an id is in the range. */
export const isWithin = (sql: Sql, column: Statement.Fragment, { highest, lowest }: IdRange): Statement.Fragment =>
  sql`${column} >= ${lowest}::uuid AND ${column} <= ${highest}::uuid`
