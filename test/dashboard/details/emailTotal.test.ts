import { assert, it } from "vitest"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("how many emails there are", (opened) => {
  const send = async (emails: number) => {
    const mail = { from: "hello@acme.test", to: "ana@example.org", subject: "Hi", text: "Hi" }
    const body = { emails: Array.from({ length: emails }, () => mail) }
    const { status } = await opened.instance.request("POST", "/email/send/batch", body)
    assert.strictEqual(status, 200)
  }

  it("comes with the first page of the list, and grows with it", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    // More than the list reads before it is scrolled.
    await send(100)
    await send(50)
    const reads: Array<string> = []
    page.on("request", (request) => {
      if (request.url().includes("/v1/email/logs?")) reads.push(request.url())
    })
    await page.goto("/emails")
    await page.getByText("150 emails, newest first.").waitFor()
    assert.isTrue(reads[0]?.endsWith("?limit=50&count=true"))
    assert.deepStrictEqual(
      reads.filter((url) => url.includes("count=true") && !url.endsWith("?limit=50&count=true")),
      [],
    )
    await ContactSheet.shoot(page, "emails-total")
    await send(1)
    await page.getByText("151 emails, newest first.").waitFor()
    await page.setViewportSize(ContactSheet.PHONE)
    await Browser.eventually(() => page.locator("main header").innerText()).toMatch(/151 emails\.$/u)
    await page.setViewportSize(Browser.DESKTOP)
  })

  it("says that there are more than it counts", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.route(/count=true/u, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), total: { count: 1_000, is_exact: false } } })
    })
    await page.goto("/emails")
    await page.getByText("over 1,000 emails, newest first.").waitFor()
    assert.deepEqual(opened.tab.consoleErrors, [])
  })
})
