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
  },
)
