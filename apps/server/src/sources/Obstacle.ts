import * as WarmUp from "@waybill/mail/source/WarmUp"

/** Reason for which an address may not be used for a message now. */
export type Obstacle =
  | { readonly _tag: "UsedUp"; readonly until_ms: number }
  | { readonly _tag: "Blocked"; readonly until_ms: number }
  | { readonly _tag: "Paused" }
  | { readonly _tag: "OtherFamily" }
  /** The address is not one of this host. */
  | { readonly _tag: "Elsewhere" }
  /** The counts could not be read. */
  | { readonly _tag: "Unknown" }

const MINUTE_MS = 60_000
/** Delay while only an operator can change something. */
export const PAUSED_RETRY_MS = 10 * MINUTE_MS
/** Delay while a worker of another host may send at once. */
export const ELSEWHERE_RETRY_MS = 20_000
/** Longest delay while another host has addresses of the pool, which may not be used up. */
export const SHARED_RETRY_MS = 5 * MINUTE_MS
/** Period over which mail of a slot is spread, so that a day's backlog does not begin in one second. */
export const SPREAD_MS = 5 * MINUTE_MS

export interface Waiting {
  readonly reason: string
  readonly retry_after_ms: number
}

interface Situation {
  /** Name of the pool that the sender is assigned to. */
  readonly pool: string
  /** The provider, or undefined for other servers. */
  readonly provider: string | undefined
  readonly now_ms: number
  /** From [0, 1). */
  readonly random: number
}

/**
 * Explains why no address may be used and when the next slot is. The text stands in the timeline, so it names no host and
 * no operator's remark, and is the same for the whole wait.
 */
export const waitingFor = (
  obstacles: ReadonlyArray<Obstacle>,
  { now_ms, pool, provider, random }: Situation,
): Waiting => {
  const to = provider === undefined ? "these servers" : provider
  const isShared = obstacles.some(({ _tag }) => _tag === "Elsewhere")
  const slots = obstacles.flatMap((each) => ("until_ms" in each ? [each] : []))
  const [first] = slots.toSorted((one, other) => one.until_ms - other.until_ms)
  if (obstacles.some(({ _tag }) => _tag === "Unknown"))
    return { reason: `the mails of pool "${pool}" could not be counted`, retry_after_ms: ELSEWHERE_RETRY_MS }
  if (first !== undefined) {
    const left_ms = Math.round(first.until_ms - now_ms + random * SPREAD_MS)
    const retry_after_ms = Math.max(1_000, isShared ? Math.min(SHARED_RETRY_MS, left_ms) : left_ms)
    const at = shownTime(first.until_ms)
    return first._tag === "UsedUp"
      ? {
          reason: `the warm-up plan of pool "${pool}" allows no more mails to ${to} today; more are sent from ${at}`,
          retry_after_ms,
        }
      : { reason: `${to} blocked the addresses of pool "${pool}"; the next try is at ${at}`, retry_after_ms }
  }
  if (obstacles.some(({ _tag }) => _tag === "Paused"))
    return { reason: `the addresses of pool "${pool}" are paused`, retry_after_ms: PAUSED_RETRY_MS }
  if (isShared) return { reason: `no address of pool "${pool}" is on this host`, retry_after_ms: ELSEWHERE_RETRY_MS }
  if (obstacles.length > 0)
    return {
      reason: `no address of pool "${pool}" has the IP version of the receiving servers`,
      retry_after_ms: PAUSED_RETRY_MS,
    }
  return { reason: `pool "${pool}" has no address`, retry_after_ms: PAUSED_RETRY_MS }
}

const MINUTES_PER_HOUR = 60
const HOURS_PER_DAY = 24

const shownTime = (millis: number): string => {
  const minutes = Math.ceil(millis / MINUTE_MS)
  const [hour, minute] = [Math.floor(minutes / MINUTES_PER_HOUR) % HOURS_PER_DAY, minutes % MINUTES_PER_HOUR]
  const date = dateOf(WarmUp.dayOf(minutes * MINUTE_MS))
  return `${date} ${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")} UTC`
}

/** Returns a day as `2026-11-25`. */
export const dateOf = (day: number): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: "UTC" }).format(WarmUp.startOf(day))
