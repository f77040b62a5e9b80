import { customer, type Group, operator } from "./Bound.ts"

const TEMPLATES = "packages/domain/src/template/TemplateRefusal.ts"
const TEMPLATE = "packages/domain/src/template/Template.ts"
const VARIABLES = "packages/domain/src/template/VariableSchema.ts"
const REQUESTS = "packages/api/src/groups/templates/TemplateRequests.ts"
const LIQUID = "packages/templates/src/language/Limits.ts"

/** Bounds of templates. */
export const templateBounds: Group = {
  title: "Templates",
  bounds: [
    customer("Templates, layouts and partials of an account", "MAX_TEMPLATES", TEMPLATES, "422 `too_many_templates`"),
    customer("Languages of a template", "MAX_LOCALES", TEMPLATE, "400"),
    customer("The name of a template", "MAX_NAME_CHARS", TEMPLATE, "400"),
    customer("The description of a template", "MAX_DESCRIPTION_CHARS", TEMPLATE, "400"),
    customer("The notes of a version", "MAX_NOTES_CHARS", TEMPLATE, "400"),
    customer("One part of a template", "MAX_PART_CHARS", REQUESTS, "400"),
    customer("Reply addresses of a template", "MAX_REPLY_TO", REQUESTS, "400"),
    customer("Templates of a push", "MAX_PUSHED", REQUESTS, "400"),
    customer("Characters of the templates of a push", "MAX_PUSHED_CHARS", REQUESTS, "400"),
    customer("Tags and variables of a part", "MAX_PIECES", LIQUID, "422 `template_invalid`"),
    customer("A tag or variable of a part", "MAX_PIECE_CHARS", LIQUID, "422 `template_invalid`"),
    customer("Names in one path of a variable", "MAX_PATH_NAMES", LIQUID, "422 `template_invalid`"),
    customer(
      "A property that a filter reads of each item",
      "MAX_PROPERTY_CHARS",
      LIQUID,
      "422 `template_not_rendered`",
    ),
    customer("The format of a date", "MAX_DATE_FORMAT_CHARS", LIQUID, "422 `template_not_rendered`"),
    customer("Partials and layouts of a template", "MAX_PARTS", LIQUID, "422 `template_invalid`"),
    customer(
      "Characters of a template in all languages, and of its partials and layouts",
      "MAX_TOGETHER_CHARS",
      LIQUID,
      "422 `template_invalid`",
    ),
    customer(
      "Tags and variables of a template in all languages, and of its partials",
      "MAX_TOGETHER_PIECES",
      LIQUID,
      "422 `template_invalid`",
    ),
    customer("Levels of a schema of variables", "MAX_DEPTH", VARIABLES, "422 `template_invalid`"),
    customer(
      "Names of a schema that are looked for in the objects of a message's variables",
      "MAX_STEPS",
      VARIABLES,
      "422 `template_variables_invalid`",
    ),
    customer("Properties of a schema of variables", "MAX_PROPERTIES", VARIABLES, "422 `template_invalid`"),
    customer(
      "Characters of the variables of a message",
      "MAX_VARIABLES_CHARS",
      VARIABLES,
      "422 `template_variables_invalid`",
    ),
    customer(
      "Characters of `X-Waybill-Variables`",
      "MAX_VARIABLES_HEADER_CHARS",
      "apps/server/src/templates/TemplateHeaders.ts",
      "554 5.6.0 over SMTP",
    ),
    customer(
      "Variables of a template of Resend",
      "MAX_VARIABLES",
      "apps/server/src/compat/resend/templates/Variables.ts",
      "422 at `/compat/resend`",
    ),
    customer(
      "Versions of a template of SendGrid with their content",
      "MAX_SHOWN",
      "apps/server/src/compat/sendgrid/templates/SendGridTemplates.ts",
      "the others come without it",
    ),
    customer("Characters of a schema of variables", "MAX_SCHEMA_CHARS", VARIABLES, "422 `template_invalid`"),
    customer("Values of an `enum`", "MAX_ENUM", VARIABLES, "422 `template_invalid`"),
    customer("Values of `examples`", "MAX_EXAMPLES", VARIABLES, "422 `template_invalid`"),
    customer("Time of a rendering", "RENDER_MS", LIQUID, "422 `template_not_rendered`"),
    customer(
      "Renderings of an account in a minute that take longer, per process",
      "MAX_LATE_PER_MINUTE",
      "apps/server/src/templates/LateRenderings.ts",
      "429 `request_rate`",
    ),
    customer("Characters of a rendered part", "MAX_OUTPUT_CHARS", LIQUID, "422 `template_not_rendered`"),
    customer("Characters and items that a rendering makes", "MAX_MADE", LIQUID, "422 `template_not_rendered`"),
    operator(
      "Parsed templates in the memory of a process",
      "MAX_PROGRAM_BYTES",
      "apps/server/src/templates/Programs.ts",
      "those used longest ago are parsed again",
    ),
    operator(
      "Sources of templates in the memory of a process",
      "MAX_SOURCE_BYTES",
      "apps/server/src/templates/Programs.ts",
      "those used longest ago are read again",
    ),
    customer(
      "Versions of a template in a list",
      "MAX_LISTED",
      "packages/store/src/readmodels/templates/TemplateVersions.ts",
      "its newest",
    ),
  ],
}
