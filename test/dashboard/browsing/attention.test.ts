import { assert, it } from "vitest"
import * as Alarm from "../../../apps/dashboard/src/overview/Alarm.ts"
import type { StatsRow } from "../../../apps/dashboard/src/api/Records.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

const DAY_MS = 86_400_000
const NOW = Date.parse("2026-11-29T12:00:00Z")

const NONE = { queued: 0, sent: 0, deferred: 0, failed: 0, suppressed: 0, canceled: 0 }
/** Counts of a day, `ago` days before the other. */
const dayOf = (now: number, ago: number, delivered: number, bounced: number, complained = 0) =>
  ({
    at: new Date(Math.floor(now / DAY_MS) * DAY_MS - ago * DAY_MS).toISOString(),
    accepted: delivered + bounced + complained,
    opened: 0,
    clicked: 0,
    recipient_counts: { ...NONE, delivered, bounced, complained },
  }) as StatsRow

it("a rate is told if it is too high, or rises and is half as high", () => {
  const told = (...rows: ReadonlyArray<StatsRow>) =>
    Alarm.ratesOf(rows, NOW).map(({ before, rate, status }) => [status, Math.round(rate * 1000) / 1000, before])
  assert.deepStrictEqual(told(dayOf(NOW, 0, 90, 10), dayOf(NOW, 3, 990, 10)), [["bounced", 0.1, 0.01]])
  assert.deepStrictEqual(told(dayOf(NOW, 1, 97, 3), dayOf(NOW, 3, 990, 10)), [["bounced", 0.03, 0.01]])
  // High all the time, without mail before, and complaints.
  assert.deepStrictEqual(told(dayOf(NOW, 0, 90, 10), dayOf(NOW, 3, 900, 100)), [["bounced", 0.1, null]])
  assert.deepStrictEqual(told(dayOf(NOW, 0, 90, 10)), [["bounced", 0.1, null]])
  assert.deepStrictEqual(told(dayOf(NOW, 0, 997, 0, 3)), [["complained", 0.003, null]])
  // Low, falling, or too little mail.
  assert.deepStrictEqual(told(dayOf(NOW, 0, 980, 20), dayOf(NOW, 3, 990, 10)), [])
  assert.deepStrictEqual(told(dayOf(NOW, 3, 90, 10)), [])
  assert.deepStrictEqual(told(dayOf(NOW, 0, 20, 10)), [])
  assert.deepStrictEqual(told(dayOf(NOW, 0, 60, 2, 2)), [])
})

const receiver = await WebhookReceiver.open({ answer: ({ path }) => ({ status: path.endsWith("/gone") ? 410 : 500 }) })

const removal = (key: string) => ({ method: "DELETE", headers: { authorization: `Bearer ${key}` } })

