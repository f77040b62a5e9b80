import * as Options from "../Options.ts"

export const name = Options.argument("name", "Name of the cell")

/** Flag of commands that work on all cells unless one is named. */
export const cell = Options.text("cell", "Only this cell, of those that `cells list` shows")
