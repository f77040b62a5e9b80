import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { Effect, Option, Result } from "effect"
import { Argument } from "effect/cli"
import * as RunningSettings from "../../installation/RunningSettings.ts"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as Settings from "../../settings/Settings.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Options from "../Options.ts"
import * as Output from "../Output.ts"
import * as OutputStyle from "../OutputStyle.ts"
import * as TerminalTable from "../TerminalTable.ts"

const name = Options.argument("name", "Shows this setting only, such as PORT").pipe(Argument.optional)

const all = Options.isSet("all", "List also the settings that have their defaults")

type Rows = Effect.Success<typeof Settings.describe>

/** Prints settings for a person, by what they are about: without `all` those that are set, and how many are not. */
const printSettings = Effect.fnUntraced(function* (rows: Rows, all: boolean, style: OutputStyle.Style) {
  const shown = rows.filter((row) => all || row.value !== null || row.problem !== null)
  for (const [title, names] of Settings.GROUPS) {
    const found = shown.filter(({ name }) => names.includes(name))
    if (found.length > 0) yield* Output.sayColoured(OutputStyle.coloured(title, "bold", style))
    for (const { default: fallback, meaning, name, problem, value } of found) {
      const usual = fallback === null ? "unset by default" : `default ${fallback}`
      const text = HiddenCharacters.escape(value === null ? name : `${name}=${value}`)
      const colour = problem === null ? undefined : "red"
      const line = `${OutputStyle.coloured(text, colour, style)} ${OutputStyle.coloured(`(${usual})`, "dim", style)}`
      yield* Output.sayColoured(TerminalTable.folded(`  ${line}\n    ${meaning}`, style.columns ?? MAX_COLUMNS))
    }
  }
  const count = rows.length - shown.length
  if (count > 0) yield* Output.say(`${count} settings have their defaults. --all lists them, waybill config NAME one.`)
})
const MAX_COLUMNS = 120

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

export const config = DataCommand.command({ all, name }, function* ({ all, json, name }) {
  const rows = yield* Settings.describe
  if (Option.isSome(name)) {
    const wanted = yield* settingNamed(name.value)
    const found = rows.filter((row) => row.name === wanted)
    for (const line of yield* RunningSettings.differences((each) => each === wanted)) yield* Output.complain(line)
    // The problem is the error of the command.
    for (const { problem, ...row } of found) yield* Output.printOne(json ? { ...row, problem } : row, { json })
    const problems = problemsOf(found)
    if (problems.length > 0) return yield* new Settings.SettingsWrong({ problems })
    return
  }
  // Faults come first, in full.
  const problems = problemsOf(rows)
  const warnings = Settings.misspelled(process.env)
  for (const line of [...(yield* RunningSettings.differences()), ...problems, ...warnings]) yield* Output.complain(line)
  yield* json ? Output.printJson(rows, 2) : printSettings(rows, all, yield* OutputStyle.current)
  const count = problems.length
  if (count > 0)
    return yield* new Settings.SettingsWrong({
      problems: [count === 1 ? "A setting is wrong, as said above." : `${count} settings are wrong, as said above.`],
    })
})
