import type { Route } from "playwright-core"
import { assert, it } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("records and where they are found", (opened) => {
  const create = async (path: string, body: unknown) => {
    const { json, status } = await opened.instance.request("POST", path, body)
    assert.isBelow(status, 300, JSON.stringify(json))
    return json
  }

  it("the command palette finds records of every kind, and actions", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const template = await create("/templates", { name: "Quokka letter", subject: "Hi", html: "<p>Hi</p>" })
    await create("/domains", { name: "quokka.example.dev" })
    await create("/webhooks", { url: "https://hooks.acme.dev/quokka", events: ["*"], description: "Quokka hook" })
    await create("/api-keys", { name: "Quokka key", scopes: ["email:send"] })
    await create("/members", { email: "quokka@acme.test", name: "Q", role: "member" })
    await page.goto("/overview")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await page.getByText("Ctrl K").first().waitFor()
    await page.keyboard.press("Control+k")
    const box = page.getByRole("combobox", { name: "Search or run a command" })
    const options = page.getByRole("option")
    await box.fill("quokka")
    for (const shown of [
      "quokka.example.devDomain",
      "Quokka letterTemplate",
      "Quokka hookWebhook",
      "Quokka keyAPI key",
    ])
      await Browser.eventually(() => options.allTextContents(), shown).toContain(shown)
    await Browser.eventually(() => options.allTextContents()).toContain("Q (quokka@acme.test)Member")
    await Browser.eventually(() => options.allTextContents()).toContain("Docs about “quokka”")
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "palette-records")
    await options.filter({ hasText: "Quokka letter" }).click()
    await page.waitForURL(`**/templates/${template.id}`)
    for (const name of ["Sign out", "Docs", "Invite a member"]) {
      await page.keyboard.press("Control+k")
      await box.fill(name)
      await options.getByText(name, { exact: true }).waitFor()
      if (name !== "Invite a member") await page.keyboard.press("Escape")
    }
    await page.keyboard.press("Enter")
    await page.getByRole("dialog", { name: "Invite a member" }).waitFor()
    await page.keyboard.press("Escape")
  })

  it("a domain and the list of domains say how much bounces, and lead to the mail", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    for (const to of ["ana@example.org", "bounced@customers.test"])
      await create("/email/send", { from: "hello@acme.test", to, subject: "Hi", text: "Hi" })
    await page.goto("/domains/acme.test")
    const figures = async () => (await page.locator("dl").allInnerTexts())[0] ?? ""
    // The statistics follow the log.
    await Browser.eventually(async () => {
      await page.reload()
      await page
        .getByText(/30 days/u)
        .first()
        .waitFor()
      return (await figures()).replaceAll(/\s+/gu, " ")
    }).toBe(
      "Recipients, 30 days 2 View its emails Bounce rate 50.0% Simulated. The limit is 5.0%. " +
        "Complaint rate 0% Simulated. The limit is 0.10%.",
    )
    await ContactSheet.shoot(page, "domain-mail")
    await page.goto("/domains")
    const row = page.getByRole("row", { name: /acme\.test/u })
    await row.getByRole("link", { name: "50.0%" }).waitFor()
    await row.getByRole("link", { name: "50.0%" }).click()
    await page.waitForURL("**/emails?search=since*domain*acme.test*anyone*bounced")
    await page.getByText("1 email", { exact: true }).waitFor()
    // Elsewhere than in the sandbox bounces are real.
    const asRelay = async (route: Route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace(/(transport(?:"|&quot;):(?:"|&quot;))capture/u, "$1relay")
      await route.fulfill({ response, body })
    }
    await page.route(/\/domains(?:\/acme\.test)?$/u, asRelay)
    await page.goto("/domains/acme.test")
    await page.getByText("Bounce rate 50.0%, limit 5.0%. Providers may reject mail above it.").waitFor()
    await ContactSheet.shoot(page, "domain-bounces")
    assert.deepEqual(await Accessibility.violations(page), [])
    await page.goto("/domains")
    await row.getByRole("link", { name: "50.0%" }).waitFor()
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "domains-bounces")
    await page.unrouteAll({ behavior: "wait" })
    await page.goto("/domains/acme.test")
    await page.getByRole("link", { name: "View its emails" }).click()
    await page.waitForURL("**/emails?search=domain*acme.test")
    assert.include(page.url(), "acme.test")
  })

  it("a suppression says who added it", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/suppressions")
    await page.getByRole("button", { name: "Add suppression" }).first().click()
    await page.getByLabel("Email address").fill("gone@example.org")
    await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click()
    await page.getByText("gone@example.org added to suppressions.").waitFor()
    await page.reload()
    const row = page.getByRole("row", { name: /gone@example\.org/u })
    await row.getByText("Owner").filter({ visible: true }).waitFor()
    await Browser.eventually(() => row.count()).toBe(1)
    await ContactSheet.shoot(page, "suppressions-by")
  })

  it("an email to one person names it once above what happened", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await create("/email/send", {
      from: "hello@acme.test",
      to: "cy@example.org",
      subject: "1",
      text: "1",
    })
    await page.goto(`/emails/${id}`)
    await page.getByRole("heading", { name: "What happened" }).waitFor()
    await Browser.eventually(() => page.getByRole("heading", { name: "Recipients" }).count()).toBe(0)
    await ContactSheet.shoot(page, "email-one-recipient")
    await page.goto("/emails")
    await page.getByRole("list", { name: "Emails" }).waitFor()
    const row = await page.getByRole("list", { name: "Emails" }).getByRole("listitem").first().boundingBox()
    assert.strictEqual(row?.height, 36)
    await ContactSheet.shoot(page, "emails-rows")
  })

  it("what operators need is folded, and opens", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const queues = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Queues" })
    await page.goto("/overview")
    await page.getByText("Instance", { exact: true }).click()
    await queues.click()
    await page.getByRole("heading", { level: 1, name: "Queues" }).waitFor()
    await page.goto("/emails")
    await Browser.eventually(() => queues.isVisible()).toBe(false)
    await page.setViewportSize(ContactSheet.PHONE)
    await page.locator("header").getByText("Sandbox").waitFor()
    await page.setViewportSize(Browser.DESKTOP)
  })

  it("leaving a template offers to save first", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await create("/templates", { name: "Left", subject: "Hi", html: "<p>Hi</p>" })
    await page.goto(`/templates/${id}`)
    await page.getByLabel("Subject").fill("Changed")
    await page.getByRole("link", { name: "Back to templates" }).click()
    const dialog = page.getByRole("alertdialog")
    await dialog.getByRole("button").nth(2).waitFor()
    await Browser.eventually(() => dialog.getByRole("button").allTextContents()).toEqual([
      "Save and leave",
      "Stay",
      "Leave",
    ])
    await ContactSheet.shoot(page, "template-leave")
    await dialog.getByRole("button", { name: "Save and leave" }).click()
    await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor()
    assert.strictEqual((await opened.instance.request("GET", `/templates/${id}`)).json.draft.subject, "Changed")
  })
})
