import type { PushedTemplateResult, Waybill } from "@waybill/client/Waybill"
import { Effect } from "effect"
import { Argument } from "effect/cli"
import { CommandRefused } from "../../../process/CommandRefused.ts"
import { ApiClient, type ApiFailure, failureOf } from "../ApiClient.ts"
import { fail, type LocalTemplate } from "./services/LocalTemplate.ts"
import * as PulledState from "./PulledState.ts"
import * as TemplatePlan from "./TemplatePlan.ts"
import * as Options from "../../Options.ts"

export const folder = Options.argument("folder", "Folder with a folder for each template").pipe(
  Argument.withDefault("templates"),
)

/** Works on files and the API, for commands that need no login without it. */
export const working = <A>(work: (client: Waybill) => Promise<A>) =>
  Effect.flatMap(ApiClient, ({ client }) => onFiles(() => work(client))).pipe(Effect.provide(ApiClient.layer))

export const onFiles = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (cause): CommandRefused | ApiFailure => (cause instanceof CommandRefused ? cause : failureOf(cause)),
  })

export const countOf = (templates: number): string => (templates === 1 ? "1 template" : `${templates} templates`)

/** Returns the line of a template that a push changes. */
export const headOf = ({
  action,
  alias,
  version,
}: Pick<PushedTemplateResult, "action" | "alias" | "version">): string =>
  `${alias}: ${action}${version === null ? " (draft)" : ` (version ${version})`}`

/** Names the account in the state of a folder. */
export const accountOf = async (client: Waybill): Promise<string> => (await client.session.get()).account_id

/** Templates of the account that a push may overwrite: all, those that have not changed since they were seen, or only seen ones. */
export type Overwriting = "all" | "unchanged" | "seen"

/** Pushes templates of a folder, unless the account has changes that this machine has not seen. */
export const push = async (
  client: Waybill,
  root: string,
  templates: ReadonlyArray<LocalTemplate>,
  publication: TemplatePlan.Publication,
  overwriting: Overwriting,
): Promise<ReadonlyArray<PushedTemplateResult>> => {
  if (templates.length === 0) return []
  const planned = await TemplatePlan.plan(client, templates, publication)
  const problems = TemplatePlan.linesOf(planned, "problems")
  if (problems.length > 0) return fail(problems.join("\n"))
  const account = await accountOf(client)
  const seen = await PulledState.read(root, account)
  const changes = planned.filter(TemplatePlan.isChange)
  const namesOf = (others: typeof changes) => others.map(({ template }) => template.alias).join(", ")
  const isSeen = ({ template }: TemplatePlan.PlannedTemplate) => Object.hasOwn(seen, template.alias)
  const others = changes.filter(
    (change) =>
      change.result.action === "changed" && isSeen(change) && seen[change.template.alias] !== change.result.base,
  )
  if (others.length > 0 && overwriting !== "all")
    return fail(
      `${namesOf(others)} changed in the account since the last pull or push. Pull and join the changes, or push with --force.`,
    )
  const gone = changes.filter((change) => change.result.base === null && isSeen(change))
  if (gone.length > 0 && overwriting !== "all")
    return fail(
      `${namesOf(gone)} is not in the account any more. Delete its folder, or push with --force to create it again.`,
    )
  const unseen = changes.filter((change) => change.result.base !== null && !isSeen(change))
  if (unseen.length > 0 && overwriting === "seen")
    return fail(
      `The account has templates of the same alias: ${namesOf(unseen)}. Nothing was pushed. Look at \`waybill templates plan ${root}\`, and push the folder if it is to replace them.`,
    )
  const results = changes.length === 0 ? [] : (await TemplatePlan.push(client, changes, publication)).templates
  await PulledState.keep(
    root,
    account,
    Object.fromEntries(planned.map(({ result, template }) => [template.alias, result.etag])),
  )
  return results
}
