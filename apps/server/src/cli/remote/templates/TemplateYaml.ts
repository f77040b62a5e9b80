import { nearestName } from "@waybill/domain/values/nearestName"
import { Schema } from "effect"
import { fail, type LocalTemplate } from "./services/LocalTemplate.ts"

/** Fields of `template.yaml`: all of a template but the parts that have files of their own. */
const Settings = Schema.Struct({
  alias: Schema.optionalKey(Schema.String),
  kind: Schema.optionalKey(Schema.Literals(["template", "layout", "partial"])),
  name: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.NullOr(Schema.String)),
  from: Schema.optionalKey(Schema.NullOr(Schema.String)),
  reply_to: Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.String, Schema.Array(Schema.String)]))),
  language: Schema.optionalKey(Schema.Literals(["handlebars", "mustachio", "resend"])),
  layout: Schema.optionalKey(Schema.NullOr(Schema.String)),
  preheader: Schema.optionalKey(Schema.NullOr(Schema.String)),
  locales: Schema.optionalKey(
    Schema.NullOr(
      Schema.Record(
        Schema.String,
        Schema.NullOr(Schema.Struct({ preheader: Schema.optionalKey(Schema.NullOr(Schema.String)) })),
      ),
    ),
  ),
  publish: Schema.optionalKey(Schema.Boolean),
  variables: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
})
export type Settings = typeof Settings.Type

const decode = Schema.decodeUnknownSync(Settings)
const NAMES = Object.keys(Settings.fields)

/** Loaded only when it is needed: other commands start without it. */
const library = () => import("yaml")

/** Reads a `template.yaml`. */
export const read = async (file: string, text: string): Promise<Settings> => {
  const { parseDocument } = await library()
  const document = parseDocument(text)
  const [error] = document.errors
  if (error !== undefined) return fail(`${file}: ${error.message}`)
  const value: unknown = document.toJS() ?? {}
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return fail(`${file}: must have fields, such as \`name: Receipt\``)
  const unknown = Object.keys(value).find((name) => !NAMES.includes(name))
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, NAMES)
    return fail(`${file}: there is no field ${unknown}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`)
  }
  try {
    return decode(value)
  } catch (cause) {
    return fail(`${file}: ${(cause as Error).message}`)
  }
}

/** Writes the `template.yaml` of a template. What is empty is left out. `notes` become comments at its beginning. */
export const write = async (template: LocalTemplate, notes: ReadonlyArray<string> = []): Promise<string> => {
  const { Document } = await library()
  const { alias, description, from, kind, language, layout, locales, name, preheader, publish, reply_to, variables } =
    template
  const languages = Object.entries(locales).map(([tag, words]) => [
    tag,
    words.preheader === null ? {} : { preheader: words.preheader },
  ])
  const settings = {
    alias,
    kind,
    name,
    ...(language === undefined ? {} : { language }),
    ...present({ description, from, layout, preheader }),
    ...(reply_to.length === 0 ? {} : { reply_to }),
    ...(languages.length === 0 ? {} : { locales: Object.fromEntries(languages) }),
    ...(publish ? {} : { publish }),
    ...present({ variables }),
  }
  const document = new Document(settings, { aliasDuplicateObjects: false })
  if (notes.length > 0) document.commentBefore = notes.map((note) => ` ${note.replaceAll(/\s+/gu, " ")}`).join("\n")
  return document.toString({ lineWidth: 0 })
}

const present = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
