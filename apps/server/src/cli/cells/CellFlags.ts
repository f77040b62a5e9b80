import * as CellStates from "@waybill/store/operations/CellStates"
import { Effect, Option } from "effect"
import { Argument, Flag } from "effect/cli"

export const name = Argument.String("name").pipe(Argument.withDescription("Name of the cell"))

/** Flag of commands that work on all cells unless one is named. */
export const cell = Flag.String("cell").pipe(
  Flag.withDescription("Only this cell, of those that `cells list` shows"),
  Flag.optional,
)

/** Returns the named cell, if there is one with this name. */
export const named = (cell: Option.Option<string>) =>
  Option.isNone(cell)
    ? Effect.succeed(Option.none<string>())
    : Effect.map(CellStates.requireCell(cell.value), Option.some)
