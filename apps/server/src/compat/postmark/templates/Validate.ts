import * as State from "@waybill/domain/template/TemplateState"
import type * as VariableSchema from "@waybill/domain/template/VariableSchema"
import type * as Id from "@waybill/domain/values/Id"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as Turn from "@waybill/runtime/flow/Turn"
import * as Inspection from "@waybill/templates/version/Inspection"
import * as Suggestion from "@waybill/templates/version/Suggestion"
import * as Rendering from "@waybill/templates/version/Rendering"
import { Effect, Result, type Schema } from "effect"
import * as Templating from "../../../templates/Templating.ts"
import * as UsedParts from "../../../templates/UsedParts.ts"
import * as Native from "../../Native.ts"
import { route } from "../../route.ts"
import { inCaseOf } from "../../lenient/inCaseOf.ts"
import * as TemplateBodies from "./TemplateBodies.ts"
import * as NativeTemplates from "../../NativeTemplates.ts"

const NOTHING = { library: new Map<string, State.TemplateSource>() }
const SECTIONS = { Subject: "subject", HtmlBody: "html", TextBody: "text" } as const

/** Returns an error as Postmark lists it. */
const errorOf = ({ message, place }: Detail) => ({
  Message: place?.message ?? message,
  Line: place?.line ?? 1,
  CharacterPosition: place?.column ?? 1,
})

/** Returns a model with a text for each name that a template uses. */
const modelOf = ({ properties = {} }: VariableSchema.VariableSchema): Record<string, Schema.Json> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      schema.properties === undefined ? `${name}_Value` : modelOf(schema),
    ]),
  )

/** Checks a source, which is not stored, and renders what of it is right. */
export const validate = route(
  "POST /templates/validate",
  { endpoint: "templates.validate", body: TemplateBodies.Validation, prepare: inCaseOf(TemplateBodies.Validation) },
  function* ({ body: request }) {
    const source: State.TemplateSource = {
      ...State.EMPTY,
      language: "mustachio",
      subject: request.Subject ?? null,
      html: request.HtmlBody ?? null,
      text: request.TextBody ?? null,
      layout: request.LayoutTemplate ?? null,
    }
    if (source.subject === null && source.html === null && source.text === null)
      return yield* Native.refuse("", "needs `Subject`, `HtmlBody` or `TextBody`")
    const own = Inspection.problemsOf(source)
    yield* Turn.next
    const account_id = yield* NativeTemplates.owner
    const { library } = own.length > 0 ? NOTHING : yield* UsedParts.load(account_id, source, undefined)
    const problems = own.length > 0 ? own : Inspection.unresolved(source, library)
    yield* Turn.next
    const suggested = own.length > 0 ? {} : modelOf(Suggestion.suggest(source))
    const variables = request.TestRenderModel ?? suggested
    const rendered = problems.length > 0 ? Result.fail(problems) : yield* render(account_id, source, library, variables)
    const failures = Result.isFailure(rendered) ? rendered.failure : []
    const sections = Object.entries(SECTIONS).map(([name, part]) => {
      const errors = failures.filter(({ path }) => path === part || path === "").map(errorOf)
      const content = Result.isSuccess(rendered) ? rendered.success[part] : null
      const isValid = errors.length === 0
      return [
        name,
        source[part] === null
          ? null
          : { ContentIsValid: isValid, ValidationErrors: errors, RenderedContent: isValid ? content : null },
      ] as const
    })
    return Native.ok({
      AllContentIsValid: failures.length === 0,
      ...Object.fromEntries(sections),
      SuggestedTemplateModel: suggested,
    })
  },
)

const render = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  source: State.TemplateSource,
  library: Parameters<typeof Rendering.prepare>[1],
  variables: Readonly<Record<string, Schema.Json>>,
) {
  const compiled = Rendering.prepare(source, library, undefined)
  if (Result.isFailure(compiled)) return Result.fail(compiled.failure)
  return yield* Templating.render(account_id, compiled.success, { variables, locale: null, time_zone: null }).pipe(
    Effect.map((rendered) => Result.succeed(rendered)),
    Effect.catchTag(["TemplateVariablesInvalid", "TemplateNotRendered"], ({ details }) =>
      Effect.succeed(Result.fail(details)),
    ),
  )
})
