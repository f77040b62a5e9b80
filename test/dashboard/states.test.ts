import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Locator } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { freePort } from "../support/process/service.ts"
import * as Accessibility from "./support/Accessibility.ts"
import * as Browser from "./support/Browser.ts"
import { inBrowser } from "./support/inBrowser.ts"
import { TIMEOUT } from "./support/inDashboard.ts"
import * as ContactSheet from "./support/ContactSheet.ts"
import * as Instance from "./support/Instance.ts"

const TEAPOT = 418
const VIEWER = { email: "vera@acme.test", password: "a long enough password" }

await inBrowser("first steps and states of screens", (browser) => {
  let instance: Instance.Instance
  let tab: Browser.BrowserTab
  let endpoint: Server

  beforeAll(async () => {
    endpoint = createServer((_, response) => response.writeHead(TEAPOT).end()).listen(0, "127.0.0.1")
    instance = await Instance.start({ WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8", MAIL_PORT: String(await freePort()) })
    tab = await Browser.openTab(browser, instance.url)
    await Browser.signIn(tab.page, instance.owner)
  }, TIMEOUT)

  afterAll(async () => {
    await instance.close()
    endpoint.close()
  }, TIMEOUT)

  /** Opens a path without loading the page again. */
  const open = (path: string) => tab.page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`)
  const step = (name: string) => tab.page.locator(`[data-step="${name}"]`)
  const isDone = (name: string) => Browser.eventually(() => step(name).getAttribute("data-done")).toBe("true")
  /** Lines of a text as they are shown, which are more than it has where some are broken. */
  const shownLines = (element: Locator) =>
    element.evaluate((node) => {
      const range = document.createRange()
      range.selectNodeContents(node)
      return Math.round(range.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(node).lineHeight))
    })

  it(
    "first run: leads to the first email with code that runs, and ticks each step off",
    { timeout: TIMEOUT },
    async () => {
      const { page } = tab
      await page.getByRole("heading", { name: "Get started" }).waitFor()
      // The start printed a key, and nothing else was done yet.
      await Browser.eventually(() => page.locator("[data-step][data-done=true]").count()).toBe(1)
      await isDone("key")
      await step("key").getByText("You have one; its text was shown once.").waitFor()
      await Browser.eventually(() => page.getByText("WAYBILL_KEY").count()).toBe(0)
      await page.getByRole("button", { name: "Create API key" }).click()
      const code = page.locator("pre[aria-label=curl]")
      const [, key = ""] = /Bearer (wb_\w+)/u.exec((await code.textContent()) ?? "") ?? []
      await page.setViewportSize(ContactSheet.PHONE)
      // It scrolls, and breaks no word.
      const lines = (await code.textContent())?.split("\n").length
      await Browser.eventually(() => shownLines(code)).toBe(lines)
      await page.setViewportSize(Browser.DESKTOP)
      assert.deepEqual(await Accessibility.violations(page), [], "first run")
      await ContactSheet.shoot(page, "first-run")
      // With the key as the code has it.
      const email = { from: "hello@acme.test", to: "ana@example.org", subject: "From the code", text: "It works." }
      assert.strictEqual((await instance.request("POST", "/email/send", email, key)).status, 200)
      await isDone("send")
      await isDone("arrive")
      await step("arrive").getByText("From the code").waitFor()
      await page.getByRole("button", { name: "Send test email" }).click()
      await step("arrive").getByText("Your first email with Waybill").waitFor()
    },
  )

  it("first run: shows a command that brings a first mail, which appears by itself", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const { json: account } = await instance.request("GET", "/account")
    const command = (await step("receive").locator("pre").textContent()) ?? ""
    await page.setViewportSize(ContactSheet.PHONE)
    await Browser.eventually(() => shownLines(step("receive").locator("pre"))).toBe(command.split("\n").length)
    await page.setViewportSize(Browser.DESKTOP)
    assert.include(command, `--mail-rcpt hello@${account.inbound_domain}`)
    await step("receive").scrollIntoViewIfNeeded()
    await ContactSheet.shoot(page, "first-run-receive", step("receive"))
    await Browser.eventually(() => step("receive").getAttribute("data-done")).toBe("false")
    await promisify(execFile)("sh", ["-c", command])
    await isDone("receive")
    await step("receive").getByText("Where is my order?").waitFor()
    await Browser.eventually(() => step("receive").getByText("Run this command").count()).toBe(0)
    await ContactSheet.shoot(page, "first-run-received", step("receive"))
    await step("receive").getByRole("link").click()
    await page.getByRole("tabpanel").getByText("It has not come.").waitFor()
    await page.goto("/overview")
  })

  it("first run: can be dismissed, and is gone once everything is done", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const steps = page.getByRole("heading", { name: "Get started" })
    const title = page.getByText("All emails")
    await page.getByRole("button", { name: "Dismiss these steps" }).click()
    await page.reload()
    await title.waitFor()
    await Browser.eventually(() => steps.count()).toBe(0)
    await page.evaluate("localStorage.clear()")
    await page.reload()
    await step("webhook").waitFor()
    await instance.request("POST", "/domains", { name: "mail.acme.dev" })
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hook`
    await instance.request("POST", "/webhooks", { url, events: ["email.queued"], description: "The teapot" })
    await page.reload()
    await title.waitFor()
    await Browser.eventually(() => steps.count()).toBe(0)
  })

  it("overview: shows the numbers by domain and tag", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const email = {
      from: "hello@acme.test",
      to: "ana@example.org",
      subject: "Tagged",
      text: "Hi.",
      tags: ["receipts"],
    }
    await instance.request("POST", "/email/send", email)
    await page.getByRole("cell", { name: "acme.test" }).waitFor()
    // No domain tracks opens or clicks, so that these could never move.
    for (const name of ["Opens", "Clicks"])
      await Browser.eventually(() => page.getByText(name, { exact: true }).count(), name).toBe(0)
    await page.getByRole("button", { name: "Tag", exact: true }).click()
    await page.getByRole("cell", { name: "receipts" }).getByRole("link").click()
    await page.getByRole("link", { name: /Tagged/u }).waitFor()
    assert.include(page.url(), "receipts")
  })

  it("page titles name the screen", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    for (const [path, title] of [
      ["/emails", "Emails"],
      ["/settings/api-keys", "API keys"],
      ["/domains/mail.acme.dev", "mail.acme.dev"],
      ["/settings/nothing", "Page not found"],
    ] as const) {
      await open(path)
      await Browser.eventually(() => page.title()).toBe(`${title} · Waybill`)
    }
    await page.getByText("My company").waitFor()
    assert.include(await page.title(), "Waybill")
  })

  it("a new key stays on the screen after Esc and a click outside", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await open("/settings/api-keys?new=true")
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("Kept")
    await dialog.getByRole("button", { name: "Create API key" }).click()
    await dialog.getByText("API key created").waitFor()
    await page.keyboard.press("Escape")
    await page.mouse.click(5, 5)
    await dialog.locator("code[title^=wb_]").waitFor()
    await Browser.eventually(() => dialog.isVisible()).toBe(true)
    await ContactSheet.shoot(page, "new-key-created")
    await dialog.getByRole("button", { name: "Done" }).click()
    await dialog.waitFor({ state: "detached" })
  })

  it("an error of a form shows once, beside its field, until it is corrected", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await open("/settings/api-keys?new=true")
    const dialog = page.getByRole("dialog")
    const field = dialog.getByLabel("Allowed IP addresses")
    await dialog.getByLabel("Name").fill("Refused")
    await field.fill("nowhere")
    await dialog.getByRole("button", { name: "Create API key" }).click()
    await Browser.eventually(() => field.getAttribute("aria-invalid")).toBe("true")
    const message = (await dialog.locator(`[id="${await field.getAttribute("aria-describedby")}"]`).textContent()) ?? ""
    assert.notMatch(message, /allowed_ips|req_|\/v1/u)
    await Browser.eventually(() => dialog.getByText(message).count()).toBe(1)
    await Browser.eventually(() => dialog.getByRole("alert").count()).toBe(0)
    await ContactSheet.shoot(page, "form-error")
    await field.fill("192.0.2.7")
    await Browser.eventually(() => field.getAttribute("aria-invalid")).toBe(null)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
  })

  it("says that it is offline, and that the list is not live, until it is back", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await open("/emails")
    const live = page.getByRole("switch")
    await live.getByText("Auto-refresh", { exact: true }).waitFor()
    await tab.context.setOffline(true)
    await page.getByText("You are offline.", { exact: false }).waitFor()
    await live.getByText("Offline").waitFor()
    await ContactSheet.shoot(page, "offline")
    // The sidebar marks what is shown: the next screen, whose code is not there yet.
    await page.getByRole("link", { name: "Routes" }).click()
    await Browser.eventually(() => page.getByRole("heading", { level: 1, name: "Emails" }).count()).toBe(0)
    await page.getByRole("main").getByRole("status", { name: "Loading" }).waitFor()
    await page.goBack()
    await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
    await tab.context.setOffline(false)
    await live.getByText("Auto-refresh", { exact: true }).waitFor()
    await Browser.eventually(() => page.getByText("You are offline.", { exact: false }).count()).toBe(0)
    await page.route(/\/(?:v1|healthz)/u, (route) => route.abort())
    await open("/suppressions")
    await page.getByText("The server does not answer.", { exact: false }).waitFor()
    await page.unroute(/\/(?:v1|healthz)/u)
    await Browser.eventually(() => page.getByText("The server does not answer.", { exact: false }).count()).toBe(0)
  })

  it("shows the mark until the session is read", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    let answer = () => {}
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route("**/v1/session", async (route) => {
      await held
      await route.continue()
    })
    await page.goto("/suppressions")
    await page.getByRole("img", { name: "Loading" }).waitFor()
    answer()
    await page.getByRole("heading", { level: 1, name: "Suppressions" }).waitFor()
    assert.strictEqual(await page.getByRole("img", { name: "Loading" }).count(), 0)
    await page.unroute("**/v1/session")
  })

  it("says on which days requests were counted and not kept", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await page.route("**/v1/requests*", async (route) => {
      const response = await route.fetch()
      const not_kept = [28, 27, 26, 25].map((day) => ({ date: `2026-11-${day}`, count: 17_212 + day }))
      await route.fulfill({ response, json: { ...((await response.json()) as object), not_kept } })
    })
    await page.goto("/requests")
    const notice = page.getByRole("region", { name: "Requests not kept" })
    await notice.getByText(/17,240 on .*28.*, 17,239 on .*, 17,238 on .*, more on 1 earlier day/u).waitFor()
    await ContactSheet.shoot(page, "requests-not-kept")
    await page.unroute("**/v1/requests*")
    await page.goto("/requests")
    await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor()
    await Browser.eventually(() => notice.count()).toBe(0)
    assert.strictEqual(await page.title(), "Requests · Waybill")
  })

  it("answers 404, 429 and 403 inside the shell, in words", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const navigation = page.getByRole("navigation", { name: "Main" })
    const response = await page.goto("/nonsense/deeper")
    assert.strictEqual(response?.status(), 404)
    for (const [path, title] of [
      ["/nonsense/deeper", "Page not found"],
      [`/emails/msg_${"0".repeat(26)}`, "Not found"],
    ] as const) {
      await open(path)
      await page.getByRole("heading", { level: 1, name: title }).waitFor()
      await Browser.eventually(() => navigation.isVisible()).toBe(true)
      assert.deepEqual(await Accessibility.violations(page), [], path)
      await ContactSheet.shoot(page, title.replaceAll(" ", "-"))
    }
    const domain = "**/v1/domains/mail.acme.dev"
    const headers = { "retry-after": "2" }
    await page.route(domain, (route) => route.fulfill({ status: 429, headers, json: {} }), { times: 1 })
    await page.goto("/domains/mail.acme.dev")
    await page.getByRole("heading", { level: 1, name: "Too many requests" }).waitFor()
    await Browser.eventually(() => navigation.isVisible()).toBe(true)
    await ContactSheet.shoot(page, "too-many-requests")
    // It tries again by itself.
    await page.getByRole("button", { name: "Verify DNS" }).waitFor()
  })

  it(
    "an invitation signs in, a used or expired one says so, and a viewer is told what is not theirs",
    { timeout: TIMEOUT },
    async () => {
      const { json } = await instance.request("POST", "/members", { email: VIEWER.email, role: "viewer" })
      const { context, page } = await Browser.openTab(browser, instance.url)
      await page.goto(json.url)
      await page.getByText(VIEWER.email).waitFor()
      assert.deepEqual(await Accessibility.violations(page), [], "invitation")
      await ContactSheet.shoot(page, "invitation")
      await page.getByLabel("Password").fill(VIEWER.password)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
      await page.goto("/settings/api-keys")
      await page.getByRole("heading", { level: 1, name: "You don’t have access" }).waitFor()
      const navigation = page.getByRole("navigation", { name: "Main" })
      await Browser.eventually(() => navigation.isVisible()).toBe(true)
      await ContactSheet.shoot(page, "no-access")
      // Only administrators may know the names of keys, and an id says nothing to a viewer.
      const mail = { from: "hello@acme.test", to: "ana@example.org", subject: "Hi", text: "Hi" }
      const sent = await instance.request("POST", "/email/send", mail)
      await page.goto(`/emails/${sent.json.id}`)
      await page.getByRole("link", { name: "API key", exact: true }).waitFor()
      await page.goto("about:blank")
      await page.goto(json.url)
      await page.getByRole("heading", { name: "This link was already used" }).waitFor()
      assert.deepEqual(await Accessibility.violations(page), [], "used invitation")
      await ContactSheet.shoot(page, "used-invitation")
      await page.goto("about:blank")
      await page.goto(json.url.replace(/#.*/u, "#never-made"))
      await page.getByRole("heading", { name: "This link has expired" }).waitFor()
      const late = await instance.request("POST", "/members", { email: "late@acme.test", role: "viewer" })
      await page.goto("about:blank")
      await page.goto(late.json.url)
      await page.getByText("late@acme.test").waitFor()
      await instance.sql("UPDATE user_verifications SET expires_at = now()")
      await page.reload()
      await page.getByRole("heading", { name: "This link has expired" }).waitFor()
      await Browser.eventually(() => page.getByRole("link", { name: "Go to sign-in" }).isVisible()).toBe(true)
      assert.deepEqual(await Accessibility.violations(page), [], "expired invitation")
      await ContactSheet.shoot(page, "expired-invitation")
      // Reading one's own session does not share the limit of other requests, nor that of sign-ins.
      const headers = { "x-waybill-dashboard": "1" }
      const read = (times: number, ...paths: ReadonlyArray<string>) =>
        Promise.all(
          Array.from({ length: times }, () => paths)
            .flat()
            .map(async (path) => (await context.request.get(path, { headers })).status()),
        )
      while (!(await read(65, "/v1/account")).includes(429));
      assert.deepEqual(new Set(await read(33, "/overview", "/auth/get-session", "/v1/session")), new Set([200]))
      await page.goto("/domains")
      await page.getByRole("heading", { level: 1, name: "Domains" }).waitFor()
      await Browser.eventually(() => navigation.isVisible()).toBe(true)
      // Meanwhile a new minute may have begun.
      await page
        .locator("main")
        .getByText(/requests per minute|acme\.test/u)
        .first()
        .waitFor()
      await context.close()
    },
  )

  it("scheduled and canceled mail says so, with the name of its key", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
    const later = { from: "hello@acme.test", to: "ana@example.org", subject: "Later", text: "Hi.", scheduled_at }
    const { json } = await instance.request("POST", "/email/send", later)
    await open(`/emails/${json.id}`)
    await page.getByText(/^Goes out .* to .* Nothing was sent yet\.$/u).waitFor()
    await page.getByText("API key First key").waitFor()
    assert.strictEqual(json.status, "queued")
    await ContactSheet.shoot(page, "scheduled")
    await page.getByRole("button", { name: "Cancel", exact: true }).click()
    await page.getByRole("button", { name: "Cancel email" }).click()
    await page.getByText(/^Canceled on .* by User: .* Nothing was sent\.$/u).waitFor()
    await page.getByText("The text and attachments are deleted within an hour.").waitFor()
  })

  it("deliveries of a webhook show the status code", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    const { json } = await instance.request("GET", "/webhooks")
    await open(`/webhooks/${json.data[0].id}`)
    await page
      .getByRole("button", { name: new RegExp(`Queued.*${TEAPOT}`, "u") })
      .first()
      .waitFor()
    assert.include(page.url(), json.data[0].id)
    await ContactSheet.shoot(page, "webhook")
  })

  it("pages outside the dashboard have no accessibility violations", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    for (const path of ["/unsubscribe/nothing", "/t/c/nothing"]) {
      await page.goto(path)
      await page.getByText("This link is not valid.", { exact: false }).waitFor()
      assert.deepEqual(await Accessibility.violations(page), [], path)
      await ContactSheet.shoot(page, path.slice(1).replaceAll("/", "-"))
    }
  })
})
