import { assert, it } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"
import * as Editor from "./Editor.ts"

await inDashboard("the editor of templates", (opened) => {
  const stored = async (alias: string) => (await opened.instance.request("GET", `/templates/${alias}`)).json

  it("makes a template of an example, shows what is typed, and saves it", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/templates")
    await page.getByText("No templates yet").waitFor()
    await ContactSheet.shoot(page, "templates-none")
    await page.getByRole("button", { name: "Create template" }).first().click()
    await page.getByLabel("Name").fill("Order receipt")
    await Browser.eventually(() => page.getByLabel("Alias").inputValue()).toBe("order-receipt")
    assert.deepEqual(await Accessibility.violations(page), [])
    await page.getByRole("button", { name: "Create" }).click()
    await page.getByRole("heading", { level: 1, name: /Order receipt/u }).waitFor()
    const mail = Editor.frame(page)
    await mail.getByRole("heading", { name: "Thank you, Name" }).waitFor()
    await mail.getByText("1 item.").waitFor()

    await Editor.retype(page, "HTML", "<p>Hello {{ name }}, order {{ order.number }}</p>")
    await mail.getByText("Hello Name, order Number").waitFor()
    assert.strictEqual((await stored("order-receipt")).draft.html.includes("Thank you"), true)
    await page.getByRole("button", { name: "Save draft" }).click()
    await page.getByText("Draft saved.").waitFor()
    assert.strictEqual((await stored("order-receipt")).draft.html, "<p>Hello {{ name }}, order {{ order.number }}</p>")
    await ContactSheet.shoot(page, "template-edit")
    assert.deepEqual(await Accessibility.violations(page), [])
    await Editor.assertNoOverflow(page)
  })

  it("shows a problem where it is, and keeps the last preview", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await Editor.retype(page, "HTML", "<p>Hi</p>\n{{ name | upcas }}")
    await page.getByText("HTML, line 2, column 1:").waitFor()
    await page.getByText("did you mean upcase?").first().waitFor()
    await Editor.frame(page).getByText("Hello Name").waitFor()
    await Browser.eventually(() => page.locator("[data-editor=HTML] .cm-lint-marker-error").count()).toBe(1)
    await ContactSheet.shoot(page, "template-problem")
    assert.deepEqual(await Accessibility.violations(page), [])
    await Editor.retype(page, "HTML", "<p>Hello {{ name }}, order {{ order.number }}</p>")
    await page.getByRole("list", { name: "Problems" }).waitFor({ state: "detached" })
  })

  it("renders again what the server could not render", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.route(/\/v1\/templates\/[^/]+\/render/u, (route) => route.fulfill({ status: 503, json: {} }), {
      times: 1,
    })
    await Editor.retype(page, "HTML", "<p>Welcome {{ name }}</p>")
    await Editor.frame(page).getByText("Welcome Name").waitFor()
    assert.strictEqual(await page.getByRole("list", { name: "Problems" }).count(), 0)
    await Editor.retype(page, "HTML", "<p>Hello {{ name }}, order {{ order.number }}</p>")
    await Editor.frame(page).getByText("Hello Name, order Number").waitFor()
  })

  it("warns of end tags that no branch and no partial begins", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const markers = page.locator("[data-editor=HTML] .cm-lint-marker-warning")
    const branches = (end: string) => `<p>{% if name %}<b>{{ name }}{% else %}<b>You{% endif %}</b></p>${end}`
    await Editor.retype(page, "HTML", branches("\n</div>"))
    await Browser.eventually(() => markers.count()).toBe(1)
    await markers.hover()
    await page.getByText("The end tag </div> has no begin.").waitFor()
    await Editor.retype(page, "HTML", branches(""))
    await Browser.eventually(() => markers.count()).toBe(0)
    const partial = { name: "Head", alias: "head", kind: "partial", html: "<table><tr><td>" }
    await opened.instance.request("POST", "/templates", partial)
    await opened.instance.request("POST", "/templates/head/publish", {})
    const warnings = page.getByRole("list", { name: "Warnings" })
    await Editor.retype(page, "HTML", '{% render "head" %}Total</td></tr></table></div>')
    await warnings.getByText(/the end tag <\/div> has no begin, behind “.*Total”\.$/u).waitFor()
    await Browser.eventually(() => markers.count()).toBe(0)
    assert.deepEqual(await Accessibility.violations(page), [])
    await Editor.retype(page, "HTML", '{% render "head" %}Total</td></tr></table>')
    await warnings.waitFor({ state: "detached" })
    await Editor.retype(page, "HTML", "<p>Hello {{ name }}, order {{ order.number }}</p>")
    await Editor.frame(page).getByText("Hello Name, order Number").waitFor()
    await page.getByRole("tab", { name: /^Text/u }).click()
    const text = await Editor.textOf(page, "Text")
    await Editor.retype(page, "Text", "Dear {{ nmae }}")
    await warnings.getByText("`nmae` is not in the schema").waitFor()
    await Editor.retype(page, "Text", text)
    await warnings.waitFor({ state: "detached" })
    await page.getByRole("tab", { name: /^HTML/u }).click()
  })

  it("offers the variables of the schema while one is typed", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const offered = async () => {
      const rows = await page.locator("[data-editor] .cm-tooltip-autocomplete li").allInnerTexts()
      return rows.map((row) => row.replace(/\s+/gu, " ").trim())
    }
    await Editor.retype(page, "HTML", "<p>na</p>\n{% for item in order.items %}")
    // In a text nothing is offered.
    await page.keyboard.type("<p>na")
    await page.keyboard.type("{{ na")
    await Browser.eventually(offered).toContain("name string")
    await ContactSheet.shoot(page, "template-variables-offered")
    assert.deepEqual(await Accessibility.violations(page), [])
    // The editor ignores keys of somebody who cannot have seen the list yet.
    const seen = Number(await page.evaluate("performance.now()")) + 100
    await Browser.eventually(() => page.evaluate("performance.now()")).toBeGreaterThan(seen)
    await page.keyboard.press("Enter")
    await Browser.eventually(() => Editor.textOf(page, "HTML")).toContain("<p>na{{ name")
    await page.getByRole("tab", { name: /^Text/u }).click()
    const text = await Editor.textOf(page, "Text")
    await Editor.retype(page, "Text", "Dear ")
    await page.keyboard.type("{{ ord")
    await Browser.eventually(offered).toContain("order object")
    await page.keyboard.press("Escape")
    await Editor.retype(page, "Text", text)
    await page.getByRole("tab", { name: /^HTML/u }).click()
    await Editor.retype(page, "HTML", "<p>Hello {{ name }}, order {{ order.number }}</p>")
    await page.getByRole("list", { name: "Problems" }).waitFor({ state: "detached" })
  })

  it("renders with other values, by a schema that it suggests", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.getByRole("tab", { name: /^Variables/u }).click()
    await Editor.retype(page, "Sample values", '{"name": "Ana", "order": 7}')
    await page.getByText("Sample values: `order` must be an object, not integer.").waitFor()
    await page.getByRole("button", { name: "Take those of the schema" }).click()
    await Editor.retype(page, "Schema", "")
    await page.getByRole("button", { name: "Suggest from the template" }).click()
    await Browser.eventually(() => Editor.textOf(page, "Schema")).toContain('"number"')
    await Editor.retype(
      page,
      "Sample values",
      '{"name": "Ana <b>", "order": {"number": "7", "items": [], "total": 1, "url": "x"}}',
    )
    await Editor.frame(page).getByText("Hello Ana <b>, order 7").waitFor()
    await ContactSheet.shoot(page, "template-variables")
    assert.deepEqual(await Accessibility.violations(page), [])
    await Editor.assertNoOverflow(page)
  })

  it("shows what readers see on a phone, in the dark and as text", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.getByRole("tab", { name: /^HTML/u }).click()
    const style = "@media (prefers-color-scheme: dark) { p { color: rgb(1, 2, 3) } }"
    await Editor.retype(page, "HTML", `<style>${style}</style><p>Hello {{ name }}</p>`)
    const paragraph = Editor.frame(page).locator("p")
    const color = () => paragraph.evaluate((element) => getComputedStyle(element).color)
    await Browser.eventually(color).toBe("rgb(0, 0, 0)")
    await page.getByRole("button", { name: "Dark mode" }).click()
    await Browser.eventually(color).toBe("rgb(1, 2, 3)")
    await ContactSheet.shoot(page, "template-dark")
    await page.getByRole("button", { name: "Dark mode" }).click()
    await page.getByRole("button", { name: "Phone width" }).click()
    await Browser.eventually(async () => (await Editor.frameElement(page).boundingBox())?.width).toBe(390)
    await page.getByRole("button", { name: "Plain text" }).click()
    await page.getByLabel("Plain text").last().getByText("Thank you, Ana <b>").waitFor()
    await page.getByRole("button", { name: "Desktop width" }).click()
    await Browser.eventually(() => page.getByLabel("Plain text").count()).toBe(1)
  })

  it("runs nothing of a hostile template", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const hostile =
      `<p onclick="top.hacked = 1" id="p">Click</p><img src="x" onerror="top.hacked = 1">` +
      `<script>top.hacked = 1</script><iframe srcdoc="<script>top.hacked = 1</script>"></iframe>` +
      `<a href="javascript:top.hacked = 1" target="_self">Link</a><meta http-equiv="refresh" content="0;url=/overview">` +
      `<form action="/v1/email/send"><button>Send</button></form><p>End</p>`
    await Editor.retype(page, "HTML", hostile)
    const mail = Editor.frame(page)
    await mail.getByText("End", { exact: true }).waitFor()
    await mail.locator("#p").click()
    await mail.getByText("Link").click()
    await mail.getByRole("button", { name: "Send" }).click()
    // A later text is shown in the same frame, which went nowhere.
    await Editor.retype(page, "HTML", "<p>Later</p>")
    await mail.getByText("Later").waitFor()
    assert.isTrue(await page.evaluate("window.hacked === undefined"))
    assert.strictEqual(new URL(page.url()).pathname.startsWith("/templates/tpl_"), true)
  })

  it("has languages side by side", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await Editor.retype(page, "HTML", "<p>Hello {{ name }}</p>")
    await page.getByText("All emails are sent with these texts.").waitFor()
    await page.getByRole("button", { name: "Add language" }).click()
    await page.getByRole("dialog").getByLabel("Language").fill("de")
    await page.getByRole("dialog").getByText("German").waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "Add language" }).click()
    await page.getByLabel("Subject (de)").fill("Bestellung {{ order.number }}")
    await Editor.retype(page, "HTML (de)", "<p>Hallo {{ name }}</p>")
    await Editor.frame(page).getByText("Hallo Ana <b>").waitFor()
    await page.getByText("Bestellung 7").waitFor()
    await page
      .getByText("Sent if a request asks for “de”. Not translated: Preheader. Taken from the default.")
      .waitFor()
    assert.strictEqual(await Editor.textOf(page, "HTML"), "<p>Hello {{ name }}</p>")
    await ContactSheet.shoot(page, "template-languages")
    assert.deepEqual(await Accessibility.violations(page), [])
    await Editor.assertNoOverflow(page)
    await page.getByRole("button", { name: "Save draft" }).click()
    await Browser.eventually(async () => (await stored("order-receipt")).draft.locales.de?.html).toBe(
      "<p>Hallo {{ name }}</p>",
    )
  })

  it("tries words of another service in their language", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const words = { subject: "Hi {{name}}", html: "{{#if name}}<p>Dear {{name}}</p>{{/if}}" }
    const made = await opened.instance.request("POST", "/templates", {
      name: "Theirs",
      language: "handlebars",
      ...words,
    })
    await page.goto(`/templates/${made.json.id}`)
    await Editor.frame(page).getByText("Dear Name").waitFor()
    await Editor.retype(page, "HTML", "{{#if name}}<p>Hello {{name}}</p>{{else}}nobody{{/if}}")
    await Editor.frame(page).getByText("Hello Name").waitFor()
    await page.getByRole("button", { name: "Save draft" }).click()
    await page.getByText("Draft saved.").waitFor()
    assert.strictEqual((await stored(made.json.id)).draft.language, "handlebars")
  })

  it("breaks no content policy of the dashboard while HTML is typed", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { json } = await opened.instance.request("POST", "/templates", {
      name: "Styled",
      subject: "Hi",
      html: '<html style="margin: 0"><body style="margin: 0"><p style="color: red">Styled</p></body></html>',
    })
    await page.route("https://images.example/**", (route) => route.fulfill({ contentType: "image/png", body: "" }))
    await page.goto(`/templates/${json.id}`)
    const mail = Editor.frame(page)
    await mail.getByText("Styled").waitFor()
    await Editor.retype(page, "HTML", '<p style="color: red"><img src="https://images.example/a.png">Typed</p>')
    await page.keyboard.type('<p style="color: red">By hand</p>')
    await mail.getByText("Typed").waitFor()
    await page.getByRole("button", { name: "Load remote images" }).click()
    await page.keyboard.press("Tab")
    await Editor.retype(
      page,
      "HTML",
      '<p style="color: blue"><img src="https://images.example/a.png">Again</p>{{ name | upcas }}',
    )
    await page.getByText("did you mean upcase?").first().waitFor()
    await page.locator("[data-editor=HTML] .cm-lint-marker-error").hover()
    await page.getByRole("button", { name: "Save draft" }).click()
    const banner = page.getByRole("alert")
    await banner.waitFor()
    await Browser.eventually(() => banner.innerText()).not.toContain("details`")
    await Editor.retype(page, "HTML", '<p style="color: blue"><img src="https://images.example/a.png">Again</p>')
    await mail.getByText("Again").waitFor()
    for (const name of ["Plain text", "Phone width", "Dark mode", "Desktop width"])
      await page.getByRole("button", { name }).click()
    await mail.getByText("Again").waitFor()
    const broken = opened.tab.consoleErrors.filter((error) => error.includes("style-src 'self'"))
    assert.deepEqual(broken, [])
  })

  it("logs no errors but those of the hostile template", () => {
    assert.deepEqual(
      opened.tab.consoleErrors.filter(
        (error) =>
          !/\/preview\/template|about:srcdoc|Content Security Policy|(?:422|503) .*\/v1\/templates\/|document is sandboxed/u.test(
            error,
          ),
      ),
      [],
    )
  })
})
