import * as Livemode from "@waybill/domain/account/Livemode"
import { LruCache } from "@waybill/domain/collections/LruCache"
import type { AccountFact, AccountNeeds, AssumedFacts, DomainFact, Facts } from "./Facts.ts"
import type { SubscriptionFact } from "../webhooks/Subscriptions.ts"

/** Maximum number of facts of each kind that a process remembers. */
export const MAX_REMEMBERED = 10_000
/**
 * How far a month's usage may have grown since it was read, by other processes: by this number and this share. A decision counts
 * with the most, so within the margin of its quota an account is read.
 */
export const USAGE_MARGIN = 100
export const USAGE_MARGIN_SHARE = 1 / 8
/** Maximum number of batches that read the facts of an account after an assumption about it did not hold. */
export const MAX_BATCHES_IN_DOUBT = 64

/** Facts by which a batch can be decided without reading them, and what its writes have to check for that. */
export interface Remembered {
  readonly facts: Pick<Facts, "account" | "domain" | "suppression" | "acceptedIn" | "subscriptions">
  readonly assumed: AssumedFacts
}

interface Usage {
  readonly account_id: string
  readonly month: string
  readonly delta: number
}

/** How an account is read whose facts were not as they were remembered. */
interface Doubt {
  /** Batches that read its facts from now on. */
  reads: number
  /** Batches that will read them after the next assumption that does not hold. */
  next: number
}

/**
 * The facts that this process has read last, and addresses that were suppressed then. All may have changed since, so what is
 * decided by them is checked. An account about which the process is wrong is read for a while, so that its batches are not
 * decided twice again and again.
 */
export class RememberedFacts {
  readonly #subscriptions = new LruCache<string, ReadonlyArray<SubscriptionFact>>({ maxEntries: MAX_REMEMBERED })
  readonly #accounts = new LruCache<string, AccountFact>({ maxEntries: MAX_REMEMBERED })
  readonly #domains = new LruCache<string, DomainFact>({ maxEntries: MAX_REMEMBERED })
  readonly #suppressed = new LruCache<string, true>({ maxEntries: MAX_REMEMBERED })
  readonly #usage = new LruCache<string, number>({ maxEntries: MAX_REMEMBERED })
  readonly #doubts = new LruCache<string, Doubt>({ maxEntries: MAX_REMEMBERED })

