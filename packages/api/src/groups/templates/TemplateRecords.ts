import * as Id from "@waybill/domain/values/Id"
import * as State from "@waybill/domain/template/TemplateState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"

const words = {
  subject: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  preheader: Schema.NullOr(Schema.String),
}
const Words = Schema.Struct(words).annotate({ identifier: "TemplateWords" })

const source = {
  ...words,
  language: Schema.optionalKey(State.TemplateLanguage),
  from: Schema.NullOr(Schema.String),
  reply_to: Schema.Array(Schema.String),
  layout: Schema.NullOr(Schema.String).annotate({ description: "Alias of the layout around the HTML and the text" }),
  locales: Schema.Record(Schema.String, Words).annotate({
    description: "Words in other languages; what one leaves out is `null`, and taken from the wider language",
  }),
  variables: Schema.NullOr(Schema.JsonObject).annotate({ description: "JSON Schema of the variables" }),
}
export const fields = {
  object: Schema.Literal("template"),
  id: Id.TemplateId,
  kind: State.TemplateKind,
  alias: Schema.NullOr(Schema.String),
  name: Schema.String.annotate({ examples: ["Receipt"] }),
  description: Schema.NullOr(Schema.String),
  status: Schema.Literals(["draft", "published", "archived"]),
  current_version: Schema.NullOr(Schema.Natural).annotate({ description: "The version that is sent" }),
  versions: Schema.Natural.annotate({ description: "Number of versions" }),
  draft_differs: Schema.Boolean.annotate({
    description: "Whether the draft differs from the version that is sent; always before the first",
  }),
  missing_parts: Schema.Array(Schema.String).annotate({
    examples: [[]],
    description: "Layouts and partials that the version that is sent uses, and that are not there: it cannot be sent",
  }),
  languages: Schema.Array(Schema.String).annotate({ description: "Languages of the draft besides its own" }),
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
  used_at: Schema.NullOr(Timestamp.Timestamp).annotate({
    description: "Start of the hour in which mail was last accepted by it, as far as it is counted",
  }),
}

/** A template without its sources. */
export const ListedTemplate = Schema.Struct(fields).annotate({ identifier: "ListedTemplate" })
export type ListedTemplate = typeof ListedTemplate.Type

const etag = Schema.String.annotate({ description: "Changes with the names and the draft; the `base` of a push" })

const Draft = Schema.Struct({
  ...source,
  number: Schema.NullOr(Schema.Natural),
  notes: Schema.NullOr(Schema.String),
  created_by: Schema.NullOr(Schema.String),
  published_at: Schema.NullOr(Timestamp.Timestamp),
}).annotate({
  identifier: "TemplateSource",
  description: "In the form of a version. What only a published one has (`number`, `published_at` and who) is `null`",
})

export const TemplateRecord = Schema.Struct({ ...fields, draft: Draft, etag }).annotate({ identifier: "Template" })
export type TemplateRecord = typeof TemplateRecord.Type

const version = {
  object: Schema.Literal("template_version"),
  template_id: Id.TemplateId,
  number: Schema.Natural,
  notes: Schema.NullOr(Schema.String),
  created_by: Schema.NullOr(Schema.String).annotate({ description: "The key or user that published it" }),
  published_at: Timestamp.Timestamp,
}
export const ListedVersion = Schema.Struct(version).annotate({ identifier: "ListedTemplateVersion" })
export type ListedVersion = typeof ListedVersion.Type
export const VersionRecord = Schema.Struct({ ...version, ...source }).annotate({ identifier: "TemplateVersion" })
export type VersionRecord = typeof VersionRecord.Type

const Warning = Schema.Struct({ path: Schema.String, message: Schema.String }).annotate({
  identifier: "TemplateWarning",
})

export const Rendered = Schema.Struct({
  object: Schema.Literal("rendered_template"),
  subject: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String).annotate({ description: "Derived from the HTML if the template has none" }),
  preheader: Schema.NullOr(Schema.String).annotate({ description: "Line that mail programs show beside the subject" }),
  from: Schema.NullOr(Schema.String).annotate({ description: "Sender of messages that name none" }),
  locale: Schema.NullOr(Schema.String).annotate({ description: "The language that was found" }),
  warnings: Schema.Array(Warning),
}).annotate({ identifier: "RenderedTemplate" })

export const Validated = Schema.Struct({
  object: Schema.Literal("template_validation"),
  valid: Schema.Boolean,
  problems: Schema.Array(Warning),
  warnings: Schema.Array(Warning).annotate({
    description: "Faults that an author may have overlooked, such as a variable that is not in the schema",
  }),
  suggested_variables: Schema.JsonObject.annotate({ description: "JSON Schema of the variables that it uses" }),
  sample: Schema.JsonObject.annotate({ description: "Variables that fit the schema" }),
}).annotate({ identifier: "TemplateValidation" })

export const Archived = Schema.Struct({
  object: Schema.Literal("template"),
  id: Id.TemplateId,
  archived: Schema.Literal(true),
}).annotate({ identifier: "TemplateArchived" })

const Pushed = Schema.Struct({
  alias: Schema.String,
  id: Schema.NullOr(Id.TemplateId).annotate({ description: "`null` if a dry run would create it" }),
  action: Schema.Literals(["created", "changed", "published", "unchanged"]).annotate({
    description: "`published` if the draft was there before, and only its publication is new",
  }),
  changed_fields: Schema.Array(Schema.String).annotate({ description: "Fields that differ from the former draft" }),
  version: Schema.NullOr(Schema.Natural).annotate({ description: "The version that the push publishes" }),
  base: Schema.NullOr(Schema.String).annotate({ description: "`etag` before the push" }),
  etag,
  problems: Schema.Array(Warning).annotate({ description: "Reasons why it cannot be pushed; in a dry run only" }),
  warnings: Schema.Array(Warning).annotate({ description: "Faults that its author may have overlooked" }),
}).annotate({ identifier: "PushedTemplateResult" })
export type Pushed = typeof Pushed.Type

export const Push = Schema.Struct({
  object: Schema.Literal("template_push"),
  dry_run: Schema.Boolean,
  templates: Schema.Array(Pushed).annotate({ description: "In the order of the request" }),
}).annotate({ identifier: "TemplatePushAnswer" })
export type Push = typeof Push.Type
