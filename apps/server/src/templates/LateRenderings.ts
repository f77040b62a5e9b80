import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Timestamp from "@waybill/domain/values/Timestamp"

/** Renderings of an account that may take too long in a minute, before it renders nothing more in that minute. */
export const MAX_LATE_PER_MINUTE = 20
/** Accounts and versions that are remembered; each takes some hundred bytes. */
const MAX_REMEMBERED = 10_000

interface Count {
  readonly minute: number
  readonly late: number
}

/** Remembers what took too long to render in this minute: each such rendering held up all other work. */
export class LateRenderings {
  readonly #accounts = new LruCache<string, Count>({ maxEntries: MAX_REMEMBERED })
  readonly #versions = new LruCache<string, number>({ maxEntries: MAX_REMEMBERED })

  isSpent(account_id: string, now: number): boolean {
    return this.#late(account_id, now) >= MAX_LATE_PER_MINUTE
  }

  isKnown(version: string, now: number): boolean {
    return this.#versions.get(version) === minuteOf(now)
  }

  add(account_id: string, version: string | undefined, now: number): void {
    this.#accounts.set(account_id, { minute: minuteOf(now), late: this.#late(account_id, now) + 1 })
    if (version !== undefined) this.#versions.set(version, minuteOf(now))
  }

  #late(account_id: string, now: number): number {
    const count = this.#accounts.get(account_id)
    return count?.minute === minuteOf(now) ? count.late : 0
  }
}

const minuteOf = (now: number): number => Math.floor(now / Timestamp.MINUTE)
