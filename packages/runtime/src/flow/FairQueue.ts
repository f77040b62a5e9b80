export interface Bounds {
  /** Maximum per account. */
  readonly perAccount: number
  readonly inAll: number
}

/** A queue per account, served in turns: an account that queues much delays only itself. */
export class FairQueue<Item> {
  readonly #bounds: Bounds
  /** Accounts in the order of their turns; no queue is empty. */
  readonly #queues = new Map<string, Array<Item>>()
  #size = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }

  /** Accounts that have something queued, in the order of their turns. */
  get accounts(): ReadonlyArray<string> {
    return [...this.#queues.keys()]
  }

  /** Returns whether the account may queue one more. */
  hasCapacity(account: string): boolean {
    return this.#size < this.#bounds.inAll && (this.#queues.get(account)?.length ?? 0) < this.#bounds.perAccount
  }

  add(account: string, item: Item): void {
    const queue = this.#queues.get(account)
    if (queue === undefined) this.#queues.set(account, [item])
    else queue.push(item)
    this.#size++
  }

  /** Takes the next item of the first account that may proceed, and moves that account to the end. */
  take(mayProceed: (account: string) => boolean): Item | undefined {
    for (const [account, queue] of this.#queues) {
      if (!mayProceed(account)) continue
      const item = queue.shift()
      this.#queues.delete(account)
      if (queue.length > 0) this.#queues.set(account, queue)
      this.#size--
      return item
    }
    return undefined
  }

  remove(account: string, item: Item): void {
    const queue = this.#queues.get(account) ?? []
    const at = queue.indexOf(item)
    if (at === -1) return
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(account)
    this.#size--
  }
}
