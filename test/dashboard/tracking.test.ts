import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as DnsServer from "../support/dnsServer.ts"
import * as Browser from "./Browser.ts"
import * as House from "./Service.ts"

const browser = await Browser.open()
const TIMEOUT = 120_000
const DOMAIN = "acme.test"
const OURS = "track.waybill.example"
const OWN = "shop.dev"

describe.skipIf(typeof browser === "string")(
  `the tracking of a domain${typeof browser === "string" ? ` (skipped: ${browser})` : ""}`,
  () => {
    let dns: Awaited<ReturnType<typeof DnsServer.open>>
    let house: House.House
    let seen: Browser.Watched

    beforeAll(async () => {
      if (typeof browser === "string") return
      dns = await DnsServer.open()
      house = await House.open({ DNS_SERVERS: dns.server, TRACKING_URL: `https://${OURS}`, TRACKING_DOMAINS: "on" })
      seen = await Browser.visit(browser, house.url)
      await Browser.signIn(seen.page, house.owner)
    }, TIMEOUT)

    afterAll(async () => {
      if (typeof browser === "string") return
      await browser.close()
      await house.close()
      await dns.close()
    }, TIMEOUT)

    it("shows two quick switches as they were set, however their answers come", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto(`/domains/${DOMAIN}`)
      const [opens, clicks] = ["Opens", "Clicks"].map((name) => page.getByRole("switch", { name }))
      assert(opens !== undefined && clicks !== undefined)
      await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([false, false])
      const asked: Array<unknown> = []
      let letGo = () => {}
      const held = new Promise<void>((done) => (letGo = done))
      await page.route(`**/v1/domains/${DOMAIN}`, async (route) => {
        if (route.request().method() !== "PATCH") return route.continue()
        const nth = asked.push(route.request().postDataJSON())
        const response = await route.fetch()
        if (nth === 1) await held
        await route.fulfill({ response })
      })
      await opens.click()
      await clicks.click()
      await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([true, true])
      assert.deepEqual(asked, [{ open_tracking: true }])
      const answered = page.waitForResponse((response) => response.request().postData()?.includes("click") === true)
      letGo()
      assert.deepInclude(await (await answered).json(), { open_tracking: true, click_tracking: true })
      await page.unroute(`**/v1/domains/${DOMAIN}`)
      await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([true, true])
      await page.reload()
      await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([true, true])
    })

    it("has a domain’s links lead over a name of its own", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const { json: added } = await house.ask("POST", "/domains", { name: OWN })
      dns.set(`wb1._domainkey.${OWN}`, { TXT: [added.records[0].value] })
      await page.goto(`/domains/${OWN}`)
      const field = page.getByLabel("Name for links")
      const save = page.getByRole("button", { name: "Save" })
      assert.isTrue(await save.isDisabled())
      await field.fill("links.other.dev")
      await save.click()
      await page.getByText(`links.other.dev is not a name below ${OWN}`, { exact: false }).waitFor()
      await field.fill(`Links.${OWN}`)
      await save.click()
      await page.getByText("Publish its record, and links follow.").waitFor()
      await Browser.eventually(() => field.inputValue()).toBe(`links.${OWN}`)
      const record = page.locator("section").filter({ has: page.getByText(OURS, { exact: true }) })
      await record.getByText("Not checked").waitFor()
      dns.set(`links.${OWN}`, { CNAME: OURS })
      await page.getByRole("button", { name: "Verify now" }).click()
      await record.getByText("Found").waitFor()

      const tracking = { opens: true, clicks: true }
      const message = { from: `hello@${OWN}`, to: "ana@example.org", subject: "Over ours", html: "<p>Hello.</p>" }
      const { json: sent } = await house.ask("POST", "/email/send", { ...message, tracking })
      await Browser.eventually(async () => (await house.ask("GET", `/email/logs/${sent.id}`)).json.status).toBe(
        "delivered",
      )
      const { html } = (await house.ask("GET", `/sandbox/messages/${sent.id}`)).json
      assert.include(html, `src="https://links.${OWN}/t/o/`)
      const raw = await page.context().request.get(`/preview/emails/${sent.id}/raw`)
      // Lines are folded on the wire.
      assert.include((await raw.text()).replaceAll("=\r\n", ""), `https://links.${OWN}/t/o/`)
      await page.goto(`/emails/${sent.id}`)
      await page.getByText("opens and clicks", { exact: true }).waitFor()

      // The proxy may have a certificate made for it, and serves nothing else there.
      const ask = async () => (await fetch(`${house.url}/t/ask?domain=links.${OWN}`)).status
      await Browser.eventually(ask).toBe(200)
      const under = async (path: string) =>
        (await fetch(`${house.url}${path}`, { headers: { "x-forwarded-host": `links.${OWN}` } })).status
      assert.deepEqual(
        await Promise.all(["/", "/sign-in", "/auth/get-session", "/t/o/x"].map(under)),
        [404, 404, 404, 200],
      )

      await page.goto(`/domains/${OWN}`)
      await field.fill("")
      await save.click()
      await page.getByText("Links lead over this service’s name.").waitFor()
      assert.strictEqual(await record.count(), 0)
    })
  },
)
