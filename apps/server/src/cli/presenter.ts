import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as Table from "@waybill/domain/values/Table"
import { nearestName } from "@waybill/domain/values/nearestName"
import { Console, Effect, Option } from "effect"
import { CliOutput, type CliError, type HelpDoc } from "effect/cli"
import { formOf } from "../process/formOf.ts"
import * as TerminalTable from "./TerminalTable.ts"
import * as Output from "./Output.ts"
import * as OutputStyle from "./OutputStyle.ts"

/** Prints what is wrong with a command line and where help is, and help itself only when it is requested. */
export const presenter: CliOutput.Presenter = {
  present: (event) => {
    if (event._tag === "Help") return presentHelp(event.helpDoc)
    if (event._tag === "Version") return CliOutput.defaultPresenter.present(event)
    const { commandPath, errors, helpDoc } = event
    const command = commandPath.join(" ")
    const sentences = new Set(errors.map((error) => ApiKeySecret.hideIn(sentenceOf(error, command, helpDoc))))
    return Output.complain(
      [...[...sentences].map((sentence) => `waybill: ${sentence}`), `Run \`${command} --help\` for help.`].join("\n"),
    )
  },
}

/** Prints help in lines that a terminal shows whole. */
const presentHelp = Effect.fnUntraced(function* (help: HelpDoc.HelpDoc) {
  const { columns, hasColours } = yield* OutputStyle.StandardOutput
  const text = CliOutput.defaultFormatter({ colors: hasColours, globalFlags: "summary" }).formatHelpDoc(help)
  // Commands come first: they are what is looked for.
  const sections = text.trimEnd().split("\n\n")
  const isGlobal = (section: string) => section.includes("GLOBAL FLAGS")
  const ordered = [...sections.filter((each) => !isGlobal(each)), ...sections.filter(isGlobal)].join("\n\n")
  yield* Console.log(columns === undefined ? ordered : TerminalTable.folded(ordered, columns))
})

/** Most commands that an error lists; more are found faster in the help. */
const MAX_NAMES = 15

/** Words of other command lines, with those that stand for them here. */
const WORDS: Readonly<Record<string, ReadonlyArray<string>>> = {
  ls: ["list"],
  search: ["list", "logs"],
  show: ["get", "list"],
  view: ["get", "list"],
  describe: ["get"],
  events: ["timeline"],
  history: ["timeline"],
  tail: ["logs"],
  new: ["add", "create"],
  create: ["add", "create"],
  add: ["create"],
  delete: ["remove", "revoke"],
  rm: ["remove", "revoke"],
  check: ["verify"],
  auth: ["login"],
  status: ["whoami"],
  init: ["start"],
}

/** Returns one sentence that names the fault and the allowed form. */
const sentenceOf = (error: CliError.NonShowHelpErrors, command: string, help: HelpDoc.HelpDoc): string => {
  switch (error._tag) {
    case "UnknownSubcommand": {
      const names = (help.subcommands ?? []).flatMap(({ commands }) => commands.map(({ name }) => name))
      const meant = Table.at(WORDS, error.subcommand)?.find((word) => names.includes(word))
      const nearest = meant ?? nearestName(error.subcommand, names)
      const known = names.length > MAX_NAMES ? "" : ` Its commands are ${names.join(", ")}.`
      return `\`${command}\` has no command "${error.subcommand}".${nearest === undefined ? known : ` Did you mean \`${nearest}\`?`}`
    }
    case "UnrecognizedOption": {
      const name = error.option.replace(/^-+/u, "")
      const nearest = nearestName(
        name,
        help.flags.map(({ name }) => name),
      )
      const meant = nearest === undefined ? nearestFilter(name, help) : `--${nearest}`
      return `\`${command}\` has no flag ${error.option}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`
    }
    case "MissingOption":
      return ended(`--${error.option} is missing${meaningOf(help.flags, error.option)}`)
    case "MissingArgument":
      return ended(`<${error.argument}> is missing${meaningOf(help.args ?? [], error.argument)}`)
    case "UnexpectedArgument":
      return `\`${command}\` does not take ${error.arguments.map((value) => `"${value}"`).join(", ")}.`
    case "InvalidValue": {
      const name = error.kind === "flag" ? `--${error.option}` : `<${error.option}>`
      const given = error.value === "" ? "has no value" : `does not take "${error.value}"`
      const choices = error.expected.split(" | ").map((each) => each.replaceAll(/.*: |"/gu, ""))
      const nearest = choices.length > 1 ? nearestName(error.value, choices) : undefined
      const form = formOf(error.expected)
      return ended(`${name} ${given}: ${nearest === undefined ? form : `did you mean ${nearest}? It takes ${form}`}`)
    }
    default:
      return error.message
  }
}

/** Returns the filter of a search that a flag is taken for; none if the command takes no search. */
const nearestFilter = (name: string, { args = [] }: HelpDoc.HelpDoc): string | undefined => {
  if (!args.some((arg) => arg.name === "search")) return undefined
  const field = nearestName(EmailFilter.fieldOf(name) ?? name, EmailFilter.FIELDS)
  return field === undefined ? undefined : `\`${field}:\` in the search`
}

const ended = (sentence: string): string => (/[.?…]$/u.test(sentence) ? sentence : `${sentence}.`)

interface Described {
  readonly name: string
  readonly description: Option.Option<string>
}

const meaningOf = (params: ReadonlyArray<Described>, name: string): string => {
  const param = params.find((each) => each.name === name)
  return param === undefined || Option.isNone(param.description) ? "" : `: ${param.description.value}`
}
