import { assert, expect, it } from "vitest"
import { matchesWords } from "../../../apps/dashboard/src/shell/matchesWords.ts"
import * as LineOrders from "../../../apps/dashboard/src/shell/LineOrders.ts"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

it("a line says which waiting emails to cancel", () => {
  const now = Date.parse("2026-11-30T10:00:00Z")
  for (const [line, search] of [
    ["cancel tomorrow's mail", "scheduled:tomorrow"],
    ["Cancel all scheduled emails", "is:scheduled"],
    ["cancel mail to ana@example.org", "to:ana@example.org is:scheduled"],
    ["cancel to:ana tag:launch", "to:ana tag:launch is:scheduled"],
    ['cancel "your trial" 2026-12-01', '"your trial" scheduled:2026-12-01'],
    ["to:ana is:scheduled", "to:ana is:scheduled"],
    ["scheduled:7d", "scheduled:7d"],
    ["cancel is:bounced", undefined],
    ["cancel nothing:here", undefined],
    ["tomorrow", undefined],
    ["is:scheduled,bounced", undefined],
  ] as const)
    assert.strictEqual(LineOrders.waiting(line, now), search, line)
})

it("a long word may have one mistyped letter", () => {
  for (const query of ["webhok", "WEBHOOK", "crate webhook", "webhook create", ""])
    assert.isTrue(matchesWords("Create webhook", query), query)
  for (const query of ["webbbhok", "wbe", "create key"]) assert.isFalse(matchesWords("Create webhook", query), query)
  assert.isTrue(matchesWords("Webhooks", "wehbooks"))
  assert.isFalse(matchesWords("Overview", "obe"))
  assert.isFalse(matchesWords("Domains", "emails"))
})

