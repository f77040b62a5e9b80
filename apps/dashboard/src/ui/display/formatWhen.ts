const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const HALF_YEAR_MS = 183 * 24 * HOUR_MS
const NOW_MS = 45_000

/** Time of day in 24 hours, as logs have it. */
export const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" })
const today = new Intl.DateTimeFormat(undefined, CLOCK)
const recent = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", ...CLOCK })
const distant = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" })

/**
 * Says when something was or will be: "3 min ago" within the hour, "14:05" on the same day, "29 Nov, 14:05" within half a
 * year. With `isAhead`, a time that has passed is due in a moment.
 */
export const formatWhen = (iso: string, now: number, isAhead = false): string => {
  const at = new Date(iso)
  const ms = at.getTime() - now
  const distance = Math.abs(ms)
  // The clock of a screen is a little behind, and that of the server may be ahead.
  if (isAhead && ms < NOW_MS) return "in a moment"
  if (distance < NOW_MS) return "just now"
  if (distance < HOUR_MS) return relative.format(Math.round(ms / MINUTE_MS), "minute")
  if (at.toDateString() === new Date(now).toDateString()) return today.format(at)
  return (distance < HALF_YEAR_MS ? recent : distant).format(at)
}
