import type { Template } from "@waybill/client/Waybill"
import { Effect, Option, Schema } from "effect"
import { Argument, CliError, Command, Flag } from "effect/cli"
import * as fs from "node:fs/promises"
import * as DataCommand from "../../DataCommand.ts"
import * as Options from "../../Options.ts"
import * as Output from "../../Output.ts"
import * as Flags from "../Flags.ts"
import * as Pushes from "./Pushes.ts"

const name = Options.argument("name", "Alias or id of a template")

const JsonObject = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))

/** Values as JSON, or in a file after `@`. */
export const variables = Flag.String("variables").pipe(
  Flag.withDescription('Values of the template: JSON such as \'{"name": "Ana"}\', or @FILE'),
  Flag.mapEffect((value) =>
    Effect.gen(function* () {
      const text = value.startsWith("@") ? yield* Effect.tryPromise(() => fs.readFile(value.slice(1), "utf8")) : value
      return yield* Schema.decodeEffect(JsonObject)(text)
    }).pipe(
      Effect.mapError(
        () =>
          new CliError.InvalidValue({ option: "variables", value, expected: "a JSON object, or @FILE", kind: "flag" }),
      ),
    ),
  ),
  Flag.optional,
)

export const locale = Options.text("locale", "Language, such as de or pt-BR")

const version = Options.int("version", "A published version; the draft by default")

const shown = ({ draft, ...record }: Template) => ({ ...record, subject: draft.subject, layout: draft.layout })

export const get = DataCommand.record(
  { name },
  function* ({ name }) {
    return yield* Pushes.working((client) => client.templates.get(name))
  },
  shown,
).with(Command.withAlias("show"))

export const versions = DataCommand.list(
  { name },
  ["number", "sent", "published_at", "created_by", "notes"],
  function* ({ name }) {
    return yield* Pushes.working(async (client) => {
      const [{ current_version }, { data }] = await Promise.all([
        client.templates.get(name),
        client.templates.versions(name),
      ])
      return data.map((each) => ({ ...each, sent: each.number === current_version }))
    })
  },
)

export const rollback = DataCommand.told(
  { name, version: Argument.Int("version").pipe(Argument.withDescription("Number of the version to send")) },
  function* ({ name, version }) {
    return yield* Pushes.working((client) => client.templates.rollback(name, version))
  },
  (_, { name, version }) => Output.say(`Version ${version} of ${name} is sent from now on.`),
)

export const render = DataCommand.told(
  {
    name,
    variables,
    locale,
    version,
    part: Options.oneOf("part", ["subject", "html", "text"], "Print only this part, as it would be sent"),
  },
  function* ({ locale, name, variables, version }) {
    const rendering = Flags.present({ variables, locale, version })
    return yield* Pushes.working((client) => client.templates.render(name, rendering))
  },
  Effect.fnUntraced(function* (rendered, { part }) {
    if (Option.isSome(part)) return yield* Output.sayLines(rendered[part.value] ?? "")
    yield* Output.say(`Subject: ${rendered.subject ?? "-"}`, `Preheader: ${rendered.preheader ?? "-"}`)
    yield* Output.sayLines(rendered.text ?? rendered.html ?? "")
    yield* Output.say(...rendered.warnings.map(({ message, path }) => `Warning: ${path}: ${message}`))
  }),
).with(
  Command.withExamples([
    { command: `waybill templates render receipt --variables '{"name": "Ana"}' --locale de`, description: "In German" },
    { command: "waybill templates render receipt --part html > mail.html", description: "With sample values" },
  ]),
)
