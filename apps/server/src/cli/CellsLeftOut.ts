import type { CellName } from "@waybill/store/routing/CellName"
import * as Reachable from "@waybill/store/routing/Reachable"
import { Data, Effect } from "effect"

/** Cells did not answer, so that a command did its work in the others only. */
export class CellsLeftOut extends Data.TaggedError("CellsLeftOut")<{ readonly message: string }> {}

/** A cell in which a command could not do its work, or not all of it, with the reason. */
export interface Refused {
  readonly cell: CellName
  readonly why: string
}

/** Says which cells a command left out, and why; empty if none. */
export const describe = (unreachable: ReadonlyArray<CellName>, refused: ReadonlyArray<Refused> = []): string =>
  [
    ...(unreachable.length === 0 ? [] : [describeUnreachable(unreachable)]),
    ...refused.map(({ cell, why }) => `The cell ${cell} was left out: ${why}.`),
  ].join(" ")

const describeUnreachable = (unreachable: ReadonlyArray<CellName>): string => {
  const names = unreachable.join(", ")
  const again =
    unreachable.length === 1
      ? `The cell ${names} does not answer and was left out. Run the command again when it answers.`
      : `The cells ${names} do not answer and were left out. Run the command again when they answer.`
  return `${again} ${Reachable.ifLost(unreachable)}`
}

/** Fails if cells were left out, so that a script does not take the result for complete. */
export const refuse = (
  unreachable: ReadonlyArray<CellName>,
  refused: ReadonlyArray<Refused> = [],
): Effect.Effect<void, CellsLeftOut> => {
  const message = describe(unreachable, refused)
  return message === "" ? Effect.void : Effect.fail(new CellsLeftOut({ message }))
}

/** Adds to a message which cells were left out. */
export const after = (
  message: string,
  unreachable: ReadonlyArray<CellName>,
  refused: ReadonlyArray<Refused> = [],
): string => [message, describe(unreachable, refused)].filter((part) => part !== "").join(" ")
