import { randomUUID } from "node:crypto"
import { once } from "node:events"
import * as net from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as DnsServer from "../support/dnsServer.ts"
import * as SmtpServer from "../support/smtpServer.ts"
import * as WebhookReceiver from "../support/webhookReceiver.ts"
import * as Browser from "./Browser.ts"
import * as House from "./Service.ts"

const browser = await Browser.open()
const DOMAIN = "mail.shop.dev"
const TIMEOUT = 120_000

/** Lets nobody through to the mail server until it is told to, so that a message can be seen on its way. */
const gate = async (port: number) => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const server = net.createServer(async (socket) => {
    socket.on("error", () => {})
    await opened
    const through = net.connect(port, "127.0.0.1").on("error", () => socket.destroy())
    socket.pipe(through).pipe(socket)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { port: (server.address() as net.AddressInfo).port, open: () => open(), close: () => server.close() }
}

describe.skipIf(typeof browser === "string")(
  `the dashboard, by keyboard alone${typeof browser === "string" ? ` (skipped: ${browser})` : ""}`,
  () => {
    let dns: Awaited<ReturnType<typeof DnsServer.open>>
    let smtp: Awaited<ReturnType<typeof SmtpServer.open>>
    let hook: WebhookReceiver.Receiver
    let door: Awaited<ReturnType<typeof gate>>
    let house: House.House
    let seen: Browser.Watched
    let key = ""

    beforeAll(async () => {
      if (typeof browser === "string") return
      dns = await DnsServer.open()
      smtp = await SmtpServer.open()
      door = await gate(smtp.port)
      hook = await WebhookReceiver.open({ answer: () => ({ status: 202, body: "noted" }) })
      house = await House.open({
        TRANSPORT: "relay",
        SMTP_URL: `smtp://127.0.0.1:${door.port}`,
        DNS_SERVERS: dns.server,
        WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
      })
      seen = await Browser.visit(browser, house.url)
    }, TIMEOUT)

    afterAll(async () => {
      if (typeof browser === "string") return
      await browser.close()
      await house.close()
      await Promise.all([hook.close(), smtp.close(), dns.close(), door.close()])
    }, TIMEOUT)

    const press = async (...keys: ReadonlyArray<string>) => {
      for (const each of keys) await seen.page.keyboard.press(each)
    }
    const heading = (name: string) => seen.page.getByRole("heading", { level: 1, name })
    const tabTo = (name: string | RegExp) => Browser.tabTo(seen.page, name)

    it("lets the first owner in, and teaches an empty account", { timeout: TIMEOUT }, async () => {
      await Browser.signIn(seen.page, house.owner)
      const { page } = seen
      await page.getByText("Nothing was sent yet").waitFor()
      // The address is this very server's, ready to be pasted.
      assert.include(await page.locator("pre").textContent(), `curl ${house.url}/v1/email/send`)
    })

    it("adds a domain, says what DNS answers, and verifies it", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await press("g", "d")
      await heading("Domains").waitFor()
      await tabTo("Add a domain")
      await press("Enter")
      await tabTo("Domain")
      await page.keyboard.type(DOMAIN)
      await press("Enter")
      await heading(DOMAIN).waitFor()
      const value = (await page.locator("code[title^='v=DKIM1']").getAttribute("title")) ?? ""
      assert.match(value, /^v=DKIM1; k=rsa; p=/u)

      dns.set(`wb1._domainkey.${DOMAIN}`, { TXT: ["v=DKIM1; k=rsa; p=somebodyElses"] })
      await tabTo("Verify now")
      await press("Enter")
      await page.getByText("What DNS answered").first().waitFor()
      await page.getByText("v=DKIM1; k=rsa; p=somebodyElses").waitFor()

      dns.set(`wb1._domainkey.${DOMAIN}`, { TXT: [value] })
      await tabTo("Verify now")
      await press("Enter")
      await page.getByText(`${DOMAIN} is verified.`).waitFor()
    })

    it("makes a key and shows it this once", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await press("g", "k")
      await heading("API Keys").waitFor()
      await tabTo("New API Key")
      await press("Enter")
      await tabTo("Name")
      await page.keyboard.type("Shop")
      await press("Enter")
      key = (await page.locator("[role=dialog] code[title^=wb_]").getAttribute("title")) ?? ""
      assert.match(key, /^wb_\w{40,}$/u)
      await tabTo("I have kept it")
      await press("Enter")
      await page.getByRole("listitem").filter({ hasText: "Shop" }).getByText("never used").waitFor()
      await Browser.eventually(() => page.content()).not.toContain(key)
    })

    it("shows a message that the key sends, on its way and delivered, by itself", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await press("g", "l")
      await heading("Emails").waitFor()
      await page.getByText("No mail yet").waitFor()
      const message = {
        from: `Shop <hello@${DOMAIN}>`,
        to: "ana@example.org",
        subject: "Your order",
        html: "<p>Ta.</p>",
      }
      const sent = await house.ask("POST", "/email/send", message, key)
      assert.strictEqual(sent.status, 200)
      const row = page.getByRole("link", { name: /Your order/u })
      await Browser.eventually(() => row.textContent()).toContain("Queued")
      door.open()
      await Browser.eventually(() => row.textContent()).toContain("Delivered")
    })

    it("tells its whole story, with the other server’s words", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await press("j", "Enter")
      await heading("Your order").waitFor()
      const facts = page.locator("li[data-event]")
      await Browser.eventually(() => facts.count()).toBe(2)
      assert.deepEqual(await facts.evaluateAll((all) => all.map((each) => each.getAttribute("data-event"))), [
        "email.queued",
        "email.delivered",
      ])
      assert.include(await facts.last().textContent(), "250")
      assert.include(await facts.last().textContent(), "ana@example.org")
      await page.frameLocator("iframe").getByText("Ta.").waitFor()
      await press("u")
      await heading("Emails").waitFor()
    })

    it("finds by what stands in the search, and keeps it in the address", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await press("/")
      await page.keyboard.type("nothing like it")
      await page.getByText("No message fits").waitFor()
      assert.include(page.url(), "subject=nothing")
      await press("Control+a", "Delete")
      await page.getByRole("link", { name: /Your order/u }).waitFor()
      await press("Control+k")
      await page.keyboard.type("webh")
      await press("Enter")
      await heading("Webhooks").waitFor()
    })

    it("creates a webhook, tests it and replays the call", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await tabTo("Create a webhook")
      await press("Enter")
      await tabTo("URL")
      await page.keyboard.type(hook.url)
      await press("Enter")
      await page.locator("[role=dialog] code[title^=whsec_]").waitFor()
      await tabTo("I have kept it")
      await press("Enter")
      await heading(hook.url).waitFor()
      await tabTo("Send a test")
      await press("Enter")
      await Browser.eventually(() => hook.calls.length).toBe(1)
      await page.getByRole("button", { name: /^Delivered/u }).waitFor()
      await tabTo(/^Delivered/u)
      await press("Enter")
      await page.getByText("noted").waitFor()
      await page.getByText('"type": "webhook.test"').waitFor()
      await tabTo("Replay")
      await press("Enter")
      await Browser.eventually(() => hook.calls.length).toBe(2)
      const [first, second] = hook.calls
      assert.strictEqual(first?.headers["webhook-id"], second?.headers["webhook-id"])
    })

    it("revokes the key, which opens nothing from then on", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await press("g", "k")
      await heading("API Keys").waitFor()
      const message = { from: `hello@${DOMAIN}`, to: "ana@example.org", subject: randomUUID(), text: "?" }
      assert.strictEqual((await house.ask("POST", "/email/send", message, key)).status, 200)
      // The newest key stands first.
      await tabTo("Revoke")
      await press("Enter")
      await page.getByRole("alertdialog", { name: /Revoke “Shop”/u }).waitFor()
      await tabTo("Revoke")
      await press("Enter")
      await page.getByText("“Shop” is revoked.").waitFor()
      const refused = await house.ask("POST", "/email/send", message, key)
      assert.strictEqual(refused.status, 401)
      assert.strictEqual(refused.json.error.code, "unauthorized")
    })

    it("shows a change at once, takes it back when it is refused, and undoes it", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await house.ask("POST", "/suppressions", { email: "ana@example.org" })
      await press("g", "s")
      await heading("Suppressions").waitFor()
      const row = page.getByRole("listitem").filter({ hasText: "ana@example.org" })
      await row.waitFor()
      let answer = (_: { readonly status: number; readonly json: unknown }) => {}
      const answered = new Promise<Parameters<typeof answer>[0]>((resolve) => (answer = resolve))
      const error = { code: "internal_error", reason: "internal_error", message: "It stumbled.", request_id: "req_1" }
      await page.route("**/v1/suppressions/*", async (route) => route.fulfill(await answered), { times: 1 })
      await tabTo("Lift")
      await press("Enter")
      await Browser.eventually(() => row.count()).toBe(0)
      answer({ status: 500, json: { error } })
      await row.waitFor()
      await page.getByText("It stumbled.").first().waitFor()
      await page.getByText("req_1").first().waitFor()

      await tabTo("Lift")
      await press("Enter")
      await page.getByText("ana@example.org gets mail again.").waitFor()
      await tabTo("Undo")
      await press("Enter")
      await row.waitFor()
      const { json } = await house.ask("GET", "/suppressions")
      assert.strictEqual(json.data[0]?.email, "ana@example.org")
    })

    it("has made nothing in the console complain", () => {
      assert.deepEqual(
        seen.complaints.filter((each) => !each.includes("status of 500")),
        [],
      )
    })
  },
)
