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

/** A connection slot, with a connection of the route if there is one that can be used. */
interface Reserved {
  readonly idle?: IdleConnection
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
    if (this.open >= this.cooldown.limit) return undefined
    this.busy++
    return {}
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
