import type { NotKeptRequests } from "../api/Records.ts"

/** Maximum days that are named. */
const MAX_DAYS = 3

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" })

/** Says on which days the log does not hold all requests, and how many it only counted. */
export const NotKept = ({ days }: { readonly days: ReadonlyArray<NotKeptRequests> }) => {
  if (days.length === 0) return undefined
  const named = days
    .slice(0, MAX_DAYS)
    .map(({ count, date }) => `${count.toLocaleString("en")} on ${day.format(new Date(date))}`)
  const others = days.length - named.length
  const all = others === 0 ? named : [...named, `more on ${others} earlier ${others === 1 ? "day" : "days"}`]
  return (
    <section aria-label="Requests not kept" className="rounded-md bg-warn-soft px-4 py-2 text-sm text-warn">
      <p>
        <strong className="font-semibold">Some requests were counted but not kept:</strong> {all.join(", ")} (UTC). The
        log keeps a limited amount per key and account in a minute and a day.
      </p>
    </section>
  )
}
