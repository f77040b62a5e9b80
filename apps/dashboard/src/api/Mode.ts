import { useSyncExternalStore } from "react"

const KEY = "waybill.test-mode"
const watchers = new Set<() => void>()

const read = (): boolean => {
  try {
    return localStorage.getItem(KEY) !== null
  } catch {
    return false
  }
}

let isTestMode = read()

/** Whether this page shows test mail instead of live mail. */
export const isTest = (): boolean => isTestMode

/** Shows test mail or live mail, also when the page is opened again. */
export const setTest = (next: boolean): void => {
  isTestMode = next
  try {
    if (next) localStorage.setItem(KEY, "on")
    else localStorage.removeItem(KEY)
  } catch {
    // Without storage the mode lasts until the page is closed.
  }
  for (const watcher of watchers) watcher()
}

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useIsTest = (): boolean => useSyncExternalStore(watch, isTest)

/** Paths of mail and what belongs to it; keys, domains, webhooks and members are the same in both modes. */
const OF_MAIL = /^\/(?:email|events|preview|requests|sandbox|stats|suppressions)(?:[/?]|$)/u

/** Adds the mode to a path whose answer depends on it. */
export const withMode = (path: string): string =>
  isTestMode && OF_MAIL.test(path) ? `${path}${path.includes("?") ? "&" : "?"}livemode=false` : path
