export interface Bounds {
  /** Of one account. */
  readonly perAccount: number
  readonly inAll: number
}

/** What waits, by account, and is taken account by account in turns: one that asks for much waits for itself alone. */
export class FairQueue<Item> {
  readonly #bounds: Bounds
  /** In the order of their turns; none is empty. */
  readonly #lines = new Map<string, Array<Item>>()
  #size = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Whether one more of the account may wait. */
  hasRoom(account: string): boolean {
    return this.#size < this.#bounds.inAll && (this.#lines.get(account)?.length ?? 0) < this.#bounds.perAccount
  }

  add(account: string, item: Item): void {
    const line = this.#lines.get(account)
    if (line === undefined) this.#lines.set(account, [item])
    else line.push(item)
    this.#size++
  }

  /** The next of the first account that may go on, which then goes behind all others. */
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
