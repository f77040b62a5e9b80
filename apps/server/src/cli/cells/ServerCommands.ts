import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as CellChecks from "@waybill/store/cells/CellChecks"
import * as CellStates from "@waybill/store/operations/CellStates"
import { Data, Effect, Runtime } from "effect"
import { Command, Flag } from "effect/cli"
import * as ExitCodes from "../../process/ExitCodes.ts"
import * as Output from "../Output.ts"
import * as CellFlags from "./CellFlags.ts"

export const url = Flag.Redacted("url").pipe(
  Flag.withDescription("Database of the cell on a server of its own, as postgres://user:password@host:5432/database"),
)

export const address = Command.make(
  "address",
  { name: CellFlags.name, url, json: Output.json },
  Effect.fn(function* ({ json, name, url }) {
    const cell = yield* CellStates.requireCell(name)
    yield* ServerCell.readdress(cell, url)
    if (json) return yield* Output.printJson({ name, changed: true })
    yield* Output.say(`The cell ${name} has its new address. Processes follow within seconds.`)
  }),
).pipe(Command.withDescription("Give a cell the address at which its database is now, such as a promoted standby"))

class CellsFailed extends Data.TaggedError("CellsFailed")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_DIFFERENCE
}

export const check = Command.make(
  "check",
  { json: Output.json },
  Effect.fn(function* ({ json }) {
    const checks = yield* CellChecks.check()
    yield* Output.print(
      checks.map((each) => ({ ...each })),
      { json, columns: ["name", "ok", "problem"] },
    )
    const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name)
    if (failed.length > 0)
      return yield* new CellsFailed({ message: `these cells cannot be used: ${failed.join(", ")}` })
  }),
).pipe(
  Command.withDescription("Check that every cell answers, is the right database and has the tables of this release"),
)
