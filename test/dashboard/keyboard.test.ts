import { randomUUID } from "node:crypto"
import { once } from "node:events"
import * as net from "node:net"
import { afterAll, assert, beforeAll, it } from "vitest"
import * as DnsServer from "../support/mail/dnsServer.ts"
import * as SmtpServer from "../support/mail/smtpServer.ts"
import * as WebhookReceiver from "../support/web/WebhookReceiver.ts"
import * as Browser from "./support/Browser.ts"
import { inBrowser } from "./support/inBrowser.ts"
import { TIMEOUT } from "./support/inDashboard.ts"
import * as Instance from "./support/Instance.ts"

const DOMAIN = "mail.shop.dev"

/** TCP proxy that forwards nothing until `open` is called, so that an email can be seen while it is queued. */
const startGate = async (port: number) => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const server = net.createServer(async (socket) => {
    socket.on("error", () => {})
    await opened
    const upstream = net.connect(port, "127.0.0.1").on("error", () => socket.destroy())
    socket.pipe(upstream).pipe(socket)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { port: (server.address() as net.AddressInfo).port, open: () => open(), close: () => server.close() }
}

await inBrowser("dashboard used with the keyboard only", (browser) => {
  let dns: Awaited<ReturnType<typeof DnsServer.open>>
  let smtp: Awaited<ReturnType<typeof SmtpServer.open>>
  let receiver: WebhookReceiver.Receiver
  let gate: Awaited<ReturnType<typeof startGate>>
  let instance: Instance.Instance
  let tab: Browser.BrowserTab
  let key = ""

  beforeAll(async () => {
    dns = await DnsServer.open()
    smtp = await SmtpServer.open()
    gate = await startGate(smtp.port)
    receiver = await WebhookReceiver.open({ answer: () => ({ status: 202, body: "noted" }) })
    instance = await Instance.start({
      TRANSPORT: "relay",
      SMTP_URL: `smtp://127.0.0.1:${gate.port}`,
      DNS_SERVERS: dns.server,
      WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
    })
    tab = await Browser.openTab(browser, instance.url)
  }, TIMEOUT)

  afterAll(async () => {
    await instance.close()
    await Promise.all([receiver.close(), smtp.close(), dns.close(), gate.close()])
  }, TIMEOUT)

  const press = async (...keys: ReadonlyArray<string>) => {
    for (const each of keys) await tab.page.keyboard.press(each)
  }
  const heading = (name: string) => tab.page.getByRole("heading", { level: 1, name })
  const tabTo = (name: string | RegExp) => Browser.tabTo(tab.page, name)

  it("signs in the first owner and leads to the first email in an empty account", { timeout: TIMEOUT }, async () => {
    await Browser.signIn(tab.page, instance.owner)
    await tab.page.getByRole("heading", { name: "Get started" }).waitFor()
    await Browser.eventually(() => tab.page.getByRole("button", { name: "Create API key" }).count()).toBe(1)
  })

  it("adds a domain, shows its current DNS value and verifies it", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await Browser.chord(page, "g", "d")
    await heading("Domains").waitFor()
    await tabTo("Add domain")
    await press("Enter")
    await tabTo("Domain")
    await page.keyboard.type(DOMAIN)
    await press("Enter")
    await heading(DOMAIN).waitFor()
    const value = (await page.locator("code[title^='v=DKIM1']").getAttribute("title")) ?? ""
    assert.match(value, /^v=DKIM1; k=rsa; p=/u)

    dns.set(`wb1._domainkey.${DOMAIN}`, { TXT: ["v=DKIM1; k=rsa; p=somebodyElses"] })
    await tabTo("Verify DNS")
    await press("Enter")
    await page.getByText("Current DNS value").first().waitFor()
    await page.getByText("v=DKIM1; k=rsa; p=somebodyElses").waitFor()

    dns.set(`wb1._domainkey.${DOMAIN}`, { TXT: [value] })
    await tabTo("Verify DNS")
    await press("Enter")
    await page.getByText(`${DOMAIN} verified.`).waitFor()
  })

  it("creates an API key and shows it only once", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await Browser.chord(page, "g", "k")
    await heading("API keys").waitFor()
    await tabTo("Create API key")
    await press("Enter")
    await tabTo("Name")
    await page.keyboard.type("Shop")
    await press("Enter")
    key = (await page.locator("[role=dialog] code[title^=wb_]").getAttribute("title")) ?? ""
    assert.match(key, /^wb_\w{40,}$/u)
    await tabTo("Done")
    await press("Enter")
    await page.getByRole("row").filter({ hasText: "Shop" }).getByText("Never used").filter({ visible: true }).waitFor()
    await Browser.eventually(() => page.content()).not.toContain(key)
  })

  it("shows an email in the list as queued, then as delivered, without a reload", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await Browser.chord(page, "g", "e")
    await heading("Emails").waitFor()
    await page.getByText("No emails yet").waitFor()
    const message = {
      from: `Shop <hello@${DOMAIN}>`,
      to: "ana@example.org",
      subject: "Your order",
      html: "<p>Ta.</p>",
    }
    const sent = await instance.request("POST", "/email/send", message, key)
    assert.strictEqual(sent.status, 200)
    const row = page.getByRole("link", { name: /Your order/u })
    await Browser.eventually(() => row.textContent()).toContain("Queued")
    gate.open()
    await Browser.eventually(() => row.textContent()).toContain("Delivered")
  })

  it("shows the timeline of an email with the reply of the mail server", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await press("j", "Enter")
    await heading("Your order").waitFor()
    const events = page.locator("li[data-event]")
    await Browser.eventually(() => events.count()).toBe(2)
    await Browser.eventually(() =>
      events.evaluateAll((all) => all.map((each) => each.getAttribute("data-event"))),
    ).toEqual(["email.queued", "email.delivered"])
    await Browser.eventually(() => events.last().textContent()).toContain("250")
    await Browser.eventually(() => events.last().textContent()).toContain("ana@example.org")
    await page.frameLocator("iframe").getByText("Ta.").waitFor()
    await press("u")
    await heading("Emails").waitFor()
  })

  it("searches emails and keeps the search in the URL", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await press("/")
    await page.keyboard.type("nothing like it")
    await page.getByText("No emails match your filters").waitFor()
    assert.include(page.url(), "search=nothing")
    await press("Control+a", "Delete")
    await page.getByRole("link", { name: /Your order/u }).waitFor()
    await press("Control+k")
    await page.keyboard.type("webh")
    await press("Enter")
    await heading("Webhooks").waitFor()
  })

  it("creates a webhook, sends a test event and replays the delivery", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await tabTo("Create webhook")
    await press("Enter")
    await tabTo("URL")
    await page.keyboard.type(receiver.url)
    await press("Enter")
    await page.locator("[role=dialog] code[title^=whsec_]").waitFor()
    await tabTo("Done")
    await press("Enter")
    await heading(receiver.url).waitFor()
    await tabTo("Send test event")
    await press("Enter")
    await Browser.eventually(() => receiver.calls.length).toBe(1)
    await page
      .getByRole("listitem")
      .getByRole("button", { name: /^Delivered/u })
      .waitFor()
    await tabTo(/^Delivered\S/u)
    await press("Enter")
    await page.getByText("noted").waitFor()
    await page.getByText('"type": "webhook.test"').waitFor()
    await tabTo("Replay")
    await press("Enter")
    await Browser.eventually(() => receiver.calls.length).toBe(2)
    const [first, second] = receiver.calls
    assert.strictEqual(first?.headers["webhook-id"], second?.headers["webhook-id"])
  })

  it("revokes an API key, whose requests are refused from then on", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await Browser.chord(page, "g", "k")
    await heading("API keys").waitFor()
    const message = { from: `hello@${DOMAIN}`, to: "ana@example.org", subject: randomUUID(), text: "?" }
    assert.strictEqual((await instance.request("POST", "/email/send", message, key)).status, 200)
    // The newest key is the first in the list.
    await tabTo("Revoke Shop")
    await press("Enter")
    await page.getByRole("alertdialog", { name: /Revoke “Shop”/u }).waitFor()
    await tabTo("Revoke key")
    await press("Enter")
    await page.getByText("“Shop” revoked.").waitFor()
    const refused = await instance.request("POST", "/email/send", message, key)
    assert.strictEqual(refused.status, 401)
    assert.strictEqual(refused.json.error.code, "unauthorized")
  })

  it(
    "shows a removal at once, restores the row after an error, and undoes the removal",
    { timeout: TIMEOUT },
    async () => {
      const { page } = tab
      await instance.request("POST", "/suppressions", { email: "ana@example.org" })
      await Browser.chord(page, "g", "s")
      await heading("Suppressions").waitFor()
      const row = page.getByRole("row").filter({ hasText: "ana@example.org" })
      await row.waitFor()
      let answer = (_: { readonly status: number; readonly json: unknown }) => {}
      const answered = new Promise<Parameters<typeof answer>[0]>((resolve) => (answer = resolve))
      const error = {
        code: "internal_error",
        reason: "internal_error",
        message: "Internal error.",
        request_id: "req_1",
      }
      await page.route("**/v1/suppressions/*", async (route) => route.fulfill(await answered), { times: 1 })
      await tabTo("Remove ana@example.org")
      await press("Enter")
      await Browser.eventually(() => row.count()).toBe(0)
      answer({ status: 500, json: { error } })
      await row.waitFor()
      await page.getByText("Internal error.").first().waitFor()
      const details = page.locator("[data-toast] details").filter({ hasText: "req_1" })
      await details.locator("summary").press("Enter")
      await details.getByText("req_1").waitFor()

      await tabTo("Remove ana@example.org")
      await press("Enter")
      await page.getByText("Suppression of ana@example.org removed.").waitFor()
      await tabTo("Undo")
      await press("Enter")
      await row.waitFor()
      const { json } = await instance.request("GET", "/suppressions")
      assert.strictEqual(json.data[0]?.email, "ana@example.org")
    },
  )

  it("logs no console errors", () => {
    assert.deepEqual(
      tab.consoleErrors.filter((each) => !each.includes("status of 500")),
      [],
    )
  })
})
