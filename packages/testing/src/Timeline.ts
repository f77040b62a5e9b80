import type { MailEvent } from "./service/Feed.ts"

const MS_PER_SECOND = 1_000
const SECONDS_PER: ReadonlyArray<readonly [unit: string, seconds: number]> = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
]

/** Returns a time after the beginning: `+0s`, `+5m`, `+1d 2h`. Fractions of a second are left out. */
const since = (beginning: string, at: string): string => {
  let left = Math.max(0, Math.floor((Date.parse(at) - Date.parse(beginning)) / MS_PER_SECOND))
  const parts: Array<string> = []
  for (const [unit, seconds] of SECONDS_PER) {
    const count = Math.floor(left / seconds)
    if (count > 0) parts.push(`${count}${unit}`)
    left -= count * seconds
  }
  if (left > 0 || parts.length === 0) parts.push(`${left}s`)
  return `+${parts.join(" ")}`
}

const describe = (id: string, { data, type }: MailEvent): string => {
  if (type === "email.queued") {
    const to = [data.to, data.cc, data.bcc].flatMap((list) => (list ?? []).map(({ address }) => address))
    return `${type} ${id} "${data.subject ?? ""}" to ${to.join(", ")}`
  }
  const reply = [data.code, data.enhanced_code].filter((part) => part !== null && part !== undefined)
  return [type, ...(data.recipient === undefined ? [] : [data.recipient]), ...reply].join(" ")
}

/**
 * Returns one line for each event of a message, the same in each run: the id is the given one, and times count from the
 * first event.
 */
export const make = (id: string, events: ReadonlyArray<MailEvent>): ReadonlyArray<string> => {
  const [first] = events
  return first === undefined
    ? []
    : events.map((event) => `${since(first.occurred_at, event.occurred_at)} ${describe(id, event)}`)
}
