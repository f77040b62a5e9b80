import { Effect, Option, Result } from "effect"
import { Argument } from "effect/cli"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as Settings from "../../settings/Settings.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"

const name = Argument.String("name").pipe(
  Argument.withDescription("Shows this setting only, such as PORT"),
  Argument.optional,
)

const settingNamed = (text: string) =>
  Effect.fromResult(
    Result.mapError(Settings.nameOf(text), (nearest) => {
      const hint = nearest === undefined ? "waybill config lists all." : `Did you mean ${nearest}?`
      return new CommandRefused({ message: `${text} is not a setting. ${hint}` })
    }),
  )

const problemsOf = (rows: ReadonlyArray<{ readonly problem: string | null }>): ReadonlyArray<string> => [
  ...new Set(rows.flatMap(({ problem }) => problem ?? [])),
]

export const config = DataCommand.command(
  "config",
  "List all settings with their values, defaults and meanings, or show one, and check them",
  { name },
  function* ({ json, name }) {
    const rows = yield* Settings.describe
    if (Option.isSome(name)) {
      const wanted = yield* settingNamed(name.value)
      const found = rows.filter((row) => row.name === wanted)
      // The problem is the error of the command.
      for (const { problem, ...row } of found) yield* Output.printOne(json ? { ...row, problem } : row, { json })
      const problems = problemsOf(found)
      if (problems.length > 0) return yield* new Settings.SettingsWrong({ problems })
      return
    }
    // Faults come first, in full, and their settings are the first rows.
    const problems = problemsOf(rows)
    const warnings = Settings.misspelled(process.env)
    for (const line of [...problems, ...warnings]) yield* Output.complain(line)
    const sorted = rows.toSorted((one, other) => Number(other.problem !== null) - Number(one.problem !== null))
    yield* Output.print(sorted, { json, columns: ["name", "value", "default", "meaning"] })
    const count = problems.length
    if (count > 0)
      return yield* new Settings.SettingsWrong({
        problems: [count === 1 ? "A setting is wrong, as said above." : `${count} settings are wrong, as said above.`],
      })
  },
)
