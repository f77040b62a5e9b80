import { assert, it } from "vitest"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

let answer = { status: 422, body: '{"message":"unknown customer"}' }
const receiver = await WebhookReceiver.open({ answer: () => answer })

await inDashboard(
  "deliveries of a webhook",
  (opened) => {
    const deliveries = async (id: string, query = "") =>
      (await opened.instance.request("GET", `/webhooks/${id}/deliveries${query}`)).json.data
    let webhook = ""
    let email = ""

    it("name the recipient, and what the endpoint answered", { timeout: TIMEOUT }, async () => {
      const { instance, tab } = opened
      const { page } = tab
      const events = ["email.bounced", "email.delivered"]
      webhook = (await instance.request("POST", "/webhooks", { url: receiver.url, events })).json.id
      const mail = { from: "hello@acme.test", to: "bounced+a@customers.test", subject: "Hello", text: "Hello." }
      email = (await instance.request("POST", "/email/send", mail)).json.id
      await Browser.eventually(async () => (await deliveries(webhook))[0]?.last_status).toBe(422)
      const [first] = await deliveries(webhook)
      assert.deepInclude(first, { email_id: email, recipient: "bounced+a@customers.test", last_answer: answer.body })
      await page.goto(`/webhooks/${webhook}`)
      const row = page.getByRole("button", { name: /^Retrying.*bounced\+a@customers\.test/u })
      await row.getByText("unknown customer").first().waitFor()
      await row.getByText(/^Next/u).waitFor()
      await page.getByText("0% of the last 1 accepted").waitFor()
      await ContactSheet.shoot(page, "webhook-deliveries")
      // Two lines on a phone, without a header.
      await page.setViewportSize(ContactSheet.PHONE)
      await Browser.eventually(async () => (await row.boundingBox())?.height).toBeLessThan(72)
      await page.setViewportSize(Browser.DESKTOP)
      await row.click()
      // A busy machine shows the second attempt too.
      await page.getByLabel("Response body").getByText('"message": "unknown customer"').first().waitFor()
      assert.deepEqual(await Accessibility.violations(page), [])
      // The first attempt comes again at once, and then the endpoint accepts it.
      answer = { status: 200, body: "thanks" }
      await page.getByRole("button", { name: /^Replay failed/u }).waitFor({ state: "hidden" })
      await page.getByRole("button", { name: "Retry now", exact: true }).click()
      await Browser.eventually(async () => (await deliveries(webhook))[0]?.status).toBe("delivered")
      await page.getByText("100% of the last 1 accepted").waitFor()
      await page.getByRole("link", { name: "View email" }).click()
      await page.getByRole("heading", { level: 1, name: "Hello" }).waitFor()
    })

    it("are filtered by status, and those that failed are repeated together", { timeout: TIMEOUT }, async () => {
      const { instance, tab } = opened
      const { page } = tab
      answer = { status: 500, body: "database is down" }
      for (const to of ["ana@example.org", "bo@example.org", "carla@example.org"])
        await instance.request("POST", "/email/send", { from: "hello@acme.test", to, subject: to, text: "Hello." })
      const settled = async () =>
        (await deliveries(webhook)).filter((each: { readonly last_status: number | null }) => each.last_status === 500)
          .length
      await Browser.eventually(settled).toBe(3)
      // Nothing has failed for good: what is retried can be called at once.
      await page.goto(`/webhooks/${webhook}`)
      await page.getByRole("button", { name: "In progress", exact: true }).click()
      await page.getByRole("button", { name: /^Retrying.*carla@example\.org/u }).waitFor()
      await page.getByRole("button", { name: "Retry now (3)", exact: true }).click()
      const retry = page.getByRole("dialog", { name: "Retry 3 deliveries now?" })
      await retry.getByRole("button", { name: "Retry 3 deliveries now" }).click()
      await retry.getByText("3 deliveries queued again.").waitFor()
      await Browser.eventually(async () => {
        const rows: ReadonlyArray<{ readonly attempts: number }> = await deliveries(webhook, "?status=pending")
        return rows.filter(({ attempts }) => attempts > 1).length
      }).toBe(3)
      // The backlog of an endpoint that fails stands below what it was called for.
      await instance.sql(`
        INSERT INTO webhook_deliveries
          (account_id, id, webhook_id, event_id, event_type, stream_id, stream_version, created_at, next_attempt_at, livemode)
        SELECT account_id, left(id, -2) || lpad(n::text, 2, '0'), webhook_id, left(event_id, -2) || lpad(n::text, 2, '0'), event_type, stream_id, stream_version, created_at,
          now() + interval '3 minutes', false
        FROM webhook_deliveries, generate_series(1, 30) AS n
        WHERE id = (SELECT max(id) FROM webhook_deliveries WHERE webhook_id = '${webhook}')
        ON CONFLICT DO NOTHING`)
      const held = page.getByRole("button", { name: /^Held Next in/u })
      await page.reload()
      await held.first().waitFor()
      await page.getByRole("button", { name: "Called", exact: true }).click()
      await page.getByRole("button", { name: /^Retrying.*carla@example\.org/u }).waitFor()
      assert.strictEqual(await held.count(), 0)
      await page.getByRole("definition").getByText("database is down").waitFor()
      // An endpoint that refuses does answer.
      await instance.sql(
        `UPDATE webhook_failures SET since = now() - interval '5 minutes' WHERE webhook_id = '${webhook}'`,
      )
      await page.getByText("The endpoint answers 500: each call is repeated").waitFor()
      await ContactSheet.shoot(page, "webhook-failing")
      await page.getByRole("button", { name: "In progress", exact: true }).click()
      await held.first().waitFor()
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "webhook-held")
      await instance.sql(`DELETE FROM webhook_deliveries WHERE webhook_id = '${webhook}' AND attempts = 0`)
      // A week of attempts is over.
      await instance.sql(
        `UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL WHERE webhook_id = '${webhook}' AND status = 'pending'`,
      )
      assert.strictEqual((await deliveries(webhook, "?status=failed")).length, 3)
      assert.strictEqual((await deliveries(webhook, "?status=failed&limit=2")).length, 2)
      assert.strictEqual((await instance.request("GET", `/webhooks/${webhook}/deliveries?status=lost`)).status, 400)
      await page.goto(`/webhooks/${webhook}`)
      await page.getByRole("button", { name: "Failed", exact: true }).click()
      await page.getByRole("button", { name: /^Failed.*carla@example\.org/u }).waitFor()
      await Browser.eventually(() => page.getByRole("button", { name: /bounced\+a/u }).count()).toBe(0)
      assert.strictEqual(new URL(page.url()).searchParams.get("status"), "failed")
      answer = { status: 200, body: "thanks" }
      await page.getByRole("button", { name: "Replay failed (3)", exact: true }).waitFor()
      await Browser.tabTo(page, "Replay failed (3)")
      await page.keyboard.press("Enter")
      const dialog = page.getByRole("dialog", { name: "Replay 3 failed deliveries?" })
      assert.deepEqual(await Accessibility.violations(page), [])
      await dialog.getByRole("button", { name: "Replay 3 failed deliveries" }).click()
      await dialog.getByText("3 deliveries queued again.").waitFor()
      await dialog.getByRole("button", { name: "Done" }).click()
      await Browser.eventually(async () => (await deliveries(webhook, "?status=delivered")).length).toBe(4)
      await page.getByText("No failed deliveries").waitFor()
      await page.getByRole("button", { name: /^Replay failed/u }).waitFor({ state: "hidden" })
    })

    it(
      "of an email are listed below its content, of all webhooks and below newer ones",
      { timeout: TIMEOUT },
      async () => {
        const { instance, tab } = opened
        const { page } = tab
        const other = (await instance.request("POST", "/webhooks", { url: receiver.url, events: ["*"] })).json.id
        const mail = { from: "hello@acme.test", to: "bounced+b@customers.test", subject: "Twice", text: "Hello." }
        const { id } = (await instance.request("POST", "/email/send", mail)).json
        await Browser.eventually(async () => (await deliveries(other, `?email_id=${id}&status=delivered`)).length).toBe(
          2,
        )
        await instance.sql(`
        INSERT INTO webhook_deliveries
          (account_id, id, webhook_id, event_id, event_type, stream_id, stream_version, status, created_at, history)
        SELECT account_id, left(id, -3) || 'z' || lpad(n::text, 2, '0'), webhook_id, left(event_id, -2) || lpad(n::text, 2, '0'),
          event_type, '${email}', stream_version, 'failed', created_at, '[{"called": false}]'
        FROM (SELECT DISTINCT ON (webhook_id) * FROM webhook_deliveries WHERE stream_id = '${id}' ORDER BY webhook_id, id DESC) AS newest,
          generate_series(0, 99) AS n ON CONFLICT DO NOTHING`)
        await page.goto(`/emails/${id}`)
        await page.getByRole("tab", { name: "Webhooks" }).click()
        await Browser.eventually(() => page.getByRole("tabpanel").getByRole("listitem").count()).toBe(3)
        const row = page.getByRole("tabpanel").locator(`a[href$="${webhook}"]`)
        // The recipient of an event that is about one, and the code alone of a call that was accepted.
        await Browser.eventually(() => row.innerText()).toMatch(
          /^Bounced: bounced\+b@customers\.test\s*→ 127\.0\.0\.1:\S+\s*200/u,
        )
      },
    )

    it("say at once what the endpoint answered to a test event", { timeout: TIMEOUT }, async () => {
      const { instance, tab } = opened
      const { page } = tab
      const created = await instance.request("POST", "/webhooks", { url: receiver.url, events: ["domain.created"] })
      await page.goto(`/webhooks/${created.json.id}`)
      const lastAnswer = page.getByRole("definition").first()
      await lastAnswer.getByText("None yet").waitFor()
      const send = page.getByRole("button", { name: "Send test event" })
      answer = { status: 500, body: "database is down" }
      await send.click()
      const toasts = page.locator("[data-toast]")
      await toasts.getByText("The endpoint answered 500: database is down").waitFor()
      // Without the refetch that comes after a while.
      await lastAnswer.getByText("database is down").waitFor()
      await ContactSheet.shoot(page, "webhook-test-event")
      answer = { status: 200, body: "thanks" }
      await send.click()
      await toasts.getByText("The endpoint answered 200.").waitFor()
      await Browser.eventually(() => lastAnswer.getByText("database is down").count()).toBe(0)
      assert.include(await lastAnswer.innerText(), "200")
    })

    it("logs no errors", () => assert.deepEqual(opened.tab.consoleErrors, []))
  },
  async () => ({ settings: { WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" }, close: receiver.close }),
)
