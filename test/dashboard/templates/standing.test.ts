import { assert, it } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"
import * as Editor from "./Editor.ts"

const SCHEMA = {
  type: "object",
  required: ["name", "order"],
  properties: { name: { type: "string" }, order: { type: "object", properties: { id: { type: "integer" } } } },
}

await inDashboard("the page of a template tells how it stands", (opened) => {
  const create = async (alias: string, source: object = {}): Promise<string> => {
    const body = { name: `Template ${alias}`, alias, subject: "Hello", html: "<p>One</p>", ...source }
    const { json, status } = await opened.instance.request("POST", "/templates", body)
    assert.strictEqual(status, 201, JSON.stringify(json))
    return json.id as string
  }
  const read = async (id: string) => (await opened.instance.request("GET", `/templates/${id}`)).json
  const publish = (id: string) => opened.instance.request("POST", `/templates/${id}/publish`, {})

  it("shows a draft that differs, and publishes it by keys with its changes", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const id = await create("welcome")
    await publish(id)
    await page.goto(`/templates/${id}`)
    const button = page.getByRole("button", { name: "Publish", exact: true })
    await Browser.eventually(() => button.isDisabled()).toBe(true)
    await Browser.eventually(() => page.getByText("Draft has changes").count()).toBe(0)
    await Editor.retype(page, "HTML", "<p>Two</p>")
    await page.keyboard.press("ControlOrMeta+s")
    await page.getByText("Draft saved.").waitFor()
    await page.getByText("Draft has changes").waitFor()
    await page.getByText("the draft differs from it").waitFor()
    await ContactSheet.shoot(page, "template-differs")
    await page.goto("/templates")
    await page.getByText("Draft has changes").waitFor()
    await ContactSheet.shoot(page, "templates-differs")
    await page.goto(`/templates/${id}`)
    await Editor.frame(page).getByText("Two").waitFor()
    await page.keyboard.press("ControlOrMeta+Enter")
    const dialog = page.getByRole("dialog")
    await dialog.getByText("Changes since version 1").waitFor()
    await Browser.eventually(() => dialog.getByLabel("Changes of HTML").innerText()).toMatch(/One[^]*Two/u)
    await ContactSheet.shoot(page, "template-publish")
    assert.deepEqual(await Accessibility.violations(page), [])
    await page.keyboard.press("ControlOrMeta+Enter")
    await page.getByText("Version 2 published. It is sent from now on.").waitFor()
    await page.getByText("Draft has changes").waitFor({ state: "detached" })
  })

  it("restores a version into the draft, and keeps its view in the address", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await read("welcome")
    await page.goto(`/templates/${id}?view=versions`)
    await page.getByRole("button", { name: "Restore into draft: version 1" }).click()
    await Editor.frame(page).getByText("One").waitFor()
    assert.strictEqual((await read(id)).draft.html, "<p>Two</p>")
    await page.getByRole("tab", { name: /^Text/u }).click()
    assert.strictEqual(new URL(page.url()).searchParams.get("tab"), "Text")
    await page.getByRole("link", { name: "Back to templates" }).click()
    await page.getByRole("button", { name: "Save and leave" }).click()
    await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor()
    assert.strictEqual((await read(id)).draft.html, "<p>One</p>")
  })

  it("marks an unknown variable, and goes to its line", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const id = await create("marked", {
      html: "<p>\n{{ nmae }}</p>",
      variables: SCHEMA,
      preheader: "See",
      from: "A <a@acme.test>",
    })
    await page.goto(`/templates/${id}?tab=Text`)
    await page.getByLabel("Sender").getByText("A <a@acme.test>").waitFor()
    await Browser.eventually(() => page.getByLabel("Line in a list of mail").innerText()).toBe("Hello – See")
    await page.getByRole("button", { name: "HTML, line 2, column 4:" }).click()
    await page.locator("[data-editor=HTML] .cm-lint-marker-warning").waitFor()
    await page.keyboard.type("x")
    await Browser.eventually(() => Editor.textOf(page, "HTML")).toBe("<p>\n{{ xnmae }}</p>")
    await page.getByRole("button", { name: "The text" }).click()
    await page.getByLabel("Plain text").last().getByText("See").waitFor()
    await ContactSheet.shoot(page, "template-unknown")
    assert.deepEqual(await Accessibility.violations(page), [])
  })

  it("lists all problems, and refuses to publish with one", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const id = await create("wrong", { locales: { de: { html: "<p>Eins</p>" } } })
    await page.goto(`/templates/${id}?language=de`)
    await Editor.frame(page).getByText("Eins").waitFor()
    // The preview stands beside both languages.
    const [editor, frame] = await Promise.all([
      page.locator("[data-editor=HTML]").boundingBox(),
      Editor.frameElement(page).boundingBox(),
    ])
    assert.isBelow(editor?.x ?? 0, frame?.x ?? 0)
    await page.getByText("Not translated: Subject. Taken from the default.").waitFor()
    await Editor.retype(page, "HTML (de)", '{{ a | foo }}\n{{ b | bar }}\n{% render "none" %}')
    await Browser.eventually(() => page.getByRole("list", { name: "Problems" }).getByRole("listitem").count()).toBe(3)
    await page.getByRole("button", { name: "HTML (de), line 3, column 1:" }).waitFor()
    // What another language has hides nothing of the template's own.
    await page.getByLabel("Language", { exact: true }).selectOption("Default")
    await Editor.frame(page).getByText("One").waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: "Send test" }).isEnabled()).toBe(true)
    await page.getByRole("button", { name: "Publish", exact: true }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("HTML (de), line 3, column 1:").waitFor()
    await Browser.eventually(() => dialog.getByRole("button", { name: "Publish" }).isDisabled()).toBe(true)
    await ContactSheet.shoot(page, "template-problems")
    assert.deepEqual(await Accessibility.violations(page), [])
  })

  it("refuses to archive a layout in use, and names its users", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const id = await create("base", { kind: "layout", html: "<body>{{ content }}</body>" })
    await publish(id)
    await publish(await create("letter", { layout: "base" }))
    await page.goto(`/templates/${id}`)
    await page.getByRole("button", { name: "Template actions" }).click()
    await page.getByRole("menuitem", { name: "Archive" }).click()
    await page.getByRole("alertdialog").getByRole("button", { name: "Archive" }).click()
    await page.getByRole("alert").getByText("Templates use base: letter.").waitFor()
    await ContactSheet.shoot(page, "template-in-use")
    assert.strictEqual((await read(id)).status, "published")
  })

  it("has samples that are accepted, and emails that name their template", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const id = await create("sampled", {
      html: "<p>{{ name }} {{ order.id }}</p>",
      variables: { ...SCHEMA, examples: [{ name: "Ana O'Neill", order: { id: 7 } }] },
      locales: { de: { html: "<p>Hallo</p>" } },
    })
    await publish(id)
    await page.goto(`/templates/${id}?view=use`)
    const code = page.getByRole("tabpanel").or(page.locator("pre[aria-label=curl]"))
    const [, body = ""] = /-d '([^]*)'$/u.exec(await code.innerText()) ?? []
    const message = JSON.parse(body.replaceAll("'\\''", "'"))
    assert.strictEqual(message.template.variables.name, "Ana O'Neill")
    for (const name of ["TypeScript", "Python", "PHP", "Ruby"]) {
      await page.getByRole("tab", { name }).click()
      await page
        .locator(`pre[aria-label=${name}]`)
        .getByText(/Ana O\\?'Neill/u)
        .waitFor()
    }
    await ContactSheet.shoot(page, "template-samples")
    const sent = await opened.instance.request("POST", "/email/send", {
      ...message,
      template: { ...message.template, locale: "de" },
    })
    assert.strictEqual(sent.status, 200, JSON.stringify(sent.json))
    await page.goto("/emails?search=template:sampled")
    await page.getByText("Template sampled v1 de").waitFor()
    await page.getByRole("list", { name: "Search filters" }).getByText("Template sampled").waitFor()
    await ContactSheet.shoot(page, "emails-template")
    await page.goto(`/emails/${sent.json.id}`)
    await page.getByRole("link", { name: "version 1" }).waitFor()
    await page.getByRole("link", { name: "de", exact: true }).waitFor()
    await ContactSheet.shoot(page, "email-template")
    await page.getByRole("link", { name: "Template sampled" }).click()
    await page.getByRole("heading", { level: 1, name: "Template sampled" }).waitFor()
  })

  it("leaves a conflict open that nobody has decided", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const id = await create("shared")
    await page.goto(`/templates/${id}`)
    await Editor.retype(page, "HTML", "<p>Mine</p>")
    await opened.instance.request("PATCH", `/templates/${id}`, { html: "<p>Theirs</p>" })
    await page.getByRole("button", { name: "Save draft" }).click()
    await page.getByText("Somebody else changed the same", { exact: true }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("note").getByText("Nothing is saved until you choose what stays.").waitFor()
    await page.getByRole("button", { name: "Save draft" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click()
    assert.strictEqual((await read(id)).draft.html, "<p>Theirs</p>")
    await page.getByRole("button", { name: "Save draft" }).click()
    await page.getByText("Draft saved.").waitFor()
    assert.strictEqual((await read(id)).draft.html, "<p>Mine</p>")
  })

  it("shows what is sent to somebody who only reads", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await read("welcome")
    await page.route("**/v1/session", async (route) => {
      const response = await route.fetch()
      const session = await response.json()
      await route.fulfill({ response, json: { ...session, role: "viewer", scopes: ["templates:read"] } })
    })
    await page.goto(`/templates/${id}`)
    await Editor.frame(page).getByText("Two").waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: "Save draft" }).count()).toBe(0)
    await page.unroute("**/v1/session")
  })
})
