export interface Turn {
  /** Resolves when all earlier turns have ended. */
  readonly ready: Promise<void>
  readonly end: () => void
}

/**
 * Orders the writes of lanes that read and fold concurrently. Writing in key order over one connection keeps the table
 * sorted, and an index over a sorted table takes half the time to build.
 */
export class OrderedWrites {
  #last: Promise<void> = Promise.resolve()

  takeTurn(): Turn {
    const came = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = came.then(() => promise)
    return { ready: came, end: resolve }
  }
}
