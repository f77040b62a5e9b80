import { verify } from "@waybill/verify/verify"
import { copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { inflateSync } from "node:zlib"
import type { Locator, Page } from "playwright-core"
import { assert, it } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

/** Opens the menu by the keyboard, chooses a form, and returns the file. */
const downloaded = async (page: Page, button: Locator, downs: number): Promise<{ name: string; bytes: Buffer }> => {
  await button.focus()
  await page.keyboard.press("Enter")
  await page.getByRole("menuitem", { name: "Download PDF" }).waitFor()
  for (let nth = 1; nth < downs; nth++) await page.keyboard.press("ArrowDown")
  const [file] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")])
  const path = await file.path()
  const folder = process.env["WAYBILL_CONTACT_SHEET"]
  if (folder !== undefined) copyFileSync(path, join(folder, file.suggestedFilename()))
  return { name: file.suggestedFilename(), bytes: readFileSync(path) }
}

await inDashboard("receipts in the dashboard", (opened) => {
  const send = async (subject: string) => {
    const email = { from: "Zoë <hello@acme.test>", to: "ana@example.org", subject, text: "Hello." }
    return (await opened.instance.request("POST", "/email/send", email)).json.id as string
  }

  it(
    "are downloaded as JSON and as a page of PDF, by the keyboard, for sent and received mail",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      const sent = await send("請求書 2026-1129 – 👩‍👩‍👧‍👦 مرحبا ) Tj")
      const { json: mail } = await opened.instance.request("POST", "/test/inbound", {
        from: "ana@example.org",
        to: "hello@acme.test",
        subject: "Where is it?",
        text: "Hello?",
      })
      const button = page.getByRole("button", { name: "Receipt", exact: true })
      for (const [id, path] of [
        [sent, `/emails/${sent}`],
        [mail.id, `/received?id=${mail.id}`],
      ] as const) {
        await page.goto(path)
        const json = await downloaded(page, button, 1)
        assert.strictEqual(json.name, `receipt-${id}.json`)
        const { holds, steps } = await verify(json.bytes)
        assert.isTrue(holds, JSON.stringify(steps))
        const pdf = await downloaded(page, button, 2)
        assert.strictEqual(pdf.name, `receipt-${id}.pdf`)
        assert.strictEqual(pdf.bytes.subarray(0, 8).toString(), "%PDF-1.7")
        const attached = pdf.bytes.subarray(pdf.bytes.indexOf("stream\n", pdf.bytes.indexOf("/EmbeddedFile/")) + 7)
        assert.isTrue((await verify(inflateSync(attached))).holds)
        // The subject has letters that the standard fonts lack: the browser draws them.
        if (id === sent) assert.match(pdf.bytes.toString("latin1"), /\/Subtype\/Image\/Width \d{3}/u)
      }
    },
  )

  it("have a menu that is accessible, and fits a phone", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto(`/emails/${await send("Your order")}`)
    await page.getByRole("button", { name: "Receipt", exact: true }).click()
    await page.getByRole("menuitem", { name: "Download PDF" }).waitFor()
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "receipt-menu")
    await page.setViewportSize(ContactSheet.PHONE)
    const { width = 0, x = 0 } = (await page.getByRole("menu").boundingBox()) ?? {}
    assert.isAtMost(x + width, ContactSheet.PHONE.width)
    await Browser.eventually(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      ContactSheet.PHONE.width,
    )
  })
})
