import { Schema } from "effect"
import type { Detail, NothingNew } from "../values/Refusal.ts"

export class TemplateNotFound extends Schema.TaggedError<TemplateNotFound>()("TemplateNotFound", {}) {
  readonly status = 404
  readonly reason = "template_not_found"
  override get message() {
    return "There is no template with this id or alias in this account."
  }
}

export class VersionNotFound extends Schema.TaggedError<VersionNotFound>()("TemplateVersionNotFound", {}) {
  readonly status = 404
  readonly reason = "template_version_not_found"
  override get message() {
    return "This template has no version of this number."
  }
}

export class AliasTaken extends Schema.TaggedError<AliasTaken>()("TemplateAliasTaken", { alias: Schema.String }) {
  readonly status = 422
  readonly reason = "template_alias_taken"
  override get message() {
    return `Another template of this account has the alias ${this.alias}.`
  }
}

/** Maximum number of templates, layouts and partials per account that are not archived. */
export const MAX_TEMPLATES = 1_000

export class TooManyTemplates extends Schema.TaggedError<TooManyTemplates>()("TooManyTemplates", {}) {
  readonly status = 422
  readonly reason = "too_many_templates"
  override get message() {
    return `An account has at most ${MAX_TEMPLATES} templates. Archive one first.`
  }
}

export class TemplateArchived extends Schema.TaggedError<TemplateArchived>()("TemplateIsArchived", {}) {
  readonly status = 422
  readonly reason = "template_archived"
  override get message() {
    return "This template is archived. Duplicate it to use it again."
  }
}

/** Names of a refusal that its message lists; `details` has all of them. */
const MAX_NAMED = 5

/** A layout or partial is used by others, which could not be sent without it. */
export class TemplateInUse extends Schema.TaggedError<TemplateInUse>()("TemplateInUse", {
  alias: Schema.String,
  users: Schema.Array(Schema.String),
}) {
  readonly status = 422
  readonly reason = "template_in_use"
  get details(): ReadonlyArray<Detail> {
    return this.users.map((path) => ({ path, message: `uses ${this.alias}` }))
  }
  override get message() {
    const more = this.users.length - MAX_NAMED
    const users = `${this.users.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
    return `Templates use ${this.alias}: ${users}. Take it out of their drafts and of what is sent first.`
  }
}

export class DraftChanged extends Schema.TaggedError<DraftChanged>()("TemplateDraftChanged", {}) {
  readonly status = 422
  readonly reason = "template_draft_changed"
  override get message() {
    return "The template was changed meanwhile. Read it again, and then repeat what you wanted to do."
  }
}

const details = Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))

/** The sources of a template have errors. */
export class TemplateInvalid extends Schema.TaggedError<TemplateInvalid>()("TemplateInvalid", { problems: details }) {
  readonly status = 422
  readonly reason = "template_invalid"
  get details(): ReadonlyArray<Detail> {
    return this.problems
  }
  override get message() {
    return "The template has errors. `details` lists them, with line and column."
  }
}

/** The variables of a message do not fit the template. */
export class VariablesInvalid extends Schema.TaggedError<VariablesInvalid>()("TemplateVariablesInvalid", {
  problems: details,
}) {
  readonly status = 422
  readonly reason = "template_variables_invalid"
  get details(): ReadonlyArray<Detail> {
    return this.problems
  }
  override get message() {
    return "The variables do not fit the template. `details` lists every one that is missing, wrong or unknown."
  }
}

/** A template passed a limit with these variables, or cannot be rendered with them. */
export class TemplateNotRendered extends Schema.TaggedError<TemplateNotRendered>()("TemplateNotRendered", {
  problems: details,
}) {
  readonly status = 422
  readonly reason = "template_not_rendered"
  get details(): ReadonlyArray<Detail> {
    return this.problems
  }
  override get message() {
    return "The template cannot be rendered with these variables. `details` has the reason."
  }
}

/** Too many renderings of an account took too long in this minute, and held up the mail of others. */
export class TooManyLateRenderings extends Schema.TaggedError<TooManyLateRenderings>()("TooManyLateRenderings", {
  limit: Schema.Int,
  retry_after_s: Schema.Int,
}) {
  readonly status = 429
  readonly reason = "request_rate"
  override get message() {
    return `${this.limit} renderings of templates took too long in this minute; retry in ${this.retry_after_s} s.`
  }
}

/** A template of a push is another by now than the one that its caller has read. */
export class PushConflict extends Schema.TaggedError<PushConflict>()("TemplatePushConflict", {
  problems: Schema.optionalKey(details),
}) {
  readonly status = 422
  readonly reason = "template_push_conflict"
  get details(): ReadonlyArray<Detail> {
    return this.problems ?? []
  }
  override get message() {
    return "Templates were changed since they were read. Read them again, join the changes, and push again."
  }
}

/** Refusals of the decision about one template of a push. */
export type PushRefusal =
  | AliasTaken
  | DraftChanged
  | PushConflict
  | TemplateArchived
  | TemplateNotFound
  | TooManyTemplates
  | NothingNew

/** A message is made of a template that is not there, or that nothing is sent by. */
export class TemplateUnusable extends Schema.TaggedError<TemplateUnusable>()("TemplateUnusable", {
  cause: Schema.Literals(["not_found", "version_not_found", "archived", "not_published", "not_a_template"]),
}) {
  readonly status = 422
  get reason() {
    return `template_${this.cause}`
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: "template", message: CAUSES[this.cause] }]
  }
  override get message() {
    return `\`template\` ${CAUSES[this.cause]}.`
  }
}

const CAUSES = {
  not_found: "is not a template of this account",
  version_not_found: "has no version of this number",
  archived: "is archived",
  not_published: "has no published version",
  not_a_template: "is a layout or partial, which is not sent by itself",
} as const

/** Neither the message nor its template says this. */
export class TemplateIncomplete extends Schema.TaggedError<TemplateIncomplete>()("TemplateIncomplete", {
  missing: Schema.Array(Schema.Literals(["from", "subject"])),
}) {
  readonly status = 422
  readonly reason = "template_incomplete"
  get details(): ReadonlyArray<Detail> {
    return this.missing.map((path) => ({ path, message: "is required: the template has none" }))
  }
  override get message() {
    return `The message needs \`${this.missing.join("` and `")}\`, which its template does not have.`
  }
}
