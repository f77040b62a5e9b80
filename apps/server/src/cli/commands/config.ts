import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Settings from "../../boot/Settings.ts"
import * as output from "../output.ts"

export const config = Command.make(
  "config",
  { json: output.json },
  Effect.fn(function* ({ json }) {
    const rows = yield* Settings.describe
    yield* output.print(rows, { json, columns: ["name", "value", "default", "meaning"] })
    // Printed before the settings are validated, so that an invalid value is visible beside its error.
    yield* Settings.load
  }),
).pipe(Command.withDescription("List all settings with their values, defaults and meanings"))
