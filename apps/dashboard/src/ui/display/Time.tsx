import { useSyncExternalStore } from "react"

const TICK_MS = 15_000
const MINUTE_MS = 60_000
const AHEAD_MS = 5_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS

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

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" })
const sameYear = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
})
const otherYear = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" })

const formatRelative = (iso: string, now: number, isAhead: boolean): string => {
  const ms = isAhead ? Math.max(AHEAD_MS, Date.parse(iso) - now) : Date.parse(iso) - now
  const distance = Math.abs(ms)
  if (distance < 45_000) return ms >= AHEAD_MS ? "in a moment" : "just now"
  if (distance < HOUR_MS) return relative.format(Math.round(ms / MINUTE_MS), "minute")
  if (distance < DAY_MS) return relative.format(Math.round(ms / HOUR_MS), "hour")
  if (distance < WEEK_MS) return relative.format(Math.round(ms / DAY_MS), "day")
  return new Date(iso).getFullYear() === new Date(now).getFullYear()
    ? sameYear.format(new Date(iso))
    : otherYear.format(new Date(iso))
}

export const formatDateTime = (iso: string): string => exact.format(new Date(iso))
export const formatClock = (iso: string): string => clock.format(new Date(iso))

/** With `isAhead` it is the time of something that is still to come: one that has passed is due in a moment. */
export const RelativeTime = ({ iso, isAhead = false }: { readonly iso: string; readonly isAhead?: boolean }) => (
  <time dateTime={iso} title={formatDateTime(iso)} className="whitespace-nowrap">
    {formatRelative(iso, useNow(), isAhead)}
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
