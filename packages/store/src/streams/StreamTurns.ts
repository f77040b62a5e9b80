interface WaitingCommit {
  readonly streams: ReadonlyArray<string>
  /** Run when the commit has its outcome. */
  readonly onOutcome: Array<() => void>
}

/**
 * Order of the commits of a stream while one of them waits until the stream is read outside the batches. A commit is
 * identified by its number in the order of submission, a stream by its key.
 */
export class StreamTurns {
  readonly #waiting = new Map<number, WaitingCommit>()
  readonly #byStream = new Map<string, Set<number>>()

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Keeps later commits of these streams back until this commit has its outcome. */
  add(nth: number, streams: ReadonlyArray<string>): void {
    if (this.#waiting.has(nth)) return
    this.#waiting.set(nth, { streams, onOutcome: [] })
    for (const stream of streams) {
      const waiting = this.#byStream.get(stream) ?? new Set()
      this.#byStream.set(stream, waiting.add(nth))
    }
  }

  /** Returns the earliest commit before this one that waits for one of these streams. */
  earliestBefore(nth: number, streams: ReadonlyArray<string>, decided: ReadonlySet<number>): number | undefined {
    let earliest = nth
    for (const stream of streams) {
      for (const other of this.#byStream.get(stream) ?? [])
        if (other < earliest && !decided.has(other)) earliest = other
    }
    return earliest === nth ? undefined : earliest
  }

  /** Runs an action when the commit has its outcome; at once if it has one. */
  whenOver(nth: number | undefined, action: () => void): void {
    const waiting = nth === undefined ? undefined : this.#waiting.get(nth)
    if (waiting === undefined) action()
    else waiting.onOutcome.push(action)
  }

  /** Ends the turn of a commit that has its outcome. */
  remove(nth: number): void {
    const waiting = this.#waiting.get(nth)
    if (waiting === undefined) return
    this.#waiting.delete(nth)
    for (const stream of waiting.streams) {
      const others = this.#byStream.get(stream)
      others?.delete(nth)
      if (others?.size === 0) this.#byStream.delete(stream)
    }
    for (const action of waiting.onOutcome) action()
  }
}
