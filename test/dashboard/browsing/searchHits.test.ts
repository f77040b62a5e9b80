import type { Locator } from "playwright-core"
import { assert, beforeAll, it } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"
import * as ContactSheet from "../support/ContactSheet.ts"

const HOUR_MS = 3_600_000

const SHIPPED = "Your order has shipped"
const RESET = "Reset your password"
const NEWS = "What is new"
const LATER = "Your trial ends soon"
const NEVER = "Not any more"
const SUBJECTS = [SHIPPED, RESET, NEWS, LATER, NEVER]
/** Recipient that is longer than a row. */
const LONG = "ana@example.org.and.more.than.fits.into.a.row.until.the.needle.test"

await inDashboard("hits of a search", (opened) => {
  const ids: Record<string, string> = {}

  const send = async (subject: string, over: object) => {
    const email = { from: "hello@acme.test", to: "ana@example.org", subject, text: "Hello.", ...over }
    const { json, status } = await opened.instance.request("POST", "/email/send", email)
    assert.strictEqual(status, 200, JSON.stringify(json))
    ids[subject] = json.id
  }

  beforeAll(async () => {
    const scheduled_at = new Date(Date.now() + HOUR_MS).toISOString()
    await send(SHIPPED, { tags: ["orders"] })
    await send(RESET, { to: "bo.larsen@example.net" })
    await send(NEWS, { to: ["one@example.org", "two@example.org", "bounced@customers.test"] })
    await send(LATER, { scheduled_at })
    await send(NEVER, { scheduled_at, to: LONG })
    await opened.instance.request("POST", `/email/${ids[NEVER]}/cancel`)
    // The overview has read the emails before there were any.
    await opened.tab.page.reload()
  }, TIMEOUT)

  /** Opens a path without loading the page again. */
  const open = (path: string) => opened.tab.page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`)
  const listed = async (): Promise<ReadonlyArray<string>> => {
    const text = (await opened.tab.page.getByRole("list", { name: "Emails" }).textContent()) ?? ""
    return SUBJECTS.filter((subject) => text.includes(subject))
  }
  const search = (text: string) => opened.tab.page.getByLabel("Search emails").fill(text)

  it("marks what a search found, and names the fields that rows do not show", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/emails")
    const list = page.getByRole("list", { name: "Emails" })
    const cases: ReadonlyArray<readonly [typed: string, marks: ReadonlyArray<string>, shown: string]> = [
      ["LARSEN", ["larsen"], "bo.larsen@example.net"],
      ['order "has ship"', ["order", "has ship", "order"], SHIPPED],
      ["orders", ["orders"], "orders"],
      ["hello@ACME larsen", ["larsen", "hello@acme"], "from hello@acme.test"],
      ["from:acme.test larsen", ["larsen", "acme.test"], "from hello@acme.test"],
      ["two@", ["two@"], "also to two@example.org"],
      [ids[NEWS] ?? "", [], NEWS],
      [ids[NEWS]?.slice(0, -2) ?? "", [ids[NEWS]?.slice(0, -2) ?? ""], `id ${ids[NEWS]}`],
    ]
    for (const [typed, marks, shown] of cases) {
      await search(typed)
      await page.locator("main [aria-busy=false]").waitFor()
      await Browser.eventually(() => list.getByRole("listitem").count(), typed).toBe(1)
      await Browser.eventually(() => list.locator("mark:visible").allTextContents(), typed).toEqual(marks)
      await Browser.eventually(() => list.textContent(), typed).toContain(shown)
    }
    await search('acme.test "your"')
    await Browser.eventually(listed).toEqual([SHIPPED, RESET, LATER])
    assert.deepEqual(await Accessibility.violations(page), [], "hits")
    await ContactSheet.shoot(page, "search-hits")
  })

  it("shows status and hit of an email to a long address", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/emails")
    const list = page.getByRole("list", { name: "Emails" })
    const edgesOf = async (locator: Locator) => {
      const { width = 0, x = 0 } = (await locator.boundingBox()) ?? {}
      return { left: x, right: x + width }
    }
    await search("needle")
    const hit = list.locator("mark:visible")
    await hit.waitFor()
    const subject = await edgesOf(page.locator("main").getByText("Subject", { exact: true }))
    assert.isBelow((await edgesOf(hit)).right, subject.left)
    await page.setViewportSize(ContactSheet.PHONE)
    await Browser.eventually(async () => (await edgesOf(hit)).right).toBeLessThan(ContactSheet.PHONE.width)
    await search("is:canceled")
    const recipient = list.getByText(LONG).filter({ visible: true })
    await recipient.waitFor()
    const status = await edgesOf(list.getByText("Canceled", { exact: true }))
    assert.isAtMost(status.right, ContactSheet.PHONE.width)
    assert.isAtMost((await edgesOf(recipient)).left, status.right)
    await page.setViewportSize(Browser.DESKTOP)
  })

  it("shows emails in the command palette, with what was found", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/emails")
    await page.keyboard.press("Control+k")
    const box = page.getByRole("combobox", { name: "Search or run a command" })
    const options = page.getByRole("option")
    for (const [typed, subjects, marks, shown] of [
      ["customers.test", [NEWS], ["customers.test"], "to bounced@customers.test"],
      ["acme.test", SUBJECTS, SUBJECTS.map(() => "acme.test"), "from hello@acme.test"],
      ["ORDERS", [SHIPPED], ["orders"], "tag orders"],
      ["password", [RESET], ["password"], "to bo.larsen@example.net"],
      ["to:larsen", [RESET], ["larsen"], "to bo.larsen@example.net"],
      ["is:canceled subject:any", [NEVER], ["any"], "to ana@example.org"],
      [ids[LATER]?.slice(0, -1) ?? "", [LATER], [ids[LATER]?.slice(0, -1) ?? ""], `id ${ids[LATER]}`],
    ] as const) {
      await box.fill(typed)
      await page.getByText(`${subjects.length} ${subjects.length === 1 ? "email" : "emails"} found`).waitFor()
      await Browser.eventually(() => options.locator("mark").allTextContents(), typed).toEqual(marks)
      const text = (await options.allTextContents()).join("\n")
      assert.deepEqual(
        SUBJECTS.filter((subject) => text.includes(subject)),
        subjects,
        typed,
      )
      assert.include(text, shown)
    }
    await box.fill("acme.test")
    await page.getByText("5 emails found").waitFor()
    assert.deepEqual(await Accessibility.violations(page), [], "palette with emails")
    await ContactSheet.shoot(page, "palette-hits")
    await page.route(/\/v1\/email\/logs\?.*limit=5/u, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), has_more: true } })
    })
    await box.fill("hello@acme")
    await page.getByText("Newest 5 emails").waitFor()
    await page.unrouteAll({ behavior: "wait" })
    await box.fill("password")
    await options.filter({ hasText: RESET }).click()
    await page.getByRole("heading", { name: RESET }).waitFor()
    assert.include(page.url(), ids[RESET] ?? "")
  })

  it("logs no console errors", () => {
    assert.deepEqual(opened.tab.consoleErrors, [])
  })
})
