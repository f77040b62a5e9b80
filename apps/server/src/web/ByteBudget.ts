/** Requests up to this size may use the last quarter of a budget, so that large ones cannot exclude small ones. */
export const SMALL_BYTES = 256 * 1024
const SHARE_OF_LARGE = 3 / 4

export interface BudgetLimits {
  readonly total_bytes: number
  /** Maximum per account, or per address without a key. */
  readonly holder_bytes: number
}

/** Counts the bytes that requests hold in memory, in total and per account. */
export class ByteBudget {
  readonly #limits: BudgetLimits
  readonly #byHolder = new Map<string, number>()
  #held = 0

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  lease(holder: string): Lease {
    return new Lease(this, holder)
  }

  /** Returns whether a request that has taken `mine` bytes may take more. */
  fits(holder: string, mine: number, bytes: number): boolean {
    const { holder_bytes, total_bytes } = this.#limits
    const ceiling = mine + bytes > SMALL_BYTES ? total_bytes * SHARE_OF_LARGE : total_bytes
    return this.#held + bytes <= ceiling && (this.#byHolder.get(holder) ?? 0) + bytes <= holder_bytes
  }

  /** Adds to the bytes of a holder, or subtracts from them. */
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

/** The bytes that one request holds of a budget. */
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

  /** Takes bytes if the budget allows all of them; returns whether it did. */
  take(bytes: number): boolean {
    if (!this.fits(bytes)) return false
    this.#mine += bytes
    this.#budget.change(this.#holder, bytes)
    return true
  }

  /** Returns all bytes to the budget; nothing can be taken afterwards. */
  release(): void {
    this.#isOver = true
    if (this.#mine > 0) this.#budget.change(this.#holder, -this.#mine)
    this.#mine = 0
  }
}
