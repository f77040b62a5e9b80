import { assert, describe, it } from "vitest"
import * as LineOrders from "../../../apps/dashboard/src/shell/LineOrders.ts"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

const NOW = Date.parse("2026-11-30T12:00:30.000Z")

describe("a line about an email", () => {
  it.each([
    ["resend order 7", "resend", "order 7", undefined],
    ["Send again the mail to ana@acme.com", "resend", "ana@acme.com", undefined],
    ["reschedule order 7", "reschedule", "order 7", undefined],
    ["reschedule order 7 to 2h", "reschedule", "order 7", "2026-11-30T14:01:00.000Z"],
    ["reschedule mail to ana@acme.com to tomorrow 09:00", "reschedule", "ana@acme.com", "2026-12-01T09:00:00.000Z"],
    ["reschedule welcome to acme to 2026-12-03", "reschedule", "welcome to acme", "2026-12-03T00:00:00.000Z"],
    ["reschedule welcome to acme", "reschedule", "welcome to acme", undefined],
    ["reschedule order 7 to yesterday", "reschedule", "order 7 to yesterday", undefined],
    ["reschedule order 7 to tomorrow 25:00", "reschedule", "order 7 to tomorrow 25:00", undefined],
  ] as const)("%s", (line, kind, sought, at) => {
    const order = LineOrders.ofMail(line, NOW)
    assert.deepStrictEqual([order?.kind, order?.sought, order?.at], [kind, sought, at])
  })

  it("is no other line", () => {
    for (const line of ["resend", "order 7", "to:ana", "rescheduled"]) assert.isUndefined(LineOrders.ofMail(line, NOW))
  })
})

await inDashboard("lines of the palette", (opened) => {
  const open = async (line: string) => {
    await opened.tab.page.keyboard.press("Control+k")
    await opened.tab.page.getByRole("combobox", { name: "Search or run a command" }).fill(line)
  }
  const first = () => opened.tab.page.getByRole("option").first()
  const send = async (over: object) => {
    const mail = { from: "hello@acme.test", to: "ana@example.org", subject: "Order 7", text: "Hi", ...over }
    return (await opened.instance.request("POST", "/email/send", mail)).json.id
  }
  const record = async (id: string) => (await opened.instance.request("GET", `/email/logs/${id}`)).json

  it("send an email again with Enter and one question, also an older one", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const missed = await send({ to: "bounced@customers.test" })
    await Browser.eventually(async () => (await record(missed)).status).toBe("bounced")
    // More than the palette shows, all of which arrived.
    for (let nth = 0; nth < 6; nth++) await send({})
    await page.goto("/overview")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await open("resend Order 7")
    await Browser.eventually(() => first().textContent()).toMatch(/^Resend.*bounced@customers\.test/u)
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("alertdialog", { name: "Resend to recipients it didn’t reach?" })
    await dialog.getByRole("button", { name: "Resend" }).click()
    await page.getByText("Copy queued.").waitFor()
    await Browser.eventually(() => page.url()).not.toContain(missed)
  })

  it("give a scheduled email another time with Enter, and Undo", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const scheduled_at = new Date(Math.floor(Date.now() / 60_000 + 60) * 60_000).toISOString()
    const id = await send({ to: "bo@example.org", subject: "Launch", scheduled_at })
    await page.goto("/overview")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await open("reschedule mail to bo@example.org to tomorrow 09:30")
    await Browser.eventually(() => first().textContent()).toMatch(/^To \d+ \w+ \d{4}, 09:30 UTC.*Launch/u)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "palette-reschedule")
    await page.keyboard.press("Enter")
    await page.getByText(/^Email scheduled for .*, 09:30 UTC\.$/u).waitFor()
    assert.match((await record(id)).scheduled_at, /T09:30:00\.000Z$/u)
    await page.getByRole("button", { name: "Undo" }).click()
    await Browser.eventually(async () => (await record(id)).scheduled_at).toBe(scheduled_at)
    // Without a time, the dialog asks for one.
    await open("reschedule Launch")
    await Browser.eventually(() => first().textContent()).toMatch(/^Reschedule.*Launch/u)
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("dialog", { name: "Reschedule email" })
    await dialog.getByLabel("Send at").waitFor()
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await dialog.waitFor({ state: "detached" })
    assert.strictEqual(new URL(page.url()).search, "")
  })

  it("are remembered, five of them, until the user signs out", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const texts = () => page.getByRole("option").allTextContents()
    for (const word of ["one", "two", "three", "four", "five", "six", "two"]) {
      await open(`tag:${word}`)
      await page.getByRole("option", { name: `All emails with “tag:${word}”` }).click()
      await page.waitForURL(`**/emails?search=tag*${word}`)
    }
    // The name of a screen is no search.
    await open("Webhooks")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor()
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor()
    await open("")
    await Browser.eventually(texts).toContain("tag:two")
    assert.deepStrictEqual((await texts()).slice(0, 6), [
      "tag:two",
      "tag:six",
      "tag:five",
      "tag:four",
      "tag:three",
      "Overviewgo",
    ])
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "palette-searches")
    await page.getByRole("option", { name: "tag:six" }).click()
    await page.getByRole("option", { name: "All emails with “tag:six”" }).waitFor()
    await page.keyboard.press("Escape")
    await open("Sign out")
    await page.keyboard.press("Enter")
    await page.waitForURL("**/sign-in")
    await Browser.signIn(page, opened.instance.owner)
    await open("")
    await Browser.eventually(async () => (await texts())[0]).toBe("Overviewgo")
    assert.deepEqual(opened.tab.consoleErrors, [])
  })
})
