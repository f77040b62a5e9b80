import { FairQueue } from "@waybill/runtime/flow/FairQueue"

/** Bytes that a mail may have without a place. */
export const SMALL_BYTES = 64 * 1024
/** Mails that wait for a place, in all and of one network; others are put off at once. */
export const MAX_WAITING = 250
export const MAX_WAITING_PER_NETWORK = 100
/** Time that a mail waits for a place, in which its client sends nothing. Clients wait three minutes (RFC 5321, section 4.5.3.2.5). */
export const PLACE_WITHIN_MS = 120_000
/** A mail that comes more slowly would not be whole within its time. It loses its place to others that wait. */
export const LEAST_BYTES_PER_SECOND = 32 * 1024
export const SLOW_AFTER_MS = 10_000

/** Places of large mails that come in, so many at a time. The others wait, in turns of their networks. */
export class LargeMails {
  readonly #waiting = new FairQueue<() => void>({ perAccount: MAX_WAITING_PER_NETWORK, inAll: MAX_WAITING })
  readonly #held = new Map<string, number>()
  readonly #places: number
  #free: number
  /** Memory of places that were given up, for those that wait: what is left to the collector goes later than more comes. */
  #unused: Array<Buffer> = []

  constructor(places: number) {
    this.#places = places
    this.#free = places
  }

  /** Whether a mail waits. */
  get isWanted(): boolean {
    return !this.#waiting.isEmpty
  }

  /** Memory for a mail in its place. */
  memory(bytes: number): Buffer {
    const unused = this.#unused.pop()
    return unused?.length === bytes ? unused : Buffer.allocUnsafeSlow(bytes)
  }

  /** Takes the memory of a mail back, of which nothing may be read any more. */
  reuse(memory: Buffer): void {
    if (this.isWanted) this.#unused.push(memory)
    else this.#unused = []
  }

  /** Calls `begin` when it is the turn of a mail. Returns a function that gives the place up; undefined if too many wait. */
  enter(network: string, begin: () => void): (() => void) | undefined {
    if (!this.#waiting.hasCapacity(network)) return undefined
    let isHeld = false
    const start = () => {
      isHeld = true
      begin()
    }
    this.#waiting.add(network, start)
    this.#next()
    return () => {
      if (!isHeld) return this.#waiting.remove(network, start)
      isHeld = false
      this.#count(network, -1)
      this.#next()
    }
  }

  #next(): void {
    // One network leaves a place to others.
    const most = Math.max(1, this.#places - 1)
    let network = ""
    const mayProceed = (name: string) => {
      network = name
      return (this.#held.get(name) ?? 0) < most
    }
    while (this.#free > 0) {
      const start = this.#waiting.take(mayProceed)
      if (start === undefined) return
      this.#count(network, 1)
      start()
    }
  }

  #count(network: string, change: 1 | -1): void {
    this.#free -= change
    const held = (this.#held.get(network) ?? 0) + change
    if (held === 0) this.#held.delete(network)
    else this.#held.set(network, held)
  }
}
