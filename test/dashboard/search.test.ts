import { readFileSync } from "node:fs"
import { assert, beforeAll, it, vi } from "vitest"
import * as Accessibility from "./support/Accessibility.ts"
import * as Browser from "./support/Browser.ts"
import { inDashboardWith, TIMEOUT } from "./support/inDashboard.ts"
import * as ContactSheet from "./support/ContactSheet.ts"

const HOUR_MS = 3_600_000
const SHIPPED = "Your order has shipped"
const RESET = "Reset your password"
const NEWS = "What is new"
const LATER = "Your trial ends soon"
const NEVER = "Not any more"
const SUBJECTS = [SHIPPED, RESET, NEWS, LATER, NEVER]

const within = inDashboardWith(async () => ({ settings: { WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" } }))

await within("search and lists", (opened) => {
  const ids: Record<string, string> = {}
  const create = async (path: string, body: unknown, key?: string) => {
    const { json, status } = await opened.instance.request("POST", path, body, key)
    assert.isBelow(status, 300, JSON.stringify(json))
    return json
  }
  const send = async (subject: string, over: object, key?: string) => {
    const email = { from: "hello@acme.test", to: "ana@example.org", subject, text: "Hello.", ...over }
    ids[subject] = (await create("/email/send", email, key)).id
  }

  beforeAll(async () => {
    const { key } = await create("/api-keys", { name: "Shop, production", scopes: ["email:send"] })
    const scheduled_at = new Date(Date.now() + HOUR_MS).toISOString()
    await create("/webhooks", { url: "http://127.0.0.1:9/hook", events: ["email.queued"], description: "Closed" })
    for (const name of ["mail.shop.dev", "mail.acme.dev"]) await create("/domains", { name })
    await create("/suppressions", { email: "bo@example.net", reason: "manual" })
    await create("/suppressions", { email: "carla@studio.example", reason: "complaint" })
    await send(SHIPPED, { tags: ["orders"], metadata: { order: "7041", plan: "two words" } })
    await send(RESET, { to: "bo.larsen@example.net" }, key)
    await send(NEWS, { to: ["one@example.org", "two@example.org", "bounced@customers.test"] })
    await send(LATER, { scheduled_at })
    await send(NEVER, { scheduled_at })
    const { request } = opened.instance
    await request("POST", `/email/${ids[NEVER]}/cancel`)
    const countsOf = async () => (await request("GET", `/email/logs/${ids[NEWS]}`)).json.recipient_counts
    await vi.waitFor(async () => assert.strictEqual((await countsOf()).bounced, 1), { timeout: TIMEOUT })
    await opened.instance
      .sql(`INSERT INTO webhook_failures SELECT account_id, id, now() - interval '5 minutes' FROM webhooks
      ON CONFLICT (account_id, webhook_id) DO UPDATE SET since = EXCLUDED.since`)
    // The overview has read the keys before there was one more; a path that is opened before it is there is lost.
    await opened.tab.page.reload()
    await opened.tab.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
  }, TIMEOUT)

  /** Opens a path without loading the page again. */
  const open = (path: string) => opened.tab.page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`)
  const listed = async (): Promise<ReadonlyArray<string>> => {
    const list = opened.tab.page.getByRole("list", { name: "Emails" })
    const text = (await list.count()) === 0 ? "" : ((await list.textContent()) ?? "")
    return SUBJECTS.filter((subject) => text.includes(subject))
  }
  const search = (text: string) => opened.tab.page.getByLabel("Search emails").fill(text)
  const chips = () =>
    opened.tab.page.getByRole("list", { name: "Search filters" }).getByRole("listitem").allTextContents()

  it("one search box finds emails by everything that is known of them", { timeout: TIMEOUT }, async () => {
    await open("/emails")
    const cases: ReadonlyArray<readonly [typed: string, chip: string, subjects: ReadonlyArray<string>]> = [
      ["na@exam", "Textna@exam", [SHIPPED, LATER, NEVER]],
      ["LARSEN", "TextLARSEN", [RESET]],
      ["order has", "Textorder", [SHIPPED]],
      ['"order has"', "Textorder has", [SHIPPED]],
      ["orders", "Textorders", [SHIPPED]],
      ["tag:orders", "Tagorders", [SHIPPED]],
      ["metadata:order=7041", "Metadataorder=7041", [SHIPPED]],
      ['metadata:"plan=two words" metadata:order=7041', "Metadataplan=two words", [SHIPPED]],
      ["metadata:order=704", "Metadataorder=704", []],
      ["7041", "Text7041", [SHIPPED]],
      ["two words", "Texttwo", []],
      ['"two words"', "Texttwo words", [SHIPPED]],
      ["provider:gmail", "Recipients atGmail", []],
      [ids[RESET] ?? "", `Email id${ids[RESET]}`, [RESET]],
      [`<${ids[RESET]}@acme.test>`, `Email id<${ids[RESET]}@acme.test>`, [RESET]],
      ['key:"Shop, production"', "API keyShop, production", [RESET]],
      ["key:shop", "API keyShop, production", [RESET]],
      ["to:customers.test", "To containscustomers.test", [NEWS]],
      ["from:acme.test is:scheduled", "StatusScheduled", [LATER]],
      ["from:acme.test status:scheduled", "StatusScheduled", [LATER]],
      ["is:canceled", "StatusCanceled", [NEVER]],
      ["anyone:bounced", "Any recipientBounced", [NEWS]],
      ["code:421,5xx", "Reply code421, 5xx", [NEWS]],
      ["code:451", "Reply code451", []],
      ["since:24h subject:new", "Subject containsnew", [NEWS]],
      ["acme.test before:2020-01-01", "Textacme.test", []],
      ["acme.test", "Textacme.test", SUBJECTS],
      ["customers.test", "Textcustomers.test", [NEWS]],
      ["hello@acme", "Texthello@acme", SUBJECTS],
      [ids[RESET]?.slice(0, -3) ?? "", `Text${ids[RESET]?.slice(0, -3)}`, [RESET]],
      ["from:customers.test", "From domaincustomers.test", []],
      ["words that nobody wrote", "Textnobody", []],
    ]
    for (const [typed, chip, subjects] of cases) {
      await search(typed)
      await Browser.eventually(chips).toContain(chip)
      await opened.tab.page.locator("main [aria-busy=false]").waitFor()
      await Browser.eventually(listed, typed).toEqual(subjects)
      assert.include(await chips(), chip, typed)
      if (subjects.length === 0)
        await opened.tab.page.getByText(/^No (?:emails match your filters|mail to )/u).waitFor()
      else await opened.tab.page.getByText(new RegExp(`^${subjects.length} emails?$`, "u")).waitFor()
    }
  })

  it("shows the metadata of an email, each pair as a link to its search", { timeout: TIMEOUT }, async () => {
    await open(`/emails/${ids[SHIPPED]}`)
    await opened.tab.page.getByRole("link", { name: "plan: two words" }).click()
    await Browser.eventually(chips).toContain("Metadataplan=two words")
    await Browser.eventually(listed).toEqual([SHIPPED])
    assert.include(await chips(), "Metadataplan=two words")
  })

  it("shows that results are pending as soon as a search is typed", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    for (const [path, label, typed] of [
      ["/suppressions", "Search suppressions", "studio"],
      ["/requests", "Search by path, request ID or recipient", "domains"],
      ["/emails", "Search emails", "LARSEN"],
    ] as const) {
      await open(path)
      const box = page.getByLabel(label)
      await box.waitFor()
      await page.locator("[aria-busy=false] :is(table, ul)").first().waitFor()
      // Read in the same task as the input, so that the delay of the search cannot have passed.
      const pending = await box.evaluate((input, text) => {
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, text)
        input.dispatchEvent(new Event("input", { bubbles: true }))
        const results = document.querySelector("main [aria-busy]")
        return [
          results?.getAttribute("aria-busy"),
          results?.querySelector("[role=status]")?.textContent,
          results?.querySelector("[inert] :is(table, ul)") !== null,
        ]
      }, typed)
      assert.deepEqual(pending, ["true", "Searching…", true], path)
      await page.locator("[aria-busy=false] :is(table, ul)").first().waitFor()
      assert.include(page.url(), typed)
      if (path === "/requests") await page.getByRole("link", { name: "POST /v1/domains" }).first().waitFor()
    }
  })

  it("says what of a search it does not understand, and shows no emails then", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    for (const [typed, problem] of [
      ["colour:red", "There is no filter “colour:”"],
      ["form:ana", "Did you mean “from:”?"],
      ["is:lost", "There is no status “lost”"],
      ["key:nobody", "No API key is named “nobody”"],
      ["after:someday", "Use a date such as"],
      ["tag:news one two three four five six", "Use at most 5 words"],
      ["subject:", "Type a part of the subject"],
      ["id:msg_1", "Use the id of an email"],
    ] as const) {
      await search(typed)
      // A field without a value waits for it.
      if (typed.endsWith(":")) await page.keyboard.press("Enter")
      await page.getByText(problem, { exact: false }).waitFor()
      await page.getByRole("heading", { name: "This search is not understood" }).waitFor()
      assert.deepEqual(await listed(), [])
    }
    assert.deepEqual(await Accessibility.violations(page), [], "search not understood")
    await ContactSheet.shoot(page, "search-not-understood")
    await page.getByRole("button", { name: "Clear filters" }).first().click()
    await Browser.eventually(listed).toEqual(SUBJECTS)
  })

  it("keeps the list while a filter is typed, and offers its values", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/emails")
    const box = page.getByLabel("Search emails")
    await box.click()
    await page.keyboard.type("is:")
    await page.getByRole("button", { name: "bounced", exact: true }).waitFor()
    assert.deepEqual(await listed(), SUBJECTS)
    assert.isNull(await box.getAttribute("aria-invalid"))
    await page.keyboard.type("canc")
    await page.getByRole("button", { name: "canceled", exact: true }).click()
    await Browser.eventually(() => box.inputValue()).toBe("is:canceled")
    await Browser.eventually(listed).toEqual([NEVER])
    await page.getByRole("button", { name: "Clear filters" }).first().click()
    await page.getByRole("button", { name: "Filter", exact: true }).click()
    await page.getByRole("menuitem", { name: "Metadata" }).waitFor()
    // Dates are a group of their own.
    const dates = page.getByRole("separator").locator("~ [role=menuitem]")
    await Browser.eventually(async () => (await dates.allTextContents()).at(-1)).toBe("Yesterday")
    await Browser.eventually(() => dates.count()).toBe(4)
    await page.getByRole("menuitem", { name: "Yesterday" }).click()
    await Browser.eventually(() => box.inputValue()).toBe("since:yesterday until:today")
    await page.getByText("No emails match your filters").waitFor()
    await page.getByRole("button", { name: "Clear filters" }).first().click()
    await Browser.eventually(listed).toEqual(SUBJECTS)
  })

  it("finds by the status that rows show, and they say what became of them", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const row = (subject: string) => page.getByRole("link", { name: new RegExp(subject, "u") })
    for (const [subject, text] of [
      [NEWS, /^Partly bounced2 of 3 delivered.*?bounced@customers\.test\+2/u],
      [LATER, /^Scheduled/u],
      [NEVER, /^Canceled.*First keyNot sent$/u],
      [RESET, /^Delivered.*Shop, production/u],
    ] as const)
      await Browser.eventually(async () => (await row(subject).textContent()) ?? "").toMatch(text)
    await page.getByRole("button", { name: "Status", exact: true }).click()
    await page.getByRole("menuitem", { name: "Partly bounced" }).click()
    await Browser.eventually(listed).toEqual([NEWS])
    await Browser.eventually(chips).toContain("StatusPartly bounced")
    await page.getByRole("button", { name: "Status: Partly bounced", exact: true }).click()
    await page.getByRole("menuitem", { name: "Bounced", exact: true }).click()
    await Browser.eventually(() => page.getByLabel("Search emails").inputValue()).toBe("is:partly-bounced,bounced")
    await Browser.eventually(listed).toEqual([NEWS])
    // No search finds both, so that the last choice stays.
    await page.getByRole("button", { name: "Status: Bounced, Partly bounced", exact: true }).click()
    await page.getByRole("menuitem", { name: "Scheduled" }).click()
    await Browser.eventually(listed).toEqual([LATER])
    await Browser.eventually(() => page.getByLabel("Search emails").inputValue()).toBe("is:scheduled")
  })

  it("saves a search as a view, shows it again and deletes it", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await search("tag:orders is:delivered")
    await Browser.eventually(listed).toEqual([SHIPPED])
    await page.getByRole("button", { name: "Views" }).click()
    await page.getByRole("menuitem", { name: "Save this search…" }).click()
    await page.getByLabel("Name").fill("Orders")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("View “Orders” saved.").waitFor()
    await page.goto("/emails")
    await Browser.eventually(listed).toEqual(SUBJECTS)
    await page.getByRole("button", { name: "Views" }).click()
    await page.getByRole("menuitem", { name: "Orders" }).click()
    await Browser.eventually(listed).toEqual([SHIPPED])
    assert.deepEqual(await Accessibility.violations(page), [], "saved view")
    await ContactSheet.shoot(page, "search")
    await page.getByRole("button", { name: "Orders", exact: true }).click()
    await page.getByRole("menuitem", { name: "Delete “Orders”" }).click()
    await page.getByText("View “Orders” deleted.").waitFor()
    await page.getByRole("button", { name: "Views" }).click()
    await Browser.eventually(() => page.getByRole("menuitem").allTextContents()).toEqual(["Save this search…"])
    await page.keyboard.press("Escape")
  })

  it("exports what is shown as CSV", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await search("na@exam")
    await Browser.eventually(listed).toEqual([SHIPPED, LATER, NEVER])
    const downloading = page.waitForEvent("download")
    const held = Promise.withResolvers<void>()
    await page.route(/\/v1\/email\/logs\?/u, (route) => held.promise.then(() => route.continue()))
    await page.getByRole("button", { name: "Export CSV" }).click()
    await page.getByRole("progressbar", { name: "Export" }).waitFor()
    held.resolve()
    const lines = readFileSync(await (await downloading).path(), "utf8")
      .trim()
      .split("\r\n")
    await page.getByText("3 emails exported.").waitFor()
    await page.unrouteAll({ behavior: "wait" })
    assert.strictEqual(lines.length, 4)
    for (const text of [ids[SHIPPED], "First key", "ana@example.org", "1 delivered"])
      assert.include(lines.find((line) => line.includes(SHIPPED)) ?? "", text ?? "")
    await page.getByRole("button", { name: "Done" }).click()
  })

  it("imports suppressions, reports rejected lines and exports them again", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/suppressions")
    await page.getByRole("button", { name: "More actions" }).click()
    await page.getByRole("menuitem", { name: "Import CSV" }).click()
    const buffer = Buffer.from("email,reason\ndee@bulk.test,complaint\nnobody,manual\neli@bulk.test,manual\n")
    await page.getByLabel("CSV file").setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer })
    await page.getByText("2 added, 0 already suppressed, 1 rejected.").waitFor()
    await page.getByText(/^Line 3: is not an address/u).waitFor()
    await page.getByRole("button", { name: "Done" }).click()
    await page.getByLabel("Search suppressions").fill("@bulk")
    await page.getByRole("button", { name: "Reason" }).click()
    await page
      .getByRole("menuitem", { name: "Complaint" })
      .or(page.getByRole("menuitemcheckbox", { name: "Complaint" }))
      .click()
    await page.getByText("dee@bulk.test").waitFor()
    await page.getByText("eli@bulk.test").waitFor({ state: "detached" })
    const downloading = page.waitForEvent("download")
    await page.getByRole("button", { name: "More actions" }).click()
    await page.getByRole("menuitem", { name: "Export CSV" }).click()
    const file = readFileSync(await (await downloading).path(), "utf8")
    assert.match(file, /^email,reason,created_at\ndee@bulk\.test,complaint,[^\n]+\n$/u)
    await page.getByText("1 address exported.").waitFor()
    await page.getByRole("button", { name: "Done" }).click()
    const { json } = await opened.instance.request("POST", "/suppressions/batch", {
      remove: ["dee@bulk.test", "eli@bulk.test"],
    })
    assert.strictEqual(json.removed, 2)
  })

  it("every other list has headers, and searches and filters", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    interface Case {
      readonly path: string
      readonly box: string
      readonly typed: string
      /** Rows that the search finds, and of which the filter leaves none. */
      readonly found: number
      readonly text: string
      readonly filter: readonly [name: string, choice: string]
      readonly headers: ReadonlyArray<string>
    }
    const cases: ReadonlyArray<Case> = [
      {
        path: "/suppressions",
        box: "Search suppressions",
        typed: "STUDIO",
        found: 1,
        text: "carla@studio.example",
        filter: ["Reason", "Manual"],
        headers: ["Address", "Reason", "Caused by", "Added", "Actions"],
      },
      {
        path: "/domains",
        box: "Search domains",
        typed: "shop",
        found: 1,
        text: "mail.shop.dev",
        filter: ["Status", "Verified"],
        headers: ["Domain", "Status", "Tracking", "Last check", "Bounced"],
      },
      {
        path: "/webhooks",
        box: "Search webhooks",
        typed: "clos",
        found: 1,
        text: "http://127.0.0.1:9/hook",
        filter: ["Status", "Disabled"],
        headers: ["Endpoint", "Status", "Events", "Last call"],
      },
      {
        path: "/settings/api-keys",
        box: "Search API keys",
        typed: "production",
        found: 1,
        text: "Shop, production",
        filter: ["Mode", "Test"],
        headers: ["Name", "Mode", "Scopes", "Last used", "Actions"],
      },
      {
        path: "/settings/audit",
        box: "Search audit log",
        typed: "mail.shop.dev",
        found: 1,
        text: "Domain created mail.shop.dev",
        filter: ["Object", "API keys"],
        headers: ["Action", "By", "IP address", "Time", "Details"],
      },
    ]
    for (const { box, filter, found, headers, path, text, typed } of cases) {
      await open(path)
      const rows = page.getByRole("table").locator("tbody tr")
      await page.getByLabel(box).fill(typed)
      await Browser.eventually(() => rows.count(), path).toBe(found)
      await Browser.eventually(() => rows.first().textContent()).toContain(text)
      await Browser.eventually(() => page.getByRole("columnheader").allTextContents()).toEqual(headers)
      await page.getByRole("button", { name: filter[0], exact: true }).click()
      await page.getByRole("menuitem", { name: filter[1] }).click()
      await page.getByText(/^No .* match your filters$/u).waitFor()
      await page.getByRole("button", { name: "Clear filters" }).click()
      await Browser.eventually(() => rows.count(), path).toBeGreaterThan(0)
    }
  })

  it("the audit log says who did what to what, by name", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/settings/audit?q=%22Shop%2C+production%22")
    const row = page.getByRole("row", { name: /Shop, production/u }).first()
    await Browser.eventually(async () => (await row.textContent()) ?? "").toMatch(
      /^API key created Shop, productionscopes: email:send.*First key API key/u,
    )
    await page.getByRole("button", { name: "By", exact: true }).click()
    await page.getByRole("menuitem", { name: "First key" }).click()
    await row.waitFor()
    assert.match(page.url(), /actor=key_/u)
  })

  it("a webhook whose endpoint does not answer is failing", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await open("/webhooks")
    const row = page.getByRole("row", { name: /127\.0\.0\.1:9.*Failing.*No response/u })
    await Browser.eventually(() => row.textContent()).toContain("Closed")
    await ContactSheet.shoot(page, "webhook-failing")
  })

  it("logs no console errors", () => assert.deepEqual(opened.tab.consoleErrors, []))
})
