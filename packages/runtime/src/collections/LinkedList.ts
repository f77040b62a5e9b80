/** Place of an item in a list. */
export interface Place<A> {
  readonly item: A
  before: Place<A> | undefined
  after: Place<A> | undefined
  isTaken: boolean
}

/**
 * Items in the order in which they came, of which any may leave, such as messages that wait for a connection. A place that is
 * left refers to no other, so it keeps nothing alive (see `Roster` for items without an order).
 */
export class LinkedList<A> {
  #first: Place<A> | undefined
  #last: Place<A> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): Place<A> | undefined {
    return this.#first
  }

  /** A copy, so that items may leave meanwhile. */
  get places(): ReadonlyArray<Place<A>> {
    const places: Array<Place<A>> = []
    for (let place = this.#first; place !== undefined; place = place.after) places.push(place)
    return places
  }

  /** Adds an item at the end. */
  add(item: A): Place<A> {
    const place: Place<A> = { item, before: undefined, after: undefined, isTaken: false }
    this.#append(place)
    return place
  }

  /** Returns false if the item has left before. */
  remove(place: Place<A>): boolean {
    if (!place.isTaken) return false
    const { after, before } = place
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    place.before = undefined
    place.after = undefined
    place.isTaken = false
    this.#size--
    return true
  }

  /** Moves an item to the end. */
  moveToEnd(place: Place<A>): void {
    if (place !== this.#last && this.remove(place)) this.#append(place)
  }

  #append(place: Place<A>): void {
    place.before = this.#last
    if (this.#last === undefined) this.#first = place
    else this.#last.after = place
    this.#last = place
    place.isTaken = true
    this.#size++
  }
}
