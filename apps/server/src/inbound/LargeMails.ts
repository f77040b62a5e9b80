import { FairQueue } from "@waybill/runtime/flow/FairQueue"

/** Bytes that a mail may have without a place. */
export const SMALL_BYTES = 64 * 1024
/** Mails that wait for a place; others are put off at once. Each holds a connection. */
export const MAX_WAITING = 500
/** Time that a mail waits for a place, in which its client sends nothing. Clients wait three minutes (RFC 5321, section 4.5.3.2.5). */
export const PLACE_WITHIN_MS = 120_000
/** A mail that comes more slowly would not be whole within its time. It loses its place to others that wait. */
export const LEAST_BYTES_PER_SECOND = 32 * 1024
export const SLOW_AFTER_MS = 10_000
/**
 * Time after which a mail loses its place to a network that waits, if as many networks wait as there are places, or fewer. With more
 * of them it is shorter, so that each has its turn within about this time.
 */
export const LONGEST_TURN_MS = 60_000
export const SHORTEST_TURN_MS = 1_000
const LOOK_EVERY_MS = 250
/**
 * Size of a mail that gives its place up when it is whole, and bytes of all of them that are being processed: a sender whose DNS
 * answers late would hold a place with little traffic.
 */
export const SETTLED_BYTES = 4 * 1024 * 1024
const MAX_SETTLED_BYTES = 16 * 1024 * 1024

/** A mail that comes in. */
export interface LargeMail {
  readonly network: string
  /** Called when it is its turn. */
  readonly begin: () => void
  /** Bytes that have come since. */
  readonly bytes: () => number
  /** Called when others get its place. */
  readonly lose: () => void
}

/** A place, or the wait for one. */
export interface Turn {
  /** Ends the turn, or the waiting for it. */
  readonly leave: () => void
  /** Ends the taking in of the mail. Returns whether it keeps its place while it is processed. */
  readonly settle: (bytes: number) => boolean
}

interface Holder {
  readonly mail: LargeMail
  readonly since: number
}

/** Places of large mails that come in, so many at a time. The others wait, in turns of their networks. */
export class LargeMails {
  readonly #waiting = new FairQueue<() => void>({ perAccount: MAX_WAITING, inAll: MAX_WAITING })
  /** Places that each network has. */
  readonly #held = new Map<string, number>()
  /** Mails with a place that are not whole. */
  readonly #coming = new Set<Holder>()
  readonly #places: number
  #free: number
  /** Memory of places that were given up, for those that wait: what is left to the collector goes later than more comes. */
  #unused: Array<Buffer> = []
  /** Bytes of whole mails that have given their place up. */
  #settled = 0
  #timer: NodeJS.Timeout | undefined
  /** Most networks that waited at a time, in this period and in the one before it, each as long as the longest turn. */
  #crowds: readonly [now: number, before: number] = [0, 0]
  #periodSince = 0

  constructor(places: number) {
    this.#places = places
    this.#free = places
  }

  /** Memory for a mail in its place. */
  memory(bytes: number): Buffer {
    const unused = this.#unused.pop()
    return unused?.length === bytes ? unused : Buffer.allocUnsafeSlow(bytes)
  }

  /** Takes the memory of a mail back, of which nothing may be read any more. */
  reuse(memory: Buffer): void {
    if (this.#waiting.isEmpty) this.#unused = []
    else this.#unused.push(memory)
  }

  /** Begins a mail when it is its turn; returns undefined if too many wait. */
  enter(mail: LargeMail): Turn | undefined {
    const { network } = mail
    if (!this.#waiting.hasCapacity(network)) return undefined
    let holder: Holder | undefined
    let settled = 0
    let isOver = false
    const start = () => {
      holder = { mail, since: performance.now() }
      this.#coming.add(holder)
      mail.begin()
    }
    this.#waiting.add(network, start)
    this.#next()
    this.#crowds = [Math.max(this.#crowds[0], this.#waiting.accounts.length), this.#crowds[1]]
    this.#timer ??= setInterval(() => this.#share(), LOOK_EVERY_MS)
    return {
      leave: () => {
        if (holder === undefined) return this.#waiting.remove(network, start)
        this.#settled -= settled
        settled = 0
        if (isOver) return
        isOver = true
        this.#coming.delete(holder)
        this.#count(network, -1)
        this.#next()
      },
      settle: (bytes) => {
        if (holder === undefined) return false
        this.#coming.delete(holder)
        if (bytes > SETTLED_BYTES || this.#settled + bytes > MAX_SETTLED_BYTES) return true
        settled = bytes
        this.#settled += bytes
        isOver = true
        this.#count(network, -1)
        this.#next()
        return false
      },
    }
  }

  /** Takes places for networks that wait from mails whose turn is over, the slowest first. */
  #share(): void {
    const now = performance.now()
    if (this.#waiting.isEmpty) {
      clearInterval(this.#timer)
      this.#timer = undefined
      this.#crowds = [0, 0]
    } else if (now - this.#periodSince >= LONGEST_TURN_MS) {
      this.#periodSince = now
      this.#crowds = [this.#waiting.accounts.length, this.#crowds[0]]
    }
    const rateOf = ({ mail, since }: Holder) => (mail.bytes() * 1_000) / (now - since)
    const over = [...this.#coming]
      .filter((holder) => this.#isOver(now - holder.since, rateOf(holder)))
      .toSorted((a, b) => rateOf(a) - rateOf(b))
    for (const { mail } of over) if (this.#isWanted(mail.network)) mail.lose()
  }

  #isOver(elapsed_ms: number, rate: number): boolean {
    // Those that have waited already count: turns that grow while the queue gets shorter would let its last ones wait longest.
    const turn = (LONGEST_TURN_MS * this.#places) / Math.max(this.#places, ...this.#crowds)
    return (
      elapsed_ms >= Math.max(SHORTEST_TURN_MS, turn) || (elapsed_ms >= SLOW_AFTER_MS && rate < LEAST_BYTES_PER_SECOND)
    )
  }

  /** Whether another network than this one waits, and may have one more place. */
  #isWanted(network: string): boolean {
    return this.#waiting.accounts.some((name) => name !== network && this.#mayProceed(name))
  }

  /** One network leaves a place to others. */
  #mayProceed(network: string): boolean {
    return (this.#held.get(network) ?? 0) < Math.max(1, this.#places - 1)
  }

  #next(): void {
    let network = ""
    const mayProceed = (name: string) => {
      network = name
      return this.#mayProceed(name)
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
