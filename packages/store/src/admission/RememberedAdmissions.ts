import * as Livemode from "@waybill/domain/account/Livemode"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import { LruCache } from "@waybill/domain/collections/LruCache"
import { Data } from "effect"
import type { AdmittedKey } from "./AdmittedKey.ts"
import type { AssumedGroup, Counted } from "./AdmissionStatement.ts"
import type { KeyUses } from "./KeyUses.ts"

/** Maximum number of keys and client addresses that a process remembers. */
export const MAX_REMEMBERED = 10_000
/** Share of its limit that a window must have left for a request to be assumed to be admitted: other processes count too. */
export const LEFT_SHARE = 1 / 8

/** A request that was assumed to be admitted was not. It has to be admitted before its commit. */
export class NotAdmitted extends Data.TaggedError("NotAdmitted")<Record<never, never>> {}

/** A key by which requests from one address were admitted last. */
interface Remembered {
  readonly key: AdmittedKey
  readonly group: Omit<AssumedGroup, "requests">
  /** Number of requests that the window had counted last, with those that are assumed to be admitted since. */
  count: number
  /** Time of the last count on the clock of the database. */
  now_ms: number
}

/**
 * A request that is assumed to be admitted. The transaction of its commit counts it, and checks that the key is still as it was, so
 * that a send waits for one transaction instead of two.
 */
export class AssumedAdmission {
  readonly #remembered: Remembered
  readonly #uses: KeyUses["Service"]
  #counted: RateLimit.WindowState | undefined

  constructor(remembered: Remembered, uses: KeyUses["Service"]) {
    this.#remembered = remembered
    this.#uses = uses
  }

  get key(): AdmittedKey {
    return this.#remembered.key
  }

  get group(): Remembered["group"] {
    return this.#remembered.group
  }

  /** Whether a transaction that counts the request is committed. */
  get isCounted(): boolean {
    return this.#counted !== undefined
  }

  /** State of the window after the request, or as it is assumed to be. */
  get standing(): RateLimit.WindowState {
    const { count, group, now_ms } = this.#remembered
    return this.#counted ?? RateLimit.windowState(group.limit_count, count, now_ms)
  }

  /** Notes that the request was counted; without an answer of the database if that is not known any more. */
  noteCounted(answer: Pick<Counted, "total" | "now_ms"> | undefined): void {
    const { group, key, now_ms } = this.#remembered
    if (answer !== undefined) note(this.#remembered, answer.total, answer.now_ms)
    this.#counted =
      answer === undefined ? this.standing : RateLimit.windowState(group.limit_count, answer.total, answer.now_ms)
    this.#uses.note(Livemode.liveAccountOf(key.account_id), key.id, answer?.now_ms ?? now_ms)
  }
}

/** Notes a count, unless it is that of an earlier window: another connection may have brought a later one. */
const note = (remembered: Remembered, total: number, now_ms: number): void => {
  const [begun, known] = [RateLimit.windowStart(now_ms), RateLimit.windowStart(remembered.now_ms)]
  if (begun < known) return
  remembered.count = begun === known ? Math.max(remembered.count, total) : total
  remembered.now_ms = Math.max(remembered.now_ms, now_ms)
}

/**
 * The keys by which this process has admitted requests last. A key that is refused is forgotten, and a request near the limit of its
 * key is admitted first, so that few batches are decided twice.
 */
export class RememberedAdmissions {
  readonly #admitted = new LruCache<string, Remembered>({ maxEntries: MAX_REMEMBERED })
  readonly #uses: KeyUses["Service"]

  constructor(uses: KeyUses["Service"]) {
    this.#uses = uses
  }

  /** Assumes that a request is admitted, as those of its group were that came before. */
  assume(groupKey: string): AssumedAdmission | undefined {
    const remembered = this.#admitted.get(groupKey)
    if (remembered === undefined) return undefined
    const { limit_count } = remembered.group
    if (remembered.count + 1 > limit_count * (1 - LEFT_SHARE)) return undefined
    remembered.count++
    return new AssumedAdmission(remembered, this.#uses)
  }

  store(groupKey: string, remembered: Remembered): void {
    this.#admitted.set(groupKey, remembered)
  }

  forget(groupKey: string): void {
    this.#admitted.delete(groupKey)
  }
}

/** Requests of one key that a transaction counts together. */
interface Window {
  group: Remembered["group"]
  readonly requests: Array<AssumedAdmission>
}

/** Returns the windows that count requests. */
export const windowsOf = (requests: Iterable<AssumedAdmission>): ReadonlyMap<string, Window> => {
  const windows = new Map<string, Window>()
  for (const request of requests) {
    const { window_name } = request.group
    const window = windows.get(window_name)
    if (window === undefined) windows.set(window_name, { group: request.group, requests: [request] })
    else {
      window.requests.push(request)
      window.group = older(window.group, request.group)
    }
  }
  return windows
}

/**
 * Returns the group with the older versions: requests from two addresses may know the key by different ones, and a check of the
 * newer one alone would let the other request pass.
 */
const older = (one: Remembered["group"], other: Remembered["group"]): Remembered["group"] => ({
  ...one,
  key_version: Math.min(one.key_version, other.key_version),
  account_version: Math.min(one.account_version, other.account_version),
})

/** Tells requests how they were counted, in their order; without the answer of the database if it is lost. */
export const noteCounted = (windows: ReadonlyMap<string, Window>, rows: ReadonlyArray<Counted> | undefined): void => {
  const counted = new Map(rows?.map((row) => [row.window_name, row]))
  for (const [name, { requests }] of windows) {
    const row = counted.get(name)
    for (const [nth, request] of requests.entries())
      request.noteCounted(
        row === undefined ? undefined : { total: row.total - requests.length + nth + 1, now_ms: row.now_ms },
      )
  }
}
