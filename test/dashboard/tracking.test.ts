import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Browser from "./browser.ts"
import * as House from "./house.ts"

const browser = await Browser.open()
const TIMEOUT = 120_000
const DOMAIN = "acme.test"

describe.skipIf(typeof browser === "string")(
  `the tracking of a domain${typeof browser === "string" ? ` (skipped: ${browser})` : ""}`,
  () => {
    let house: House.House
    let seen: Browser.Watched

    beforeAll(async () => {
      if (typeof browser === "string") return
      house = await House.open({ TRACKING_URL: "https://track.waybill.example" })
      seen = await Browser.visit(browser, house.url)
      await Browser.signIn(seen.page, house.owner)
    }, TIMEOUT)

    afterAll(async () => {
      if (typeof browser === "string") return
      await browser.close()
      await house.close()
    }, TIMEOUT)

    it("shows two quick switches as they were set, however their answers come", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto(`/domains/${DOMAIN}`)
      const [opens, clicks] = ["Opens", "Clicks"].map((name) => page.getByRole("switch", { name }))
      assert(opens !== undefined && clicks !== undefined)
      await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([false, false])
      const asked: Array<unknown> = []
      let letGo = () => {}
      const held = new Promise<void>((done) => (letGo = done))
      await page.route(`**/v1/domains/${DOMAIN}`, async (route) => {
        if (route.request().method() !== "PATCH") return route.continue()
        const nth = asked.push(route.request().postDataJSON())
        const response = await route.fetch()
        if (nth === 1) await held
        await route.fulfill({ response })
      })
      await opens.click()
      await clicks.click()
      await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([true, true])
      assert.deepEqual(asked, [{ open_tracking: true }])
      const answered = page.waitForResponse((response) => response.request().postData()?.includes("click") === true)
      letGo()
      assert.deepInclude(await (await answered).json(), { open_tracking: true, click_tracking: true })
      await page.unroute(`**/v1/domains/${DOMAIN}`)
      await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([true, true])
      await page.reload()
      await Browser.eventually(async () => [await opens.isChecked(), await clicks.isChecked()]).toEqual([true, true])
    })
  },
)
