import type { Template } from "@waybill/client/Waybill"
import { Effect, Option, Schema } from "effect"
import { Argument, CliError, Command, Flag } from "effect/cli"
import * as fs from "node:fs/promises"
import * as Options from "../../Options.ts"
import * as Output from "../../Output.ts"
import * as Flags from "../Flags.ts"
import * as Pushes from "./Pushes.ts"

const name = Argument.String("name").pipe(Argument.withDescription("Alias or id of a template"))

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

export const get = Command.make(
  "get",
  { name, json: Output.json },
  Effect.fn(function* ({ json, name }) {
    const template = yield* Pushes.working((client) => client.templates.get(name))
    yield* json ? Output.printJson(template, 2) : Output.printOne(shown(template), { json })
  }),
).pipe(
  Command.withDescription("Show a template, and whether its draft differs from what is sent"),
  Command.withAlias("show"),
)

export const versions = Command.make(
  "versions",
  { name, json: Output.json },
  Effect.fn(function* ({ json, name }) {
    const rows = yield* Pushes.working(async (client) => {
      const [{ current_version }, { data }] = await Promise.all([
        client.templates.get(name),
        client.templates.versions(name),
      ])
      return data.map((each) => ({ ...each, sent: each.number === current_version }))
    })
    yield* Output.print(rows, { json, columns: ["number", "sent", "published_at", "created_by", "notes"] })
  }),
).pipe(Command.withDescription("List the versions of a template, newest first"))

export const rollback = Command.make(
  "rollback",
  {
    name,
    version: Argument.Int("version").pipe(Argument.withDescription("Number of the version to send")),
    json: Output.json,
  },
  Effect.fn(function* ({ json, name, version }) {
    const template = yield* Pushes.working((client) => client.templates.rollback(name, version))
    yield* json ? Output.printJson(template, 2) : Output.say(`Version ${version} of ${name} is sent from now on.`)
  }),
).pipe(Command.withDescription("Send a former version from now on; the draft stays"))

export const render = Command.make(
  "render",
  {
    name,
    variables,
    locale,
    version,
    part: Flag.Literals("part", ["subject", "html", "text"]).pipe(
      Flag.withDescription("Print only this part, as it would be sent"),
      Flag.optional,
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ json, locale, name, part, variables, version }) {
    const rendering = Flags.present({ variables, locale, version })
    const rendered = yield* Pushes.working((client) => client.templates.render(name, rendering))
    if (json) return yield* Output.printJson(rendered, 2)
    if (Option.isSome(part)) return yield* Output.sayLines(rendered[part.value] ?? "")
    yield* Output.say(`Subject: ${rendered.subject ?? "-"}`, `Preheader: ${rendered.preheader ?? "-"}`)
    yield* Output.sayLines(rendered.text ?? rendered.html ?? "")
    yield* Output.say(...rendered.warnings.map(({ message, path }) => `Warning: ${path}: ${message}`))
  }),
).pipe(
  Command.withDescription("Show what would be sent, and what a reader would miss"),
  Command.withExamples([
    { command: `waybill templates render receipt --variables '{"name": "Ana"}' --locale de`, description: "In German" },
    { command: "waybill templates render receipt --part html > mail.html", description: "With sample values" },
  ]),
)
