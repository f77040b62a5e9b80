import type { Browser as Chromium } from "playwright-core"
import { afterAll, describe } from "vitest"
import * as Browser from "./Browser.ts"
import * as ContactSheet from "./ContactSheet.ts"

/** Groups tests in a browser, whose tabs are closed behind them. They are skipped where none starts. */
export const inBrowser = async (title: string, tests: (browser: Chromium) => void): Promise<void> => {
  const browser = await Browser.open()
  const why = typeof browser === "string" ? ` (skipped: ${browser})` : ""
  describe.skipIf(why !== "")(`${title}${why}`, () => {
    // A skipped group does nothing with it.
    tests(browser as Chromium)
    // Runs before those above, so that no tab holds a connection to a service that stops.
    afterAll(async () => {
      ContactSheet.write()
      await Browser.closeTabs()
    })
  })
}
