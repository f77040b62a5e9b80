/** Place of an item in a roster. */
export interface Entry<A> {
  readonly item: A
  /** Negative once the item is removed. */
  place: number
}

/**
 * Items that come and go in no order, such as requests in progress.
 *
 * A Set or Map would do, but V8 replaces its table after some deletions and links the old table to the new one. Once one of
 * these tables is old enough to be left alone by minor collections, each later table is kept by the one before it, with all
 * that it held: every object of every request then survives until the next major collection
 * (docs/decisions/0065-pay-for-each-optimisation.md).
 */
export class Roster<A> {
  readonly #entries: Array<Entry<A>> = []

  get size(): number {
    return this.#entries.length
  }

  /** A copy, so that items may be removed meanwhile. */
  get items(): ReadonlyArray<A> {
    return this.#entries.map(({ item }) => item)
  }

  add(item: A): Entry<A> {
    const entry = { item, place: this.#entries.length }
    this.#entries.push(entry)
    return entry
  }

  /** Returns false if the item was removed before. */
  remove(entry: Entry<A>): boolean {
    const { place } = entry
    if (place < 0) return false
    entry.place = -1
    const last = this.#entries.pop()
    if (last === undefined || last === entry) return true
    this.#entries[place] = last
    last.place = place
    return true
  }
}
