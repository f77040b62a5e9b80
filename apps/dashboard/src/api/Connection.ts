import { useSyncExternalStore } from "react"

/** `offline`: this device has no network. `unreachable`: it has one, and the server did not answer the last request. */
export type Connection = "online" | "offline" | "unreachable"

/** Pause between two checks whether a server that did not answer is back. */
const CHECK_EVERY_MS = 3_000

const watchers = new Set<() => void>()
let isReachable = true
let timer: number | undefined

export const read = (): Connection => (!navigator.onLine ? "offline" : isReachable ? "online" : "unreachable")
const notify = (): void => {
  for (const watcher of watchers) watcher()
}
window.addEventListener("online", notify)
window.addEventListener("offline", notify)

/** Reports whether the server answered a request, with whatever status. Until it answers again, it is checked. */
export const report = (answered: boolean): void => {
  if (answered === isReachable) return
  isReachable = answered
  window.clearInterval(timer)
  if (!answered) timer = window.setInterval(() => void check(), CHECK_EVERY_MS)
  notify()
}

const check = (): Promise<void> =>
  fetch("/healthz", { cache: "no-store" }).then(
    () => report(true),
    () => undefined,
  )

export const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useConnection = (): Connection => useSyncExternalStore(watch, read)

/** Waits until the server can be reached, at least until the connection changes. */
export const untilOnline = (): Promise<void> =>
  new Promise((resolve) => {
    const unwatch = watch(() => {
      if (read() !== "online") return
      unwatch()
      resolve()
    })
  })
