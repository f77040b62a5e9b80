import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { verifyWebhook } from "../../packages/client/src/Waybill.ts"
import * as DnsServer from "../support/dnsServer.ts"
import * as WebhookReceiver from "../support/webhookReceiver.ts"
import * as Browser from "./Browser.ts"
import * as House from "./Service.ts"

const browser = await Browser.open()
const TIMEOUT = 120_000
const MINUTE_MS = 60_000
const DOMAIN = "mail.shop.dev"
const TRACKING = "https://track.shop.dev"
const BO = { email: "bo@acme.test", password: "a long password of bo" }
/** Half an hour beside everybody else, so that whoever takes local time for UTC is found out. */
const ZONE = "Asia/Kolkata"

interface Box extends HTMLElement {
  readonly checked: boolean
}

/** As a field for date and time takes it, in the time of whoever sits there. */
const local = (iso: string, minutes: number): string =>
  new Date(Date.parse(iso) + minutes * MINUTE_MS)
    .toLocaleString("sv-SE", { timeZone: ZONE, dateStyle: "short", timeStyle: "short" })
    .replace(" ", "T")

interface Told {
  readonly id: string
  readonly event_id: string
  readonly status: string
  readonly created_at: string
}

interface Changed {
  readonly actor: { readonly type: string }
  readonly data: { readonly role: string }
}

const accepts = (call: WebhookReceiver.Received | undefined, secret: string): Promise<boolean> =>
  verifyWebhook(call?.body ?? "", call?.headers ?? {}, secret).then(
    () => true,
    () => false,
  )

