import { assert, it } from "vitest"
import { formatWhen } from "../../../apps/dashboard/src/ui/display/formatWhen.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

it("times of lists are minutes within the hour, then what logs have", () => {
  const now = new Date(2026, 5, 17, 12).getTime()
  const after = (ms: number) => formatWhen(new Date(now + ms).toISOString(), now)
  const [past, future] = [-10_000, 10_000].map((ms) => new Date(now + ms).toISOString())
  // What was seen a moment ago was not seen ahead of time, whichever clock is behind.
  for (const iso of [past, future]) assert.strictEqual(formatWhen(iso ?? "", now), "just now")
  assert.strictEqual(formatWhen(past ?? "", now, true), "in a moment")
  assert.match(after(-3 * MINUTE_MS), /^3 min/u)
  assert.strictEqual(after(-61 * MINUTE_MS), "10:59")
  assert.strictEqual(after(125 * MINUTE_MS), "14:05")
  assert.match(after(-13 * 60 * MINUTE_MS), /16\D.*23:00$/u)
  assert.match(after(30 * DAY_MS), /17\D.*12:00$/u)
  assert.match(after(-200 * DAY_MS), /2025/u)
  assert.notMatch(after(-200 * DAY_MS), /:/u)
})

await inDashboard("scheduled emails", (opened) => {
  it("are listed as they are due, with that time", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    const mail = { from: "hello@acme.test", to: "ana@example.org", text: "Hi" }
    for (const days of [3, 2, 4]) {
      const scheduled_at = new Date(Date.now() + days * DAY_MS).toISOString()
      await instance.request("POST", "/email/send", { ...mail, subject: `In ${days} days`, scheduled_at })
    }
    const rows = page.getByRole("list", { name: "Emails" }).getByRole("link")
    const subjects = async () => (await rows.allTextContents()).map((text) => /In \d days/u.exec(text)?.[0])
    await page.goto("/emails?search=is:scheduled")
    await Browser.eventually(subjects).toEqual(["In 2 days", "In 3 days", "In 4 days"])
    await rows
      .first()
      .getByText(/^Due \d+ \w+, \d\d:\d\d$/u)
      .waitFor()
    await ContactSheet.shoot(page, "emails-scheduled")
    await rows.first().click()
    await page.getByText(/Goes out in 2 days \(\d+ \w+ 20\d\d, \d\d:\d\d:\d\d UTC\) to/u).waitFor()
    // When it was accepted, and when it is due, both with the zone.
    await Browser.eventually(() => page.getByText(/^\d+ \w+ 20\d\d, \d\d:\d\d:\d\d UTC$/u).count()).toBe(2)
    await ContactSheet.shoot(page, "email-scheduled")
    await page.goto("/emails")
    await Browser.eventually(subjects).toEqual(["In 4 days", "In 2 days", "In 3 days"])
  })

  it("logs no errors", () => assert.deepEqual(opened.tab.consoleErrors, []))
})
