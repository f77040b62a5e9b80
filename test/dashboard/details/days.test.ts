import { assert, it } from "vitest"
import * as Browser from "../support/Browser.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("days of searches", (opened) => {
  it("are in UTC, wherever the reader is, and the filter says so", { timeout: TIMEOUT }, async () => {
    const browser = opened.tab.context.browser()
    assert.isNotNull(browser)
    if (browser === null) return
    const { page } = await Browser.openTab(browser, opened.instance.url, "Asia/Kolkata")
    await Browser.signIn(page, opened.instance.owner)
    for (const [typed, chip] of [
      ["after:yesterday", /^Since\d+ \w+ \d{4}, 00:00 UTC$/u],
      ["until:2026-11-29", /^Until29 Nov 2026, 00:00 UTC$/u],
    ] as const) {
      await page.goto(`/emails?search=${typed}`)
      const chips = page.getByRole("list", { name: "Search filters" }).getByRole("listitem")
      await chips.first().waitFor()
      await Browser.eventually(() => chips.first().textContent()).toMatch(chip)
    }
  })
})
