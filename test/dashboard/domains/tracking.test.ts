import { assert, it } from "vitest"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as Browser from "../support/Browser.ts"
import { inDashboardWith, TIMEOUT } from "../support/inDashboard.ts"

const DOMAIN = "acme.test"
const SHARED_DOMAIN = "track.waybill.example"
const OWN_DOMAIN = "shop.dev"

let dns: Awaited<ReturnType<typeof DnsServer.open>>

const within = inDashboardWith(async () => {
  dns = await DnsServer.open()
  return {
    settings: {
      DNS_SERVERS: dns.server,
      TRACKING_URL: `https://${SHARED_DOMAIN}`,
      TRACKING_DOMAINS: "on",
    },
    close: () => dns.close(),
  }
})

await within("tracking settings of a domain", (opened) => {
  it("shows both switches as set when the responses arrive late", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto(`/domains/${DOMAIN}`)
    const [opens, clicks] = ["Open tracking", "Click tracking"].map((name) => page.getByRole("switch", { name }))
    assert(opens !== undefined && clicks !== undefined)
    await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([false, false])
    const requests: Array<unknown> = []
    let release = () => {}
    const firstResponse = new Promise<void>((done) => (release = done))
    await page.route(`**/v1/domains/${DOMAIN}`, async (route) => {
      if (route.request().method() !== "PATCH") return route.continue()
      const count = requests.push(route.request().postDataJSON())
      const response = await route.fetch()
      if (count === 1) await firstResponse
      await route.fulfill({ response })
    })
    await opens.click()
    await clicks.click()
    await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([true, true])
    assert.deepEqual(requests, [{ open_tracking: true }])
    const answered = page.waitForResponse((response) => response.request().postData()?.includes("click") === true)
    release()
    assert.deepInclude(await (await answered).json(), { open_tracking: true, click_tracking: true })
    await page.unroute(`**/v1/domains/${DOMAIN}`)
    await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([true, true])
    await page.reload()
    await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([true, true])
    // What is tracked is counted on the overview.
    const email = { from: `hello@${DOMAIN}`, to: "ana@example.org", subject: "Counted", text: "Hello." }
    await opened.instance.request("POST", "/email/send", email)
    await page.goto("/overview")
    for (const name of ["Opens", "Clicks"]) await page.getByText(name, { exact: true }).first().waitFor()
  })

  it("uses an own domain in tracked links after its record is verified", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { json: added } = await opened.instance.request("POST", "/domains", { name: OWN_DOMAIN })
    dns.set(`wb1._domainkey.${OWN_DOMAIN}`, { TXT: [added.records[0].value] })
    await page.goto(`/domains/${OWN_DOMAIN}`)
    const field = page.getByLabel("Tracking domain")
    const save = page.getByRole("button", { name: "Save" })
    await Browser.eventually(() => save.isDisabled()).toBe(true)
    await field.fill("links.other.dev")
    await save.click()
    await page.getByText(/links\.other\.dev .* shop\.dev/u).waitFor()
    await field.fill(`Links.${OWN_DOMAIN}`)
    await save.click()
    await page.getByText("Tracking domain saved. Publish its DNS record to activate it.").waitFor()
    await Browser.eventually(() => field.inputValue()).toBe(`links.${OWN_DOMAIN}`)
    const record = page.getByRole("row").filter({ has: page.getByText(SHARED_DOMAIN, { exact: true }) })
    await record.getByText("Not checked").waitFor()
    dns.set(`links.${OWN_DOMAIN}`, { CNAME: SHARED_DOMAIN })
    await page.getByRole("button", { name: "Verify DNS" }).click()
    await record.getByText("Verified", { exact: true }).waitFor()

    const tracking = { opens: true, clicks: true }
    const message = { from: `hello@${OWN_DOMAIN}`, to: "ana@example.org", subject: "Tracked", html: "<p>Hello.</p>" }
    const { json: sent } = await opened.instance.request("POST", "/email/send", { ...message, tracking })
    await Browser.eventually(
      async () => (await opened.instance.request("GET", `/email/logs/${sent.id}`)).json.status,
    ).toBe("delivered")
    const { html } = (await opened.instance.request("GET", `/sandbox/messages/${sent.id}`)).json
    assert.include(html, `src="https://links.${OWN_DOMAIN}/t/o/`)
    const raw = await page.context().request.get(`/preview/emails/${sent.id}/raw`)
    // Quoted-printable breaks long lines.
    assert.include((await raw.text()).replaceAll("=\r\n", ""), `https://links.${OWN_DOMAIN}/t/o/`)
    await page.goto(`/emails/${sent.id}`)
    await page.getByText("Opens and clicks", { exact: true }).waitFor()

    // The proxy may request a certificate for the domain, which serves only tracking links.
    const certificateStatus = async () =>
      (await fetch(`${opened.instance.url}/t/ask?domain=links.${OWN_DOMAIN}`)).status
    await Browser.eventually(certificateStatus).toBe(200)
    const statusOf = async (path: string) =>
      (await fetch(`${opened.instance.url}${path}`, { headers: { "x-forwarded-host": `links.${OWN_DOMAIN}` } })).status
    assert.deepEqual(
      await Promise.all(["/", "/sign-in", "/auth/get-session", "/t/o/x"].map(statusOf)),
      [404, 404, 404, 200],
    )

    await page.goto(`/domains/${OWN_DOMAIN}`)
    await field.fill("")
    await save.click()
    await page.getByText("Tracked links use the default domain.").waitFor()
    await Browser.eventually(() => record.count()).toBe(0)
  })
})
