import { assert, beforeAll, it, vi } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("answers to questions", (opened) => {
  const send = async (mail: object) => {
    const body = { from: "hello@acme.test", text: "Hi", ...mail }
    const { json, status } = await opened.instance.request("POST", "/email/send", body)
    assert.strictEqual(status, 200, JSON.stringify(json))
    return json.id
  }

  beforeAll(async () => {
    const mails = [
      { to: "bounced@customers.test", subject: "Your receipt" },
      { to: ["bounced@customers.test", "ana@example.org"], subject: "Your receipt" },
      { to: "priya@example.org", subject: "Invoice 2026-259" },
      { to: "priya@example.org", subject: "Welcome", metadata: { ticket: "9108" } },
    ]
    for (const mail of mails) {
      const id = await send(mail)
      const state = async () => (await opened.instance.request("GET", `/email/logs/${id}`)).json.status
      await vi.waitFor(async () => assert.match(await state(), /^(?:bounced|delivered)$/u), { timeout: TIMEOUT })
    }
  }, TIMEOUT)

  const rows = () => opened.tab.page.getByRole("list", { name: "Emails" }).getByRole("listitem")
  const box = () => opened.tab.page.getByLabel("Search emails")

  it(
    "who bounced counts as the overview does, and is:bounced says what it leaves out",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      for (const question of ["who bounced", "how many bounced today", "bounces"]) {
        await page.goto(`/emails?search=${encodeURIComponent(question)}`)
        await Browser.eventually(() => rows().count(), question).toBe(2)
      }
      await page.goto("/emails?search=is:bounced")
      await page.getByText("1 email bounced for some recipients only, not listed here.").waitFor()
      await Browser.eventually(() => rows().count()).toBe(1)
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "search-hidden-outcomes")
      await page.getByRole("button", { name: "Show it too" }).click()
      await Browser.eventually(() => box().inputValue()).toBe("anyone:bounced")
      await Browser.eventually(() => rows().count()).toBe(2)
      await Browser.eventually(() => page.getByText("for some recipients only").count()).toBe(0)
    },
  )

  it("a name with a number is words, and a pair of metadata if those find nothing", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    for (const [question, reading, subject] of [
      ["did priya get invoice 2026-259", "to:^priya invoice 2026-259", "Invoice 2026-259"],
      ["did priya get ticket 9108", "to:^priya metadata:ticket=9108", "Welcome"],
    ] as const) {
      await page.goto(`/emails?search=${encodeURIComponent(question)}`)
      await page
        .getByRole("status")
        .filter({ hasText: `Read as ${reading}` })
        .waitFor()
      await rows().getByText(subject).filter({ visible: true }).waitFor()
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "Search or run a command" }).fill(question)
      await page
        .getByRole("option", { name: `Emails: ${reading}` })
        .getByText("1 email", { exact: true })
        .waitFor()
      await Browser.eventually(() => page.getByText("No emails found").count()).toBe(0)
      await page.keyboard.press("Escape")
    }
  })

  it("a search that finds nothing offers what it finds with fewer filters", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/emails?search=receipt+provider:gmail")
    await page.getByText("With fewer filters there are emails.").waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: "Clear filters" }).count()).toBe(1)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "search-fewer-filters")
    await page.getByRole("button", { name: "Without “Recipients at: Gmail” (2 emails)" }).click()
    await Browser.eventually(() => box().inputValue()).toBe("receipt")
    await Browser.eventually(() => rows().count()).toBe(2)
  })

  it("the palette knows the theme, and what was changed", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const line = page.getByRole("combobox", { name: "Search or run a command" })
    await page.goto("/emails")
    await page.getByText("4 emails, newest first.").waitFor()
    await page.keyboard.press("Control+k")
    await line.fill("dark mode")
    await page.getByRole("option", { name: "Use dark theme" }).waitFor()
    await Browser.eventually(() => page.getByRole("status").filter({ hasText: "Searching" }).count()).toBe(0)
    await Browser.eventually(() => page.getByText("No emails found").count()).toBe(0)
    await line.fill("who changed the webhook")
    await page.getByRole("option", { name: "Audit log: webhook" }).click()
    await page.waitForURL("**/settings/audit?stream=webhook")
    await page.goto("/emails?search=who+bounced")
    await rows().first().click()
    await page.getByRole("heading", { name: "What happened" }).waitFor()
    await page.keyboard.press("Control+k")
    await line.fill("resend")
    await page.getByRole("option", { name: "Resend this email" }).click()
    await page.getByRole("alertdialog", { name: "Resend to recipients it didn’t reach?" }).waitFor()
    assert.deepEqual(opened.tab.consoleErrors, [])
  })
})
