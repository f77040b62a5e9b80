export interface Turn {
  /** All that was given out before is written, or will not be. */
  readonly came: Promise<void>
  readonly end: () => void
}

/**
 * Lanes read and fold side by side, and write one after another in the order of the key, over one connection: another
 * would first fill the page that it had left. An index over rows that lie in its order costs half of what it costs else.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  take(): Turn {
    const came = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = came.then(() => promise)
    return { came, end: resolve }
  }
}
