import type { CellName } from "@waybill/store/cells/CellName"
import { Data, Effect } from "effect"

/** Cells did not answer, so that a command did its work in the others only. */
export class CellsLeftOut extends Data.TaggedError("CellsLeftOut")<{ readonly message: string }> {}

/** Says which cells a command left out; empty if none. */
export const describe = (unreachable: ReadonlyArray<CellName>): string => {
  if (unreachable.length === 0) return ""
  const names = unreachable.join(", ")
  return unreachable.length === 1
    ? `The cell ${names} does not answer and was left out. Run the command again when it answers.`
    : `The cells ${names} do not answer and were left out. Run the command again when they answer.`
}

/** Fails if cells were left out, so that a script does not take the result for complete. */
export const refuse = (unreachable: ReadonlyArray<CellName>): Effect.Effect<void, CellsLeftOut> =>
  unreachable.length === 0 ? Effect.void : Effect.fail(new CellsLeftOut({ message: describe(unreachable) }))

/** Adds to a message which cells were left out. */
export const after = (message: string, unreachable: ReadonlyArray<CellName>): string =>
  unreachable.length === 0 ? message : `${message} ${describe(unreachable)}`
