import { assert, it } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"
import * as Editor from "./Editor.ts"

await inDashboard("templates are published in the dashboard", (opened) => {
  const create = async (alias: string, source: object = {}) => {
    const body = { name: `Template ${alias}`, alias, subject: "Hello", html: "<p>One</p>", ...source }
    const { json, status } = await opened.instance.request("POST", "/templates", body)
    assert.strictEqual(status, 201, JSON.stringify(json))
    return json
  }
  const read = async (id: string) => (await opened.instance.request("GET", `/templates/${id}`)).json
  const publish = (id: string, notes: string) => opened.instance.request("POST", `/templates/${id}/publish`, { notes })

  it("makes versions with notes, shows what they changed, and rolls back", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await create("welcome")
    await publish(id, "First")
    await page.goto(`/templates/${id}`)
    await Editor.retype(page, "HTML", "<p>Two</p>")
    await page.getByRole("button", { name: "Publish", exact: true }).click()
    await page.getByLabel("What changed").fill("Counts on")
    assert.deepEqual(await Accessibility.violations(page), [])
    await page.getByRole("dialog").getByRole("button", { name: "Publish" }).click()
    await page.getByText("Version 2 published. It is sent from now on.").waitFor()
    assert.deepInclude(await read(id), { status: "published", current_version: 2 })

    await page.getByRole("button", { name: "Versions" }).click()
    const rows = page.getByRole("list", { name: "Versions" }).getByRole("listitem")
    await rows.nth(1).waitFor()
    const [newest = "", first = ""] = await rows.allInnerTexts()
    assert.include(newest, "Counts on")
    assert.match(newest, /by Owner/u)
    assert.include(first, "First")
    const changes = page.getByLabel("Changes of HTML")
    await changes.waitFor()
    await Browser.eventually(() => changes.innerText()).toMatch(/Removed:\s*<p>One<\/p>[^]*Added:\s*<p>Two<\/p>/u)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "template-versions")
    await Editor.assertNoOverflow(page)

    await page.getByRole("button", { name: "Send this version: 1" }).click()
    await page.getByRole("alertdialog").getByRole("button", { name: "Send this version" }).click()
    await page.getByText("Version 1 is sent from now on.").waitFor()
    await page.getByText("version 1 of 2 is sent").waitFor()
    assert.strictEqual((await read(id)).current_version, 1)
  })

  it("keeps the changes of two people, and asks about the same text", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await create("shared", { text: "One" })
    await page.goto(`/templates/${id}`)
    await Editor.retype(page, "HTML", "<p>Mine</p>")
    // Another text was changed meanwhile: both stay.
    await opened.instance.request("PATCH", `/templates/${id}`, { text: "Theirs" })
    await page.getByRole("button", { name: "Save draft" }).click()
    await page.getByText("Draft saved.").waitFor()
    assert.deepInclude((await read(id)).draft, { html: "<p>Mine</p>", text: "Theirs" })

    await Editor.retype(page, "HTML", "<p>Mine again</p>")
    await opened.instance.request("PATCH", `/templates/${id}`, { html: "<p>Theirs</p>" })
    // Publishing would publish what its author has not seen.
    await page.getByRole("button", { name: "Publish", exact: true }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Publish" }).click()
    await page.getByText("Somebody else changed the same").waitFor()
    assert.strictEqual((await read(id)).versions, 0)
    await ContactSheet.shoot(page, "template-conflict")
    assert.deepEqual(await Accessibility.violations(page), [])
    await Browser.eventually(() => page.getByLabel("Changes of HTML").innerText()).toMatch(/Theirs[^]*Mine again/u)
    await page.getByRole("button", { name: "Theirs" }).click()
    await page.getByRole("button", { name: "Continue" }).click()
    await Browser.eventually(() => Editor.textOf(page, "HTML")).toBe("<p>Theirs</p>")
  })

  it("sends a test of what the preview shows", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await create("tested", { subject: "For {{ name }}", html: "<p>Hi {{ name }}</p>" })
    await page.goto(`/templates/${id}`)
    await Editor.frame(page).getByText("Hi Name").waitFor()
    await page.getByRole("button", { name: "Send test" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("To").fill("ana@example.org")
    await dialog.getByLabel("From").fill("Acme <hello@acme.test>")
    await dialog.getByRole("button", { name: "Send test" }).click()
    await dialog.getByText("Test sent.").waitFor()
    await ContactSheet.shoot(page, "template-test")
    assert.deepEqual(await Accessibility.violations(page), [])
    await dialog.getByRole("link", { name: "View email" }).click()
    await page.getByRole("heading", { level: 1, name: "[Test] For Name" }).waitFor()
  })

  it("says where a template and a layout are used, and archives", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const layout = await create("base.html", { kind: "layout", html: "<body>{{ content }}</body>" })
    await publish(layout.id, "")
    const used = await create("letter", { layout: "base.html", subject: "Letter {{ customer }}" })
    await publish(used.id, "")
    const template = { alias: "letter", variables: {} }
    await opened.instance.request("POST", "/email/send", { from: "hello@acme.test", to: "ana@example.org", template })
    await page.goto(`/templates/${layout.id}`)
    await Editor.frame(page).getByText("The words of a template stand here.").waitFor()
    await page.getByRole("button", { name: "Use" }).click()
    await page.getByRole("link", { name: /Template letter/u }).click()
    await page.getByRole("heading", { level: 1, name: "Template letter" }).waitFor()
    await page.getByRole("button", { name: "Use" }).click()
    await page.getByText('Authorization: Bearer $WAYBILL_KEY"').waitFor()
    // It has no schema; the sample has the variable of its subject all the same.
    await page.getByText('"customer": "Customer"').waitFor()
    await ContactSheet.shoot(page, "template-use")
    assert.deepEqual(await Accessibility.violations(page), [])
    await page.getByRole("link", { name: "View emails" }).click()
    await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
    await page.getByText("Letter").first().waitFor()
    await Browser.eventually(() => page.getByText("Hello").count()).toBe(0)
    await page.goto(`/templates/${used.id}`)
    await page.getByRole("button", { name: "Template actions" }).click()
    await page.getByRole("menuitem", { name: "Duplicate" }).click()
    await page.getByRole("heading", { level: 1, name: "Copy of Template letter" }).waitFor()
    await page.getByRole("button", { name: "Template actions" }).click()
    await page.getByRole("menuitem", { name: "Archive" }).click()
    await page.getByRole("alertdialog").getByRole("button", { name: "Archive" }).click()
    await page.getByText("Template archived.").waitFor()
    await page.goto("/templates")
    const lastUse = async (alias: string) => {
      const row = page.getByRole("row").filter({ has: page.getByText(`Template ${alias}`, { exact: true }) })
      return (await row.innerText()).includes("Never") ? "never" : "used"
    }
    await page.getByText("Template letter", { exact: true }).waitFor()
    await Browser.eventually(() => page.getByText("Copy of Template letter").count()).toBe(0)
    assert.strictEqual(await lastUse("welcome"), "never")
    // A follower of the log counts it.
    const reloaded = async () => {
      await page.reload()
      await page.getByText("Template letter", { exact: true }).waitFor()
      return lastUse("letter")
    }
    await Browser.eventually(reloaded).toBe("used")
    await ContactSheet.shoot(page, "templates")
    await page.getByRole("button", { name: "Status" }).click()
    await page.getByRole("menuitem", { name: "Archived" }).click()
    await page.getByText("Copy of Template letter").click()
    await page.getByText("Template · archived").waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: "Publish", exact: true }).count()).toBe(0)
    await page.goto("/templates")
    await page.getByLabel("Search templates").fill("letter")
    await page.getByText("Template shared").waitFor({ state: "detached" })
    await page.getByText("Template letter", { exact: true }).waitFor()
  })

  it("is changed and published on a phone", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await create("mobile")
    await page.setViewportSize(ContactSheet.PHONE)
    await page.goto(`/templates/${id}`)
    await page.getByLabel("Subject").fill("From a phone")
    const shown = page.getByRole("group", { name: "Show" })
    await shown.getByText("Preview").click()
    await Editor.frame(page).getByText("One").waitFor()
    await page.getByLabel("Line in a list of mail").getByText("From a phone").waitFor()
    await shown.getByText("Content").click()
    await page.getByRole("button", { name: "Save draft" }).click()
    await page.getByText("Draft saved.").waitFor()
    assert.strictEqual((await read(id)).draft.subject, "From a phone")
    await page.getByRole("button", { name: "Publish", exact: true }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Publish" }).click()
    await page.getByText("version 1 is sent").waitFor()
    assert.strictEqual((await read(id)).current_version, 1)
    await page.setViewportSize(Browser.DESKTOP)
  })

  it("is done with the keyboard only", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const press = async (...keys: ReadonlyArray<string>) => {
      for (const each of keys) await page.keyboard.press(each)
    }
    const tabTo = (name: string | RegExp) => Browser.tabTo(page, name)
    await page.goto("/overview")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await Browser.chord(page, "g", "t")
    await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor()
    await tabTo("Create template")
    await press("Enter")
    await tabTo("Name")
    await page.keyboard.type("Keys")
    await press("Enter")
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor()
    // The focus is in the editor.
    await Browser.eventually(() => page.evaluate("document.activeElement?.getAttribute('data-editor')")).toBe("HTML")
    // A key that would open a screen is typed, and Tab indents.
    await press("ControlOrMeta+a", "Delete")
    await page.keyboard.type("gl")
    await press("Tab")
    await Editor.frame(page).getByText("gl").waitFor()
    assert.match(await Editor.textOf(page, "HTML"), /gl/u)
    await press("Escape")
    await tabTo("Desktop width")
    await Browser.tabTo(page, "Publish", "Shift+Tab")
    await press("Enter")
    await page.getByLabel("What changed").waitFor()
    await tabTo("What changed")
    await page.keyboard.type("By keys")
    await press("ControlOrMeta+Enter")
    await page.getByText("Version 1 published. It is sent from now on.").waitFor()
    // It is in the editor again, where Tab indents.
    await Browser.eventually(() => page.evaluate("document.activeElement?.getAttribute('data-editor')")).toBe("HTML")
    await press("Escape")
    await Browser.tabTo(page, "Versions", "Shift+Tab")
    await press("Enter")
    await page.getByText("By keys").waitFor()
  })

  it("logs no errors of the console", () => {
    assert.deepEqual(
      opened.tab.consoleErrors.filter((error) => !/status of 422|\/v1\/requests\//u.test(error)),
      [],
    )
  })
})
