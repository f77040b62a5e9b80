import { assert, it } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("what leads where", (opened) => {
  const mail = { from: "hello@acme.test", to: "ana@example.org", subject: "Quarterly figures", text: "Hi" }
  const create = async (path: string, body: unknown) => {
    const { json, status } = await opened.instance.request("POST", path, body)
    assert.isBelow(status, 300, JSON.stringify(json))
    return json
  }

  it(
    "the overview of a new account opens on its last 24 hours, and requests nothing for it",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      await create("/email/send", { ...mail, tags: ["reports"] })
      const ranges: Array<string | null> = []
      page.on("request", (request) => {
        const url = new URL(request.url())
        if (url.pathname === "/v1/stats") ranges.push(url.searchParams.get("group_by"))
      })
      await page.goto("/overview")
      const range = page.getByRole("group", { name: "Time range" })
      await range.getByRole("button", { name: "24 hours", pressed: true }).waitFor()
      await page.getByText("All emails").waitFor()
      assert.deepStrictEqual(ranges.toSorted(), ["domain", "hour"])
      await page.goto("/overview?range=7d")
      await range.getByRole("button", { name: "7 days", pressed: true }).waitFor()
      assert.strictEqual(await range.getByRole("button", { pressed: true }).count(), 1)
    },
  )

  it("Enter in the palette opens the only thing that is found", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/overview")
    await page.getByText("All emails").waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").fill("Quarterly figures")
    await page.getByText("1 email found").waitFor()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: mail.subject }).waitFor()
    assert.match(new URL(page.url()).pathname, /^\/emails\/msg_/u)
  })

  it("the key and the tags of an email lead to the others with them", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { href } = new URL(page.url())
    await page.getByRole("link", { name: "reports", exact: true }).click()
    await page.getByRole("list", { name: "Search filters" }).getByText("reports").waitFor()
    await page.goto(href)
    await page.getByRole("link", { name: "API key First key" }).click()
    await page.getByRole("list", { name: "Search filters" }).getByText("First key").waitFor()
    await page.getByRole("list", { name: "Emails" }).getByText(mail.subject).waitFor()
    assert.match(new URL(page.url()).searchParams.get("search") ?? "", /^key:key_/u)
  })

  it("a request has its query, and its reason leads to the docs", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    await instance.request("GET", "/domains?limit=0")
    await page.goto("/requests")
    await Browser.eventually(async () => {
      await page.getByRole("button", { name: "Refresh" }).click()
      return page.locator("main").innerText()
    }).toContain("/v1/domains?limit=")
    await page.getByRole("link", { name: "?limit=" }).click()
    await page.getByText("Request ID", { exact: true }).waitFor()
    await page.getByRole("heading", { name: "Response" }).waitFor()
    const docs = (await page.locator('main a[href^="/docs/errors/"]').getAttribute("href")) ?? ""
    assert.strictEqual((await page.request.get(docs)).status(), 200)
  })

  it("the audit log has a date, and leads to the request and from the record", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await create("/webhooks", { url: "https://hooks.shop.dev/one", events: ["email.bounced"] })
    await page.goto("/webhooks")
    await page.getByRole("link", { name: /hooks\.shop\.dev/u }).click()
    await page.getByRole("button", { name: "Webhook actions" }).click()
    await page.getByRole("menuitem", { name: "History" }).click()
    const rows = page.getByRole("table", { name: "Audit log" }).getByRole("row")
    await Browser.eventually(() => rows.count()).toBe(2)
    await page.getByRole("button", { name: "Details" }).click()
    assert.deepEqual(await Accessibility.violations(page), [])
    await page.getByRole("menuitem", { name: "View request" }).click()
    await page.getByRole("heading", { level: 1, name: "POST /v1/webhooks" }).waitFor()
    await page.goto("/settings/audit")
    await page.getByLabel("Since").fill("2099-01-01")
    await page.getByText("No changes match your filters").waitFor()
    assert.strictEqual(new URL(page.url()).searchParams.get("since"), "2099-01-01T00:00:00.000Z")
    await page.getByLabel("Since").fill("2020-01-01")
    await Browser.eventually(() => rows.count()).toBeGreaterThan(1)
  })

  it(
    "Compose sends to all kinds of recipients, and shows the request without a key",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      await page.goto("/compose")
      await page.getByLabel("To", { exact: true }).fill("ana@example.org")
      await page.getByLabel("Cc", { exact: true }).fill("bo@example.org")
      await page.getByLabel("Bcc", { exact: true }).fill("cy@example.org")
      await page.getByLabel("Reply-to").fill("team@acme.test")
      await page.getByLabel("Subject").fill("To several")
      await page.getByLabel("HTML").fill("<p>Hello</p>")
      const request = page.getByLabel("API request for this email")
      await request.getByText("Bearer $WAYBILL_KEY", { exact: false }).waitFor()
      await Browser.eventually(() => request.textContent()).toMatch(/"cc": \[\s*"bo@example\.org"/u)
      // The frame is as high as its content.
      const frame = page.locator('iframe[title="Email preview"]')
      await Browser.eventually(async () => (await frame.boundingBox())?.height ?? 0).toBeLessThan(200)
      await ContactSheet.shoot(page, "compose-filled")
      await page.getByRole("button", { name: "Send", exact: true }).click()
      await page.getByRole("heading", { level: 1, name: "To several" }).waitFor()
      await page.getByText("team@acme.test").waitFor()
      for (const address of ["bo@example.org", "cy@example.org"]) await page.getByText(address).first().waitFor()
    },
  )

  it("reports that an installation cannot receive lead to their setup", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/domains/acme.test")
    const links = page.getByRole("link", { name: "operator sets them up" })
    await Browser.eventually(() => links.count()).toBe(2)
    await page.goto((await links.first().getAttribute("href")) ?? "")
    await page.getByRole("heading", { level: 1, name: "Setup of domain reports" }).waitFor()
  })

  it("a wrong id of received mail leaves the list", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await create("/test/inbound", { to: "help@acme.test", from: "bo@example.org", subject: "A question", text: "Hi" })
    await page.goto("/received?id=inb_01k9zvjw4cf7y8h2n6q0r3t5vx")
    await page.getByRole("list", { name: "Received mail" }).getByText("A question").click()
    await page.getByRole("heading", { level: 2, name: "A question" }).waitFor()
    assert.match(new URL(page.url()).searchParams.get("id") ?? "", /^inb_/u)
  })

  it("a phone has the filters of emails in one row, with words", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.setViewportSize(ContactSheet.PHONE)
    await page.goto("/emails?search=is:bounced,failed")
    const tops = []
    for (const name of ["Status: Bounced, Failed", "Filter", "Views"]) {
      const box = await page.getByRole("button", { name, exact: true }).boundingBox()
      tops.push(box?.y)
      assert.isAtMost((box?.x ?? 0) + (box?.width ?? 0), ContactSheet.PHONE.width)
    }
    assert.strictEqual(new Set(tops).size, 1)
    await page.goto("/suppressions?reason=hard_bounce")
    const bar = page.getByRole("button", { name: "Reason: Hard bounce" }).locator("..")
    const filters = [bar.getByRole("button").first(), bar.getByRole("button").last(), page.getByLabel("Added since")]
    const boxes = await Promise.all(filters.map((filter) => filter.boundingBox()))
    assert.strictEqual(new Set(boxes.map((box) => box?.y)).size, 1)
    for (const box of boxes) assert.isAtMost((box?.x ?? 0) + (box?.width ?? 0), ContactSheet.PHONE.width)
    await ContactSheet.shoot(page, "suppressions-filters")
    await page.setViewportSize(Browser.DESKTOP)
  })

  it("an API key leads to its emails and its requests", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const key = page.getByRole("row", { name: /^First key/u })
    // The time of its use is written after a while.
    await Browser.eventually(async () => {
      await page.goto("/settings/api-keys")
      await key.waitFor()
      return key.getByRole("link", { name: "View its emails" }).count()
    }).toBe(1)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "api-keys-used")
    await key.getByRole("link", { name: "View its emails" }).click()
    await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
    await page.getByRole("list", { name: "Emails" }).getByText(mail.subject).waitFor()
    await page.goto("/settings/api-keys")
    await key.getByTitle("Requests with this key").filter({ visible: true }).click()
    await page.getByRole("button", { name: "API key: First key" }).waitFor()
    await page
      .getByRole("row", { name: /email\/send/u })
      .first()
      .waitFor()
  })

  it("logs no errors", () => {
    const others = opened.tab.consoleErrors.filter((error) => !/ 404 |no received mail/u.test(error))
    assert.deepEqual(others, [])
  })
})