await inDashboard(
  "what needs attention",
  (opened) => {
    it("is nothing while all is well", { timeout: TIMEOUT }, async () => {
      const { instance, tab } = opened
      const { page } = tab
      const mail = { from: "hello@acme.test", to: "ana@example.org", subject: "Hello", text: "Hello." }
      await instance.request("POST", "/email/send", mail)
      await page.goto("/overview")
      await page.getByText("All emails").waitFor()
      await page.locator("canvas").waitFor()
      await Browser.eventually(() => page.getByText("Needs attention").count()).toBe(0)
      // Nothing is tracked, so that these could never move.
      await page.getByText("Accepted").first().waitFor()
      await Browser.eventually(() => page.getByText("Opens").count()).toBe(0)
      await page.getByRole("button", { name: "Bounced", exact: true }).click()
      await page.getByRole("img", { name: /bounced 0%, complained 0%/u }).waitFor()
    })

    it("names a webhook as soon as its list says that it fails", { timeout: TIMEOUT }, async () => {
      const { instance, tab } = opened
      const { page } = tab
      const url = `${receiver.url}/failing`
      const webhookOf = async (description: string) =>
        (await instance.request("POST", "/webhooks", { url, events: ["email.queued"], description })).json.id
      const id = await webhookOf("")
      await instance.request("POST", "/email/send", {
        from: "hello@acme.test",
        to: "a@example.org",
        subject: "Failing",
        text: "?",
      })
      await page.goto("/webhooks")
      // From the first failed call, it is not shown as if all were well.
      const status = async () => {
        if ((await page.getByText("Not accepting").count()) === 0) await page.reload()
        return page.getByRole("row", { name: /failing.*Not accepting.*500/iu }).count()
      }
      await Browser.eventually(status).toBe(1)
      await page.goto("/webhooks?status=failing")
      await Browser.eventually(status).toBe(1)
      const failingSince = async (id: string) => {
        await instance.sql(
          `UPDATE webhook_failures SET since = now() - interval '5 minutes' WHERE webhook_id = '${id}'`,
        )
        return (await instance.request("GET", `/webhooks/${id}`)).json.failing_since
      }
      await Browser.eventually(() => failingSince(id)).not.toBe(null)
      await page.goto("/webhooks")
      await page
        .getByRole("row", { name: /failing/iu })
        .getByText(/^Failing for 5 min$/u)
        .waitFor()
      await page.goto("/overview")
      await page
        .getByText(
          /The webhook 127\.0\.0\.1:\d+\/\S*failing has accepted no call for 5 min\. Its endpoint answers 500\./u,
        )
        .waitFor()
      // Several share a line, where descriptions are quoted.
      const other = await webhookOf("nowhere")
      await instance.request("POST", "/email/send", {
        from: "hello@acme.test",
        to: "b@example.org",
        subject: "Failing",
        text: "?",
      })
      await Browser.eventually(() => failingSince(other)).not.toBe(null)
      await page.goto("/overview")
      await page.getByText(/^2 webhooks accept no calls: “nowhere”, 127\.0\.0\.1:\d+\/\S*failing\.$/u).waitFor()
      for (const each of [id, other])
        assert.strictEqual((await fetch(`${instance.url}/v1/webhooks/${each}`, removal(instance.key))).status, 200)
    })

    it("stands before the figures, in the order of its weight", { timeout: TIMEOUT }, async () => {
      const { instance, tab } = opened
      const { page } = tab
      const now = Date.now()
      const url = `${receiver.url}/gone`
      const { id } = (await instance.request("POST", "/webhooks", { url, events: ["email.queued"] })).json
      await instance.request("POST", "/email/send", {
        from: "hello@acme.test",
        to: "a@example.org",
        subject: "Gone",
        text: "?",
      })
      await Browser.eventually(async () => (await instance.request("GET", `/webhooks/${id}`)).json.enabled).toBe(false)
      // What still sends stands below what does not.
      await instance.request("POST", "/domains", { name: "news.shop.dev" })
      await instance.sql(`UPDATE domains SET record = record || '{"status": "degraded"}' WHERE name = 'news.shop.dev'`)
      await instance.request("POST", "/domains", { name: "mail.shop.dev" })
      await instance.sql(`UPDATE domains SET record = record || '{"status": "failed"}' WHERE name = 'mail.shop.dev'`)
      // The account is of today, so that its rates are read by the hour.
      await page.route(/\/v1\/stats\?.*group_by=hour/u, async (route) => {
        const stats = await (await route.fetch()).json()
        await route.fulfill({ json: { ...stats, data: [dayOf(now, 3, 990, 10), dayOf(now, 0, 90, 10)] } })
      })
      await page.route(/\/v1\/dashboard\/queue$/u, async (route) => {
        const oldest_at = new Date(now - 19.6 * 60_000).toISOString()
        await route.fulfill({ json: { ...(await (await route.fetch()).json()), pending: 1, oldest_at } })
      })
      // In the sandbox every bounce is simulated.
      await page.goto("/overview")
      await page.getByText(/^[1-9]\d* bounced, 0 failed, all simulated$/u).waitFor()
      await page.getByText("1 email waits to be sent", { exact: false }).waitFor()
      await Browser.eventually(() => page.getByText("Mailbox providers", { exact: false }).count()).toBe(0)
      await ContactSheet.shoot(page, "overview-simulated")
      await page.route("**/overview", async (route) => {
        const response = await route.fetch()
        const body = (await response.text()).replace(/(transport(?:"|&quot;):(?:"|&quot;))capture/u, "$1relay")
        await route.fulfill({ response, body })
      })
      await page.goto("/overview")
      const list = page.getByRole("list", { name: "Needs attention" })
      const rows = async () =>
        (await list.getByRole("listitem").allInnerTexts()).map((row) =>
          // A slow machine takes a minute to get here.
          row.replace(/\s+/gu, " ").replace(/for 2[0-4] min/u, "for 20 min"),
        )
      await Browser.eventually(rows).toEqual([
        `The webhook ${url.replace("http://", "")} was disabled and receives no events. Endpoint responded 410 Gone. View webhook`,
        "mail.shop.dev cannot send: its DNS records were not found. Fix DNS records",
        "The bounce rate is 10.0% since yesterday, after 1.0% in the days before. Mailbox providers may reject mail above 5.0%. View bounced emails",
        "1 email waits to be sent, the oldest for 20 min. View queued emails",
        "news.shop.dev still sends, but a DNS record is missing or wrong. Fix DNS records",
      ])
      const [problems, figures] = await Promise.all([
        list.boundingBox(),
        page.getByText("Accepted").first().boundingBox(),
      ])
      assert.isBelow(problems?.y ?? 0, figures?.y ?? 0)
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "overview-attention")
      // Each leads to where it is solved, by the keyboard too.
      await Browser.tabTo(page, "Fix DNS records")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { level: 1, name: /mail\.shop\.dev/u }).waitFor()
      await page.unrouteAll()
    })

    it("logs no errors", () => assert.deepEqual(opened.tab.consoleErrors, []))
  },
  async () => ({ settings: { WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" }, close: receiver.close }),
)
