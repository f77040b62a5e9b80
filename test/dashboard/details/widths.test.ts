import type { Locator } from "playwright-core"
import { assert, it } from "vitest"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

/** Pairs of texts of a list that lie on each other, and texts without a width. A string, because the tests have no DOM types. */
const OVERLAPS = `[...document.querySelectorAll("main [aria-hidden]:has(+ ul), main ul[aria-label=Emails] a, main div:has(+ ul[aria-label=Emails]) > div")]
  .flatMap((row) => {
    const cells = [...row.querySelectorAll("span")].filter((span) => span.checkVisibility() && span.children.length === 0 && span.textContent.trim() !== "")
    const boxes = cells.map((cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      const text = range.getBoundingClientRect()
      const own = cell.getBoundingClientRect()
      return { name: cell.textContent, left: Math.max(text.left, own.left), right: Math.min(text.right, own.right), top: text.top, bottom: text.bottom }
    })
    return boxes.flatMap((one, nth) => [
      ...(one.right - one.left < 8 ? [one.name + " has no room"] : []),
      ...boxes.slice(nth + 1).filter((other) =>
        one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1
      ).map((other) => one.name + " lies on " + other.name),
    ])
  })`

await inDashboard("the emails list at every width", (opened) => {
  it("a recent email with a short subject leaves its width to the recipient", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    const to = "somebody-with-a-long-name@customers.example"
    await instance.request("POST", "/email/send", { from: "hello@acme.test", to, subject: "Short", text: "Hi" })
    await page.goto("/overview")
    const row = page.getByRole("link", { name: new RegExp(`${to}.*Short`, "u") })
    const widthOf = async (locator: Locator) => (await locator.boundingBox())?.width ?? 0
    const recipient = row.locator(".truncate", { hasText: to }).filter({ visible: true })
    await Browser.eventually(async () => (await widthOf(recipient)) / (await widthOf(row))).toBeGreaterThan(0.4)
    await ContactSheet.shoot(page, "overview-recent", page.getByRole("heading", { name: "Recent emails" }))
  })

  it("no column lies on another, and each has room", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    const mail = {
      from: "hello@acme.test",
      to: ["bounced+a-rather-long-name@customers.test", "ana@example.org"],
      subject: "A subject that is long enough to be cut",
      text: "Hi",
      tags: ["reports", "billing"],
    }
    const states = ["ana", "zed", "bounced+m", "deferred+m", "complained+m", "suppressed+m"]
    await instance.request("POST", "/email/send", mail)
    await instance.request("POST", "/email/send", { ...mail, to: states.map((name) => `${name}@example.org`) })
    for (const width of [640, 768, 800, 1024, 1100, 1280, 1920]) {
      await page.setViewportSize({ width, height: 820 })
      await page.goto("/emails")
      await page.getByRole("link", { name: /^Partly bounced/u }).waitFor()
      await page.getByText("Subject", { exact: true }).waitFor()
      const several = page.getByRole("link", { name: /^Complained\s*3 of 6 delivered\s*complained\+m@example.org/u })
      await several.getByText("Reported as spam").waitFor()
      await Browser.eventually(() => page.getByText("First key").count(), "the names of keys are read").toBe(3)
      await Browser.eventually(() => page.evaluate(OVERLAPS), `${width}`).toEqual([])
      const subject = await page.getByText(mail.subject).first().boundingBox()
      assert.isAtLeast(subject?.width ?? 0, 100, `${width}`)
    }
    await page.setViewportSize(Browser.DESKTOP)
    await ContactSheet.shoot(page, "emails-outcomes")
  })

  it("tables share their width, and the scopes of a key have one line", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    const scopes = ["email:send", "email:logs:read", "inbound:read", "inbound:write"]
    await instance.request("POST", "/api-keys", { name: "Four scopes", scopes })
    await page.setViewportSize({ width: 1440, height: 820 })
    for (const path of ["/settings/api-keys", "/domains", "/requests"]) {
      await page.goto(path)
      const first = await page.getByRole("columnheader").first().boundingBox()
      const table = await page.getByRole("table").boundingBox()
      assert.isAtMost(first?.width ?? Infinity, (table?.width ?? 0) * 0.55, path)
    }
    await page.goto("/settings/api-keys")
    const row = page.getByRole("row", { name: /Four scopes/u })
    await row.getByText("+2", { exact: false }).waitFor()
    assert.isBelow((await row.boundingBox())?.height ?? Infinity, 70)
    await Browser.eventually(() => row.getByRole("list").getAttribute("title")).toBe(scopes.join(", "))
    await page.setViewportSize(Browser.DESKTOP)
  })

  it("logs no errors", () => assert.deepEqual(opened.tab.consoleErrors, []))
})
