import { assert, it } from "vitest"
import * as WebhookReceiver from "../support/web/WebhookReceiver.ts"
import * as Browser from "./support/Browser.ts"
import { inDashboardWith, TIMEOUT } from "./support/inDashboard.ts"

let receiver: WebhookReceiver.Receiver

const within = inDashboardWith(async () => {
  receiver = await WebhookReceiver.open()
  return { settings: { WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" }, close: () => receiver.close() }
})

await within("the webhook form", (opened) => {
  it("changes a webhook to the format of Resend, with its headers", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const events = ["email.delivered", "api_key.created"]
    const webhook = (await opened.instance.request("POST", "/webhooks", { url: receiver.url, events })).json
    await page.goto(`/webhooks/${webhook.id}`)
    await page.getByRole("button", { name: "Webhook actions" }).click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await page.getByLabel("Format").selectOption("resend")
    await Browser.eventually(() => page.getByLabel("Also send the signature in svix headers").isChecked()).toBe(true)
    // A type that the format has not is neither offered nor kept.
    await Browser.eventually(() => page.getByLabel("api_key.created").count()).toBe(0)
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("webhook-* and svix-*").waitFor()
    const { json } = await opened.instance.request("GET", `/webhooks/${webhook.id}`)
    assert.deepStrictEqual([json.format, json.svix_headers, json.events], ["resend", true, ["email.delivered"]])
    await page.getByRole("button", { name: "Send test event" }).click()
    await Browser.eventually(() => receiver.calls.length).toBe(1)
    const [call] = receiver.calls
    assert.hasAllKeys(JSON.parse(call?.body ?? "{}"), ["type", "created_at", "data"])
    assert.isString(call?.headers["svix-signature"])
    assert.strictEqual(call?.headers["svix-signature"], call?.headers["webhook-signature"])
  })

  it("changes a webhook to the format of Postmark", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const events = ["email.queued", "email.bounced", "suppression.added"]
    const webhook = (await opened.instance.request("POST", "/webhooks", { url: receiver.url, events })).json
    await page.goto(`/webhooks/${webhook.id}`)
    await page.getByRole("button", { name: "Webhook actions" }).click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await Browser.eventually(() => page.getByLabel("Include received mail as it came").count()).toBe(0)
    await page.getByLabel("Format").selectOption("postmark")
    await page.getByLabel("Include received mail as it came").check()
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("definition").filter({ hasText: "Postmark" }).waitFor()
    const { json } = await opened.instance.request("GET", `/webhooks/${webhook.id}`)
    assert.deepStrictEqual(
      [json.format, json.svix_headers, json.include_raw, json.events],
      ["postmark", false, true, ["email.bounced", "suppression.added"]],
    )
  })

  it("changes a webhook to the format of SendGrid, and shows its public key", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const events = ["email.queued", "email.bounced", "suppression.removed"]
    const webhook = (await opened.instance.request("POST", "/webhooks", { url: receiver.url, events })).json
    await page.goto(`/webhooks/${webhook.id}`)
    await page.getByRole("button", { name: "Webhook actions" }).click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await page.getByLabel("Format").selectOption("sendgrid")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("definition").filter({ hasText: "SendGrid" }).waitFor()
    const shown = async () => {
      const { json } = await opened.instance.request("GET", `/webhooks/${webhook.id}`)
      await page.getByText(json.public_key).waitFor()
      return json
    }
    const { events: kept, format, public_key } = await shown()
    assert.deepStrictEqual([format, kept], ["sendgrid", ["email.queued", "email.bounced"]])
    await page.getByRole("button", { name: "Webhook actions" }).click()
    await page.getByRole("menuitem", { name: "Rotate signing secret" }).click()
    await page.getByRole("button", { name: "Rotate secret" }).click()
    await page.getByRole("button", { name: "Done" }).click()
    assert.notStrictEqual((await shown()).public_key, public_key)
  })
})
