import { assert, it } from "vitest"
import * as Browser from "../support/Browser.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

await inDashboard("lists walked with the keyboard", (opened) => {
  it("j, k and Enter work in every list", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    for (const nth of ["one", "two"]) {
      await instance.request("POST", "/templates", { name: `Letter ${nth}`, subject: "Hi", html: "<p>Hi</p>" })
      await instance.request("POST", "/domains", { name: `${nth}.shop.dev` })
      await instance.request("POST", "/webhooks", { url: `https://hooks.shop.dev/${nth}`, events: ["email.bounced"] })
      await instance.request("POST", "/suppressions", { email: `${nth}@example.org` })
      await instance.request("POST", "/api-keys", { name: nth, scopes: ["email:send"] })
    }
    for (const [path, name, opens] of [
      ["/templates", "Templates", true],
      ["/domains", "Domains", true],
      ["/webhooks", "Webhooks", true],
      ["/requests", "Requests", true],
      ["/suppressions", "Suppressions", false],
      ["/settings/api-keys", "API keys", false],
      ["/settings/audit", "Audit log", false],
    ] as const) {
      await page.goto(path)
      const rows = page.getByRole("table", { name }).getByRole("row")
      await Browser.eventually(async () => {
        if ((await rows.count()) < 3) await page.reload()
        await rows.first().waitFor()
        return rows.count()
      }, path).toBeGreaterThan(2)
      const walked = async () => {
        const marks = await rows.evaluateAll((all) => all.map((row) => row.getAttribute("aria-current")))
        return marks.indexOf("true")
      }
      for (const [key, row] of [
        ["j", 1],
        ["j", 2],
        ["k", 1],
        ["k", 1],
      ] as const) {
        await page.keyboard.press(key)
        await Browser.eventually(walked, `${path} ${key}`).toBe(row)
      }
      if (!opens) continue
      await page.keyboard.press("Enter")
      await page.waitForURL((url) => url.pathname.startsWith(`${path}/`))
    }
    assert.deepEqual(tab.consoleErrors, [])
  })
})
