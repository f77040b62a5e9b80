import type { Page } from "playwright-core"
import { assert, beforeAll, expect, it } from "vitest"
import * as Browser from "../support/Browser.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("placeholders", (opened) => {
  beforeAll(async () => {
    const email = { from: "hello@acme.test", to: "ana@example.org", subject: "Shown", text: "Hi." }
    await opened.instance.request("POST", "/email/send", email)
  }, TIMEOUT)

  /** Titles of the panels that show placeholders, so that a failure says which one stays. */
  const loading = (page: Page) =>
    page
      .locator("main .pulsing.bg-hover")
      .evaluateAll((all) => all.map((each) => each.closest("section")?.querySelector("h2")?.textContent ?? "no title"))

  it("shows placeholders while a screen loads, under its title", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    for (const [path, title, data] of [
      ["/overview", "Overview", "**/v1/email/logs*"],
      ["/emails", "Emails", "**/v1/email/logs*"],
      ["/requests", "Requests", "**/v1/requests*"],
      ["/domains", "Domains", "**/v1/domains"],
      ["/webhooks", "Webhooks", "**/v1/webhooks"],
      ["/suppressions", "Suppressions", "**/v1/suppressions*"],
      ["/settings/audit", "Audit log", "**/v1/audit*"],
    ] as const) {
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route(data, async (route) => {
        await released
        await route.continue()
      })
      await page.goto(path)
      await page.getByRole("heading", { level: 1, name: title }).waitFor()
      await page.locator("main .pulsing.bg-hover").first().waitFor()
      assert.strictEqual(await page.title(), `${title} · Waybill`)
      release()
      await Browser.eventually(() => loading(page), path).toEqual([])
      await page.unroute(data)
    }
  })

  it("keeps no placeholder for figures that cannot be had", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.route("**/v1/account", (route) => route.fulfill({ status: 400, json: {} }))
    await page.goto("/overview")
    await page.getByRole("heading", { name: "Queue" }).waitFor()
    await Browser.eventually(() => loading(page)).toEqual([])
    await page.unroute("**/v1/account")
  })

  it("a read that is never answered is sent again, so that no placeholder stays", { timeout: TIMEOUT }, async () => {
    const page = await opened.tab.context.newPage()
    await page.clock.install()
    const asked = new Set<string>()
    await page.route(/\/v1\/(?:account|stats)/u, async (route) => {
      const url = route.request().url()
      const isFirst = !asked.has(url)
      asked.add(url)
      if (!isFirst) await route.continue()
    })
    await page.goto("/overview")
    await page.getByRole("heading", { name: "Queue" }).waitFor()
    await Browser.eventually(() => loading(page)).toEqual(expect.arrayContaining(["Delivery", "This month"]))
    await page.clock.fastForward("00:31")
    await Browser.eventually(() => loading(page)).toEqual([])
    await page.close()
  })
})
