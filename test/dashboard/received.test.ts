import * as net from "node:net"
import { createTransport } from "nodemailer"
import { assert, it } from "vitest"
import { freePort } from "../support/process/service.ts"
import * as Accessibility from "./support/Accessibility.ts"
import * as Browser from "./support/Browser.ts"
import * as ContactSheet from "./support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "./support/inDashboard.ts"

const mailPort = await freePort()

await inDashboard(
  "received mail in the dashboard",
  (opened) => {
    it("is answered, and shown as a conversation beside the email", { timeout: TIMEOUT }, async () => {
      const { page } = opened.tab
      const email = { from: "hello@acme.test", to: "ana@example.org", subject: "Your order", text: "Did it arrive?" }
      const { json: sent } = await opened.instance.request("POST", "/email/send", email)
      const { json: mail } = await opened.instance.request("POST", "/test/inbound", {
        from: "Ana <ana@example.org>",
        to: "hello@acme.test",
        subject: "Re: Your order",
        text: "It did.",
        in_reply_to: `<${sent.id}@acme.test>`,
      })
      await page.goto(`/received?id=${mail.id}`)
      await page.getByRole("button", { name: "Reply" }).click()
      const dialog = page.getByRole("dialog")
      await Browser.eventually(() => dialog.getByLabel("From").inputValue()).toBe("hello@acme.test")
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
      const { json: received } = await opened.instance.request("GET", "/inbound?limit=1")
      const [{ id }] = received.data
      await opened.instance.request("POST", `/inbound/${id}/forward`, { to: "bo@example.org" })
      await page.goto(`/received?id=${id}`)
      await page.getByRole("tab", { name: "Routes" }).click()
      const forwarded = page.getByRole("tabpanel").getByRole("listitem")
      await Browser.eventually(() => forwarded.innerText()).toMatch(/^forward/u)
      await forwarded.getByRole("link", { name: "View the email" }).click()
      await page.getByRole("link", { name: id, exact: true }).waitFor()

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
      const { page } = opened.tab
      let connections = 0
      const stranger = net.createServer((socket) => {
        connections++
        socket.destroy()
      })
      await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve))
      const url = `http://127.0.0.1:${(stranger.address() as net.AddressInfo).port}`
      const { json: mail } = await opened.instance.request("POST", "/test/inbound", {
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
      await Browser.eventually(() => frame.locator("body").getAttribute("data-ran")).toBe(null)
      assert.strictEqual(new URL(page.url()).pathname, "/received")
      assert.strictEqual(connections, 0)
      // Only the reader lets images in.
      await page.getByRole("button", { name: "Load remote images" }).click()
      await Browser.eventually(() => Promise.resolve(connections > 0)).toBe(true)
      stranger.close()
    })

    it("opens in place of the list on a phone, and goes back to it", { timeout: TIMEOUT }, async () => {
      const { page } = opened.tab
      await page.setViewportSize(ContactSheet.PHONE)
      await page.goto("/received")
      const list = page.getByRole("list", { name: "Received mail" })
      await list.getByRole("button").first().click()
      await page.getByRole("tab", { name: "Conversation" }).waitFor()
      await Browser.eventually(() => list.isVisible()).toBe(false)
      await page.getByRole("button", { name: "Received mail" }).click()
      await list.waitFor()
      await Browser.eventually(() => page.getByRole("tab", { name: "Conversation" }).isVisible()).toBe(false)
      await page.setViewportSize(Browser.DESKTOP)
    })

    it("is found by words of its sender, its recipient and its subject", { timeout: TIMEOUT }, async () => {
      const { page } = opened.tab
      const receive = async (from: string, to: string, subject: string) => {
        const { json } = await opened.instance.request("POST", "/test/inbound", { from, to, subject, text: "Hello." })
        return json.id
      }
      await receive("Carla Núñez <carla@studio.example>", "billing@acme.test", "Invoice 2026-0117")
      await receive("Emil <emil@example.net>", "sales@acme.test", "Question about invoice 2026-0118")
      await page.goto("/received")
      const list = page.getByRole("list", { name: "Received mail" })
      const subjects = async () => {
        const rows = await list.getByRole("button").allInnerTexts()
        return rows.flatMap((row) => row.split("\n").filter((line) => /invoice/iu.test(line)))
      }
      const search = page.getByLabel("Search received mail")
      await list.getByText("Order").first().waitFor()
      // A sender by name, a recipient, an address in part, and words of several fields. Names of fields are no hit.
      for (const [typed, found] of [
        ["núñez", ["Invoice 2026-0117"]],
        ["sales@", ["Question about invoice 2026-0118"]],
        ["studio.example invoice", ["Invoice 2026-0117"]],
        ["INVOICE", ["Question about invoice 2026-0118", "Invoice 2026-0117"]],
        ['"question about"', ["Question about invoice 2026-0118"]],
      ] as const) {
        await search.fill(typed)
        await search.press("Enter")
        await Browser.eventually(subjects, typed).toEqual(found)
        await page.getByRole("heading", { level: 2, name: found[0] }).waitFor()
      }
      await Browser.eventually(() => list.locator("mark").count()).toBeGreaterThan(0)
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "received-search")
      await search.fill("address")
      await page.getByText("No mail matches your search").waitFor()
      assert.deepEqual(await Accessibility.violations(page), [])
      // Keyboard alone: the slash reaches the box, and a shared link has the search.
      await page.getByRole("button", { name: "Clear search" }).click()
      await list.getByText("Order").first().waitFor()
      await page.locator("body").press("/")
      await page.keyboard.type("emil")
      await Browser.eventually(subjects).toEqual(["Question about invoice 2026-0118"])
      await page.reload()
      await Browser.eventually(subjects).toEqual(["Question about invoice 2026-0118"])
    })
  },
  async () => ({ settings: { MAIL_PORT: String(mailPort) } }),
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
