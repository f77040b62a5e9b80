import * as Network from "@waybill/mail/dns/Network"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import type { Socket } from "node:net"

/** Default maximum of open connections per process. An idle one takes about 25 KiB. */
export const DEFAULT_MAX_CONNECTIONS = 4_000
/** Default maximum of open connections per client address; an IPv6 /64 counts as one. */
export const DEFAULT_MAX_CONNECTIONS_PER_ADDRESS = 500
/** Connections beyond the limits that are kept open for one request each, so that health checks are answered. */
export const RESERVED_CONNECTIONS = 64
/** Time that a reserved connection has for its request and response. */
export const RESERVED_TIMEOUT_MS = 5_000

export interface Caps {
  readonly total: number
  readonly perAddress: number
  /** Proxies carry many clients, so their connections count towards the total only. */
  readonly trustedProxies: Network.Networks
}

export const CAPS: Caps = {
  total: DEFAULT_MAX_CONNECTIONS,
  perAddress: DEFAULT_MAX_CONNECTIONS_PER_ADDRESS,
  trustedProxies: [],
}

const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"])

export const isProbe = (url: string | undefined): boolean => PROBES.has((url ?? "").split("?", 1)[0] ?? "")

/** Counts the open connections of a server, in total and per client address. */
export class Connections {
  readonly #caps: Caps
  readonly #byAddress = new Map<string, number>()
  /** Connections beyond the limits, oldest first. */
  readonly #reserved = new Set<Socket>()
  #open = 0

  constructor(caps: Caps) {
    this.#caps = caps
  }

  /** Counts a new connection. Beyond a limit it becomes a reserved one and replaces the oldest of those. */
  add(socket: Socket): void {
    const address = socket.remoteAddress ?? ""
    const isProxy = Network.contains(this.#caps.trustedProxies, address)
    const name = isProxy ? undefined : RateWindows.clientAddress(address).bucket
    const siblings = name === undefined ? 0 : (this.#byAddress.get(name) ?? 0)
    if (this.#open >= this.#caps.total || siblings >= this.#caps.perAddress) return this.#reserve(socket)
    this.#open++
    if (name !== undefined) this.#byAddress.set(name, siblings + 1)
    socket.once("close", () => this.#remove(name))
  }

  /** True for a connection beyond the limits, on which only health checks are answered. */
  isReserved(socket: Socket): boolean {
    return this.#reserved.size > 0 && this.#reserved.has(socket)
  }

  #reserve(socket: Socket): void {
    const [oldest] = this.#reserved
    if (oldest !== undefined && this.#reserved.size >= RESERVED_CONNECTIONS) {
      this.#reserved.delete(oldest)
      oldest.destroy()
    }
    this.#reserved.add(socket)
    const timer = setTimeout(() => socket.destroy(), RESERVED_TIMEOUT_MS)
    timer.unref()
    socket.once("close", () => {
      clearTimeout(timer)
      this.#reserved.delete(socket)
    })
  }

  #remove(name: string | undefined): void {
    this.#open--
    if (name === undefined) return
    const left = (this.#byAddress.get(name) ?? 1) - 1
    if (left === 0) this.#byAddress.delete(name)
    else this.#byAddress.set(name, left)
  }
}
