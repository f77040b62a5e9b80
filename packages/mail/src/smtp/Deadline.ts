/**
 * A time limit that is set anew for each reply. One timer serves all of them, since to start and stop one for each costs
 * more than to read the clock.
 */
export class Deadline {
  readonly #passed: () => void
  #timer: NodeJS.Timeout | undefined
  #endsAt = Infinity
  #wakesAt = Infinity

  constructor(passed: () => void) {
    this.#passed = passed
  }

  /** Replaces the limit before. */
  set(millis: number): void {
    this.#endsAt = performance.now() + millis
    if (this.#endsAt < this.#wakesAt) this.#wakeIn(millis)
  }

  /** Lifts the limit. The timer stays, for the next one. */
  lift(): void {
    this.#endsAt = Infinity
  }

  stop(): void {
    this.lift()
    this.#wakesAt = Infinity
    clearTimeout(this.#timer)
  }

  #wakeIn(millis: number): void {
    clearTimeout(this.#timer)
    this.#wakesAt = performance.now() + millis
    this.#timer = setTimeout(() => this.#wake(), millis)
  }

  #wake(): void {
    this.#wakesAt = Infinity
    if (this.#endsAt === Infinity) return
    // A timer may fire a fraction of a millisecond early.
    const left = Math.ceil(this.#endsAt - performance.now())
    if (left > 0) this.#wakeIn(left)
    else this.#passed()
  }
}
