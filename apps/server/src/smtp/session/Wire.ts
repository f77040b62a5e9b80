import type * as net from "node:net"
import * as tls from "node:tls"
import * as Replies from "./Replies.ts"

/** Time for a client to close a connection that the server has ended. */
const CLOSE_WITHIN_MS = 5_000
/** Time for a client to close a connection that is ended to make space for others. */
const DROP_WITHIN_MS = 1_000

export interface WireEvents {
  readonly onData: (piece: Buffer) => void
  /** Called when nothing has come for a while, and again after each further while. */
  readonly onIdle: () => void
  readonly onClose: () => void
}

/** The socket of a connection, which TLS may wrap later. Nothing that a client does to it throws. */
export class Wire {
  /** The client, with an IPv4 address as such on a socket for both. */
  readonly address: string
  /** Version of TLS, such as TLSv1.3; null without it. */
  tls: string | null = null
  /** The plain socket, or else the TLS socket around it, also before the handshake is over. */
  #socket: net.Socket
  /** Whether nothing may be sent, since the client expects a handshake. */
  #isHandshake: boolean
  #isClosing = false
  #isClosed = false
  #closeTimer: NodeJS.Timeout | undefined
  readonly #idle_ms: number
  readonly #events: WireEvents

  /** Takes a socket, and nothing that comes on it until `start` or `secure`. */
  constructor(socket: net.Socket, idle_ms: number, beginsWithTls: boolean, events: WireEvents) {
    this.address = (socket.remoteAddress ?? "").toLowerCase().replace(/^::ffff:/u, "")
    this.#socket = socket
    this.#isHandshake = beginsWithTls
    this.#idle_ms = idle_ms
    this.#events = events
    // Each reply is sent at once: a client that acknowledges late would otherwise wait for every other one.
    socket.setNoDelay(true)
    this.#watch(socket)
  }

  get isClosing(): boolean {
    return this.#isClosing || this.#isClosed
  }

  get isHandshake(): boolean {
    return this.#isHandshake
  }

  /** Whether the client does not read what it was sent. */
  get isBehind(): boolean {
    return this.#socket.writableNeedDrain
  }

  start(): void {
    this.#socket.on("data", this.#events.onData)
  }

  /** Begins TLS as its server. Calls `done` when the handshake is over; a connection whose handshake fails is closed. */
  secure(secureContext: tls.SecureContext, done: () => void): void {
    const plain = this.#socket
    this.#isHandshake = true
    plain.pause()
    plain.off("data", this.#events.onData)
    plain.setTimeout(0)
    const socket = new tls.TLSSocket(plain, { isServer: true, secureContext })
    this.#socket = socket
    this.#watch(socket)
    // A socket that was not made by a TLS server has no other event for an error after the handshake.
    socket.on("_tlsError", () => socket.destroy())
    socket.once("secure", () => {
      this.#isHandshake = false
      this.tls = socket.getProtocol() ?? "TLS"
      if (this.isClosing) return
      done()
      this.start()
    })
  }

  send(reply: Replies.Reply): void {
    if (!this.#isHandshake && this.#socket.readyState === "open") this.#socket.write(Replies.format(reply))
  }

  /** Calls `next` when the client has read enough of what was sent, so that replies do not fill the memory. */
  whenSent(next: () => void): void {
    if (this.isBehind) this.#socket.once("drain", next)
    else next()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Ends the connection after what was sent, and reads no more. */
  close(): void {
    if (this.isClosing) return
    this.#isClosing = true
    if (this.#isHandshake) return void this.#socket.destroy()
    const socket = this.#socket
    socket.end()
    // The end of the client's side is only seen by reading.
    socket.off("data", this.#events.onData)
    socket.resume()
    this.#destroyAfter(Math.min(this.#idle_ms, CLOSE_WITHIN_MS))
  }

  /** Closes the connection soon, since a client that reads no replies would keep it open. */
  drop(): void {
    this.close()
    this.#socket.destroySoon()
    this.#destroyAfter(DROP_WITHIN_MS)
  }

  #destroyAfter(time_ms: number): void {
    clearTimeout(this.#closeTimer)
    this.#closeTimer = setTimeout(() => this.#socket.destroy(), time_ms).unref()
  }

  #watch(socket: net.Socket): void {
    // The event "close" follows. A client that leaves is no error: its message was not accepted.
    socket.on("error", () => undefined)
    socket.on("timeout", () => {
      socket.setTimeout(this.#idle_ms)
      if (!this.#isClosing) this.#events.onIdle()
    })
    socket.on("close", () => {
      if (this.#isClosed) return
      this.#isClosed = true
      clearTimeout(this.#closeTimer)
      this.#events.onClose()
    })
    socket.setTimeout(this.#idle_ms)
  }
}
