export interface Bounds {
  /** Maximum per account. */
  readonly perAccount: number
  readonly inAll: number
}

/** A queue per account, served in turns: an account that queues much delays only itself. */
export class FairQueue<Item> {
  readonly #bounds: Bounds
  /** Accounts in the order of their turns; no queue is empty. */
  readonly #lines = new Map<string, Array<Item>>()
  #size = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Returns whether the account may queue one more. */
  hasRoom(account: string): boolean {
    return this.#size < this.#bounds.inAll && (this.#lines.get(account)?.length ?? 0) < this.#bounds.perAccount
  }

  add(account: string, item: Item): void {
    const line = this.#lines.get(account)
    if (line === undefined) this.#lines.set(account, [item])
    else line.push(item)
    this.#size++
  }

  /** Takes the next item of the first account that may proceed, and moves that account to the end. */
  take(mayGoOn: (account: string) => boolean): Item | undefined {
    for (const [account, line] of this.#lines) {
      if (!mayGoOn(account)) continue
      const item = line.shift()
      this.#lines.delete(account)
      if (line.length > 0) this.#lines.set(account, line)
      this.#size--
      return item
    }
    return undefined
  }

  remove(account: string, item: Item): void {
    const line = this.#lines.get(account) ?? []
    const at = line.indexOf(item)
    if (at === -1) return
    line.splice(at, 1)
    if (line.length === 0) this.#lines.delete(account)
    this.#size--
  }
}
