import { LruCache } from "@waybill/runtime/collections/LruCache"

/** Unknown recipients that a network may name in a window; then all its recipients are put off until the window ends. */
export const MAX_GUESSES = 100
export const WINDOW_MS = 10 * 60_000
/** Networks whose guesses are counted; beyond it the one that has waited longest begins anew. */
const MAX_NETWORKS = 10_000

interface Window {
  readonly ends: number
  count: number
}

/** Counts the recipients that nobody has, by network. Whoever goes through a list of names learns little. */
export class Guesses {
  readonly #windows = new LruCache<string, Window>({ maxEntries: MAX_NETWORKS })

  add(network: string, now: number): void {
    const window = this.#windows.get(network)
    if (window !== undefined && now < window.ends) window.count++
    else this.#windows.set(network, { ends: now + WINDOW_MS, count: 1 })
  }

  /** Whether a network has guessed too often. */
  areOver(network: string, now: number): boolean {
    const window = this.#windows.get(network)
    return window !== undefined && now < window.ends && window.count >= MAX_GUESSES
  }
}
