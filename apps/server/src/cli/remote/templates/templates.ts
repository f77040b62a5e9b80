import type { Waybill } from "@waybill/client/Waybill"
import { Data, Option, Runtime } from "effect"
import { Argument, Command } from "effect/cli"
import * as fs from "node:fs/promises"
import { CommandRefused } from "../../../process/CommandRefused.ts"
import * as ExitCodes from "../../../process/ExitCodes.ts"
import * as DataCommand from "../../DataCommand.ts"
import * as Options from "../../Options.ts"
import * as Output from "../../Output.ts"
import { ApiClient } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"
import { fail, type LocalTemplate } from "./services/LocalTemplate.ts"
import { importing } from "./importing.ts"
import * as PulledState from "./PulledState.ts"
import * as Reading from "./Reading.ts"
import * as Pushes from "./Pushes.ts"
import * as TemplateFolder from "./TemplateFolder.ts"
import * as TemplatePlan from "./TemplatePlan.ts"
import { templateTypes, type TypedTemplate } from "./templateTypes.ts"
import * as ApiCommand from "../ApiCommand.ts"

const publish = Options.isSet("publish", "Publish what differs from what is sent; without it, only drafts change")
const notes = Options.text("notes", "Reason of the change, kept with each version")
const force = Options.isSet("force", "Overwrite changes that were made in the account since the last pull or push")

const pull = DataCommand.command({ folder: Pushes.folder }, function* ({ folder, json }) {
  const { gone, kept, pulled, unnamed } = yield* Pushes.working((client) => pullTo(client, folder))
  if (json) return yield* Output.printJson({ folder, templates: pulled, left_out: unnamed, gone })
  yield* Output.say(`${folder} has ${pulled.length} templates.`)
  for (const file of kept) yield* Output.say(`${file} stays as it is: it is compiled, and the account has its result.`)
  for (const alias of gone)
    yield* Output.say(`${alias} is not in the account any more. Delete its folder, or the next push is refused.`)
  for (const name of unnamed) yield* Output.say(`${name} was left out: it has no alias.`)
})

const pullTo = async (client: Waybill, root: string) => {
  const templates: Array<LocalTemplate> = []
  const etags: Record<string, string> = {}
  const unnamed: Array<string> = []
  for await (const { alias, id, name } of client.templates.all()) {
    if (alias === null) {
      unnamed.push(`${name} (${id})`)
      continue
    }
    const template = await client.templates.get(id)
    etags[alias] = template.etag
    templates.push(TemplatePlan.localOf(template))
  }
  const places = await TemplateFolder.placesOf(
    root,
    templates.map(({ alias }) => alias),
  )
  const kept: Array<string> = []
  for (const template of templates) {
    const place = places.get(template.alias) ?? fail(`${template.alias} has no folder`)
    // The account does not know it.
    const publish = await TemplateFolder.isPublished(place)
    kept.push(...(await TemplateFolder.write(place, { ...template, publish })))
  }
  await fs.mkdir(root, { recursive: true })
  const account = await Pushes.accountOf(client)
  const seen = Object.keys(await PulledState.read(root, account))
  const local = await TemplateFolder.readAll(root)
  const gone = local.flatMap(({ alias }) => (seen.includes(alias) && etags[alias] === undefined ? [alias] : []))
  await PulledState.keep(root, account, etags)
  return { pulled: Object.keys(etags), unnamed, kept, gone }
}

/** A push would change something. */
class WouldChange extends Data.TaggedError("WouldChange")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_PLANNED
}