describe.skipIf(typeof browser === "string")(
  `what an owner changes in the dashboard${typeof browser === "string" ? ` (skipped: ${browser})` : ""}`,
  () => {
    let dns: Awaited<ReturnType<typeof DnsServer.open>>
    let hook: WebhookReceiver.Receiver
    let house: House.House
    let seen: Browser.Watched
    let bo: Browser.Watched
    let webhook: { readonly id: string; readonly secret: string }
    let isGone = false

    beforeAll(async () => {
      if (typeof browser === "string") return
      dns = await DnsServer.open()
      hook = await WebhookReceiver.open({ answer: () => ({ status: isGone ? 410 : 202 }) })
      house = await House.open({
        DNS_SERVERS: dns.server,
        WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
        TRACKING_URL: TRACKING,
      })
      webhook = (await house.ask("POST", "/webhooks", { url: hook.url, events: ["email.delivered"] })).json
      seen = await Browser.visit(browser, house.url, ZONE)
      bo = await Browser.visit(browser, house.url)
      await Browser.signIn(seen.page, house.owner)
    }, TIMEOUT)

    afterAll(async () => {
      if (typeof browser === "string") return
      await browser.close()
      await house.close()
      await Promise.all([hook.close(), dns.close()])
    }, TIMEOUT)

    const send = async (over: object): Promise<string> => {
      const message = { from: "hello@acme.test", to: "ana@example.org", subject: "Hello", text: "Hello.", ...over }
      const { json, status } = await house.ask("POST", "/email/send", message)
      assert.strictEqual(status, 200, JSON.stringify(json))
      return json.id
    }
    const log = async (id: string) => (await house.ask("GET", `/email/logs/${id}`)).json
    const deliveries = async (): Promise<ReadonlyArray<Told>> =>
      (await house.ask("GET", `/webhooks/${webhook.id}/deliveries`)).json.data
    const allDelivered = async () => {
      await Browser.eventually(async () => (await deliveries()).map(({ status }) => status)).not.toContain("pending")
      return await deliveries()
    }
    const session = (path: string, method = "GET", data?: unknown) =>
      bo.page.context().request.fetch(`/v1${path}`, { method, data, headers: { "x-waybill-dashboard": "1" } })
    const choose = async (menu: string, item: string) => {
      await seen.page.getByRole("button", { name: menu }).click()
      await seen.page.getByRole("menuitem", { name: item }).click()
    }

    it("sends a message again to whom it has not reached, and to nobody else", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const missed = "bounced+1@customers.test"
      const first = await send({ to: ["ana@example.org", missed], subject: "To both" })
      await Browser.eventually(async () => (await log(first)).recipient_counts).toEqual({ delivered: 1, bounced: 1 })
      await page.goto(`/emails/${first}`)
      await page.getByRole("button", { name: "Send again" }).click()
      const dialog = page.getByRole("alertdialog")
      await dialog.getByRole("button", { name: "Send a copy" }).click()
      // Who bounced is suppressed, and the refusal says so where it was asked for.
      await dialog.getByText(/suppress/u).waitFor()
      assert.strictEqual((await house.ask("DELETE", `/suppressions/${encodeURIComponent(missed)}`)).status, 200)
      await dialog.getByRole("button", { name: "Send a copy" }).click()
      await page.getByText("A copy is on its way.").waitFor()
      await Browser.eventually(() => page.url()).not.toContain(first)
      const copy = new URL(page.url()).pathname.replace("/emails/", "")
      const { json } = await house.ask("GET", `/email/logs/${copy}/events`)
      const [queued] = json.data
      assert.strictEqual(queued.data.resend_of, first)
      assert.strictEqual(queued.actor.type, "user")
      assert.deepEqual((await log(copy)).to, [missed])
      assert.strictEqual((await house.ask("GET", "/sandbox/messages?to=ana@example.org")).json.data.length, 1)
    })

    it("offers no second copy of what has reached everybody", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const id = await send({ subject: "To one" })
      await page.goto(`/emails/${id}`)
      await page.locator("li[data-event='email.delivered']").waitFor()
      assert.strictEqual(await page.getByRole("button", { name: "Send again" }).count(), 0)
    })

    it("calls an endpoint again that was gone, and replays what it missed", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await allDelivered()
      isGone = true
      await send({ subject: "Nobody is there" })
      const reason = async () => (await house.ask("GET", `/webhooks/${webhook.id}`)).json.disabled_reason
      await Browser.eventually(reason).toBe("gone")
      await Browser.eventually(async () => (await deliveries())[0]?.status).toBe("failed")
      const [missed] = await deliveries()
      isGone = false
      const before = hook.calls.length
      await page.goto(`/webhooks/${webhook.id}`)
      await page.getByText("it answered 410 Gone").waitFor()
      await page.getByRole("button", { name: /^Failed/u }).click()
      await page.getByText("410", { exact: true }).waitFor()
      await page.getByRole("button", { name: "Replay", exact: true }).click()
      await page.getByText("Enable it first", { exact: false }).first().waitFor()
      await choose("More for this webhook", "Call it again")
      await page.getByText("It is called again.").waitFor()
      await page.getByRole("button", { name: "Replay", exact: true }).click()
      await page.getByText("It is called once more, with the same event.").waitFor()
      await Browser.eventually(async () => (await deliveries())[0]?.status).toBe("delivered")
      const { json } = await house.ask("GET", `/webhooks/${webhook.id}/deliveries/${missed?.id}`)
      assert.deepEqual(
        json.history.map((attempt: { readonly status: number }) => attempt.status),
        [410, 202],
      )
      assert.strictEqual(hook.calls.length, before + 1)
      assert.strictEqual(hook.calls.at(-1)?.headers["webhook-id"], missed?.event_id)
    })

    it("replays a stretch of time, as the clock on the wall says it", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const told = await allDelivered()
      const [last] = told
      const first = told.at(-1)
      assert.isAbove(told.length, 2)
      const before = hook.calls.length
      await page.goto(`/webhooks/${webhook.id}`)
      const replay = async (from: string, to: string) => {
        await choose("More for this webhook", "Replay a stretch of time")
        const dialog = page.getByRole("dialog")
        await dialog.getByLabel("From").fill(from)
        await dialog.getByLabel("To").fill(to)
        await dialog.getByRole("button", { name: "Replay" }).click()
      }
      // The hours before the first of them are empty, and so would the right ones be in another zone.
      await replay(local(first?.created_at ?? "", -240), local(first?.created_at ?? "", -5))
      await page.getByText("0 calls are queued.").waitFor()
      await replay(local(first?.created_at ?? "", -5), local(last?.created_at ?? "", 5))
      await page.getByText(`${told.length} calls are queued.`).waitFor()
      await Browser.eventually(() => hook.calls.length).toBe(before + told.length)
      assert.sameMembers(
        hook.calls.slice(before).map(({ headers }) => headers["webhook-id"] ?? ""),
        told.map(({ event_id }) => event_id),
      )
      assert.strictEqual((await allDelivered()).length, told.length)
    })

    it("rotates a webhook’s secret, and both sign from then on", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto(`/webhooks/${webhook.id}`)
      await choose("More for this webhook", "Rotate the secret")
      await page.getByRole("button", { name: "Make a new secret" }).click()
      const shown = page.locator("[role=dialog] code[title^=whsec_]")
      const fresh = (await shown.getAttribute("title")) ?? ""
      assert.notStrictEqual(fresh, webhook.secret)
      await page.getByRole("button", { name: "I have kept it" }).click()
      await Browser.eventually(() => page.content()).not.toContain(fresh)
      const before = hook.calls.length
      await page.getByRole("button", { name: "Send a test" }).click()
      await Browser.eventually(() => hook.calls.length).toBe(before + 1)
      const call = hook.calls.at(-1)
      assert.isTrue(await accepts(call, fresh))
      assert.isTrue(await accepts(call, webhook.secret))
      // What was told before the rotation never knew of it.
      assert.isFalse(await accepts(hook.calls[0], fresh))
    })

    it("rotates a domain’s key, and the old one signs until DNS shows the new", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const selectorOf = async (subject: string) => {
        const id = await send({ from: `hello@${DOMAIN}`, subject })
        await Browser.eventually(async () => (await log(id)).status).toBe("delivered")
        const { json } = await house.ask("GET", `/sandbox/messages/${id}`)
        const raw = Buffer.from(json.raw, "base64")
          .toString()
          .replace(/\r\n\s+/gu, " ")
        return /^DKIM-Signature:.*?\bs=(\w+);/mu.exec(raw)?.[1]
      }
      const { json } = await house.ask("POST", "/domains", { name: DOMAIN })
      dns.set(`wb1._domainkey.${DOMAIN}`, { TXT: [json.records[0].value] })
      await page.goto(`/domains/${DOMAIN}`)
      await page.getByRole("button", { name: "Verify now" }).click()
      await page.getByText(`${DOMAIN} is verified.`).waitFor()
      assert.strictEqual(await selectorOf("Before"), "wb1")

      await choose("More for this domain", "Rotate the DKIM key")
      await page.getByRole("button", { name: "Make a new key" }).click()
      await page.getByText("A new key waits for its record.").waitFor()
      await page.getByText("wb2._domainkey", { exact: false }).first().waitFor()
      const values = await page
        .locator("code[title^='v=DKIM1']")
        .evaluateAll((all) => all.map((each) => each.getAttribute("title") ?? ""))
      const fresh = values.find((value) => value !== json.records[0].value) ?? ""
      assert.strictEqual(await selectorOf("Between"), "wb1")

      dns.set(`wb2._domainkey.${DOMAIN}`, { TXT: [fresh] })
      await page.getByRole("button", { name: "Verify now" }).click()
      await Browser.eventually(() => selectorOf("After")).toBe("wb2")
    })

    it("gives a domain an Ed25519 key that signs too, and takes it away", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const record = page.locator("section", { has: page.getByText("Ed25519", { exact: true }) })
      const signatures = async (subject: string) => {
        const id = await send({ from: `hello@${DOMAIN}`, subject })
        await Browser.eventually(async () => (await log(id)).status).toBe("delivered")
        const { json } = await house.ask("GET", `/sandbox/messages/${id}`)
        return Buffer.from(json.raw, "base64")
          .toString()
          .match(/(?<=^DKIM-Signature: v=1; )a=[\w-]+/gmu)
      }
      await choose("More for this domain", "Add an Ed25519 key")
      await page.getByText("An Ed25519 key waits for its record.").waitFor()
      await record.getByText("Not checked").waitFor()
      assert.strictEqual(await record.getByText("Required").count(), 0)
      const value = (await record.locator("code[title^='v=DKIM1; k=ed25519; p=']").getAttribute("title")) ?? ""
      assert.deepEqual(await signatures("One"), ["a=rsa-sha256"])

      dns.set(`wbe1._domainkey.${DOMAIN}`, { TXT: [value] })
      await page.getByRole("button", { name: "Verify now" }).click()
      await record.getByText("Found").waitFor()
      assert.deepEqual(await signatures("Two"), ["a=rsa-sha256", "a=ed25519-sha256"])

      await choose("More for this domain", "Rotate the Ed25519 key")
      await page.getByRole("button", { name: "Make a new key" }).click()
      await record.getByText("wbe2._domainkey", { exact: true }).waitFor()
      await choose("More for this domain", "Remove the Ed25519 key")
      await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click()
      await page.getByText("The Ed25519 key is removed.").waitFor()
      assert.strictEqual(await record.count(), 0)
      assert.deepEqual(await signatures("One again"), ["a=rsa-sha256"])
    })

    it("has a domain’s links tell when they are followed, and shows it", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const target = "https://shop.dev/order?id=7&view=all"
      await page.goto(`/domains/${DOMAIN}`)
      const clicks = page.getByRole("switch", { name: "Clicks" })
      const pressed = clicks.evaluate((switched) => {
        const box = switched as Box
        box.click()
        return box.checked
      })
      // In the same breath, before anybody can have answered.
      assert.isTrue(await pressed)
      const tracking = async () => {
        const { json } = await house.ask("GET", `/domains/${DOMAIN}`)
        return [json.open_tracking, json.click_tracking]
      }
      await Browser.eventually(tracking).toEqual([false, true])

      const html = `<p><a href="${target.replace("&", "&amp;")}">Your order</a></p>`
      const id = await send({ from: `hello@${DOMAIN}`, subject: "Followed", html })
      await Browser.eventually(async () => (await log(id)).status).toBe("delivered")
      const captured = (await house.ask("GET", `/sandbox/messages/${id}`)).json.html as string
      const [, path = ""] = new RegExp(`href="${TRACKING}([^"]+)"`, "u").exec(captured) ?? []
      // The preview is of what was written, so whoever looks at it here is no reader.
      await page.goto(`/emails/${id}`)
      await page.frameLocator("iframe").locator(`a[href="${target}"]`).waitFor()
      const followed = await fetch(`${house.url}${path}`, { redirect: "manual", headers: { "user-agent": "Reader/7" } })
      assert.deepEqual([followed.status, followed.headers.get("location")], [302, target])
      await Browser.eventually(async () => (await log(id)).clicks).toBe(1)
      await page.reload()
      const fact = page.locator("[data-event='email.clicked']")
      await fact.getByText(target).waitFor()
      await fact.getByText("Reader/7").waitFor()
      await page.getByText("0, 1", { exact: true }).waitFor()
    })

    it("makes a member of whom it invites, by a link", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto("/settings/members")
      await page.getByRole("button", { name: "Invite" }).click()
      await page.getByLabel("Email").fill(BO.email)
      await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click()
      const link = (await page.locator("[role=dialog] code[title*='/welcome#']").getAttribute("title")) ?? ""
      await page.getByRole("button", { name: "Done" }).click()
      await bo.page.goto(link)
      await bo.page.getByLabel("Password").fill(BO.password)
      await bo.page.keyboard.press("Enter")
      await bo.page.getByRole("heading", { name: "Sign in to Waybill" }).waitFor()
      await Browser.signIn(bo.page, BO)
      assert.strictEqual((await (await session("/session")).json()).role, "member")
    })

    it("changes what a member may do, from their next request on, and undoes it", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const mail = { from: "hello@acme.test", to: "ana@example.org", subject: "From Bo", text: "Hello." }
      assert.strictEqual((await session("/email/send", "POST", mail)).status(), 200)
      await page.getByLabel(`Role of ${BO.email}`).selectOption("viewer")
      await page.getByText(`${BO.email} is viewer now.`).waitFor()
      assert.strictEqual((await session("/email/send", "POST", mail)).status(), 403)
      assert.strictEqual((await (await session("/session")).json()).role, "viewer")
      await bo.page.goto("/emails")
      await bo.page.getByRole("link", { name: /From Bo/u }).waitFor()
      assert.strictEqual(await bo.page.getByRole("link", { name: "Compose" }).count(), 0)
      await page.getByRole("button", { name: "Undo" }).click()
      await page.getByText(`${BO.email} is member now.`).waitFor()
      assert.strictEqual((await session("/email/send", "POST", mail)).status(), 200)
      const { json } = await house.ask("GET", "/events?types=member.role_changed")
      assert.deepEqual(
        json.data.map((event: Changed) => [event.actor.type, event.data.role]),
        [
          ["user", "viewer"],
          ["user", "member"],
        ],
      )
    })

    it("keeps its last owner an owner, and says why", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const own = page.getByLabel(`Role of ${house.owner.email}`)
      await own.selectOption("viewer")
      await page.getByText("This is the account's last owner.", { exact: false }).first().waitFor()
      await Browser.eventually(() => own.inputValue()).toBe("owner")
      assert.strictEqual((await house.ask("GET", "/members")).json.data.find(isOwner)?.role, "owner")
    })

    it("removes a member, whose session ends at once", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await choose(`More for ${BO.email}`, "Remove")
      await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click()
      await page.getByText("Removed.", { exact: true }).waitFor()
      await Browser.eventually(() => page.getByText(BO.email, { exact: true }).count()).toBe(0)
      assert.strictEqual((await session("/session")).status(), 401)
      await bo.page.goto("/emails")
      await bo.page.getByRole("heading", { name: "Sign in to Waybill" }).waitFor()
      const { json } = await house.ask("GET", "/members")
      assert.deepEqual(
        json.data.map(({ email }: { readonly email: string }) => email),
        [house.owner.email],
      )
    })

    it("has made nothing in the console complain, but of what was refused", () => {
      assert.deepEqual(
        [...seen.complaints, ...bo.complaints].filter((each) => !/status of (401|422)/u.test(each)),
        [],
      )
    })
  },
)

const isOwner = ({ role }: { readonly role: string }): boolean => role === "owner"
