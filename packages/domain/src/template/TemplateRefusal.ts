import { Schema } from "effect"
import * as Refusal from "../values/Refusal.ts"

export class TemplateNotFound extends Refusal.of("TemplateNotFound", 404, "template_not_found") {
  override readonly message = "There is no template with this id or alias in this account."
}

export class VersionNotFound extends Refusal.of("TemplateVersionNotFound", 404, "template_version_not_found") {
  override readonly message = "This template has no version of this number."
}

export class AliasTaken extends Refusal.of("TemplateAliasTaken", 422, "template_alias_taken")<{
  readonly alias: string
}> {
  override readonly message = `Another template of this account has the alias ${this.alias}.`
}

/** Maximum number of templates, layouts and partials per account that are not archived. */
export const MAX_TEMPLATES = 1_000

export class TooManyTemplates extends Refusal.of("TooManyTemplates", 422, "too_many_templates") {
  override readonly message = `An account has at most ${MAX_TEMPLATES} templates. Archive one first.`
}

export class TemplateArchived extends Refusal.of("TemplateIsArchived", 422, "template_archived") {
  override readonly message = "This template is archived. Duplicate it to use it again."
}

/** Names of a refusal that its message lists; `details` has all of them. */
const MAX_NAMED = 5

/** A layout or partial is used by others, which could not be sent without it. */
export class TemplateInUse extends Refusal.of("TemplateInUse", 422, "template_in_use")<{
  readonly alias: string
  readonly users: ReadonlyArray<string>
}> {
  override get message() {
    const more = this.users.length - MAX_NAMED
    const users = `${this.users.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
    return `Templates use ${this.alias}: ${users}. Take it out of their drafts and of what is sent first.`
  }
  readonly details = this.users.map((path) => ({ path, message: `uses ${this.alias}` }))
}

export class DraftChanged extends Refusal.of("TemplateDraftChanged", 422, "template_draft_changed") {
  override readonly message =
    "The template was changed meanwhile. Read it again, and then repeat what you wanted to do."
}

/** The sources of a template have errors. */
export class TemplateInvalid extends Refusal.of("TemplateInvalid", 422, "template_invalid")<{
  readonly problems: ReadonlyArray<Refusal.Detail>
}> {
  override readonly message = "The template has errors. `details` lists them, with line and column."
  readonly details = this.problems
}

/** The variables of a message do not fit the template. */
export class VariablesInvalid extends Refusal.of("TemplateVariablesInvalid", 422, "template_variables_invalid")<{
  readonly problems: ReadonlyArray<Refusal.Detail>
}> {
  override readonly message =
    "The variables do not fit the template. `details` lists every one that is missing, wrong or unknown."
  readonly details = this.problems
}

/** A template passed a limit with these variables, or cannot be rendered with them. */
export class TemplateNotRendered extends Refusal.of("TemplateNotRendered", 422, "template_not_rendered")<{
  readonly problems: ReadonlyArray<Refusal.Detail>
}> {
  override readonly message = "The template cannot be rendered with these variables. `details` has the reason."
  readonly details = this.problems
}

/** Too many renderings of an account took too long in this minute, and held up the mail of others. */
export class TooManyLateRenderings extends Refusal.of("TooManyLateRenderings", 429, "request_rate")<{
  readonly limit: number
  readonly retry_after_s: number
}> {
  override readonly message = `${this.limit} renderings of templates took too long in this minute; retry in ${this.retry_after_s} s.`
}

/** A template of a push is another by now than the one that its caller has read. */
export class PushConflict extends Refusal.of("TemplatePushConflict", 422, "template_push_conflict")<{
  readonly problems?: ReadonlyArray<Refusal.Detail>
}> {
  override readonly message =
    "Templates were changed since they were read. Read them again, join the changes, and push again."
  readonly details = this.problems ?? []
}

/** Refusals of the decision about one template of a push. */
export type PushRefusal =
  | AliasTaken
  | DraftChanged
  | PushConflict
  | TemplateArchived
  | TemplateNotFound
  | TooManyTemplates
  | Refusal.NothingNew

/** A message is made of a template that is not there, or that nothing is sent by. */
export class TemplateUnusable extends Schema.TaggedError<TemplateUnusable>()("TemplateUnusable", {
  reason: Schema.Literals([
    "template_not_found",
    "template_version_not_found",
    "template_archived",
    "template_not_published",
    "template_not_a_template",
  ]),
  /** The alias that the message gives. */
  alias: Schema.NullOr(Schema.String),
  /** Id of a template without an alias that has this as its name. */
  named: Schema.optionalKey(Schema.String),
  /** The alias that was probably meant. */
  nearest: Schema.optionalKey(Schema.String),
}) {
  readonly status = 422
  get details(): ReadonlyArray<Refusal.Detail> {
    const why =
      this.named === undefined
        ? `${REASONS[this.reason]}${this.nearest === undefined ? "" : ` (did you mean ${JSON.stringify(this.nearest)}?)`}`
        : `is the name of a template, and not its alias. Give it one, or use its id ${this.named}`
    return [{ path: "template", message: this.alias === null ? why : `${JSON.stringify(this.alias)} ${why}` }]
  }
  override get message() {
    return `${this.named === undefined ? "The template " : ""}${this.details[0]?.message}.`
  }
}

const REASONS = {
  template_not_found: "does not exist in this account",
  template_version_not_found: "has no version of this number",
  template_archived: "is archived",
  template_not_published: "has no published version; publish one with POST /v1/templates/{template}/publish",
  template_not_a_template: "is a layout or partial, which is not sent by itself",
} as const

/** Neither the message nor its template says this. */
export class TemplateIncomplete extends Refusal.of("TemplateIncomplete", 422, "template_incomplete")<{
  readonly missing: ReadonlyArray<"from" | "subject">
}> {
  override readonly message = `The message needs ${this.missing.map((each) => PARTS[each]).join(" and ")}, which its template does not have.`
  readonly details = this.missing.map((path) => ({ path, message: "is required: the template has none" }))
}

const PARTS = { from: "a sender", subject: "a subject" } as const
