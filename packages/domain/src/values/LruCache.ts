export interface Bounds<K, V> {
  readonly maxEntries: number
  /** Maximum sum of the weights of all entries; a value that is heavier than this by itself is not stored. */
  readonly maxWeight?: number
  /** Weight of a value, measured once when it is set; 1 by default. */
  readonly weigh?: (value: V) => number
  /** Called with each entry that is removed because a bound is exceeded. */
  readonly onEvict?: (key: K, value: V) => void
}

/** A map of bounded size. When a bound is exceeded, the entries used longest ago are removed first. */
export class LruCache<K, V> {
  /** In the order of use: a Map iterates in the order of insertion, and a used entry is inserted again. */
  readonly #entries = new Map<K, { readonly value: V; readonly weight: number }>()
  readonly #bounds: Bounds<K, V>
  #weight = 0

  constructor(bounds: Bounds<K, V>) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Returns the value without counting as a use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value
  }

  set(key: K, value: V): void {
    const { maxEntries, maxWeight = Infinity, onEvict, weigh } = this.#bounds
    this.delete(key)
    const weight = weigh?.(value) ?? 1
    if (weight > maxWeight) return
    this.#entries.set(key, { value, weight })
    this.#weight += weight
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= maxEntries && this.#weight <= maxWeight) break
      this.delete(oldest)
      onEvict?.(oldest, entry.value)
    }
  }

  delete(key: K): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }
}
