import { afterAll, assert, beforeAll, it } from "vitest"
import { verifyWebhook } from "../../packages/client/src/Waybill.ts"
import * as DnsServer from "../support/mail/dnsServer.ts"
import * as WebhookReceiver from "../support/web/WebhookReceiver.ts"
import * as Browser from "./support/Browser.ts"
import { inBrowser } from "./support/inBrowser.ts"
import { TIMEOUT } from "./support/inDashboard.ts"
import * as Instance from "./support/Instance.ts"

/** A refusal, or a look for a call that is logged half a second later. */
const REFUSED = / (?:400|401|422) | 404 .*requests.req_/u
const DOMAIN = "mail.shop.dev"
const TRACKING = "https://track.shop.dev"
const BO = { email: "bo@acme.test", password: "a long password of bo" }
/** A time zone with a half-hour offset, to detect local times that are used as UTC. */
const ZONE = "Asia/Kolkata"

type CheckboxElement = HTMLElement & { readonly checked: boolean }

/** Value of a `datetime-local` input in the time zone of the tab. */
const localTime = (iso: string, minutes: number): string =>
  new Date(Date.parse(iso) + minutes * 60_000)
    .toLocaleString("sv-SE", { timeZone: ZONE, dateStyle: "short", timeStyle: "short" })
    .replace(" ", "T")

interface Delivery {
  readonly id: string
  readonly event_id: string
  readonly status: string
  readonly created_at: string
}

interface RoleChange {
  readonly actor: { readonly type: string }
  readonly data: { readonly role: string }
}

const isValidSignature = (call: WebhookReceiver.Received | undefined, secret: string): Promise<boolean> =>
  verifyWebhook(call?.body ?? "", call?.headers ?? {}, secret).then(
    () => true,
    () => false,
  )

