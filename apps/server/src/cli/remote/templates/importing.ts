import { Config, Effect, Option } from "effect"
import { Command } from "effect/cli"
import * as DataCommand from "../../DataCommand.ts"
import * as Options from "../../Options.ts"
import * as Output from "../../Output.ts"
import { type ImportedTemplate, importTemplates, SERVICES, type ServiceName } from "./importTemplates.ts"
import { CommandRefused } from "../../../process/CommandRefused.ts"
import { fail } from "./services/LocalTemplate.ts"
import * as Pushes from "./Pushes.ts"
import { readExport } from "./services/readExport.ts"
import * as TemplateFolder from "./TemplateFolder.ts"

const service = Options.word("service", ["resend", "postmark", "sendgrid"], "Service that has the templates")

/** Reads the key from the environment, so that it is in no list of processes. */
const keyOf = Effect.fnUntraced(function* (name: ServiceName) {
  const variable = SERVICES[name].api.key
  const key = yield* Config.option(Config.String(variable)).pipe(
    // A text that is there is valid.
    Effect.orDie,
  )
  return yield* Option.match(key, {
    onNone: () =>
      new CommandRefused({
        message: `Set ${variable} to a key of ${SERVICES[name].title} that can read templates, or name an export with --from.`,
      }),
    onSome: (key) => Effect.succeed(key.trim()),
  })
})

export const importing = DataCommand.command(
  {
    service,
    folder: Pushes.folder,
    from: Options.text("from", "Export of the service: a file with JSON, or a folder; its API by default"),
    url: Options.text("url", "Address of the service's API"),
    push: Options.isSet("push", "Push them too, and publish those that are translated as a whole"),
    force: Options.isSet("force", "Write over folders of the same alias, and over such templates of the account"),
  },
  function* ({ folder, force, from, json, push, service, url }) {
    const { api, read, title } = SERVICES[service]
    const exported = Option.isSome(from)
      ? yield* Pushes.onFiles(() => readExport(from.value))
      : yield* Effect.flatMap(keyOf(service), (key) =>
          Pushes.onFiles(() =>
            read(
              Option.getOrElse(url, () => api.url),
              key,
            ),
          ),
        )
    const imported = yield* Pushes.onFiles(() => importTemplates(service, exported))
    yield* Pushes.onFiles(() => writeAll(folder, imported, force))
    const pushed = push ? yield* pushing(folder, imported, force) : []
    const left = imported.filter(({ problems }) => problems.length > 0)
    if (json)
      return yield* Output.printJson(
        {
          folder,
          templates: imported.map(({ problems, template }) => ({
            alias: template.alias,
            name: template.name,
            translated: problems.length === 0,
            problems,
          })),
          pushed,
        },
        2,
      )
    yield* Output.say(`${folder} has ${Pushes.countOf(imported.length)} of ${title}.`)
    for (const { isValid, problems, template } of left)
      yield* Output.say(
        `${template.alias} ${isValid ? "stays a draft" : "cannot be pushed before it is mended"}:`,
        ...problems.map((problem) => `  ${problem}`),
      )
    yield* Output.say(...pushed.map(Pushes.headOf))
  },
).with(
  Command.withExamples([
    { command: "waybill templates import postmark", description: "With POSTMARK_SERVER_TOKEN set" },
    { command: "waybill templates import sendgrid --from export.json --push", description: "From an export" },
  ]),
)

const writeAll = async (root: string, imported: ReadonlyArray<ImportedTemplate>, isForced: boolean): Promise<void> => {
  if (imported.length === 0) fail("There are no templates to import.")
  const places = await TemplateFolder.placesOf(
    root,
    imported.map(({ template }) => template.alias),
  )
  const existing: Array<string> = []
  for (const { template } of imported)
    if (await TemplateFolder.isTemplate(places.get(template.alias) ?? "")) existing.push(template.alias)
  if (existing.length > 0 && !isForced)
    fail(`${root} has ${existing.join(", ")} already. Import into another folder, or write over them with --force.`)
  for (const { problems, template } of imported) {
    const place = places.get(template.alias) ?? fail(`${template.alias} has no folder`)
    const notes =
      problems.length === 0 ? [] : ["Not translated; remove `publish: false` when it is mended:", ...problems]
    await TemplateFolder.write(place, template, notes)
  }
}

/** Pushes what the account takes. What has errors stays in the folder. */
const pushing = (folder: string, imported: ReadonlyArray<ImportedTemplate>, isForced: boolean) => {
  const templates = imported.filter(({ isValid }) => isValid).map(({ template }) => template)
  const overwriting = isForced ? "all" : "seen"
  return Pushes.working((client) =>
    Pushes.push(client, folder, templates, { publish: true, notes: "Imported" }, overwriting),
  )
}
