import * as Network from "@waybill/mail/dns/Network"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import type { Socket } from "node:net"

/** Connections of one process, by default. Each idle one takes some 25 KiB. */
export const DEFAULT_MAX_CONNECTIONS = 4_000
/** Connections of one client address, by default; an IPv6 /64 is one address. */
export const DEFAULT_MAX_CONNECTIONS_PER_ADDRESS = 500
/** Connections beyond the caps that are kept open for one request each, so that probes are answered. */
export const RESERVED_CONNECTIONS = 64
/** Time that a reserved connection has for its request and its answer. */
export const RESERVED_TIMEOUT_MS = 5_000

export interface Caps {
  readonly total: number
  readonly perAddress: number
  /** Their connections carry many clients, so they count in the total alone. */
  readonly trustedProxies: Network.Networks
}

export const CAPS: Caps = {
  total: DEFAULT_MAX_CONNECTIONS,
  perAddress: DEFAULT_MAX_CONNECTIONS_PER_ADDRESS,
  trustedProxies: [],
}

const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"])

export const isProbe = (url: string | undefined): boolean => PROBES.has((url ?? "").split("?", 1)[0] ?? "")

/** Counts the open connections of a server, in all and by client address. */
export class Connections {
  readonly #caps: Caps
  readonly #byAddress = new Map<string, number>()
  /** Connections beyond the caps, the oldest first. */
  readonly #reserved = new Set<Socket>()
  #open = 0

  constructor(caps: Caps) {
    this.#caps = caps
  }

  /** Counts a new connection; one beyond a cap takes a reserved place, and the oldest there makes room for it. */
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

  /** True for a connection beyond the caps, on which probes alone are answered. */
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
