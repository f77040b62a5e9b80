import { LinkedList, type Place } from "./LinkedList.ts"

export interface Bounds<V> {
  readonly maxEntries: number
  /** Maximum sum of the weights of all values. A heavier value is not stored. */
  readonly maxWeight?: number
  readonly weigh?: (value: V) => number
}

interface Entry<K, V> {
  readonly key: K
  value: V
}

/**
 * A map of bounded size. When a bound is exceeded, the entries used longest ago are removed first.
 *
 * The order of use is a list of its own. To insert a used entry again would do, but a Map with few entries gets a new table
 * with each deletion (docs/decisions/0065-pay-for-each-optimisation.md).
 */
export class LruCache<K, V> {
  readonly #places = new Map<K, Place<Entry<K, V>>>()
  readonly #byUse = new LinkedList<Entry<K, V>>()
  readonly #bounds: Required<Bounds<V>>
  #weight = 0

  constructor(bounds: Bounds<V>) {
    this.#bounds = { maxWeight: Infinity, weigh: () => 1, ...bounds }
  }

  get size(): number {
    return this.#places.size
  }

  get(key: K): V | undefined {
    const place = this.#places.get(key)
    if (place === undefined) return undefined
    this.#byUse.moveToEnd(place)
    return place.item.value
  }

  set(key: K, value: V): void {
    const { maxEntries, maxWeight, weigh } = this.#bounds
    if (weigh(value) > maxWeight) return this.delete(key)
    const place = this.#places.get(key)
    if (place === undefined) this.#places.set(key, this.#byUse.add({ key, value }))
    else {
      this.#weight -= weigh(place.item.value)
      place.item.value = value
      this.#byUse.moveToEnd(place)
    }
    this.#weight += weigh(value)
    while (this.size > maxEntries || this.#weight > maxWeight) {
      const oldest = this.#byUse.first
      if (oldest === undefined) return
      this.delete(oldest.item.key)
    }
  }

  delete(key: K): void {
    const place = this.#places.get(key)
    if (place === undefined) return
    this.#places.delete(key)
    this.#byUse.remove(place)
    this.#weight -= this.#bounds.weigh(place.item.value)
  }
}
