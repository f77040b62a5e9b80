import type { Locator, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Email } from "../../../apps/dashboard/src/api/Records.ts"
import * as EmailFilters from "../../../apps/dashboard/src/emails/search/EmailFilters.ts"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inBrowser } from "../support/inBrowser.ts"
import { TIMEOUT } from "../support/inDashboard.ts"
import * as Instance from "../support/Instance.ts"
import { freePort } from "../../support/process/service.ts"

const HOUR_MS = 3_600_000
const SMTP_PORT = await freePort()

const numbersIn = (text: string | null): ReadonlyArray<number> =>
  [...(text ?? "").matchAll(/(\d+)(?:,|$)/gu)].map(([, digits]) => Number(digits))

/** Serves pages as of an installation that delivers mail, whose rates are no simulation. */
const relayed = (page: Page) =>
  page.route(/localhost:\d+\/(?:domains|overview)$/u, async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace(/(transport(?:"|&quot;):(?:"|&quot;))capture/u, "$1relay")
    await route.fulfill({ response, body })
  })

await inBrowser("numbers and samples on the screens", (browser) => {
  let instance: Instance.Instance
  let tab: Browser.BrowserTab

  beforeAll(async () => {
    instance = await Instance.start({ SMTP_PORT: String(SMTP_PORT) })
    tab = await Browser.openTab(browser, instance.url.replace("127.0.0.1", "localhost"))
    await Browser.signIn(tab.page, instance.owner)
  }, TIMEOUT)

  afterAll(async () => {
    await instance.close()
  }, TIMEOUT)

  const sample = async (name: string): Promise<string> => {
    await tab.page.getByRole("tab", { name }).click()
    return (await tab.page.locator(`pre[aria-label="${name}"]`).textContent()) ?? ""
  }

  it("samples use the address of the page and the port of SMTP", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const { port } = new URL(instance.url)
    for (const path of ["/overview", "/emails", "/sandbox"]) {
      await page.goto(path)
      await page.getByRole("button", { name: "Create API key" }).click()
      assert.include(await sample("curl"), `curl http://localhost:${port}/v1/email/send`, path)
      assert.include(await sample("JavaScript"), `baseUrl: "http://localhost:${port}"`, path)
      const smtp = await sample("SMTP")
      assert.include(smtp, `swaks --server 127.0.0.1 --port ${SMTP_PORT} --auth PLAIN`, path)
      assert.include(smtp, "Works only on the server itself", path)
      assert.include(smtp, "--from hello@acme.test", path)
    }
  })

  it("samples of the documentation use them too", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const { port } = new URL(instance.url)
    const samplesOf = async (path: string) => {
      await page.goto(path)
      return (await page.locator(".sample code").allTextContents()).join("\n")
    }
    for (const path of ["/docs/sending", "/docs/operating/monitoring", "/docs/smtp"])
      assert.notMatch(await samplesOf(path), /3025|2525/u, path)
    assert.include(await samplesOf("/docs/sending"), `curl http://localhost:${port}/v1/email/send`)
    assert.include(await samplesOf("/docs/smtp"), `host: "127.0.0.1", port: ${SMTP_PORT}`)
    // A proxy on the machine of the service asks the service itself.
    assert.include(await samplesOf("/docs/tracking"), "ask http://127.0.0.1:3025/t/ask")
  })

  it("the SMTP sample follows the listener's address and TLS", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const withSubmission = async (submission: object) => {
      await page.route("**/overview", async (route) => {
        const response = await route.fetch()
        const settings = JSON.stringify({ url: "https://mail.example.com", submission })
        const body = (await response.text()).replace(
          /(<meta name="waybill" content=")[^"]*"/u,
          (_, start: string) => `${start}${settings.replaceAll('"', "&quot;")}"`,
        )
        await route.fulfill({ response, body })
      })
      await page.goto("/overview")
      await page.getByRole("button", { name: "Create API key" }).click()
      const smtp = await sample("SMTP")
      await page.unroute("**/overview")
      return smtp
    }
    const everywhere = await withSubmission({ host: null, port: 587, tls: true, tlsPort: null })
    assert.include(everywhere, "--server mail.example.com --port 587 --tls --auth PLAIN")
    assert.notInclude(everywhere, "Works only")
    const bound = await withSubmission({ host: "192.0.2.5", port: 25, tls: true, tlsPort: null })
    assert.include(bound, "--server 192.0.2.5 --port 25 --tls")
    const local = await withSubmission({ host: null, port: 25, tls: false, tlsPort: null })
    assert.include(local, "--server 127.0.0.1 --port 25 --auth")
    const both = await withSubmission({ host: null, port: 587, tls: true, tlsPort: 465 })
    assert.include(both, "# Port 465 begins with TLS. For STARTTLS, use --port 587 --tls.")
    assert.include(both, "--server mail.example.com --port 465 --tls-on-connect --auth PLAIN")
  })

  const send = async (body: object): Promise<string> => {
    const { json, status } = await instance.request("POST", "/email/send", {
      from: "Acme <hello@acme.test>",
      subject: "Hello",
      text: "Hello",
      ...body,
    })
    assert.strictEqual(status, 200, JSON.stringify(json))
    return json.id
  }
  const figure = (name: string): Locator => tab.page.locator("dt", { hasText: new RegExp(`^${name}$`, "u") })
  const value = (name: string) => figure(name).locator("xpath=following-sibling::dd").textContent()

  it("the chart and the tiles count each recipient once", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const later = new Date(Date.now() + HOUR_MS).toISOString()
    await send({
      subject: "Partly",
      to: ["a@example.org", "b@example.org", "c@example.org", "d@example.org", "bounced+1@customers.test"],
    })
    await send({ subject: "Complained", to: "complained+1@customers.test" })
    await send({ subject: "Deferred", to: ["deferred+1@customers.test", "e@example.org"] })
    await send({ subject: "Tomorrow", to: "f@example.org", scheduled_at: later })
    const canceled = await send({ subject: "Never", to: ["g@example.org", "h@example.org"], scheduled_at: later })
    assert.strictEqual((await instance.request("POST", `/email/${canceled}/cancel`)).status, 200)
    await instance.request("POST", "/suppressions", { email: "left@example.org", reason: "manual" })
    await send({ subject: "Suppressed", to: ["left@example.org", "i@example.org"] })
    const counts = async () => (await instance.request("GET", "/stats")).json.data[0]?.recipient_counts
    await Browser.eventually(counts).toEqual({
      queued: 1,
      deferred: 1,
      sent: 0,
      delivered: 6,
      bounced: 1,
      failed: 0,
      suppressed: 1,
      canceled: 2,
      complained: 1,
    })
    const [row] = (await instance.request("GET", "/stats")).json.data
    assert.strictEqual(row.accepted, 13)

    await page.goto("/overview")
    await page.getByRole("link", { name: /^Accepted\s*13/u }).waitFor()
    const chart = page.getByRole("img", { name: /^Recipients accepted/u })
    const stacks = async () => numbersIn(((await chart.getAttribute("aria-label")) ?? "").split(": ")[1] ?? "")
    await Browser.eventually(stacks).toEqual([6, 1, 0, 1, 1, 1, 3])
    await page.getByRole("link", { name: /^Delivered\s*87\.5%\s*7 of 8/u }).waitFor()
    await page.getByRole("link", { name: /^Complained\s*14\.3%\s*1 complaint/u }).waitFor()
    // The breakdown counts complaints as the tile does: of the recipients reached.
    await page.getByRole("row").getByRole("link", { name: "14.3%", exact: true }).waitFor()
    // A scheduled email is not called queued, and waits for nobody.
    await page.getByRole("link", { name: /^Scheduled.*Tomorrow/u }).waitFor()
    const figures = ["Pending", "Deferred", "Scheduled"]
    // The pending emails are read apart from what the tiles show.
    const ofAccount = () => Promise.all(figures.map(value))
    await Browser.eventually(ofAccount).toEqual(["0", "1", "1"])
    await page.getByText("Oldest pending", { exact: true }).waitFor()
    // The queue of deliveries has the same figures by the same names. This account is the only one.
    await page.goto("/operate/queues")
    const table = page.getByRole("table", { name: "Queues" })
    await table.getByRole("row", { name: /^Email deliveries/u }).waitFor()
    const names = await table.getByRole("columnheader").allInnerTexts()
    const cells = await table
      .getByRole("row", { name: /^Email deliveries/u })
      .getByRole("cell")
      .allInnerTexts()
    assert.includeMembers(names, [...figures, "Oldest pending"])
    assert.deepStrictEqual(
      figures.map((name) => cells[names.indexOf(name)] ?? null),
      ["0", "1", "1"],
    )
    await page.goto("/overview")
  })

  it("a tile leads to the emails that it counts, also to partly delivered ones", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await page.getByRole("link", { name: /^Not delivered\s*12\.5%\s*1 bounced, 0 failed/u }).click()
    await page.getByRole("list", { name: "Search filters" }).getByText("Any recipient").waitFor()
    const rows = page.getByRole("list", { name: "Emails" }).getByRole("listitem")
    await Browser.eventually(() => rows.count()).toBe(1)
    await Browser.eventually(() => rows.first().textContent()).toContain("Partly")
    await page.goto("/emails")
    await page.getByRole("button", { name: "Status", exact: true }).click()
    await page.getByRole("menuitem", { name: "Scheduled" }).click()
    await Browser.eventually(() => rows.allTextContents()).toHaveLength(1)
    await Browser.eventually(() => rows.first().textContent()).toContain("Tomorrow")
  })

  it("a rate above its limit is red on every screen, unless it is simulated", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const rates = page
      .locator("main")
      .getByText(/^1[24]\.[35]%$/u)
      .filter({ visible: true })
    const red = () => rates.and(page.locator(".text-bad")).allTextContents()
    await page.goto("/overview")
    await Browser.eventually(() => rates.count()).toBe(4)
    assert.deepStrictEqual(await red(), [])
    await relayed(page)
    await page.goto("/overview")
    await Browser.eventually(red).toEqual(["12.5%", "14.3%", "12.5%", "14.3%"])
    await page.setViewportSize(ContactSheet.PHONE)
    await Browser.eventually(red).toEqual(["12.5%", "14.3%", "14.3%", "12.5%"])
    await page.setViewportSize(Browser.DESKTOP)
    await page.goto("/domains")
    await Browser.eventually(red).toEqual(["12.5%"])
    await page.unrouteAll()
  })

  it("the domains that need somebody come first, and the others are counted", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    for (const name of ["aa.test", "ab.test", "ac.test", "ad.test", "ae.test", "pending.shop.dev"])
      await instance.request("POST", "/domains", { name })
    await relayed(page)
    await page.goto("/overview")
    const list = page.getByRole("list", { name: "Domains" })
    const rows = () => list.getByRole("listitem").allTextContents()
    await Browser.eventually(rows).toEqual([
      "pending.shop.devPending",
      "acme.test12.5% bouncedVerified",
      "aa.testVerified",
      "ab.testVerified",
      "ac.testVerified",
      "2 more",
    ])
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "overview-domains", list)
    await list.getByRole("link", { name: "2 more" }).click()
    await page.getByRole("heading", { level: 1, name: "Domains" }).waitFor()
    await page.unrouteAll()
  })

  it("a period without mail is not called an account without mail", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    // The statistics of a period without mail.
    await page.route("**/v1/stats?**", (route) => route.fulfill({ json: { object: "stats", group_by: [], data: [] } }))
    await page.goto("/overview")
    await page.getByRole("link", { name: /^Accepted\s*0/u }).waitFor()
    await Browser.eventually(() => page.getByText("No emails yet").count()).toBe(0)
    await page.unroute("**/v1/stats?**")
  })

  it("log no console errors", () => {
    assert.deepEqual(tab.consoleErrors, [])
  })
})

