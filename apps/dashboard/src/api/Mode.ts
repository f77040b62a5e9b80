import { useSyncExternalStore } from "react"
import { instance } from "./instance.ts"
import * as Stored from "./Stored.ts"

const watchers = new Set<() => void>()

let isTestMode = Stored.read(Stored.TEST_MODE) !== null

/** Whether this page shows test mail instead of live mail. */
export const isTest = (): boolean => isTestMode

/** Whether the mail that is shown leaves nowhere, so that its bounces harm no reputation. */
export const isSimulated = (): boolean => isTest() || instance.transport === "capture"

/** Shows test mail or live mail, also when the page is opened again. */
export const setTest = (next: boolean): void => {
  isTestMode = next
  Stored.write(Stored.TEST_MODE, next ? "on" : null)
  for (const watcher of watchers) watcher()
}

/** Calls `watcher` whenever the mode has changed. */
export const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useIsTest = (): boolean => useSyncExternalStore(watch, isTest)

/** Paths of mail and what belongs to it, such as usage; keys, domains, routes, webhooks and members are the same in both modes. */
const OF_MAIL =
  /^\/(?:account|dashboard\/queue|email|events|inbound(?!\/routes)|preview|requests|sandbox|stats|suppressions|threads)(?:[/?]|$)/u

/** Adds the mode to a path whose answer depends on it. */
export const withMode = (path: string): string =>
  isTestMode && OF_MAIL.test(path) ? `${path}${path.includes("?") ? "&" : "?"}livemode=false` : path
