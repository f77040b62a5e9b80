import * as Address from "@waybill/domain/values/Address"
import * as Template from "@waybill/domain/template/Template"
import * as State from "@waybill/domain/template/TemplateState"
import { StoredJson } from "@waybill/domain/values/StoredJson"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Result, Schema } from "effect"
import * as Checks from "../../schemas/Checks.ts"
import { optional } from "../../schemas/optional.ts"
import * as TemplateChoice from "../../schemas/send/TemplateChoice.ts"

/** Characters of one part of a template: its subject, HTML, text or preheader. */
export const MAX_PART_CHARS = 256 * 1024
/** Reply addresses of a template. */
export const MAX_REPLY_TO = 50

const part = Schema.String.check(Checks.chars(MAX_PART_CHARS), Checks.stored)
const partOf = (description: string) => optional(part, description)

const newWords = {
  subject: partOf("Liquid; becomes one line"),
  html: partOf("Liquid in HTML: what variables hold is escaped for the place where they stand"),
  text: partOf("Liquid; derived from the HTML if absent"),
  preheader: partOf("Liquid; what mail programs show beside the subject"),
}
const NewWords = Schema.Struct(newWords).annotate({ identifier: "NewTemplateWords" })
const ChangedWords = Schema.Struct(newWords).annotate({ identifier: "ChangedTemplateWords" })

const Mailbox = Schema.String.check(
  Schema.makeFilter((text: string) => {
    const parsed = Address.parse(text)
    return Result.isSuccess(parsed) || parsed.failure
  }),
)
export const Alias = Schema.String.check(
  Schema.isPattern(Template.ALIAS, {
    message: "must begin with a letter, not with tpl_, and have at most 64 letters, digits, `-`, `_` and `.`",
  }),
)

/** Languages are few, and named by tags of BCP 47. */
const localesProblem = (locales: object) => {
  const tags = Object.keys(locales)
  if (tags.length > Template.MAX_LOCALES) return `takes at most ${Template.MAX_LOCALES} languages`
  const wrong = tags.find((tag) => !Template.isLocale(tag))
  return wrong === undefined
    ? undefined
    : { path: [wrong.slice(0, 20)], issue: "must be a language, such as de or pt-BR" }
}

const language = optional(
  State.TemplateLanguage,
  "Liquid by default. Words in the languages of other services are kept as they are, and translated to be rendered",
)

const newSource = {
  ...newWords,
  language,
  from: optional(Mailbox, "Sender of messages that name none"),
  reply_to: optional(
    Schema.Array(Mailbox).check(Checks.items(0, MAX_REPLY_TO, "addresses")),
    "Reply addresses of messages that name none",
  ),
  layout: optional(Alias, "Alias of the layout around the HTML and the text"),
  locales: optional(
    Schema.Record(Schema.String, NewWords).check(Schema.makeFilter((locales) => localesProblem(locales) ?? true)),
    "Words in other languages, by BCP 47 tag",
  ),
  variables: optional(
    StoredJson,
    "JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without it, none is checked",
  ),
}
export const NewSource = Schema.Struct(newSource).annotate({ identifier: "NewTemplateSource" })
export type NewSource = typeof NewSource.Type
/** `NewSource` as a part of a body: OpenAPI names a whole body and a part of one apart. */
const TriedSource = Schema.Struct(newSource).annotate({ identifier: "TriedTemplateSource" })

const Name = Schema.String.check(Checks.chars(Template.MAX_NAME_CHARS, 1), Checks.oneLine)
const Description = Schema.String.check(Checks.chars(Template.MAX_DESCRIPTION_CHARS), Checks.stored)
const Notes = optional(
  Schema.String.check(Checks.chars(Template.MAX_NOTES_CHARS), Checks.stored),
  "Reason of the change",
)

export const Creation = Schema.Struct({
  name: Name,
  kind: optional(State.TemplateKind, "`template` by default"),
  alias: optional(Alias, "Name of the template in requests; unique in the account"),
  description: optional(Description, "Purpose of the template"),
  ...newSource,
}).annotate({ identifier: "TemplateCreation" })

const UnchangedSince = optional(
  Timestamp.Timestamp,
  "`updated_at` of the template as it was read; refused with `template_draft_changed` if it has changed since",
)

/** A field that stays as it is if it is absent; `null` empties it. */
const changed = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

