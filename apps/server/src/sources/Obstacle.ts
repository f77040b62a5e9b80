import type { Choice } from "@waybill/mail/source/SourceAddress"
import * as WarmUp from "@waybill/mail/source/WarmUp"

/** Reason for which an address may not be used for a message now. */
export type Obstacle =
  | { readonly _tag: "UsedUp"; readonly until_ms: number }
  | { readonly _tag: "Blocked"; readonly until_ms: number }
  | { readonly _tag: "Paused" }
  | { readonly _tag: "OtherFamily" }
  /** The address is one of another worker host. */
  | { readonly _tag: "Elsewhere" }
  /** No worker host has the address. */
  | { readonly _tag: "Nowhere" }
  /** The counts could not be read. */
  | { readonly _tag: "Unknown" }

const MINUTE_MS = 60_000
/** Delay while only an operator can change something. */
export const PAUSED_RETRY_MS = 10 * MINUTE_MS
/** Delay while a worker of another host may send at once. */
export const ELSEWHERE_RETRY_MS = 20_000
/** Delay while no host has an address of the pool: one may be starting. */
export const NOWHERE_RETRY_MS = 2 * MINUTE_MS
/** Period over which mail of a slot is spread, so that a day's backlog does not begin in one second. */
export const SPREAD_MS = 5 * MINUTE_MS

export type Waiting = Omit<Extract<Choice, { readonly _tag: "None" }>, "_tag" | "pool">

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
  const has = (tag: Obstacle["_tag"]): boolean => obstacles.some(({ _tag }) => _tag === tag)
  const isExpected = has("UsedUp") || has("Blocked") || has("Paused")
  const waiting = (reason: string, retry_after_ms = ELSEWHERE_RETRY_MS): Waiting => {
    const isBrief = retry_after_ms === ELSEWHERE_RETRY_MS
    return { reason, retry_after_ms, isBrief, isExpected }
  }
  if (has("Elsewhere")) return waiting(`no address of pool "${pool}" is on this host`)
  if (has("Unknown")) return waiting(`the mails of pool "${pool}" could not be counted`)
  const slots = obstacles.flatMap((each) => ("until_ms" in each ? [each] : []))
  const [first] = slots.toSorted((one, other) => one.until_ms - other.until_ms)
  if (first !== undefined) {
    const to = provider ?? "these servers"
    const at = shownTime(first.until_ms)
    return waiting(
      first._tag === "UsedUp"
        ? `the warm-up plan of pool "${pool}" allows no more mails to ${to} today; more are sent from ${at}`
        : `${to} blocked the addresses of pool "${pool}"; the next try is at ${at}`,
      Math.max(1_000, Math.round(first.until_ms - now_ms + random * SPREAD_MS)),
    )
  }
  if (has("Paused")) return waiting(`the addresses of pool "${pool}" are paused`, PAUSED_RETRY_MS)
  if (has("Nowhere")) return waiting(`no worker host has an address of pool "${pool}"`, NOWHERE_RETRY_MS)
  return has("OtherFamily")
    ? waiting(`no address of pool "${pool}" has the IP version of the receiving servers`, PAUSED_RETRY_MS)
    : waiting(`pool "${pool}" has no address`, PAUSED_RETRY_MS)
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
