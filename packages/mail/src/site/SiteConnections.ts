import { LinkedList, type Place } from "@waybill/runtime/collections/LinkedList"
import * as Cooldown from "./Cooldown.ts"
import type { SmtpConnection } from "../smtp/SmtpConnection.ts"

/** Provider or domain that the limits protect, with the servers among which connections may be shared. */
export interface Site {
  readonly key: string
  /** Connections are reused only within one route: two customers of one provider may have different servers. */
  readonly route: string
  readonly connections: number
  readonly messages: number
  /** Name of the site for people, if the key has more in it. */
  readonly name?: string
  /** Key of the provider that a rule names. */
  readonly provider?: string
}

export interface IdleConnection {
  readonly connection: SmtpConnection
  readonly route: string
  /** Messages sent over the connection so far. */
  readonly messages: number
  readonly since: number
}

/** A connection on which the next message may begin while the one before waits for its answer. */
export interface Offer extends Pick<IdleConnection, "connection" | "route" | "messages"> {
  /** The next message has the slot of the one before. */
  isTaken: boolean
}

/** A connection slot, with a connection of the route if there is one that can be used. */
export interface Reserved {
  readonly idle?: IdleConnection
  readonly offer?: Offer
}

interface Waiting {
  readonly route: string
  /** When it gives up. */
  readonly deadline: number
  readonly resume: () => void
}

/** Connections to one site, and the messages that wait for one. */
export class SiteConnections {
  busy = 0
  /** Connections that are sending QUIT; the server still counts them. */
  closing = 0
  readonly idle: Array<IdleConnection> = []
  readonly #offers: Array<Offer> = []
  /** Whether connections are offered: not to a site that lost a message which began on an offer. */
  passesOn = true
  /** Waiting messages in the order of arrival. */
  readonly waiting = new LinkedList<Waiting>()
  cooldown: Cooldown.Cooldown

  constructor(site: Site) {
    this.cooldown = Cooldown.start(site.connections)
  }

  /** Number of connections that the server counts. */
  get open(): number {
    return this.busy + this.closing + this.idle.length
  }

  /** Whether nothing is lost by forgetting the site. */
  get isUnused(): boolean {
    return this.open + this.waiting.size === 0 && this.cooldown.paused_until === 0
  }

  /** Reserves a connection slot. */
  reserve(route: string): Reserved | undefined {
    for (let at = this.idle.length - 1; at >= 0; at--) {
      const idle = this.idle[at]
      if (idle === undefined || idle.route !== route) continue
      this.idle.splice(at, 1)
      if (!idle.connection.isUsable()) {
        idle.connection.destroy()
        continue
      }
      this.busy++
      return { idle }
    }
    const offer = this.#offers.find((each) => each.route === route)
    if (offer !== undefined) {
      this.withdraw(offer)
      offer.isTaken = true
      return { offer }
    }
    if (this.open >= this.cooldown.limit) return undefined
    this.busy++
    return {}
  }

  /**
   * Offers a connection to the message that has waited longest, if it is for the same servers and as many wait as there may
   * be connections. Of fewer, each is served sooner by the connection that is free first.
   */
  offer(offer: Offer): void {
    const next = this.waiting.first?.item
    const { limit } = this.cooldown
    if (!this.passesOn || next?.route !== offer.route || this.waiting.size < limit || this.open > limit) return
    this.#offers.push(offer)
    this.resumeNext()
  }

  withdraw(offer: Offer): void {
    const at = this.#offers.indexOf(offer)
    if (at >= 0) this.#offers.splice(at, 1)
  }

  /** Resumes the message that has waited longest. */
  resumeNext(): void {
    const next = this.waiting.first
    if (next !== undefined) this.resume(next)
  }

  resumeAll(): void {
    for (const place of this.waiting.places) this.resume(place)
  }

  resume(place: Place<Waiting>): void {
    if (this.waiting.remove(place)) place.item.resume()
  }
}
