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
      await page.getByLabel("Subject").fill("Hi")
      await page.getByLabel("Subject").press("Enter")
      await page.getByLabel("Subject").press("Control+Enter")
      await Browser.eventually(() => to.getAttribute("aria-invalid")).toBe("true")
      await ContactSheet.shoot(page, "compose-refused")
      assert.strictEqual(sent.length, 1)
    },
  )
})
