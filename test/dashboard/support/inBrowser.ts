import type { Browser as Chromium } from "playwright-core"
import { afterAll, describe } from "vitest"
import * as Browser from "./Browser.ts"
import * as ContactSheet from "./ContactSheet.ts"

/** Groups tests in a browser, whose tabs are closed behind them. They are skipped where none starts. */
export const inBrowser = async (title: string, tests: (browser: Chromium) => void): Promise<void> => {
  const browser = await Browser.open()
  if (typeof browser === "string") {
    // A skipped group does nothing with it.
    describe.skip(`${title} (skipped: ${browser})`, () => tests({} as Chromium))
    return
  }
  describe(title, () => {
    tests(browser)
    // Runs before those above, so that no tab holds a connection to a service that stops.
    afterAll(async () => {
      ContactSheet.write()
      await Browser.closeTabs()
    })
  })
}
