import { assert, beforeAll, it, vi } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("questions of a search", (opened) => {
  const send = async (to: string, subject: string) => {
    const mail = { from: "hello@acme.test", to, subject, text: "Hi" }
    const { json, status } = await opened.instance.request("POST", "/email/send", mail)
    assert.strictEqual(status, 200, JSON.stringify(json))
    return json.id
  }
  const statusOf = async (id: string) => (await opened.instance.request("GET", `/email/logs/${id}`)).json.status

  beforeAll(async () => {
    const deferred = await send("deferred+petra@example.org", "Your receipt")
    const ids = [await send("olga@example.org", "Your receipt"), await send("olga@example.org", "Your login code")]
    const settled = async (id: string, status: string) =>
      vi.waitFor(async () => assert.strictEqual(await statusOf(id), status), { timeout: TIMEOUT })
    await settled(deferred, "deferred")
    for (const id of ids) await settled(id, "delivered")
  }, TIMEOUT)

  const chips = () =>
    opened.tab.page.getByRole("list", { name: "Search filters" }).getByRole("listitem").allTextContents()
  const listed = () => opened.tab.page.getByRole("list", { name: "Emails" })

  it(
    "why somebody did not get it finds mail that is deferred, in filters that are shown once",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      await page.goto("/emails")
      await page.getByLabel("Search emails").fill("why did petra not get it")
      await listed().getByText("deferred+petra@example.org").filter({ visible: true }).waitFor()
      await Browser.eventually(() => listed().getByRole("listitem").count()).toBe(1)
      await Browser.eventually(chips).toEqual([
        "Read as",
        "To begins withpetra",
        "Any recipientQueued, Sent, Deferred, Bounced, Failed, Suppressed, Canceled",
        "Search as text",
        "Clear filters",
      ])
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "search-question")
      await page.setViewportSize(ContactSheet.PHONE)
      await Browser.eventually(() => page.evaluate("document.documentElement.scrollWidth")).toBe(
        ContactSheet.PHONE.width,
      )
      await page.setViewportSize(Browser.DESKTOP)
      // A filter of the reading is removed from it, and not from the words.
      await page.getByRole("button", { name: "Remove filter To begins with" }).click()
      await Browser.eventually(() => page.getByLabel("Search emails").inputValue()).toBe(
        "anyone:queued,sent,deferred,bounced,failed,suppressed,canceled",
      )
    },
  )

  it("a question for states that no mail has shows the mail that there is", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/emails?search=why+did+olga+not+get+it")
    await page.getByText("All mail to olga was delivered.").waitFor()
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "search-question-delivered")
    await page.getByRole("button", { name: "Show all mail to olga (2 delivered)" }).click()
    await Browser.eventually(() => listed().getByRole("listitem").count()).toBe(2)
    assert.strictEqual(await page.getByLabel("Search emails").inputValue(), "to:^olga")
    // A search without states has no others.
    await page.getByLabel("Search emails").fill("to:nobody")
    await page.getByText("No emails match your filters").waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: /^Show/u }).count()).toBe(0)
  })

  it("finds by the plural and by a misspelt state", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    for (const [typed, count] of [
      ["receipts sent to olga", 1],
      ["receipts", 2],
      ["defered", 1],
    ] as const) {
      await page.goto(`/emails?search=${encodeURIComponent(typed)}`)
      await page.getByText(count === 1 ? "1 email" : `${count} emails`, { exact: true }).waitFor()
      await Browser.eventually(() => listed().getByRole("listitem").count(), typed).toBe(count)
    }
  })

  const options = () => opened.tab.page.getByRole("option").allTextContents()
  const ask = async (line: string) => {
    const { page } = opened.tab
    const box = page.getByRole("combobox", { name: "Search or run a command" })
    if ((await box.count()) === 0) await page.keyboard.press("Control+k")
    await box.fill(line)
  }

  it("the palette finds the same mail as the list that it opens", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/emails")
    await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
    await ask("receipt your")
    await page.getByText("2 emails found").waitFor()
    await page.getByRole("option", { name: "All emails with “receipt your”" }).click()
    await Browser.eventually(() => listed().getByRole("listitem").count()).toBe(2)
    assert.strictEqual(await page.getByLabel("Search emails").inputValue(), "receipt your")
    await ask("receipts")
    await page.getByRole("option", { name: "Emails: receipt" }).getByText("2 emails", { exact: true }).waitFor()
    await ask("sent by First key")
    await page.getByRole("option", { name: 'Emails: key:"First key"' }).getByText("3 emails", { exact: true }).waitFor()
    await ask("nothing like it")
    await page.getByText("No emails found").waitFor()
  })

  it("the palette leads to requests, suppressions, webhooks and the audit log", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { request } = opened.instance
    await request("POST", "/suppressions", { email: "kim.andersen@example.org", reason: "manual" })
    await request("POST", "/webhooks", { url: "https://hooks.acme.test/in", events: ["*"], description: "Shop hook" })
    await page.goto("/overview")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await ask("kim")
    await Browser.eventually(options).toContain("kim.andersen@example.orgSuppression")
    await ask("disable webhook")
    await Browser.eventually(options).toContain("Shop hookWebhook")
    for (const line of ["who revoked the key", "who created acme.test", "who deleted it"]) {
      await ask(line)
      await Browser.eventually(async () => (await options())[0], line).toMatch(/^Audit log/u)
    }
    // A screen or an action that is meant comes alone, without a search of emails that finds none.
    for (const [line, meant] of [
      ["failed webhooks", "Failing webhooks"],
      ["which webhooks fail", "Failing webhooks"],
      ["is my domain healthy", "Domainsgd"],
      ["which api key sent this", "API keysgk"],
      ["pause sending", "API keysgk"],
    ] as const) {
      await ask(line)
      await Browser.eventually(async () => (await options())[0], line).toBe(meant)
      await page.getByText("Searching emails…").waitFor({ state: "hidden" })
      await Browser.eventually(async () => (await options()).some((each) => each.startsWith("Emails: ")), line).toBe(
        false,
      )
    }
    await page.getByRole("option", { name: "Cancel emails: is:scheduled" }).waitFor()
    const { json } = await request("POST", "/email/send", { to: "no address" })
    const { request_id } = json.error
    await Browser.eventually(async () => (await request("GET", `/requests/${request_id}`)).status).toBe(200)
    await ask(request_id)
    await Browser.eventually(async () => (await options())[0]).toBe(`Open request ${request_id}`)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: /POST \/v1\/email\/send/u }).waitFor()
    assert.deepEqual(opened.tab.consoleErrors, [])
  })
})
