import * as Settings from "../../settings/Settings.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"

export const config = DataCommand.command(
  "config",
  "List all settings with their values, defaults and meanings",
  {},
  function* ({ json }) {
    const rows = yield* Settings.describe
    yield* Output.print(rows, { json, columns: ["name", "value", "default", "meaning"] })
    // Printed before the settings are validated, so that an invalid value is visible beside its error.
    yield* Settings.load
  },
)
