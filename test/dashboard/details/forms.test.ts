import { assert, it } from "vitest"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("forms", (opened) => {
  it(
    "Compose is sent by its button or Ctrl+Enter, and says what is missing only then",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      const sent: Array<string> = []
      page.on("request", (request) => void (request.url().endsWith("/email/send") && sent.push(request.url())))
      await page.goto("/compose")
      const to = page.getByLabel("To", { exact: true })
      await to.press("Enter")
      // All that is missing is named at once.
      await page.getByLabel("Subject").press("Control+Enter")
      await page.getByText("Enter a subject.").waitFor()
      await page.getByLabel("Subject").fill("Hi")
      await page.getByLabel("Subject").press("Enter")
      await page.getByLabel("Subject").press("Control+Enter")
      await page.getByText("Enter at least one address.").waitFor()
      assert.strictEqual(await to.getAttribute("aria-invalid"), "true")
      await ContactSheet.shoot(page, "compose-refused")
      assert.strictEqual(sent.length, 0)
      await to.fill("ana@example.org")
      await Browser.eventually(() => to.getAttribute("aria-invalid")).toBe(null)
      await page.getByLabel("Text").fill("Hello")
      await page.getByLabel("Subject").press("Control+Enter")
      await page.getByRole("heading", { level: 1, name: "Hi" }).waitFor()
      assert.strictEqual(sent.length, 1)
    },
  )

  it("the secret of a new webhook stands beside the code that uses it", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/webhooks?new=true")
    const plain = page.getByText("Plain http is called only in networks that the operator allows.", { exact: false })
    await page.getByLabel("URL").fill("http://hooks.shop.dev/mail")
    await plain.waitFor()
    await page.getByLabel("URL").fill("https://hooks.shop.dev/mail")
    await plain.waitFor({ state: "hidden" })
    await page.getByRole("button", { name: "Create", exact: true }).click()
    const dialog = page.getByRole("dialog", { name: "Signing secret" })
    await dialog.getByText("await verifyWebhook(body, request.headers", { exact: false }).waitFor()
    const listen = dialog.getByText("npx waybill listen --forward-to http://localhost:3000/hooks")
    await Browser.eventually(() => listen.count()).toBe(1)
    await ContactSheet.shoot(page, "webhook-secret")
  })

  it("roles have names", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/settings/members?new=true")
    const roles = page.getByRole("dialog").getByLabel("Role").getByRole("option")
    await Browser.eventually(() => roles.allInnerTexts()).toEqual(["Owner", "Member", "Viewer"])
  })

  it("the domain of a pasted URL is added, and the form says so before", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    for (const [text, name] of [
      ["https://www.acme.dev/pricing?plan=2#faq", "acme.dev"],
      ["ana@mail.acme.dev", "mail.acme.dev"],
    ] as const) {
      await page.goto("/domains?new=true")
      await page.getByLabel("Domain", { exact: true }).fill(text)
      await page.getByText(`Adds ${name}, the domain of this address.`).waitFor()
      await ContactSheet.shoot(page, "add-domain-url")
      await page.getByRole("button", { name: "Add", exact: true }).click()
      await page.getByRole("heading", { level: 1, name }).waitFor()
    }
    // A name is added as it is.
    await page.goto("/domains?new=true")
    await page.getByLabel("Domain", { exact: true }).fill("www.acme.dev")
    await page.getByRole("button", { name: "Add", exact: true }).click()
    await page.getByRole("heading", { level: 1, name: "www.acme.dev" }).waitFor()
    const { json } = await opened.instance.request("GET", "/domains")
    const added = json.data.map(({ name }: { readonly name: string }) => name)
    assert.includeMembers(added, ["acme.dev", "mail.acme.dev", "www.acme.dev"])
  })
})
