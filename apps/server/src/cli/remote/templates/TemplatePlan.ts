import { withSortedKeys } from "@waybill/runtime/collections/withSortedKeys"
import type { PushedTemplateResult, Template, TemplatePush, TemplatePushAnswer, Waybill } from "@waybill/client/Waybill"
import { lineDiff } from "./lineDiff.ts"
import { fail, type LocalTemplate, NO_WORDS, pushedOf, type LocalWords } from "./services/LocalTemplate.ts"

/** Templates of one push, as the API bounds them. */
const MAX_PUSHED = 200

export interface Publication {
  readonly publish: boolean
  readonly notes?: string
}

/** A template of a folder, and what a push would do with it. */
export interface PlannedTemplate {
  readonly template: LocalTemplate
  readonly result: PushedTemplateResult
}

const bodyOf = (templates: TemplatePush["templates"], { notes, publish }: Publication): TemplatePush => ({
  templates,
  publish,
  ...(notes === undefined ? {} : { notes }),
})

/** Returns what a push of these templates would do. */
export const plan = async (
  client: Waybill,
  templates: ReadonlyArray<LocalTemplate>,
  publication: Publication,
): Promise<ReadonlyArray<PlannedTemplate>> => {
  if (templates.length > MAX_PUSHED)
    return fail(
      `There are ${templates.length} templates. At most ${MAX_PUSHED} can be pushed together: use two folders.`,
    )
  const body = {
    ...bodyOf(
      templates.map((each) => pushedOf(each)),
      publication,
    ),
    dry_run: true,
  }
  const answer = await client.templates.push(body)
  return templates.flatMap((template, nth) => {
    const result = answer.templates[nth]
    return result === undefined ? [] : [{ template, result }]
  })
}

export const isChange = ({ result }: PlannedTemplate): boolean => result.action !== "unchanged"

/** Pushes what a plan found, if the account is still as the plan saw it. */
export const push = (
  client: Waybill,
  planned: ReadonlyArray<PlannedTemplate>,
  publication: Publication,
): Promise<TemplatePushAnswer> =>
  client.templates.push(
    bodyOf(
      planned.map(({ result, template }) => pushedOf(template, result.base)),
      publication,
    ),
  )

/** Returns the problems of a plan, or its warnings, a line each. */
export const linesOf = (
  planned: ReadonlyArray<PlannedTemplate>,
  field: "problems" | "warnings",
): ReadonlyArray<string> =>
  planned.flatMap(({ result, template }) =>
    result[field].map(({ message, path }) => `${template.alias}: ${path === "" ? "" : `${path} `}${message}`),
  )

/** Returns the lines of a template that a push would change. */
export const diffOf = async (
  client: Waybill,
  { result, template }: PlannedTemplate,
): Promise<ReadonlyArray<string>> => {
  const before = result.id === null ? NOTHING : fieldsOf(localOf(await client.templates.get(template.alias)))
  const after = fieldsOf(template)
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((field) => {
    const lines = lineDiff(before[field] ?? "", after[field] ?? "")
    return lines.length === 0 ? [] : [`  ${field}`, ...lines.map((line) => `    ${line}`)]
  })
}

type Fields = Readonly<Record<string, string>>
const NOTHING: Fields = {}

const fieldsOf = (template: LocalTemplate): Fields => {
  const { description, from, kind, language = null, layout, locales, name, reply_to, variables } = template
  const fields = {
    kind,
    name,
    description,
    language,
    from,
    reply_to: reply_to.length === 0 ? null : reply_to.join("\n"),
    layout,
    ...wordFields(template, ""),
    ...Object.fromEntries(
      Object.entries(locales).flatMap(([tag, words]) => [
        [tag, "(a language)"],
        ...Object.entries(wordFields(words, `${tag}/`)),
      ]),
    ),
    variables: variables === null ? null : JSON.stringify(variables, withSortedKeys, 2),
  }
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => field[1] !== null))
}

const wordFields = ({ html, preheader, subject, text }: LocalWords, prefix: string): Record<string, string | null> => ({
  [`${prefix}subject`]: subject,
  [`${prefix}preheader`]: preheader,
  [`${prefix}html`]: html,
  [`${prefix}text`]: text,
})

/** Returns a template of the account as a folder holds it. */
export const localOf = ({ alias, description, draft, kind, name }: Template): LocalTemplate => ({
  alias: alias ?? fail(`${name} has no alias`),
  kind,
  name,
  description,
  ...wordsOf(draft),
  from: draft.from,
  reply_to: draft.reply_to,
  layout: draft.layout,
  locales: Object.fromEntries(Object.entries(draft.locales).map(([tag, words]) => [tag, wordsOf(words)])),
  variables: draft.variables as LocalTemplate["variables"],
  publish: true,
  ...(draft.language === undefined || draft.language === "liquid" ? {} : { language: draft.language }),
})

const wordsOf = ({ html, preheader, subject, text }: LocalWords): LocalWords => ({
  ...NO_WORDS,
  subject,
  html,
  text,
  preheader,
})
