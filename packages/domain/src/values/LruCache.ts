export interface Bounds<V> {
  readonly maxEntries: number
  /** Maximum sum of the weights of all values. A heavier value is not stored. */
  readonly maxWeight?: number
  readonly weigh?: (value: V) => number
}

/** A map of bounded size. When a bound is exceeded, the entries used longest ago are removed first. */
export class LruCache<K, V> {
  /** In the order of use: a Map iterates in the order of insertion, and a used entry is inserted again. */
  readonly #entries = new Map<K, V>()
  readonly #bounds: Required<Bounds<V>>
  #weight = 0

  constructor(bounds: Bounds<V>) {
    this.#bounds = { maxWeight: Infinity, weigh: () => 1, ...bounds }
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    const { maxEntries, maxWeight, weigh } = this.#bounds
    this.delete(key)
    if (weigh(value) > maxWeight) return
    this.#entries.set(key, value)
    this.#weight += weigh(value)
    // Checked before the iteration, which has to pass the places of all entries that were used since.
    if (this.size <= maxEntries && this.#weight <= maxWeight) return
    for (const oldest of this.#entries.keys()) {
      this.delete(oldest)
      if (this.size <= maxEntries && this.#weight <= maxWeight) return
    }
  }

  delete(key: K): void {
    const value = this.#entries.get(key)
    if (value !== undefined && this.#entries.delete(key)) this.#weight -= this.#bounds.weigh(value)
  }
}
