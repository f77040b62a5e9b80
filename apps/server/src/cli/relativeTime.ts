const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/u
export const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const
/** Days after which a date says more than their number. */
const MAX_DAYS = 60

/** Returns how long ago a time of the API was, or in how long it is; undefined for any other text. */
export const relativeTime = (text: string, now: number): string | undefined => {
  if (!TIME.test(text)) return undefined
  const away = Date.parse(text) - now
  const [unit, millis] = UNITS.find(([, each]) => Math.abs(away) >= each) ?? ["s", 1_000]
  const count = Math.floor(Math.abs(away) / millis)
  if (unit === "d" && count > MAX_DAYS) return text.slice(0, 10)
  if (count === 0) return "now"
  return away < 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`
}