const plan = DataCommand.command({ folder: Pushes.folder, publish }, function* ({ folder, json, publish }) {
  const { differences, problems, warnings } = yield* Pushes.working(async (client) => {
    const planned = await TemplatePlan.plan(client, await TemplateFolder.readAll(folder), { publish })
    const changes = planned.filter(TemplatePlan.isChange)
    const differences = []
    for (const change of changes)
      differences.push({ ...change.result, diff: await TemplatePlan.diffOf(client, change) })
    const problems = TemplatePlan.linesOf(planned, "problems")
    return { differences, problems, warnings: TemplatePlan.linesOf(planned, "warnings") }
  })
  if (json) yield* Output.printJson({ folder, publish, changes: differences, problems, warnings }, 2)
  else {
    yield* Output.say(...differences.flatMap((each) => [Pushes.headOf(each), ...each.diff]))
    yield* Output.say(...warnings.map((warning) => `Warning: ${warning}`))
  }
  if (problems.length > 0) return yield* new CommandRefused({ message: problems.join("\n") })
  if (differences.length > 0)
    return yield* new WouldChange({ message: `A push would change ${Pushes.countOf(differences.length)}.` })
  if (!json) yield* Output.say("Nothing to push: the account has what the folder has.")
})

const push = DataCommand.command(
  { folder: Pushes.folder, publish, notes, force },
  function* ({ folder, force, json, notes, publish }) {
    const publication = { publish, ...Flags.present({ notes }) }
    const results = yield* Pushes.working(async (client) =>
      Pushes.push(client, folder, await TemplateFolder.readAll(folder), publication, force ? "all" : "unchanged"),
    )
    if (json) return yield* Output.printJson({ folder, templates: results }, 2)
    yield* results.length === 0
      ? Output.say("Nothing to push: the account has what the folder has.")
      : Output.say(...results.map(Pushes.headOf))
  },
).with(
  Command.withExamples([
    { command: "waybill templates push", description: "Changes drafts" },
    { command: 'waybill templates push --publish --notes "Shorter receipt"', description: "Changes what is sent" },
  ]),
)

const types = DataCommand.command(
  {
    folder: Options.argument("folder", "Folder of templates; those of the account by default").pipe(Argument.optional),
    out: Options.text("out", "File to write, such as src/templates.d.ts"),
  },
  function* ({ folder, json, out }) {
    const templates = Option.isSome(folder)
      ? yield* Pushes.onFiles(() => TemplateFolder.readAll(folder.value))
      : yield* Pushes.working(sentTemplates)
    const typed = templates.filter((each) => each.kind === "template")
    const text = templateTypes(typed)
    if (Option.isNone(out)) return yield* json ? Output.printJson({ types: text }) : Output.sayLines(text.trimEnd())
    yield* Pushes.onFiles(() => fs.writeFile(out.value, text))
    yield* Output.tell(
      json,
      { file: out.value, templates: typed.map(({ alias }) => alias) },
      `${out.value} has the variables of ${Pushes.countOf(typed.length)}.`,
    )
  },
)

/** Returns the templates of the account with the variables of what is sent, or else of the draft. */
const sentTemplates = async (client: Waybill): Promise<ReadonlyArray<TypedTemplate & Pick<LocalTemplate, "kind">>> => {
  const templates = []
  for await (const { alias, current_version, id, kind } of client.templates.all({ kind: "template" })) {
    if (alias === null) continue
    const source =
      current_version === null
        ? (await client.templates.get(id)).draft
        : await client.templates.version(id, current_version)
    templates.push({ alias, kind, variables: source.variables as TypedTemplate["variables"] })
  }
  return templates
}

const list = ApiCommand.list(
  {},
  ["alias", "kind", "name", "status", "current_version", "updated_at"],
  "No templates yet. `waybill templates push` adds those of a folder.",
  (client) => client.templates.all(),
).with(Command.provide(ApiClient.layer))

export const templates = DataCommand.group({
  list: ["List templates, layouts and partials, newest first", list],
  get: ["Show a template, and whether its draft differs from what is sent", Reading.get],
  render: ["Show what would be sent, and what a reader would miss", Reading.render],
  versions: ["List the versions of a template, newest first", Reading.versions],
  rollback: ["Send a former version from now on; the draft stays", Reading.rollback],
  pull: ["Write the drafts of the account to a folder, over what is there", pull],
  plan: ["Show what a push would change; the exit code is then 2", plan],
  push: ["Make the account's templates those of a folder: all of them, or none. Others stay as they are", push],
  types: ["Write TypeScript types of the variables of all templates, for @waybill/client", types],
  import: ["Translate the templates of Resend, Postmark or SendGrid into a folder of Liquid", importing],
})
