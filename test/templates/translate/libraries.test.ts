import type { Translated } from "@waybill/templates/translate/LiquidWriter"
import { fromHandlebars } from "@waybill/templates/translate/fromHandlebars"
import { fromMustachio } from "@waybill/templates/translate/fromMustachio"
import { fromResend } from "@waybill/templates/translate/fromResend"
import Mustache from "mustache"
import { assert, describe, it } from "../../support/effectTest.ts"
import { handlebarsTemplates } from "./handlebarsTemplates.ts"
import type { KnownTemplate } from "./KnownTemplate.ts"
import { mustachioTemplates } from "./mustachioTemplates.ts"
import { POSTMARK } from "./postmarkTemplates.ts"
import { renderTranslated } from "./renderTranslated.ts"
import { RESEND } from "./resendTemplates.ts"
import { SENDGRID } from "./sendgridTemplates.ts"
import { sendgridHandlebars } from "./sendgridHandlebars.ts"
import { VARIABLES } from "./TemplateValues.ts"

/** Each library spells the same entities in its own way. */
const SPELLINGS: ReadonlyArray<readonly [RegExp, string]> = [
  [/&quot;/gu, "&#34;"],
  [/&#x27;/gu, "&#39;"],
  [/&#x2F;/gu, "/"],
  [/&#x3D;/gu, "="],
]
const spelled = (html: string) => SPELLINGS.reduce((text, [from, to]) => text.replaceAll(from, to), html)

/** Mustache finds names of the outer context by itself and has no `each`, which for a list is a section. */
const inMustache = (source: string): string =>
  source
    .replaceAll(/\{\{#each ([\w.]+)\}\}/gu, "{{#$1}}")
    .replaceAll(/(?:\.\.\/)+/gu, "")
    .replaceAll("of {{name}}{{/each}}{{/company}}", "of {{company.name}}{{/each}}{{/company}}")

/** Closes the sections that were opened last, whose names are not known in `{{/each}}`. */
const closed = (source: string): string => {
  const names: Array<string> = []
  return source.replaceAll(/\{\{([#^/])([\w.]+)\}\}/gu, (whole, sigil: string, name: string) => {
    if (sigil !== "/") names.push(name)
    else return `{{/${names.pop() ?? name}}}`
    return whole
  })
}

/** Resend fills in names of contacts itself, so that a template of a message has others. */
const withoutContacts = (source: string): string => source.replaceAll(/\b(?=(?:FIRST_NAME|LAST_NAME|EMAIL)\b)/gu, "MY_")

const customers = (sources: ReadonlyArray<string>): ReadonlyArray<KnownTemplate> =>
  sources.map((source) => ({ name: source.slice(0, 60), source, variables: VARIABLES }))

const renderSame = (
  language: string,
  templates: ReadonlyArray<KnownTemplate>,
  translate: (source: string) => Translated,
  library: (source: string, variables: object) => string,
) =>
  describe(`a template of ${language} renders as its library does:`, () => {
    for (const { name, source, variables } of templates)
      it(name, () =>
        assert.strictEqual(renderTranslated(translate(source), variables), spelled(library(source, variables))),
      )
  })

renderSame("Handlebars", [...customers(SENDGRID), ...handlebarsTemplates], fromHandlebars, (source, variables) =>
  sendgridHandlebars.compile(source)(variables),
)

renderSame("Mustachio", [...customers(POSTMARK), ...mustachioTemplates], fromMustachio, (source, variables) =>
  Mustache.render(closed(inMustache(source)), variables),
)

// Mustache escapes what stands in its own tags.
renderSame("Resend", customers(RESEND.map(withoutContacts)), fromResend, (source, variables) =>
  Mustache.render(source, variables, {}, ["{{{", "}}}"]),
)

describe("templates of customers", () => {
  for (const [service, templates] of Object.entries({ SENDGRID, POSTMARK, RESEND }))
    it(`are forty of ${service}`, () => assert.strictEqual(new Set(templates).size, 40))

  it("of Resend that name contacts are told of each", () => {
    const told = RESEND.map((source) => fromResend(source).problems.length)
    assert.deepStrictEqual(
      told,
      RESEND.map((source) => source.match(/\{(?:FIRST_NAME|LAST_NAME|EMAIL)\}/gu)?.length ?? 0),
    )
    assert.isAbove(Math.max(...told), 1)
  })
})