  /** Returns the facts that a batch needs; undefined unless all are known, and no address is known to be suppressed. */
  find(batch: ReadonlyArray<AccountNeeds>): Remembered | undefined {
    if (!batch.every(isRememberable)) return undefined
    const found = new Found()
    for (const needs of batch) if (!this.#add(needs, found)) return undefined
    return this.#isDoubted(found.accounts.keys()) ? undefined : found
  }

  /** Returns how many webhooks hear of an account's events, as far as is known. */
  subscriptionsOf(account_id: string): number {
    return this.#subscriptions.get(Livemode.liveAccountOf(account_id))?.length ?? 0
  }

  /** Remembers the facts that were read for a batch. */
  store(batch: ReadonlyArray<AccountNeeds>, facts: Facts): void {
    for (const { account_id, addresses = [], domains = [], month } of batch) {
      this.#subscriptions.set(Livemode.liveAccountOf(account_id), facts.subscriptions(account_id))
      if (month !== undefined) {
        setOrDelete(this.#accounts, Livemode.liveAccountOf(account_id), facts.account(account_id))
        this.#usage.set(keyOf(account_id, month), facts.acceptedIn(account_id, month))
      }
      for (const name of domains) setOrDelete(this.#domains, keyOf(account_id, name), facts.domain(account_id, name))
      for (const address of addresses) {
        const isSuppressed = facts.suppression(account_id, address) !== undefined
        setOrDelete(this.#suppressed, keyOf(account_id, address), isSuppressed ? true : undefined)
      }
    }
  }

  /** Notes what this process adds to the usage of months. */
  noteUsage(usage: ReadonlyArray<Usage>): void {
    for (const { account_id, delta, month } of usage) {
      const accepted = this.#usage.get(keyOf(account_id, month))
      if (accepted !== undefined && delta > 0) this.#usage.set(keyOf(account_id, month), accepted + delta)
    }
  }

  /** Lets the next batches of accounts read their facts: more of them each time, unless assumptions hold meanwhile. */
  doubt(batch: ReadonlyArray<AccountNeeds>): void {
    for (const account of new Set(batch.filter(({ month }) => month !== undefined).map(liveOf))) {
      const held = this.#doubts.get(account)
      // The assumption that did not hold was counted as one that does when its facts were found.
      const reads = held === undefined ? 1 : Math.min(held.next + 1, MAX_BATCHES_IN_DOUBT)
      this.#doubts.set(account, { reads, next: Math.min(reads * 2, MAX_BATCHES_IN_DOUBT) })
    }
  }

  #add({ account_id, addresses = [], domains = [], month }: AccountNeeds, found: Found): boolean {
    const live = Livemode.liveAccountOf(account_id)
    if (!addTo(found.subscribed, live, this.#subscriptions)) return false
    if (month !== undefined) {
      if (!addTo(found.accounts, live, this.#accounts)) return false
      if (!addTo(found.usage, keyOf(account_id, month), this.#usage)) return false
    }
    for (const name of domains) if (!addTo(found.domains, keyOf(account_id, name), this.#domains)) return false
    for (const address of addresses) {
      const key = keyOf(account_id, address)
      if (this.#suppressed.get(key) === true) return false
      found.addresses.add(key)
    }
    return true
  }

  #isDoubted(accounts: Iterable<string>): boolean {
    let isDoubted = false
    for (const account of accounts) {
      const doubt = this.#doubts.get(account)
      if (doubt === undefined) continue
      if (doubt.reads > 0) isDoubted = true
      if (doubt.reads > 0) doubt.reads--
      else if (--doubt.next <= 0) this.#doubts.delete(account)
    }
    return isDoubted
  }
}

/** Facts that were found, by the keys under which they are remembered. */
class Found implements Remembered {
  readonly subscribed = new Map<string, ReadonlyArray<SubscriptionFact>>()
  readonly accounts = new Map<string, AccountFact>()
  readonly domains = new Map<string, DomainFact>()
  readonly usage = new Map<string, number>()
  readonly addresses = new Set<string>()

  readonly facts: Remembered["facts"] = {
    account: (account) => this.accounts.get(Livemode.liveAccountOf(account)),
    domain: (account, name) => this.domains.get(keyOf(account, name)),
    suppression: () => undefined,
    acceptedIn: (account, month) => mostOf(this.usage.get(keyOf(account, month)) ?? 0),
    subscriptions: (account) => this.subscribed.get(Livemode.liveAccountOf(account)) ?? [],
  }

  get assumed(): AssumedFacts {
    return {
      subscriptions: this.subscribed,
      accounts: [...this.accounts].map(([account_id, { version }]) => ({ account_id, version })),
      domains: [...this.domains].map(([key, { id, version }]) => ({ account_id: partsOf(key)[0], id, version })),
      addresses: [...this.addresses].map((key) => {
        const [account_id, address] = partsOf(key)
        return { account_id, address }
      }),
      usage: [...this.usage].map(([key, accepted]) => {
        const [account_id, month] = partsOf(key)
        return { account_id, month, atMost: mostOf(accepted) }
      }),
    }
  }
}

/** Clocks, leases and unsent mail are locked, and counts need a batch of their own, so they are always read. */
const isRememberable = ({ clocks, clocksOf, countOf, outbox, unsent }: AccountNeeds): boolean =>
  clocks === undefined &&
  clocksOf === undefined &&
  countOf === undefined &&
  outbox === undefined &&
  unsent === undefined

const mostOf = (accepted: number): number => Math.ceil(accepted * (1 + USAGE_MARGIN_SHARE)) + USAGE_MARGIN

const liveOf = ({ account_id }: AccountNeeds): string => Livemode.liveAccountOf(account_id)

const keyOf = (account_id: string, name: string): string => `${account_id} ${name}`

/** An id holds no space. */
const partsOf = (key: string): readonly [account_id: string, name: string] => {
  const space = key.indexOf(" ")
  return [key.slice(0, space), key.slice(space + 1)]
}

const addTo = <A>(found: Map<string, A>, key: string, remembered: LruCache<string, A>): boolean => {
  if (found.has(key)) return true
  const value = remembered.get(key)
  if (value !== undefined) found.set(key, value)
  return value !== undefined
}

const setOrDelete = <A>(remembered: LruCache<string, A>, key: string, value: A | undefined): void => {
  if (value === undefined) remembered.delete(key)
  else remembered.set(key, value)
}
