import { assert, it } from "vitest"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("what the dashboard says is true", (opened) => {
  const create = async (path: string, body: unknown) => {
    const { json, status } = await opened.instance.request("POST", path, body)
    assert.isBelow(status, 300, JSON.stringify(json))
    return json
  }
  const send = (over: object) =>
    create("/email/send", { from: "hello@acme.test", to: "ana@example.org", subject: "Hi", html: "<p>Hi</p>", ...over })
  const settled = async (id: string, status: string) =>
    Browser.eventually(async () => (await opened.instance.request("GET", `/email/logs/${id}`)).json.status).toBe(status)

  it("a simulated suppression is not explained by a list", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await send({ to: "suppressed+carla@customers.test" })
    await settled(id, "suppressed")
    await page.goto(`/emails/${id}`)
    const panel = page.locator("section", { hasText: "What happened" })
    await panel.getByText("Simulated: an address that begins with suppressed+ counts as suppressed.").waitFor()
    await Browser.eventually(() => panel.innerText()).not.toMatch(/list|Resend/u)
    await ContactSheet.shoot(page, "email-suppressed-simulated")
    await page.goto("/emails")
    await page.getByText("Simulated: an address").first().waitFor()
  })

  it("live mail in the sandbox is told of the transport only, test mail of the key", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const { id } = await send({})
    await settled(id, "delivered")
    await page.goto(`/emails/${id}`)
    const advice = page.getByText("To reach people, set TRANSPORT to relay or direct.", { exact: true })
    await advice.waitFor()
    await Browser.eventually(() => page.getByText("live API key").count()).toBe(0)
  })

  it("remote images are offered where a mail has some", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const images = page.getByRole("button", { name: "Load remote images" })
    const { id: plain } = await send({})
    await page.goto(`/emails/${plain}`)
    await page.getByTitle("Email preview").waitFor()
    await Browser.eventually(() => images.count()).toBe(0)
    const { id } = await send({ html: '<img src="https://cdn.acme.test/logo.png">' })
    await page.goto(`/emails/${id}`)
    await images.waitFor()
  })

  it("a search of a link is read under the name that other lists have", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/emails?q=is:bounced")
    await page.getByText("No emails match your filters").waitFor()
    await Browser.eventually(() => page.getByLabel("Search emails").inputValue()).toBe("is:bounced")
    await page.goto("/emails?q=is:bounced&search=is:delivered")
    await page.getByRole("list", { name: "Emails" }).waitFor()
    await Browser.eventually(() => page.getByLabel("Search emails").inputValue()).toBe("is:delivered")
  })

  it("a domain of the sandbox asks for no DNS record", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/domains")
    await page
      .getByRole("row", { name: /acme\.test/u })
      .getByText("Needs no DNS")
      .waitFor()
    await create("/domains", { name: "shop.example" })
    await page.goto("/routes")
    for (const name of ["acme.test", "shop.example"])
      await page
        .getByRole("listitem")
        .filter({ hasText: `*@${name}` })
        .getByText("Sandbox: needs no DNS")
        .waitFor()
    await page.goto("/domains/acme.test")
    await page.getByText("In the sandbox this domain needs no DNS.").waitFor()
    await Browser.eventually(() => page.getByText("Publish these records").count()).toBe(0)
    await Browser.eventually(() => page.getByRole("button", { name: "Verify DNS" }).count()).toBe(0)
    const receiving = page.getByRole("switch", { name: "Receive mail" })
    assert.deepEqual([await receiving.isChecked(), await receiving.isDisabled()], [true, true])
    await page.getByText("Sandbox: receives without DNS.").waitFor()
    await page.getByRole("link", { name: "operator sets them up" }).first().waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: "90 days" }).count()).toBe(0)
    await ContactSheet.shoot(page, "domain-sandbox")
  })

  it("the audit log names templates and routes, and leaves mail to its own log", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const template = await create("/templates", { name: "Receipt", subject: "Hi", html: "<p>Hi</p>" })
    await create(`/templates/${template.id}/publish`, {})
    await create("/inbound/routes", { match: { to: "help@acme.test" }, action: { type: "store" } })
    await create("/test/inbound", { to: "help@acme.test", from: "ana@example.org", subject: "Hi", text: "Hi" })
    await page.goto("/settings/audit?q=Receipt")
    const table = page.getByRole("table", { name: "Audit log" })
    await table.getByText("Template created").waitFor()
    await table.getByText("version: 1").waitFor()
    await Browser.eventually(() => table.getByRole("link", { name: "Receipt" }).first().getAttribute("href")).toBe(
      `/templates/${template.id}`,
    )
    await page.goto("/settings/audit?stream=inbound_route")
    await page.getByRole("button", { name: "Object: Inbound routes" }).waitFor()
    await table.getByText("Mail to help@acme.test").waitFor()
    await page.goto("/settings/audit")
    await table.getByText("Inbound route created").waitFor()
    const types = (await opened.instance.request("GET", "/audit")).json.data.map(({ type }: { type: string }) => type)
    assert.notIncludeMembers(types, ["email.received", "inbound.route_applied"])
    await Browser.eventually(() => table.getByText(/Email received|route applied/u).count()).toBe(0)
    await ContactSheet.shoot(page, "audit-names")
  })
})
