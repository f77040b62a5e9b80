/** A holder with at most so many bytes of a budget may use its last quarter, so that large ones never shut out small ones. */
export const SMALL_BYTES = 256 * 1024
const SHARE_OF_LARGE = 3 / 4

export interface Limits {
  readonly total_bytes: number
  /** The same for one account, or one address without a key. */
  readonly holder_bytes: number
}

/** Counts bytes that many requests hold in memory at once, in all and by holder. */
export class ByteBudget {
  readonly #limits: Limits
  readonly #byHolder = new Map<string, number>()
  #held = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  lease(holder: string): Lease {
    return new Lease(this, holder)
  }

  /** Whether a holder that has `mine` bytes for a request may have more for it. */
  fits(holder: string, mine: number, bytes: number): boolean {
    const { holder_bytes, total_bytes } = this.#limits
    const ceiling = mine + bytes > SMALL_BYTES ? total_bytes * SHARE_OF_LARGE : total_bytes
    return this.#held + bytes <= ceiling && (this.#byHolder.get(holder) ?? 0) + bytes <= holder_bytes
  }

  /** Adds to what a holder has, or takes from it. */
  change(holder: string, bytes: number): void {
    this.#held += bytes
    const left = (this.#byHolder.get(holder) ?? 0) + bytes
    if (left === 0) this.#byHolder.delete(holder)
    else this.#byHolder.set(holder, left)
  }

  get held(): number {
    return this.#held
  }
}

/** What one request holds of a budget. */
export class Lease {
  readonly #budget: ByteBudget
  readonly #holder: string
  #mine = 0
  #isOver = false

  constructor(budget: ByteBudget, holder: string) {
    this.#budget = budget
    this.#holder = holder
  }

  fits(bytes: number): boolean {
    return !this.#isOver && this.#budget.fits(this.#holder, this.#mine, bytes)
  }

  /** Takes bytes, or none of them when the budget has not as many left. */
  take(bytes: number): boolean {
    if (!this.fits(bytes)) return false
    this.#mine += bytes
    this.#budget.change(this.#holder, bytes)
    return true
  }

  /** Gives back all that was taken; nothing is taken after that. */
  release(): void {
    this.#isOver = true
    if (this.#mine > 0) this.#budget.change(this.#holder, -this.#mine)
    this.#mine = 0
  }
}
