import type { Browser as Chromium } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import * as Browser from "./Browser.ts"
import { inBrowser } from "./inBrowser.ts"
import * as Instance from "./Instance.ts"

/** Timeout of a test in a browser. Generous, because test machines can be slow. */
export const TIMEOUT = 300_000

/** What the tests of a group work with. It is there once they run. */
export interface Opened {
  readonly browser: Chromium
  instance: Instance.Instance
  /** A tab in which the owner is signed in. */
  tab: Browser.BrowserTab
}

interface Surroundings {
  readonly settings?: Readonly<Record<string, string>>
  readonly close?: () => Promise<unknown>
}

/** Groups tests of the dashboard of an instance of their own, with settings and servers that it needs. */
export const inDashboardWith =
  (surround: () => Promise<Surroundings>) =>
  (title: string, tests: (opened: Opened) => void): Promise<void> =>
    inBrowser(title, (browser) => {
      const opened = { browser } as Opened
      let surroundings: Surroundings = {}
      beforeAll(async () => {
        surroundings = await surround()
        opened.instance = await Instance.start(surroundings.settings)
        opened.tab = await Browser.openTab(browser, opened.instance.url)
        await Browser.signIn(opened.tab.page, opened.instance.owner)
      }, TIMEOUT)
      afterAll(async () => {
        await opened.instance.close()
        await surroundings.close?.()
      }, TIMEOUT)
      tests(opened)
    })

/** Groups tests of the dashboard of an instance of their own. */
export const inDashboard = (
  title: string,
  tests: (opened: Opened) => void,
  surround: () => Promise<Surroundings> = async () => ({}),
): Promise<void> => inDashboardWith(surround)(title, tests)