await inDashboard("what is asked of an address", (opened) => {
  const openPalette = async (text: string) => {
    const { page } = opened.tab
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search or run a command" }).fill(text)
  }

  it("the palette and the empty list say that it is suppressed", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    await page.goto("/emails")
    await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
    const names = async () => (await page.getByRole("option").allTextContents()).slice(0, 3)

    await openPalette("gone@example.org")
    await Browser.eventually(names).toEqual([
      "Mail to gone@example.org",
      "Suppress gone@example.org",
      "Emails from gone@example.org",
    ])
    await page.goto("/suppressions?q=gone@example.org&new=true")
    const dialog = page.getByRole("dialog", { name: "Add suppression" })
    expect(await dialog.getByLabel("Email address").inputValue()).toBe("gone@example.org")
    await dialog.getByLabel("Reason").selectOption("Hard bounce")
    await ContactSheet.shoot(page, "suppression-add")
    await dialog.getByRole("button", { name: "Add", exact: true }).click()
    await page.getByText("gone@example.org added to suppressions.").waitFor()
    const refused = { from: "hello@acme.test", to: "gone@example.org", subject: "Hi", text: "Hi" }
    await instance.request("POST", "/email/send", refused)

    await page.goto("/emails")
    await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
    await openPalette("gone@example.org")
    await Browser.eventually(async () => (await names())[1]).toMatch(/^Suppressed since .+, hard bounce$/u)
    await ContactSheet.shoot(page, "palette-suppressed")
    await page.getByRole("option", { name: /^Suppressed since/u }).click()
    await page.waitForURL("**/suppressions?q=gone*")

    await page.goto("/emails?search=to:other-gone@example.org")
    const none = page.getByText("No mail to other-gone@example.org").locator("..")
    await none.getByRole("button", { name: "Suppress other-gone@example.org" }).waitFor()
    // Where it may be instead comes first.
    assert.match(await none.innerText(), /Refused requests\s+Received from it\s+Suppress other-gone@example\.org$/u)
    await ContactSheet.shoot(page, "emails-no-mail-to")
    await Browser.eventually(() => page.getByText("Suppressed since").count()).toBe(0)
    await instance.request("POST", "/suppressions", { email: "other-gone@example.org", reason: "complaint" })
    for (const search of ["to:other-gone@example.org", "Other-Gone@example.org"]) {
      await page.goto(`/emails?search=${search}`)
      await page.getByText(/^Suppressed since .+, complaint\./u).waitFor()
    }
    // So does a list of earlier mail.
    await instance.request("DELETE", "/suppressions/other-gone@example.org")
    await instance.request("POST", "/email/send", { ...refused, to: "other-gone@example.org", subject: "Earlier" })
    await instance.request("POST", "/suppressions", { email: "other-gone@example.org", reason: "complaint" })
    await page.reload()
    await page.getByRole("link", { name: /Earlier/u }).waitFor()
    await page.getByText(/^Suppressed since .+, complaint\./u).waitFor()
    await page.getByRole("link", { name: "View refused requests" }).waitFor()
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "emails-suppressed")
    await page.getByRole("link", { name: "View suppression" }).click()
    await page.waitForURL("**/suppressions?q=other-gone*")
  })

  it("one line stops all mail to an address, and can be undone", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
    const mail = { from: "hello@acme.test", to: "stop@example.org", subject: "Later", text: "Hi", scheduled_at }
    await instance.request("POST", "/email/send", mail)
    const reasonOf = async () => (await instance.request("GET", "/suppressions/stop@example.org")).json.reason
    await page.goto("/overview")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await openPalette("stop all mail to stop@example.org")
    await page.getByRole("option", { name: "Suppress stop@example.org" }).waitFor()
    await page.keyboard.press("Enter")
    await page.getByText("stop@example.org suppressed: no more mail, scheduled mail included.").waitFor()
    assert.strictEqual(await reasonOf(), "manual")
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("stop@example.org receives mail again.").waitFor()
    assert.isUndefined(await reasonOf())
    // The list of its mail has the same button.
    await page.goto("/emails?search=to:stop@example.org")
    await page.getByRole("button", { name: "Suppress stop@example.org" }).click()
    await Browser.eventually(reasonOf).toBe("manual")
    await page.getByRole("button", { name: "Suppress stop@example.org" }).waitFor({ state: "detached" })
  })

  it("one line cancels the mail of a day, after one question", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    const noon = new Date(Math.floor(Date.now() / 86_400_000 + 2) * 86_400_000 - 43_200_000)
    const send = async (subject: string, at: Date) =>
      (
        await instance.request("POST", "/email/send", {
          from: "hello@acme.test",
          to: "ana@example.org",
          subject,
          text: "Hi",
          scheduled_at: at.toISOString(),
        })
      ).json.id
    const ids = [await send("Launch one", noon), await send("Launch two", noon)]
    const later = await send("Next week", new Date(noon.getTime() + 7 * 86_400_000))
    const statusOf = async (id: string) => (await instance.request("GET", `/email/logs/${id}`)).json.status
    await page.goto("/overview")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await openPalette("cancel tomorrow's mail")
    await page.getByRole("option", { name: "Cancel emails: scheduled:tomorrow" }).waitFor()
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("dialog", { name: "Cancel 2 emails?" })
    await ContactSheet.shoot(page, "emails-cancel-all")
    assert.deepEqual(await Accessibility.violations(page), [])
    await dialog.getByRole("button", { name: "Cancel 2 emails" }).click()
    await dialog.getByText("2 emails canceled.").waitFor()
    await dialog.getByRole("button", { name: "Done" }).click()
    for (const id of ids) assert.strictEqual(await statusOf(id), "canceled")
    assert.strictEqual(await statusOf(later), "queued")
    // So does the list of a search for mail that waits, and no other.
    await page.goto("/emails?search=to:ana@example.org")
    await page.getByRole("link", { name: /Next week/u }).waitFor()
    assert.strictEqual(await page.getByRole("button", { name: /^Cancel \d/u }).count(), 0)
    await page.goto("/emails?search=to:ana@example.org+is:scheduled")
    await page.getByRole("button", { name: "Cancel 1 email" }).click()
    await page.getByRole("dialog", { name: "Cancel 1 email?" }).getByRole("button", { name: "Cancel 1 email" }).click()
    await Browser.eventually(() => statusOf(later)).toBe("canceled")
  })

  it("the overview leads to the mail of a provider, at all of its domains", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    for (const domain of ["hotmail.com", "live.co.uk", "outlook.example"])
      await instance.request("POST", "/email/send", {
        from: "hello@acme.test",
        to: `ana@${domain}`,
        subject: `At ${domain}`,
        text: "Hi",
      })
    const link = page.getByRole("link", { name: "Outlook and Hotmail" })
    await Browser.eventually(async () => {
      await page.goto("/overview")
      await page.getByText("Provider", { exact: true }).click()
      await page.getByText("Other domains").waitFor()
      return link.count()
    }).toBe(1)
    await link.click()
    await page.getByText("2 emails", { exact: true }).waitFor()
    for (const domain of ["hotmail.com", "live.co.uk"]) await page.getByText(`At ${domain}`).waitFor()
    assert.strictEqual(await page.getByText("At outlook.example").count(), 0)
  })

  it("the palette finds mistyped words, states and new records", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const mail = { from: "hello@acme.test", to: "bounced@customers.test", subject: "Order 7", text: "Hi" }
    await opened.instance.request("POST", "/email/send", mail)
    await page.goto("/overview")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    const box = page.getByRole("combobox", { name: "Search or run a command" })
    const shown = () => page.getByRole("option").allTextContents()
    await openPalette("webhok")
    await Browser.eventually(shown).toContain("Create webhook")
    for (const [typed, name] of [
      ["create templ", "Create template"],
      ["create route", "Create route"],
      ["add supp", "Add suppression"],
      ["bounc", "Bounced emails"],
      ["stop mail", "Suppressionsgs"],
      ["who changed", "Audit logga"],
      ["dkim", "Domainsgd"],
      ["rotate key", "API keysgk"],
      ["webhook failing", "Failing webhooks"],
      ["domain health", "Domainsgd"],
      ["is anything wrong", "Overviewgo"],
      ["log out", "Sign out"],
      ["554", "Emails: code:5540 emails"],
      ["what did my endpoint answer", "Webhooksgw"],
      ["replay webhook", "Webhooksgw"],
      ["why was my request refused", "Requestsgr"],
      ["change password", "Profilegy"],
      ["smtp settings", "API keysgk"],
      ["who changed my domain", "Audit log: domainga"],
      ["who changed acme.test?", "Audit log: acme.testga"],
      ["how many emails did we send this month", "Plan and usagegp"],
      ["is acme.test healthy?", "acme.testDomain"],
      ["is acme.test healthy", "acme.testDomain"],
      ["is bounced@customers.test suppressed?", "Mail to bounced@customers.test"],
    ] as const) {
      await box.fill(typed)
      await Browser.eventually(shown).toContain(name)
    }
    await opened.instance.request("POST", "/domains", { name: "news.shop.dev" })
    await box.fill("who changed news.shop.dev")
    await page.getByRole("option", { name: "Audit log: news.shop.dev" }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL("**/settings/audit?q=news.shop.dev")
    await page.getByRole("table", { name: "Audit log" }).getByText("Domain created").waitFor()
    await openPalette("Order 7")
    await Browser.eventually(async () => (await shown()).join("\n")).toMatch(/Order 7.*Bounced.*now/u)
    await ContactSheet.shoot(page, "palette-status")
    assert.deepEqual(await Accessibility.violations(page), [])
    await box.fill("bounc")
    await page.getByRole("option", { name: "Bounced emails", exact: true }).click()
    await page.waitForURL("**/emails?search=anyone*bounced")
    await page.getByRole("link", { name: /Order 7/u }).waitFor()
  })

  it("shows how plain words are read, also where that finds nothing", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const box = page.getByLabel("Search emails")
    await page.goto("/emails")
    const reading = (search: string) => page.getByRole("status").filter({ hasText: `Read as ${search}` })
    const none = page.getByText("No emails match your filters")
    await box.fill("bounced today")
    await reading("anyone:bounced since:today").waitFor()
    await page
      .getByRole("link", { name: /Order 7/u })
      .first()
      .waitFor()
    await ContactSheet.shoot(page, "search-read")
    await page.getByRole("button", { name: "Search as text" }).click()
    await none.waitFor()
    assert.strictEqual(await box.inputValue(), '"bounced today"')
    const line = "delivered at hotmail today"
    const search = "is:delivered provider:outlook since:today"
    await box.fill(line)
    await page.getByRole("button", { name: `Read as ${search}` }).waitFor()
    await page.getByText("At hotmail.com").waitFor()
    await openPalette(line)
    await page
      .getByRole("option", { name: `Emails: ${search}` })
      .getByText("2 emails", { exact: true })
      .waitFor()
    // One that finds nothing is shown, too.
    const unseen = "bounced at gmail yesterday"
    await page.getByRole("combobox", { name: "Search or run a command" }).fill(unseen)
    const read = "anyone:bounced provider:gmail since:yesterday until:today"
    await page
      .getByRole("option", { name: `Emails: ${read}` })
      .getByText("0 emails")
      .waitFor()
    await Browser.eventually(() => page.getByRole("option").first().textContent()).toBe(`Emails: ${read}0 emails`)
    await page.keyboard.press("Escape")
    await box.fill(unseen)
    await reading(read).waitFor()
    await none.waitFor()
    assert.deepEqual(await Accessibility.violations(page), [])
    await box.fill("why did ana not get it")
    await reading("to:^ana anyone:queued,sent,deferred,bounced,failed,suppressed,canceled").waitFor()
    await Browser.eventually(() => page.getByText("Use at most 5 words").count()).toBe(0)
    await box.fill("not delivered")
    await reading("anyone:bounced,failed").waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: /is:delivered|Status: Delivered/u }).count()).toBe(
      0,
    )
    await box.fill("receipt -delivered")
    await reading("receipt anyone:bounced,failed").waitFor()
    await box.fill("to:an*@gmail.com")
    await page.getByText("There are no patterns: a part of an address finds it.").waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: /^Suppress/u }).count()).toBe(0)
    await page.getByRole("button", { name: "Use to:an" }).click()
    await Browser.eventually(() => box.inputValue()).toBe("to:an")
    // What is not understood has no number of emails, and nothing is followed.
    await page.getByRole("button", { name: "Clear filters" }).first().click()
    const total = page.getByRole("status").filter({ hasText: /^\d+ emails$/u })
    await box.fill("a")
    await total.waitFor()
    await box.fill("is:bouncd")
    await page.getByText("This search is not understood").waitFor()
    await Browser.eventually(() => total.count()).toBe(0)
    await Browser.eventually(() => page.getByRole("switch", { name: /Auto-refresh|Connecting/u }).count()).toBe(0)
    await box.fill("anyone:bonced tag:news")
    await page.getByRole("button", { name: "Use anyone:bounced" }).click()
    await Browser.eventually(() => box.inputValue()).toBe("anyone:bounced tag:news")
    await box.fill("code:5.1.1")
    await page.getByRole("button", { name: "Use code:5xx" }).click()
    await Browser.eventually(() => box.inputValue()).toBe("code:5xx")
    assert.deepEqual(opened.tab.consoleErrors, [])
  })

  it("an empty search box shows examples while it has the focus", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/emails")
    const box = page.getByLabel("Search emails")
    const example = page.getByRole("button", { name: "is:bounced since:7d" })
    await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
    assert.isFalse(await example.isVisible())
    await box.focus()
    await example.waitFor()
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "search-examples")
    await example.click()
    await Browser.eventually(() => box.inputValue()).toBe("is:bounced since:7d")
    await page
      .getByRole("link", { name: /Order 7/u })
      .first()
      .waitFor()
    await example.waitFor({ state: "detached" })
  })
})
