import { useSyncExternalStore } from "react"

const TICK_MS = 15_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS

let now = Date.now()
const watchers = new Set<() => void>()
setInterval(() => {
  now = Date.now()
  for (const watcher of watchers) watcher()
}, TICK_MS)

/** One clock for all that says how long ago something was. */
export const useNow = (): number =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => now,
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

export const said = (iso: string, at: number): string => {
  const ms = Date.parse(iso) - at
  const far = Math.abs(ms)
  if (far < 45_000) return ms > 5_000 ? "in a moment" : "just now"
  if (far < HOUR_MS) return relative.format(Math.round(ms / MINUTE_MS), "minute")
  if (far < DAY_MS) return relative.format(Math.round(ms / HOUR_MS), "hour")
  if (far < WEEK_MS) return relative.format(Math.round(ms / DAY_MS), "day")
  return new Date(iso).getFullYear() === new Date(at).getFullYear()
    ? sameYear.format(new Date(iso))
    : otherYear.format(new Date(iso))
}

export const exactly = (iso: string): string => exact.format(new Date(iso))
export const atClock = (iso: string): string => clock.format(new Date(iso))

export const Time = ({ iso }: { readonly iso: string }) => (
  <time dateTime={iso} title={exactly(iso)} className="whitespace-nowrap">
    {said(iso, useNow())}
  </time>
)
