import * as net from "node:net"
import { createTransport } from "nodemailer"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../support/process/service.ts"
import * as Browser from "./support/Browser.ts"
import * as Instance from "./support/Instance.ts"

const browser = await Browser.open()
const TIMEOUT = 120_000

describe.skipIf(typeof browser === "string")(
  `received mail in the dashboard${typeof browser === "string" ? ` (skipped: ${browser})` : ""}`,
  () => {
    let instance: Instance.Instance
    let mailPort = 0
    let tab: Browser.BrowserTab

    beforeAll(async () => {
      if (typeof browser === "string") return
      mailPort = await freePort()
      instance = await Instance.start({ MAIL_PORT: String(mailPort) })
      tab = await Browser.openTab(browser, instance.url)
      await Browser.signIn(tab.page, instance.owner)
    }, TIMEOUT)

    afterAll(async () => {
      if (typeof browser === "string") return
      await browser.close()
      await instance.close()
    }, TIMEOUT)

    it("is answered, and shown as a conversation beside the email", { timeout: TIMEOUT }, async () => {
      const { page } = tab
      const email = { from: "hello@acme.test", to: "ana@example.org", subject: "Your order", text: "Did it arrive?" }
      const { json: sent } = await instance.request("POST", "/email/send", email)
      const { json: mail } = await instance.request("POST", "/test/inbound", {
        from: "Ana <ana@example.org>",
        to: "hello@acme.test",
        subject: "Re: Your order",
        text: "It did.",
        in_reply_to: `<${sent.id}@acme.test>`,
      })
      await page.goto(`/received?id=${mail.id}`)
      await page.getByRole("button", { name: "Reply" }).click()
      const dialog = page.getByRole("dialog")
      assert.strictEqual(await dialog.getByLabel("From").inputValue(), "hello@acme.test")
      // The refusal of another domain is shown, and the text is kept.
      await dialog.getByLabel("From").fill("hello@elsewhere.test")
      await dialog.getByLabel("Message").fill("Good to hear.")
      await dialog.getByRole("button", { name: "Send reply" }).click()
      await dialog
        .getByText(/elsewhere\.test/u)
        .first()
        .waitFor()
      await dialog.getByLabel("From").fill("hello@acme.test")
      await dialog.getByRole("button", { name: "Send reply" }).click()
      await dialog.waitFor({ state: "detached" })
      await page.getByRole("tab", { name: "Conversation" }).click()
      await page.getByRole("tabpanel").getByRole("listitem").nth(2).waitFor()

      // A forward shows its result, and leads to its email and back.
      const server = createTransport({ host: "127.0.0.1", port: mailPort, name: "mx.example.org", ignoreTLS: true })
      await server.sendMail({ from: "ana@example.org", to: "hello@acme.test", subject: "Order", text: "Where is it?" })
      server.close()
      const { json: received } = await instance.request("GET", "/inbound?limit=1")
      const [{ id }] = received.data
      await instance.request("POST", `/inbound/${id}/forward`, { to: "bo@example.org" })
      await page.goto(`/received?id=${id}`)
      await page.getByRole("tab", { name: "Routes" }).click()
      const forwarded = page.getByRole("tabpanel").getByRole("listitem")
      assert.match(await forwarded.innerText(), /^forward/u)
      await forwarded.getByRole("link", { name: "View the email" }).click()
      await page.getByRole("link", { name: id }).waitFor()

      await page.goto(`/emails/${sent.id}`)
      const conversation = page.locator("section", { has: page.getByRole("heading", { name: "Conversation" }) })
      await conversation.getByRole("listitem").nth(2).waitFor()
      const rows = await conversation.getByRole("listitem").allInnerTexts()
      assert.deepStrictEqual(
        rows.map((row) => row.split("\n")[0]),
        ["Sent", "Received", "Sent"],
      )
      assert.include(rows[2], "Re: Your order")
    })

    // threat: dashboard-text
    it("reaches nobody by its HTML, and leaves the dashboard alone", { timeout: TIMEOUT }, async () => {
      const { page } = tab
      let connections = 0
      const stranger = net.createServer((socket) => {
        connections++
        socket.destroy()
      })
      await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve))
      const url = `http://127.0.0.1:${(stranger.address() as net.AddressInfo).port}`
      const { json: mail } = await instance.request("POST", "/test/inbound", {
        from: "eve@example.org",
        to: "hello@acme.test",
        subject: "Hostile",
        html: hostile(url),
      })
      await page.goto(`/received?id=${mail.id}`)
      await page.getByRole("tab", { name: "Preview" }).click()
      const frame = page.frameLocator('iframe[title="Email preview"]')
      await frame.getByText("Read me").waitFor()
      for (const each of page.frames()) await each.waitForLoadState("load")
      assert.strictEqual(await frame.locator("body").getAttribute("data-ran"), null)
      assert.strictEqual(new URL(page.url()).pathname, "/received")
      assert.strictEqual(connections, 0)
      // Only the reader lets images in.
      await page.getByRole("button", { name: "Load remote images" }).click()
      await Browser.eventually(() => Promise.resolve(connections > 0)).toBe(true)
      stranger.close()
    })
  },
)

/** HTML that tries to run, to fetch, to leave its frame, and to act on behalf of the reader. */
const hostile = (url: string) => `<html><head>
  <meta http-equiv="refresh" content="0;url=${url}/refresh"><base href="${url}/base/">
  <link rel="preconnect" href="${url}"><link rel="dns-prefetch" href="${url}"><link rel="prefetch" href="${url}/p">
  <link rel="stylesheet" href="${url}/css"><link rel="preload" as="image" href="${url}/i"><link rel="icon" href="${url}/x">
  <style>@import "${url}/import"; body { background: url(${url}/bg) } @font-face { font-family: x; src: url(${url}/f) }</style>
  <script>document.body.dataset.ran = "1"; top.location = "${url}"</script></head>
  <body onload="document.body.dataset.ran = '1'"><p style="font-family: x">Read me</p>
  <img src="${url}/img" onerror="document.body.dataset.ran = '1'"><img srcset="${url}/set 1x"><video src="${url}/v" autoplay></video>
  <iframe src="${url}/frame"></iframe><object data="${url}/o"></object><embed src="${url}/e">
  <form action="${url}/form" id="f"><input autofocus onfocus="f.submit()"></form>
  <svg><image href="${url}/svg"/><use href="${url}/use#a"/><script>document.body.dataset.ran = "1"</script></svg>
  <a href="javascript:document.body.dataset.ran = '1'" ping="${url}/ping">x</a><input type="image" src="${url}/input">
  </body></html>`
