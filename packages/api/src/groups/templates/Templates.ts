import * as Id from "@waybill/domain/values/Id"
import * as Template from "@waybill/domain/template/Template"
import * as State from "@waybill/domain/template/TemplateState"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../../errors/ApiError.ts"
import { Authorization } from "../../middleware/Authorization.ts"
import { annotate } from "../../middleware/annotate.ts"
import * as Checks from "../../schemas/Checks.ts"
import * as Idempotency from "../../schemas/Idempotency.ts"
import * as Page from "../../schemas/Page.ts"
import * as TemplateChoice from "../../schemas/send/TemplateChoice.ts"
import { Validation } from "../../middleware/Validation.ts"
import * as Records from "./TemplateRecords.ts"
import * as Requests from "./TemplateRequests.ts"

const params = { template: TemplateChoice.Name }
const headers = Idempotency.headers
const [read, write] = ["templates:read", "templates:write"] as const
const created = HttpApiSchema.status(201)

const VersionNumber = Schema.String.check(
  Schema.isPattern(/^[1-9]\d{0,8}$/u, { message: "must be the number of a version" }),
)

export class Templates extends HttpApiGroup.make("templates")
  .add(
    HttpApiEndpoint.get("list", "/templates", {
      query: {
        limit: Page.limit(),
        after: Schema.optionalKey(Id.TemplateId),
        kind: Schema.optionalKey(State.TemplateKind),
        status: Schema.optionalKey(Records.fields.status),
        uses: Schema.optionalKey(Requests.Alias).annotate({
          description: "Alias of a layout or partial that they use",
        }),
        q: Schema.optionalKey(Schema.String.check(Checks.chars(Template.MAX_NAME_CHARS, 1), Checks.oneLine)),
      },
      success: Page.of(Records.ListedTemplate),
    }).annotateMerge(
      annotate(
        "List templates",
        read,
        "Templates, layouts and partials, newest first. Archived ones only with `status=archived`.",
      ),
    ),
    HttpApiEndpoint.get("get", "/templates/:template", { params, success: Records.TemplateRecord }).annotateMerge(
      annotate("Get a template", read, "By its id or alias, with its draft."),
    ),
    HttpApiEndpoint.post("create", "/templates", {
      headers,
      payload: Requests.Creation,
      success: Idempotency.replayable(Records.TemplateRecord.pipe(created)),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate("Create a template", write, "Creates a draft. Nothing is sent by it before it is published."),
    ),
    HttpApiEndpoint.patch("update", "/templates/:template", {
      params,
      payload: Requests.Change,
      success: Records.TemplateRecord,
      error: ApiError.Unprocessable,
    }).annotateMerge(annotate("Change a template", write, "Changes the draft. Published versions never change.")),
    HttpApiEndpoint.delete("archive", "/templates/:template", {
      params,
      success: Records.Archived,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Archive a template",
        write,
        "Nothing more is sent by it, and its alias is free. Its versions can still be read.",
      ),
    ),
    HttpApiEndpoint.post("publish", "/templates/:template/publish", {
      params,
      headers,
      payload: Requests.Publication,
      success: Idempotency.replayable(Records.ListedVersion.pipe(created)),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Publish a template",
        write,
        "Makes the draft the next version, which never changes again and is sent from now on.",
      ),
    ),
    HttpApiEndpoint.get("versions", "/templates/:template/versions", {
      params,
      success: Page.of(Records.ListedVersion),
    }).annotateMerge(annotate("List a template's versions", read, "The newest 200, newest first.")),
    HttpApiEndpoint.get("version", "/templates/:template/versions/:number", {
      params: { ...params, number: VersionNumber },
      success: Records.VersionRecord,
    }).annotateMerge(annotate("Get a version of a template", read, "With its source.")),
    HttpApiEndpoint.post("rollback", "/templates/:template/rollback", {
      params,
      headers,
      payload: Requests.Rollback,
      success: Idempotency.replayable(Records.TemplateRecord),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate("Roll a template back", write, "Sends a former version from now on. The draft stays as it is."),
    ),
    HttpApiEndpoint.post("duplicate", "/templates/:template/duplicate", {
      params,
      headers,
      payload: Requests.Duplication,
      success: Idempotency.replayable(Records.TemplateRecord.pipe(created)),
      error: ApiError.Unprocessable,
    }).annotateMerge(annotate("Duplicate a template", write, "Makes a draft of the draft.")),
    HttpApiEndpoint.post("render", "/templates/:template/render", {
      params,
      headers,
      payload: Requests.RenderRequest,
      success: Records.Rendered,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate("Render a template", read, "Returns what would be sent, and what a reader would miss. Nothing is sent."),
    ),
    HttpApiEndpoint.post("push", "/templates/push", {
      headers,
      payload: Requests.Push,
      success: Idempotency.replayable(Records.Push),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Push templates",
        write,
        "Creates and changes templates, layouts and partials by their aliases, and publishes them: all of them, or none. Those that are as they should be stay untouched. With `dry_run`, only says what would change, and every problem.",
      ),
    ),
    HttpApiEndpoint.post("validate", "/templates/validate", {
      headers,
      payload: Requests.NewSource,
      success: Records.Validated,
    }).annotateMerge(
      annotate(
        "Validate a template",
        write,
        "Returns all that is wrong with a source, which is not stored, a schema of the variables that it uses, and sample values.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Templates",
      description: "Words of messages in Liquid, with versions that never change, languages and checked variables.",
    }),
  ) {}
