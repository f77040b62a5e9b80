import { useSyncExternalStore } from "react"
import { CLOCK, formatWhen } from "./formatWhen.ts"

const TICK_MS = 15_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

let currentTime = Date.now()
const watchers = new Set<() => void>()
setInterval(() => {
  currentTime = Date.now()
  for (const watcher of watchers) watcher()
}, TICK_MS)

/** Current time, updated every 15 seconds for all components at once. */
export const useNow = (): number =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => currentTime,
  )

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" })
const clock = new Intl.DateTimeFormat(undefined, { ...CLOCK, second: "2-digit" })

const withZone = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" })

export const formatWithZone = (iso: string): string => withZone.format(new Date(iso))
export const formatDateTime = (iso: string): string => exact.format(new Date(iso))
export const formatClock = (iso: string): string => clock.format(new Date(iso))

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" })

const formatDistance = (iso: string, now: number): string => {
  const ms = Date.parse(iso) - now
  if (ms < HOUR_MS) return formatWhen(iso, now, true)
  return ms < DAY_MS
    ? relative.format(Math.round(ms / HOUR_MS), "hour")
    : relative.format(Math.round(ms / DAY_MS), "day")
}

/** When something is due: "in 42 min (24 Dec 2026, 09:00:00 UTC)". */
export const DueTime = ({ iso }: { readonly iso: string }) => (
  <time dateTime={iso}>
    {formatDistance(iso, useNow())} ({formatWithZone(iso)})
  </time>
)

/** When something was or will be, as `formatWhen` says it, with the full time as its title. */
export const RelativeTime = ({ iso, isAhead = false }: { readonly iso: string; readonly isAhead?: boolean }) => (
  <time dateTime={iso} title={formatDateTime(iso)} className="whitespace-nowrap">
    {formatWhen(iso, useNow(), isAhead)}
  </time>
)

/** How long something has lasted, such as "16 min". */
export const Duration = ({ since }: { readonly since: string }) => {
  const ms = Math.max(MINUTE_MS, useNow() - Date.parse(since))
  const length = ms < HOUR_MS ? MINUTE_MS : ms < 2 * DAY_MS ? HOUR_MS : DAY_MS
  const count = Math.round(ms / length)
  const unit = length === MINUTE_MS ? "min" : `${length === HOUR_MS ? "hour" : "day"}${count === 1 ? "" : "s"}`
  return (
    <time dateTime={since} title={`Since ${formatDateTime(since)}`} className="whitespace-nowrap">
      {count} {unit}
    </time>
  )
}
