import { Argument, Flag } from "effect/cli"

export const name = Argument.String("name").pipe(Argument.withDescription("Name of the cell"))

/** Flag of commands that work on all cells unless one is named. */
export const cell = Flag.String("cell").pipe(
  Flag.withDescription("Only this cell, of those that `cells list` shows"),
  Flag.optional,
)
