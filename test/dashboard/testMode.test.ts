import { assert, beforeAll, expect, it } from "vitest"
import * as Accessibility from "./support/Accessibility.ts"
import * as Browser from "./support/Browser.ts"
import { inDashboard, TIMEOUT } from "./support/inDashboard.ts"
import * as ContactSheet from "./support/ContactSheet.ts"

await inDashboard("test mode in the dashboard", (opened) => {
  const requested = new Set<string>()

  beforeAll(async () => {
    await opened.instance.request("POST", "/suppressions", { email: "live@example.org", reason: "manual" })
    const email = { from: "hello@acme.test", to: "ana@example.org", subject: "A live one", text: "Hello." }
    await opened.instance.request("POST", "/email/send", email)
    opened.tab.page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.startsWith("/v1/")) requested.add(`${pathname} ${searchParams.get("livemode") ?? "live"}`)
    })
  }, TIMEOUT)

  /** Opens a path without loading the page again. */
  const open = (path: string) => opened.tab.page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`)
  const banner = () => opened.tab.page.getByRole("region", { name: "Test mode" })

  it("makes a test key, and the list of keys shows and filters the mode", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/settings/api-keys?new=true")
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("Tests")
    await dialog.getByLabel("Mode").selectOption("test")
    await dialog.getByText("and never leaves", { exact: false }).waitFor()
    await dialog.getByRole("button", { name: "Create API key" }).click()
    const key = (await dialog.locator("code[title^=wb_test_]").getAttribute("title")) ?? ""
    await dialog.getByRole("button", { name: "Done" }).click()
    const rows = page.getByRole("table").locator("tbody tr")
    await Browser.eventually(() => rows.count()).toBe(2)
    await page.getByRole("button", { name: "Mode", exact: true }).click()
    await page.getByRole("menuitem", { name: "Test" }).click()
    await Browser.eventually(() => rows.allTextContents()).toEqual([expect.stringMatching(/^Testswb_test_.*Test/u)])
    const received = { from: "ana@example.org", to: "a@acme.test", subject: "A received test", text: "Hello." }
    const maker = { name: "Received mail", mode: "test", scopes: ["inbound:write"] }
    const { json: made } = await opened.instance.request("POST", "/api-keys", maker)
    assert.strictEqual((await opened.instance.request("POST", "/test/inbound", received, made.key)).status, 201)
    const email = { from: "hello@nobody.example", to: "ana@example.org", subject: "A test", html: "<p>Hello.</p>" }
    assert.strictEqual((await opened.instance.request("POST", "/email/send", email, key)).status, 200)
  })

  it("shows test mail only while it is on, says so, and lasts", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/emails")
    const [live, test] = ["A live one", "A test"].map((name) => page.getByRole("link", { name: new RegExp(name, "u") }))
    await live?.waitFor()
    await Browser.eventually(() => test?.count()).toBe(0)
    await Browser.eventually(() => banner().count()).toBe(0)
    requested.clear()
    await page.getByRole("switch", { name: "Test mode" }).click()
    await test?.waitFor()
    await Browser.eventually(() => live?.count()).toBe(0)
    await banner().getByText("never leaves this service", { exact: false }).waitFor()
    assert.deepEqual(await Accessibility.violations(page), [], "test mode")
    await ContactSheet.shoot(page, "test-mode")
    await page.reload()
    await banner().waitFor()
    await test?.click()
    await page.locator("li[data-event='email.delivered']").waitFor()
    await page.frameLocator("iframe").getByText("Hello.").waitFor()
    await page.getByRole("tab", { name: "Raw" }).click()
    await page.getByRole("tabpanel").getByText("MIME-Version").first().waitFor()
  })

  it("asks for test mail in every request about mail, and sends in test mode", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    for (const [path, ready] of [
      ["/overview", "Breakdown"],
      ["/sandbox", "A test"],
      ["/received", "A received test"],
      ["/routes", "No routes yet"],
      ["/suppressions", "No suppressions yet"],
      ["/requests", "/v1/email/send"],
    ] as const) {
      await open(path)
      await page.getByText(ready).first().waitFor()
    }
    await open("/suppressions")
    await page.getByRole("button", { name: "Add suppression" }).first().click()
    await page.getByRole("dialog").getByLabel("Email address").fill("test@example.org")
    await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click()
    await page.getByRole("cell", { name: "test@example.org", exact: true }).waitFor()
    const { json } = await opened.instance.request("GET", "/suppressions")
    assert.deepEqual(
      json.data.map(({ email }: { readonly email: string }) => email),
      ["live@example.org"],
    )
    const ofMail =
      /^\/v1\/(?:account|dashboard\/queue|email|events|inbound(?!\/routes)|requests|sandbox|stats|suppressions|threads)/u
    assert.deepEqual(
      [...requested].filter((each) => ofMail.test(each) !== each.endsWith(" false")),
      [],
    )
    for (const path of ["/v1/email/logs", "/v1/stats", "/v1/events/stream", "/v1/inbound", "/v1/suppressions"])
      assert.isTrue(requested.has(`${path} false`), path)
  })

  it("searches the sandbox", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/sandbox")
    const box = page.getByLabel("Search the sandbox")
    for (const typed of ["nobody.exam", "to:ana is:delivered"]) {
      await box.fill("nowhere")
      await page.getByText("No mail matches your search").waitFor()
      await box.fill(typed)
      await page.getByRole("heading", { level: 2, name: "A test" }).waitFor()
    }
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "sandbox-search")
    await box.fill("nowhere")
    await page.getByRole("button", { name: "Clear search" }).click()
    await page.getByRole("heading", { level: 2, name: "A test" }).waitFor()
    assert.strictEqual(await box.inputValue(), "")
  })

  it("leads back to live mail from the banner, and away from what is not there", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/emails")
    await page.getByRole("link", { name: /A test/u }).click()
    await page.getByRole("heading", { level: 1, name: "A test" }).waitFor()
    await page.getByRole("button", { name: "Show live mail" }).click()
    await page.getByRole("link", { name: /A live one/u }).waitFor()
    await Browser.eventually(() => banner().count()).toBe(0)
    assert.isTrue(page.url().endsWith("/emails"))
  })

  it("logs no console errors", () => {
    assert.deepEqual(opened.tab.consoleErrors, [])
  })
})
