import { importTemplates } from "../../../../apps/server/src/cli/remote/templates/importTemplates.ts"
import { assert, describe, it } from "../../../support/effectTest.ts"

describe("a template that is imported", () => {
  it("is refused before it is read if it is larger than a template", async () => {
    for (const html of ["{{#each a}}".repeat(2_001), "{{".repeat(3_000), "x".repeat(300_000)]) {
      const [imported] = await importTemplates("sendgrid", [{ id: "d-1", name: "Large", html_content: html }])
      assert.deepStrictEqual(imported?.problems, ["html: is larger than a part can be"])
      assert.deepInclude(imported?.template, { html: null, publish: false })
    }
  })

  it("stays a draft of valid Liquid if something of it cannot be said", async () => {
    const versions = [
      { subject: "Hi {{{unsubscribe}}}", html_content: "<p>{{name}}</p>\n{{> footer}}{{../up}}{{#odd a}}x" },
    ]
    const [imported] = await importTemplates("sendgrid", [{ id: "d-1", name: "Odd", versions }])
    assert.deepStrictEqual(imported?.problems, [
      "subject: unsubscribe is filled in by SendGrid; write it, or set `list_unsubscribe` (line 1, column 4)",
      "html: SendGrid has no partials (line 2, column 1)",
      "html: ../up leads out of the template (line 2, column 13)",
      "html: odd is not a helper of SendGrid (line 2, column 22)",
      "html: {{#odd}} is not closed (line 2, column 22)",
    ])
    assert.isTrue(imported?.isValid)
    assert.deepInclude(imported?.template, {
      subject: "Hi ",
      html: "<p>{{ name }}</p>\n{% if false %}x{% endif %}",
      publish: false,
    })
  })
})