export const Change = Schema.Struct({
  name: Schema.optionalKey(Name),
  alias: changed(Alias),
  description: changed(Description),
  subject: changed(part),
  html: changed(part),
  text: changed(part),
  preheader: changed(part),
  language: changed(State.TemplateLanguage),
  from: changed(Mailbox),
  reply_to: changed(Schema.Array(Mailbox).check(Checks.items(0, MAX_REPLY_TO, "addresses"))),
  layout: changed(Alias),
  locales: changed(
    Schema.Record(Schema.String, ChangedWords).check(Schema.makeFilter((locales) => localesProblem(locales) ?? true)),
  ),
  variables: changed(StoredJson),
  unchanged_since: UnchangedSince,
}).annotate({
  identifier: "TemplateChange",
  description: "Changes the draft. Fields that are left out stay as they are; `null` empties a field",
})

export const RenderRequest = Schema.Struct({
  version: optional(Schema.Int.check(Schema.isGreaterThan(0)), "A published version; the draft by default"),
  draft: optional(TriedSource, "A source instead of the draft, which is not stored"),
  variables: optional(TemplateChoice.Variables, "Values made of the schema by default"),
  locale: optional(TemplateChoice.Locale, "The template's own language by default"),
  time_zone: optional(TemplateChoice.TimeZone, "UTC by default"),
})
  .check(
    Schema.makeFilter(
      ({ draft, version }) =>
        draft === null || version === null || { path: ["draft"], issue: "cannot be combined with `version`" },
    ),
  )
  .annotate({ identifier: "TemplateRendering" })

export const Publication = Schema.Struct({
  notes: Notes,
  activate: optional(Schema.Boolean, "Whether it is sent from now on; `true` by default"),
  unchanged_since: UnchangedSince,
}).annotate({ identifier: "TemplatePublication" })

export const Rollback = Schema.Struct({ version: Schema.Int.check(Schema.isGreaterThan(0)) }).annotate({
  identifier: "TemplateRollback",
})

export const Duplication = Schema.Struct({
  name: optional(Name, "`Copy of …` by default"),
  alias: optional(Alias, "None by default"),
}).annotate({ identifier: "TemplateDuplication" })

/** Templates of one push. */
export const MAX_PUSHED = 200
/** Characters of the sources of one push. */
export const MAX_PUSHED_CHARS = 8 * 1024 * 1024
/** Characters of an `etag`. */
const MAX_BASE_CHARS = 64
/** The `base` of a template that must be new. */
export const NO_BASE = "none"

const PushedTemplate = Schema.Struct({
  alias: Alias,
  name: Name,
  kind: optional(State.TemplateKind, "`template` by default; that of an existing template never changes"),
  description: optional(Description, "Purpose of the template"),
  ...newSource,
  publish: optional(Schema.Boolean, "`false` leaves this one a draft when the others are published"),
  base: optional(
    Schema.String.check(Checks.chars(MAX_BASE_CHARS, 1)),
    "`etag` of the template that the caller has read, or `none`; refused if the template is another by now",
  ),
}).annotate({ identifier: "PushedTemplate" })
export type PushedTemplate = typeof PushedTemplate.Type

const sourceChars = ({ html, locales, preheader, subject, text }: PushedTemplate): number =>
  [{ html, preheader, subject, text }, ...Object.values(locales ?? {})].reduce(
    (sum, words) => Object.values(words).reduce((chars, part) => chars + (part?.length ?? 0), sum),
    0,
  )

/** Aliases are given once, and the sources have a bound together. */
const pushProblems = (templates: ReadonlyArray<PushedTemplate>) => {
  const seen = new Set<string>()
  const issues = templates.flatMap(({ alias }, nth) => {
    const isTwice = seen.has(alias)
    seen.add(alias)
    return isTwice ? [{ path: [nth, "alias"], issue: "is in this push twice" }] : []
  })
  const chars = templates.reduce((sum, template) => sum + sourceChars(template), 0)
  return chars <= MAX_PUSHED_CHARS
    ? issues
    : [...issues, { path: [], issue: `have ${chars} characters; at most ${MAX_PUSHED_CHARS} are allowed together` }]
}

export const Push = Schema.Struct({
  templates: Schema.Array(PushedTemplate)
    .check(Checks.items(1, MAX_PUSHED, "templates"))
    .check(Schema.makeFilter(pushProblems)),
  publish: optional(Schema.Boolean, "Whether what is sent changes too; drafts only by default"),
  dry_run: optional(Schema.Boolean, "Whether only the answer is wanted, and nothing is to change"),
  notes: Notes,
}).annotate({ identifier: "TemplatePush" })
export type Push = typeof Push.Type
