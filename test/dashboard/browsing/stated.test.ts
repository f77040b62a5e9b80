import { assert, it } from "vitest"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import { inDashboardWith, TIMEOUT } from "../support/inDashboard.ts"
import * as ContactSheet from "../support/ContactSheet.ts"

let receiver: WebhookReceiver.Receiver
let status = 500

const within = inDashboardWith(async () => {
  receiver = await WebhookReceiver.open({ answer: () => ({ status, body: "oh no" }) })
  return { settings: { WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" }, close: () => receiver.close() }
})

await within("what the dashboard states", (opened) => {
  const send = async (over: object, key?: string): Promise<string> => {
    const email = {
      from: "hello@acme.test",
      to: "ana@example.org",
      subject: "Stated",
      html: "<p>Hello.</p>",
      ...over,
    }
    const { json, status } = await opened.instance.request("POST", "/email/send", email, key)
    assert.strictEqual(status, 200, JSON.stringify(json))
    return json.id
  }
  const statusOf = async (id: string) => (await opened.instance.request("GET", `/email/logs/${id}`)).json.status

  it(
    "a webhook that answered 500 shows 500 and one attempt, also after it was disabled",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      const created = await opened.instance.request("POST", "/webhooks", {
        url: receiver.url,
        events: ["email.queued"],
      })
      const { id } = created.json
      await send({})
      const delivery = async () =>
        (await opened.instance.request("GET", `/webhooks/${id}/deliveries`)).json.data[0] ?? {}
      await Browser.eventually(async () => (await delivery()).last_status).toBe(500)
      await opened.instance.sql(
        `UPDATE webhook_failures SET since = now() - interval '5 minutes' WHERE webhook_id = '${id}'`,
      )
      await page.goto(`/webhooks/${id}`)
      await page.getByRole("heading", { level: 1 }).getByText("Failing", { exact: true }).waitFor()
      // The overview says so after a quarter of an hour.
      await page.clock.setFixedTime(Date.now() + 20 * 60_000)
      await page.goto("/overview")
      await page.getByText(/has accepted no call for 25 min\. Its endpoint answers 500\./u).waitFor()
      await page.clock.setFixedTime(Date.now())
      await opened.instance.request("PATCH", `/webhooks/${id}`, { enabled: false })
      // The next attempt is due after five seconds, and is not made.
      await Browser.eventually(async () => (await delivery()).status).toBe("failed")
      assert.deepInclude(await delivery(), { last_status: 500, attempts: receiver.calls.length })
      await page.goto(`/webhooks/${id}`)
      const row = page.getByRole("button", { name: /Queued/u })
      assert.match(
        (await row.innerText()).replaceAll(/\s+/gu, " "),
        new RegExp(`500 oh no ${receiver.calls.length} `, "u"),
      )
      await row.click()
      await page.getByText("Not called").waitFor()
      await page.getByText("the webhook was disabled").waitFor()
      await Browser.eventually(() => page.getByText("No response").count()).toBe(0)
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "webhook-500")
    },
  )

  it("a webhook that the service disabled is on the overview and in the audit log", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    status = 410
    const url = `${receiver.url}/gone`
    const { id } = (await opened.instance.request("POST", "/webhooks", { url, events: ["email.queued"] })).json
    await send({})
    const enabled = async () => (await opened.instance.request("GET", `/webhooks/${id}`)).json.enabled
    await Browser.eventually(enabled).toBe(false)
    await page.goto("/overview")
    const notice = page.getByRole("list", { name: "Needs attention" })
    await notice
      .getByText(
        `The webhook ${url.replace("http://", "")} was disabled and receives no events. Endpoint responded 410`,
      )
      .waitFor()
    // A call that was not made is no answer of the endpoint.
    const calls = async () => {
      const { json } = await opened.instance.request("GET", `/webhooks/${id}/deliveries`)
      return json.data.map(({ attempts }: { readonly attempts: number }) => attempts)
    }
    await opened.instance.sql(
      `UPDATE webhook_deliveries SET history = history || '[{"called": false}]' WHERE webhook_id = '${id}'`,
    )
    assert.include(await calls(), 1)
    assert.strictEqual((await opened.instance.request("GET", `/webhooks/${id}`)).json.last_call.status, 410)
    // One that a member has disabled is no news.
    await Browser.eventually(() => notice.getByRole("link").count()).toBe(1)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "webhook-disabled-overview")
    await page.goto("/settings/audit")
    const row = page.getByRole("row", { name: /Webhook disabled.*Service/iu })
    await row.first().waitFor()
    await Browser.eventually(() => row.first().innerText()).toContain("/gone")
    await Browser.eventually(() => row.first().innerText()).toContain("Endpoint responded 410 Gone")
    await ContactSheet.shoot(page, "webhook-disabled-audit")
    await notice.waitFor({ state: "detached" })
    await page.goto("/overview")
    await notice.getByRole("link").click()
    await page.getByRole("heading", { level: 1 }).getByText("/gone").waitFor()
    const answer = page.getByRole("definition").filter({ hasText: "410" }).filter({ hasText: "oh no" })
    await answer.waitFor()
    await ContactSheet.shoot(page, "webhook-disabled")
    // An owner is no "Member".
    await page.getByRole("button", { name: "Enable", exact: true }).click()
    await page.getByText("Webhook enabled.").waitFor()
    await page.goto("/settings/audit")
    await page
      .getByRole("row", { name: /^Webhook .*Owner User/u })
      .first()
      .waitFor()
    await page.goto("/webhooks")
    const listed = page.getByRole("row", { name: /gone/u })
    await listed.getByText("410", { exact: true }).waitFor()
    await ContactSheet.shoot(page, "webhooks-last-call")
  })

  it(
    "a resend lists its recipients, leaves out who is still tried, and links copy and original",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      const to = ["bounced@customers.test", "deferred@customers.test", "ana@example.org"]
      const id = await send({ to, subject: "To three" })
      await Browser.eventually(() => statusOf(id)).toBe("deferred")
      await page.goto(`/emails/${id}`)
      await page.getByRole("button", { name: "Resend", exact: true }).click()
      const dialog = page.getByRole("alertdialog")
      const listed = dialog.getByRole("list", { name: "Recipients of the copy" }).getByRole("listitem")
      assert.deepStrictEqual(await listed.allInnerTexts().then((all) => all.map((text) => text.split("\n")[0])), [
        to[0],
      ])
      await dialog.getByText("One recipient is left out").waitFor()
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "resend-dialog")
      await dialog.getByRole("button", { name: "Resend", exact: true }).click()
      await page.getByText("Copy of").first().waitFor()
      const copy = page.url().split("/").at(-1) ?? ""
      assert.notStrictEqual(copy, id)
      const record = async (of: string) => (await opened.instance.request("GET", `/email/logs/${of}`)).json
      assert.deepStrictEqual([(await record(copy)).to, (await record(copy)).resend_of], [[to[0]], id])
      assert.deepStrictEqual((await record(id)).copies, [copy])
      const queued = page.locator("li[data-event='email.queued']")
      await queued.getByText("User: Owner").waitFor()
      await ContactSheet.shoot(page, "resend-copy")
      await queued.getByRole("link", { name: id }).click()
      const resent = page.locator("li[data-event='email.resent']")
      await resent.getByText("User: Owner").waitFor()
      await resent.getByRole("link", { name: copy }).waitFor()
      await ContactSheet.shoot(page, "resend-original")
      // Nothing is left of an email that is only deferred.
      const deferred = await send({ to: "deferred@customers.test" })
      await Browser.eventually(() => statusOf(deferred)).toBe("deferred")
      const refused = await opened.instance.request("POST", `/email/${deferred}/resend`)
      assert.deepStrictEqual([refused.status, refused.json.error.reason], [422, "nothing_to_resend"])
      assert.include(refused.json.error.message, "still being sent")
      await page.goto(`/emails/${deferred}`)
      await page.locator("li[data-event='email.delivery_delayed']").first().waitFor()
      await Browser.eventually(() => page.getByRole("button", { name: "Resend", exact: true }).count()).toBe(0)
    },
  )

  it("an unknown email is not found, in words", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    for (const id of ["msg_123", `msg_${"0".repeat(26)}`, "x"]) {
      await page.goto(`/emails/${id}`)
      await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor()
      const text = await page.getByRole("alert").innerText()
      assert.match(text, /Not found\s+[A-Z][a-z]+ .+\.\s/u, id)
      assert.notMatch(text, /\b(?:GET|POST)\b|\/v1|`/u, id)
    }
    await ContactSheet.shoot(page, "unknown-email")
    await page.getByRole("link", { name: "Search emails" }).click()
    await page.getByRole("searchbox", { name: "Search emails" }).waitFor()
  })

  it(
    "test mode counts test mail, and its checks do not ask for domains and signatures",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      const { key } = (
        await opened.instance.request("POST", "/api-keys", { name: "T", scopes: ["admin"], mode: "test" })
      ).json
      const id = await send({ from: "hello@nobody.example", to: ["a@example.org", "b@example.org"] }, key)
      await page.goto("/sandbox")
      await page.getByText("Deleted after 7 days.", { exact: false }).waitFor()
      await page.getByRole("switch", { name: "Test mode" }).click()
      await page.getByText("Deleted after one day.", { exact: false }).waitFor()
      await page.goto(`/sandbox?id=${id}`)
      await page.getByRole("tab", { name: /^Checks/u }).click()
      const checks = page.getByRole("tabpanel", { name: /^Checks/u })
      await checks.getByText("Test mail may come from any domain and is not signed.").waitFor()
      await Browser.eventually(() => checks.innerText()).not.toMatch(/DKIM|no longer one of your domains/u)
      await ContactSheet.shoot(page, "test-mode-checks")
      for (const path of ["/overview", "/settings/plan"]) {
        await page.goto(path)
        await page.getByText("2 of 100,000 test emails").waitFor()
      }
      await page.getByText("1 day", { exact: true }).waitFor()
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "test-mode-plan")
      await page.goto("/overview")
      await page.getByText("2 of 100,000 test emails").waitFor()
      await ContactSheet.shoot(page, "test-mode-overview")
      await page.getByRole("switch", { name: "Test mode" }).click()
      await page.getByText(/plan$/u).first().waitFor()
      await page.getByText("2 of 100,000 test emails").waitFor({ state: "detached" })
    },
  )
})
