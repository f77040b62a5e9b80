import { readFileSync } from "node:fs"
import { assert, it } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

const HOUR_MS = 3_600_000

await inDashboard("actions on several emails of the list", (opened) => {
  const send = async (subject: string, more: object = {}): Promise<string> => {
    const email = { from: "hello@acme.test", to: "ana@example.org", subject, text: "Hello.", ...more }
    const { json, status } = await opened.instance.request("POST", "/email/send", email)
    assert.strictEqual(status, 200, JSON.stringify(json))
    return json.id
  }
  const read = async (id: string) => (await opened.instance.request("GET", `/email/logs/${id}`)).json
  const choose = (subject: string) =>
    opened.tab.page.getByRole("checkbox", { name: new RegExp(`^Select the email to .*: ${subject}$`, "u") })
  const bar = () => opened.tab.page.getByRole("region", { name: "Selected emails" })

  it("cancels those that wait, and says which others were left alone", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const scheduled_at = new Date(Date.now() + HOUR_MS).toISOString()
    const waiting = [await send("Later one", { scheduled_at }), await send("Later two", { scheduled_at })]
    const sent = await send("Sent")
    await Browser.eventually(async () => (await read(sent)).status).toBe("delivered")
    await page.goto("/emails")
    for (const subject of ["Later one", "Later two", "Sent"]) await choose(subject).check()
    await bar().getByText("3 selected").waitFor()
    await Browser.eventually(() => bar().getByRole("button", { name: "Resend" }).count()).toBe(0)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "emails-selected")
    await bar().getByRole("button", { name: "Cancel 2 emails" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("Only 2 of the 3 selected emails: the others were sent already.").waitFor()
    assert.deepEqual(await Accessibility.violations(page), [])
    await dialog.getByRole("button", { name: "Cancel 2 emails" }).click()
    await dialog.getByText("2 emails canceled.").waitFor()
    await dialog.getByRole("button", { name: "Done" }).click()
    for (const id of waiting) assert.strictEqual((await read(id)).status, "canceled")
    assert.strictEqual((await read(sent)).status, "delivered")
    // Nothing stays selected.
    await bar().waitFor({ state: "detached" })
  })

  it("shows why mail bounced, and exports it with the reason", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const id = await send("Returned", { to: "bounced+x@customers.test" })
    await Browser.eventually(async () => (await read(id)).status).toBe("bounced")
    await page.goto("/emails?search=is:bounced")
    await page.getByText("550 5.1.1 no such user here (simulated)").first().waitFor()
    // Keyboard alone: j goes to the row, x selects it.
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await bar().getByText("1 selected").waitFor()
    const download = page.waitForEvent("download")
    await bar().getByRole("button", { name: "Export CSV" }).click()
    const [head = "", row = ""] = readFileSync(await (await download).path(), "utf8").split("\r\n")
    assert.match(head, /error_recipient,error_code,error$/u)
    assert.match(row, /^msg_.*bounced\+x@customers\.test,550 5\.1\.1,no such user here \(simulated\)$/u)
    assert.include(row, id)
  })

  it("suppresses the recipients, and resends what did not arrive", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/emails?search=is:bounced")
    await page.getByRole("checkbox", { name: "Select all 1 loaded emails" }).check()
    await bar().getByRole("button", { name: "Suppress 1 address" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("button", { name: "Suppress 1 address" }).click()
    await dialog.getByText("1 address suppressed.").waitFor()
    await dialog.getByRole("button", { name: "Done" }).click()
    const { json } = await opened.instance.request("GET", "/suppressions/bounced%2Bx@customers.test")
    assert.strictEqual(json.reason, "manual")
    // A refusal is told, with what it is about.
    await choose("Returned").check()
    await bar().getByRole("button", { name: "Resend 1 email" }).click()
    await dialog.getByRole("button", { name: "Resend 1 email" }).click()
    await dialog.getByText("1 refused:").waitFor()
    await dialog.getByText(/^msg_/u).waitFor()
    await ContactSheet.shoot(page, "emails-refused")
    await dialog.getByRole("button", { name: "Done" }).click()
    await opened.instance.request("DELETE", "/suppressions/bounced%2Bx@customers.test")
    await choose("Returned").check()
    await bar().getByRole("button", { name: "Resend 1 email" }).click()
    await dialog.getByRole("button", { name: "Resend 1 email" }).click()
    await dialog.getByText("1 email sent again.").waitFor()
    await dialog.getByRole("button", { name: "Done" }).click()
    await Browser.eventually(() => page.getByText("Returned").count()).toBe(2)
  })

  it("selects all emails of a search, also those that are not loaded", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const mail = { from: "hello@acme.test", to: "many@example.org", subject: "Many", text: "Hi" }
    await opened.instance.request("POST", "/email/send/batch", { emails: Array.from({ length: 60 }, () => mail) })
    await page.goto("/emails?search=to:many@example.org")
    await page.getByText("60 emails", { exact: true }).waitFor()
    await page.getByRole("checkbox", { name: "Select all 50 loaded emails" }).check()
    await bar().getByText("50 selected").waitFor()
    // All are to one address, which the question names.
    await bar().getByRole("button", { name: "Suppress 1 address" }).click()
    const question = page.getByRole("dialog", { name: "Suppress 1 address?" })
    await question.getByText("no more mail, scheduled mail included").waitFor()
    await question.getByText("many@example.org", { exact: true }).waitFor()
    await ContactSheet.shoot(page, "emails-suppress")
    await question.getByRole("button", { name: "Keep as they are" }).click()
    await bar().getByRole("button", { name: "Select 60 emails" }).click()
    await bar().getByText("60 selected").waitFor()
    await bar().getByRole("button", { name: "Export CSV" }).click()
    // The toast stands above the bar, whose buttons stay free.
    const toast = page.locator("[data-toast]")
    await toast.waitFor()
    const distance = async () => {
      const [above, below] = [await toast.boundingBox(), await bar().boundingBox()]
      return (below?.y ?? 0) - (above?.y ?? Infinity) - (above?.height ?? 0)
    }
    await Browser.eventually(distance).toBeGreaterThanOrEqual(0)
    await bar().getByRole("button", { name: "Clear the selection" }).click()
    await bar().waitFor({ state: "detached" })
    await Browser.eventually(() => page.getByRole("checkbox", { checked: true }).count()).toBe(0)
  })

  it("shows attached pictures as in the dark, too", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const content = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
    const { json } = await opened.instance.request("POST", "/email/send", {
      from: "hello@acme.test",
      to: "dark@example.org",
      subject: "Picture",
      html: '<p><img src="cid:logo" alt="Logo"></p>',
      attachments: [{ filename: "logo.png", content, content_type: "image/png", content_id: "logo" }],
    })
    await page.goto(`/emails/${json.id}`)
    await page.getByRole("button", { name: "Dark mode" }).click()
    const picture = page.frameLocator('iframe[src^="/preview/template"]').getByAltText("Logo")
    await Browser.eventually(() => picture.getAttribute("src")).toMatch(/^data:image\/png;base64,/u)
  })

  it("logs no errors but the refusal", () =>
    assert.deepEqual(
      opened.tab.consoleErrors.filter((error) => !/ 422 .*\/resend/u.test(error)),
      [],
    ))
})