await inBrowser("changes by an owner in the dashboard", (browser) => {
  let dns: Awaited<ReturnType<typeof DnsServer.open>>
  let receiver: WebhookReceiver.Receiver
  let instance: Instance.Instance
  let tab: Browser.BrowserTab
  let bo: Browser.BrowserTab
  let webhook: { readonly id: string; readonly secret: string }
  let isEndpointGone = false

  beforeAll(async () => {
    dns = await DnsServer.open()
    receiver = await WebhookReceiver.open({ answer: () => ({ status: isEndpointGone ? 410 : 202 }) })
    instance = await Instance.start({
      DNS_SERVERS: dns.server,
      WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
      TRACKING_URL: TRACKING,
    })
    webhook = (await instance.request("POST", "/webhooks", { url: receiver.url, events: ["email.delivered"] })).json
    tab = await Browser.openTab(browser, instance.url, ZONE)
    bo = await Browser.openTab(browser, instance.url)
    await Browser.signIn(tab.page, instance.owner)
  }, TIMEOUT)

  afterAll(async () => {
    await instance.close()
    await Promise.all([receiver.close(), dns.close()])
  }, TIMEOUT)

  const send = async (over: object): Promise<string> => {
    const message = { from: "hello@acme.test", to: "ana@example.org", subject: "Hello", text: "Hello.", ...over }
    const { json, status } = await instance.request("POST", "/email/send", message)
    assert.strictEqual(status, 200, JSON.stringify(json))
    return json.id
  }
  const emailOf = async (id: string) => (await instance.request("GET", `/email/logs/${id}`)).json
  const deliveries = async (): Promise<ReadonlyArray<Delivery>> =>
    (await instance.request("GET", `/webhooks/${webhook.id}/deliveries`)).json.data
  const allDelivered = async () => {
    await Browser.eventually(async () => (await deliveries()).map(({ status }) => status)).not.toContain("pending")
    return await deliveries()
  }
  const requestAsBo = (path: string, method = "GET", data?: unknown) =>
    bo.page.context().request.fetch(`/v1${path}`, { method, data, headers: { "x-waybill-dashboard": "1" } })
  const choose = async (menu: string, item: string) => {
    await tab.page.getByRole("button", { name: menu }).click()
    await tab.page.getByRole("menuitem", { name: item }).click()
  }

  it("resends an email to the recipients it did not reach", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const bounced = "bounced+1@customers.test"
    const first = await send({ to: ["ana@example.org", bounced], subject: "To both" })
    await Browser.eventually(async () => (await emailOf(first)).recipient_counts).toEqual({
      delivered: 1,
      bounced: 1,
    })
    // The simulator suppresses nobody.
    assert.strictEqual((await instance.request("POST", "/suppressions", { email: bounced })).status, 201)
    await page.goto(`/emails/${first}`)
    await page.getByRole("button", { name: "Resend" }).click()
    const dialog = page.getByRole("alertdialog")
    await dialog.getByRole("button", { name: "Resend" }).click()
    // The bounced address is suppressed, and the dialog shows the refusal.
    await dialog
      .getByText(/suppress/u)
      .first()
      .waitFor()
    assert.strictEqual((await instance.request("DELETE", `/suppressions/${encodeURIComponent(bounced)}`)).status, 200)
    await dialog.getByRole("button", { name: "Resend" }).click()
    await page.getByText("Copy queued.").waitFor()
    await Browser.eventually(() => page.url()).not.toContain(first)
    const copy = new URL(page.url()).pathname.replace("/emails/", "")
    const { json } = await instance.request("GET", `/email/logs/${copy}/events`)
    const [queued] = json.data
    assert.strictEqual(queued.data.resend_of, first)
    assert.strictEqual(queued.actor.type, "user")
    assert.deepEqual((await emailOf(copy)).to, [bounced])
    assert.strictEqual((await instance.request("GET", "/sandbox/messages?to=ana@example.org")).json.data.length, 1)
  })

  it("offers no resend for an email that reached all recipients", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const id = await send({ subject: "To one" })
    await page.goto(`/emails/${id}`)
    await page.locator("li[data-event='email.delivered']").waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: "Resend" }).count()).toBe(0)
  })

  it("enables a webhook that responded 410 Gone and replays the failed delivery", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await allDelivered()
    isEndpointGone = true
    await send({ subject: "Endpoint gone" })
    const reason = async () => (await instance.request("GET", `/webhooks/${webhook.id}`)).json.disabled_reason
    await Browser.eventually(reason).toBe("gone")
    await Browser.eventually(async () => (await deliveries())[0]?.status).toBe("failed")
    const [missed] = await deliveries()
    isEndpointGone = false
    const before = receiver.calls.length
    await page.goto(`/webhooks/${webhook.id}`)
    await page.getByText("Endpoint responded 410 Gone").waitFor()
    await page
      .locator("li")
      .getByRole("button", { name: /^Failed/u })
      .click()
    await page.locator("ol").getByText("410", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Replay", exact: true }).click()
    await page.getByText("Enable it first", { exact: false }).first().waitFor()
    await page.getByRole("button", { name: "Enable", exact: true }).click()
    await page.getByText("Webhook enabled.").waitFor()
    await page.getByRole("button", { name: "Replay", exact: true }).click()
    await page.getByText("Delivery queued again.").waitFor()
    await Browser.eventually(async () => (await deliveries())[0]?.status).toBe("delivered")
    const { json } = await instance.request("GET", `/webhooks/${webhook.id}/deliveries/${missed?.id}`)
    assert.deepEqual(
      json.history.map((attempt: { readonly status: number }) => attempt.status),
      [410, 202],
    )
    assert.strictEqual(receiver.calls.length, before + 1)
    assert.strictEqual(receiver.calls.at(-1)?.headers["webhook-id"], missed?.event_id)
  })

  it("replays a time range entered in the local time zone", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const delivered = await allDelivered()
    const [last] = delivered
    const first = delivered.at(-1)
    assert.isAbove(delivered.length, 2)
    const before = receiver.calls.length
    await page.goto(`/webhooks/${webhook.id}`)
    const replay = async (from: string, to: string) => {
      await choose("Webhook actions", "Replay time range")
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("From").fill(from)
      await dialog.getByLabel("To").fill(to)
      await dialog.getByRole("button", { name: "Replay" }).click()
    }
    // The hours before the first delivery have no events; so would the correct range in a wrong time zone.
    await replay(localTime(first?.created_at ?? "", -240), localTime(first?.created_at ?? "", -5))
    await page.getByText("0 deliveries queued.").waitFor()
    await replay(localTime(first?.created_at ?? "", -5), localTime(last?.created_at ?? "", 5))
    await page.getByText(`${delivered.length} deliveries queued.`).waitFor()
    await Browser.eventually(() => receiver.calls.length).toBe(before + delivered.length)
    assert.sameMembers(
      receiver.calls.slice(before).map(({ headers }) => headers["webhook-id"] ?? ""),
      delivered.map(({ event_id }) => event_id),
    )
    assert.strictEqual((await allDelivered()).length, delivered.length)
  })

  it("rotates a webhook secret, and requests are signed with both secrets", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await page.goto(`/webhooks/${webhook.id}`)
    await choose("Webhook actions", "Rotate signing secret")
    await page.getByRole("button", { name: "Rotate secret" }).click()
    const shown = page.locator("[role=dialog] code[title^=whsec_]")
    const next = (await shown.getAttribute("title")) ?? ""
    assert.notStrictEqual(next, webhook.secret)
    await page.getByRole("button", { name: "Done" }).click()
    await Browser.eventually(() => page.content()).not.toContain(next)
    const before = receiver.calls.length
    await page.getByRole("button", { name: "Send test event" }).click()
    await Browser.eventually(() => receiver.calls.length).toBe(before + 1)
    const call = receiver.calls.at(-1)
    assert.isTrue(await isValidSignature(call, next))
    assert.isTrue(await isValidSignature(call, webhook.secret))
    // Requests before the rotation are not signed with the new secret.
    assert.isFalse(await isValidSignature(receiver.calls[0], next))
  })

  it("rotates a DKIM key and signs with the old one until DNS has the new record", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const selectorOf = async (subject: string) => {
      const id = await send({ from: `hello@${DOMAIN}`, subject })
      await Browser.eventually(async () => (await emailOf(id)).status).toBe("delivered")
      const { json } = await instance.request("GET", `/sandbox/messages/${id}`)
      const raw = Buffer.from(json.raw, "base64")
        .toString()
        .replace(/\r\n\s+/gu, " ")
      return /^DKIM-Signature:.*?\bs=(\w+);/mu.exec(raw)?.[1]
    }
    const { json } = await instance.request("POST", "/domains", { name: DOMAIN })
    dns.set(`wb1._domainkey.${DOMAIN}`, { TXT: [json.records[0].value] })
    await page.goto(`/domains/${DOMAIN}`)
    await page.getByRole("button", { name: "Verify DNS" }).click()
    await page.getByText(`${DOMAIN} verified.`).waitFor()
    assert.strictEqual(await selectorOf("Before"), "wb1")

    await choose("Domain actions", "Rotate DKIM key")
    await page.getByRole("button", { name: "Rotate key" }).click()
    await page.getByText("New DKIM key created. Publish its record to activate it.").waitFor()
    await page.getByText("wb2._domainkey", { exact: false }).first().waitFor()
    const values = await page
      .locator("code[title^='v=DKIM1']")
      .evaluateAll((all) => all.map((each) => each.getAttribute("title") ?? ""))
    const next = values.find((value) => value !== json.records[0].value) ?? ""
    assert.strictEqual(await selectorOf("Between"), "wb1")

    dns.set(`wb2._domainkey.${DOMAIN}`, { TXT: [next] })
    await page.getByRole("button", { name: "Verify DNS" }).click()
    await Browser.eventually(() => selectorOf("After")).toBe("wb2")
  })

  it("adds, rotates and deletes an Ed25519 DKIM key", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const record = page.getByRole("row").filter({ has: page.getByText("Ed25519", { exact: true }) })
    const signatures = async (subject: string) => {
      const id = await send({ from: `hello@${DOMAIN}`, subject })
      await Browser.eventually(async () => (await emailOf(id)).status).toBe("delivered")
      const { json } = await instance.request("GET", `/sandbox/messages/${id}`)
      return Buffer.from(json.raw, "base64")
        .toString()
        .match(/(?<=^DKIM-Signature: v=1; )a=[\w-]+/gmu)
    }
    await choose("Domain actions", "Add Ed25519 key")
    await page.getByText("Ed25519 key created. Publish its record to activate it.").waitFor()
    await record.getByText("Not checked").waitFor()
    await Browser.eventually(() => record.getByText("Required").count()).toBe(0)
    const value = (await record.locator("code[title^='v=DKIM1; k=ed25519; p=']").getAttribute("title")) ?? ""
    assert.deepEqual(await signatures("One"), ["a=rsa-sha256"])

    dns.set(`wbe1._domainkey.${DOMAIN}`, { TXT: [value] })
    await page.getByRole("button", { name: "Verify DNS" }).click()
    await record.getByText("Verified", { exact: true }).waitFor()
    assert.deepEqual(await signatures("Two"), ["a=rsa-sha256", "a=ed25519-sha256"])

    await choose("Domain actions", "Rotate Ed25519 key")
    await page.getByRole("button", { name: "Rotate key" }).click()
    await record.getByText(`wbe2._domainkey.${DOMAIN}`, { exact: true }).waitFor()
    await choose("Domain actions", "Delete Ed25519 key")
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete key" }).click()
    await page.getByText("Ed25519 key deleted.").waitFor()
    await Browser.eventually(() => record.count()).toBe(0)
    assert.deepEqual(await signatures("One again"), ["a=rsa-sha256"])
  })

  it("records a click on a tracked link and shows it in the timeline", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const target = "https://shop.dev/order?id=7&view=all"
    await page.goto(`/domains/${DOMAIN}`)
    const clicks = page.getByRole("switch", { name: "Click tracking" })
    const checked = clicks.evaluate((switched) => {
      const checkbox = switched as CheckboxElement
      checkbox.click()
      return checkbox.checked
    })
    // The switch changes at once, before the server can have responded.
    assert.isTrue(await checked)
    const tracking = async () => {
      const { json } = await instance.request("GET", `/domains/${DOMAIN}`)
      return [json.open_tracking, json.click_tracking]
    }
    await Browser.eventually(tracking).toEqual([false, true])

    const html = `<p><a href="${target.replace("&", "&amp;")}">Your order</a></p>`
    const id = await send({ from: `hello@${DOMAIN}`, subject: "Followed", html })
    await Browser.eventually(async () => (await emailOf(id)).status).toBe("delivered")
    const captured = (await instance.request("GET", `/sandbox/messages/${id}`)).json.html as string
    const [, path = ""] = new RegExp(`href="${TRACKING}([^"]+)"`, "u").exec(captured) ?? []
    // The preview shows the original links, so opening it is not recorded as a click.
    await page.goto(`/emails/${id}`)
    await page.frameLocator("iframe").locator(`a[href="${target}"]`).waitFor()
    const followed = await fetch(`${instance.url}${path}`, {
      redirect: "manual",
      headers: { "user-agent": "Reader/7" },
    })
    assert.deepEqual([followed.status, followed.headers.get("location")], [302, target])
    await Browser.eventually(async () => (await emailOf(id)).clicks).toBe(1)
    await page.reload()
    const clicked = page.locator("[data-event='email.clicked']")
    await clicked.getByText(target).waitFor()
    await clicked.getByText("Reader/7").waitFor()
    await page.getByText("0 / 1", { exact: true }).waitFor()
  })

  it("invites a member, who sets a password with the link", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await page.goto("/settings/members")
    await page.getByRole("button", { name: "Invite member" }).click()
    await page.getByLabel("Email").fill(BO.email)
    await page.getByRole("dialog").getByRole("button", { name: "Invite member" }).click()
    const link = (await page.locator("[role=dialog] code[title*='/welcome#']").getAttribute("title")) ?? ""
    await page.getByRole("button", { name: "Done" }).click()
    await bo.page.goto(link)
    await bo.page.getByLabel("Password").fill(BO.password)
    await bo.page.keyboard.press("Enter")
    // The link signs in, once.
    await bo.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await page.goto(link)
    await page.getByRole("heading", { name: "This link was already used" }).waitFor()
    await page.goto("/settings/members")
    assert.strictEqual((await (await requestAsBo("/session")).json()).role, "member")
  })

  it("changes the role of a member from the next request on, and undoes it", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const email = { from: "hello@acme.test", to: "ana@example.org", subject: "From Bo", text: "Hello." }
    assert.strictEqual((await requestAsBo("/email/send", "POST", email)).status(), 200)
    await page.getByLabel(`Role of ${BO.email}`).selectOption("viewer")
    await page.getByText(`${BO.email} is now viewer.`).waitFor()
    assert.strictEqual((await requestAsBo("/email/send", "POST", email)).status(), 403)
    assert.strictEqual((await (await requestAsBo("/session")).json()).role, "viewer")
    await bo.page.goto("/emails")
    await bo.page.getByRole("link", { name: /From Bo/u }).waitFor()
    await Browser.eventually(() => bo.page.getByRole("link", { name: "Compose" }).count()).toBe(0)
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText(`${BO.email} is now member.`).waitFor()
    assert.strictEqual((await requestAsBo("/email/send", "POST", email)).status(), 200)
    const { json } = await instance.request("GET", "/events?types=member.role_changed")
    assert.deepEqual(
      json.data.map((event: RoleChange) => [event.actor.type, event.data.role]),
      [
        ["user", "viewer"],
        ["user", "member"],
      ],
    )
  })

  it("refuses to change the role of the last owner and shows the reason", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const own = page.getByLabel(`Role of ${instance.owner.email}`)
    await own.selectOption("viewer")
    await page.getByText("This is the account's last owner.", { exact: false }).first().waitFor()
    await Browser.eventually(() => own.inputValue()).toBe("owner")
    assert.strictEqual((await instance.request("GET", "/members")).json.data.find(isOwner)?.role, "owner")
  })

  it("removes a member and ends their session at once", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await choose(`Actions for ${BO.email}`, "Remove member")
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove member" }).click()
    await page.getByText("Member removed.", { exact: true }).waitFor()
    await Browser.eventually(() => page.getByText(BO.email, { exact: true }).count()).toBe(0)
    assert.strictEqual((await requestAsBo("/session")).status(), 401)
    await bo.page.goto("/emails")
    await bo.page.getByRole("heading", { name: "Sign in to Waybill" }).waitFor()
    const { json } = await instance.request("GET", "/members")
    assert.deepEqual(
      json.data.map(({ email }: { readonly email: string }) => email),
      [instance.owner.email],
    )
  })

  it("logs no console errors except for refused requests", () => {
    const errors = [...tab.consoleErrors, ...bo.consoleErrors].filter((each) => !REFUSED.test(each))
    assert.deepEqual(errors, [])
  })
})

const isOwner = ({ role }: { readonly role: string }): boolean => role === "owner"
