import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Settings from "../../settings/Settings.ts"
import * as Output from "../Output.ts"

export const config = Command.make(
  "config",
  { json: Output.json },
  Effect.fn(function* ({ json }) {
    const rows = yield* Settings.describe
    yield* Output.print(rows, { json, columns: ["name", "value", "default", "meaning"] })
    // Printed before the settings are validated, so that an invalid value is visible beside its error.
    yield* Settings.load
  }),
).pipe(Command.withDescription("List all settings with their values, defaults and meanings"))