describe("a filter of the live email list", () => {
  const email = (
    status: Email["status"],
    others: ReadonlyArray<Email["status"]> = [],
    scheduled_at: string | null = null,
  ) =>
    ({
      status,
      scheduled_at,
      recipient_counts: {},
      recipients: [status, ...others].map((each) => ({ status: each, smtp: { code: 552 } })),
    }) as unknown as Email
  const NOW = Date.parse("2026-11-21T12:00:00.000Z")
  const CASES: ReadonlyArray<readonly [filter: EmailFilters.EmailFilters, email: Email, isKept: boolean]> = [
    [{}, email("queued"), true],
    [{ status: "queued,delivered" }, email("delivered"), true],
    [{ status: "queued,deferred" }, email("delivered"), false],
    [{ status: "scheduled" }, email("queued", [], "2026-11-21T13:00:00.000Z"), true],
    [{ status: "queued" }, email("queued", [], "2026-11-21T13:00:00.000Z"), true],
    [{ status: "scheduled" }, email("queued", [], "2026-11-21T11:00:00.000Z"), false],
    [{ status: "scheduled" }, email("queued"), false],
    [{ recipient_status: "bounced" }, email("delivered", ["bounced"]), true],
    [{ recipient_status: "bounced,failed" }, email("delivered"), false],
    [{ recipient_status: "bounced", status: "bounced" }, email("delivered", ["bounced"]), false],
    [{ code: "421,5xx" }, email("delivered", ["bounced"]), true],
    [{ code: "550" }, email("bounced"), false],
    [{ code: "5xx" }, email("delivered"), false],
  ]
  for (const [filter, changed, isKept] of CASES)
    it(`${isKept ? "keeps" : "removes"} ${changed.status} mail that changed, by ${JSON.stringify(filter)}`, () => {
      assert.strictEqual(EmailFilters.hasOutcome(changed, filter, NOW), isKept)
    })
})

await inBrowser("a server without SMTP and a request log, and with BASE_URL", (browser) => {
  it("says in samples that SMTP is off, uses BASE_URL, and logs no request", { timeout: TIMEOUT }, async () => {
    const port = await freePort()
    const instance = await Instance.start({
      PORT: String(port),
      ROLES: "api,worker",
      BASE_URL: `http://localhost:${port}`,
      REQUEST_LOG_DAYS: "0",
    })
    try {
      const { page } = await Browser.openTab(browser, `http://127.0.0.1:${port}`)
      await Browser.signIn(page, instance.owner)
      await page.getByRole("button", { name: "Create API key" }).click()
      await page.getByRole("tab", { name: "SMTP" }).click()
      await page.getByText("SMTP is off").waitFor()
      await page.getByRole("tab", { name: "curl" }).click()
      const sample = page.locator('pre[aria-label="curl"]')
      await Browser.eventually(() => sample.textContent()).toContain(`curl http://localhost:${port}/v1/email/send`)
      // With the log, the key that was created seconds ago would be in it.
      await page.goto("/requests")
      await page.getByRole("heading", { name: "No requests yet" }).waitFor()
    } finally {
      await Browser.closeTabs()
      await instance.close()
    }
  })
})
