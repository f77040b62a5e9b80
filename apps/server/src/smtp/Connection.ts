import { Duration } from "effect"
import type * as net from "node:net"
import type * as tls from "node:tls"
import type { Handshakes } from "./Handshakes.ts"
import type { ConnectionSlots, SlotHolder } from "./ConnectionSlots.ts"
import type { ListenerLimits } from "./ListenerLimits.ts"
import type { MessageStream } from "./session/MessageStream.ts"
import * as Replies from "./session/Replies.ts"
import { Session } from "./session/Session.ts"
import type { SessionHandlers } from "./session/SessionHandlers.ts"
import { Wire } from "./session/Wire.ts"

/** A message that comes more slowly than this, after a moment, loses its slot to others when slots are scarce. */
const MIN_BYTES_PER_SECOND = 1024
/** `MIN_BYTES_PER_SECOND` of a client that is not identified, so that some hundred of them cannot hold all slots with little traffic. */
export const MIN_BYTES_PER_SECOND_UNIDENTIFIED = 32 * 1024
const SLOW_AFTER_MS = 10_000

export interface Deps<Login> {
  /** Host name in the greeting. */
  readonly name: string
  readonly limits: ListenerLimits
  readonly slots: ConnectionSlots
  readonly handshakes: Handshakes
  readonly handlers: SessionHandlers<Login>
  /** Certificate; without it, TLS is not offered. */
  readonly secureContext: tls.SecureContext | undefined
  /** Whether a client with this address may log in without TLS. */
  readonly isLocal: (address: string) => boolean
}

/** The port that a connection came to. */
export interface Port {
  /** Whether connections begin with TLS, before the greeting. */
  readonly hasImplicitTls: boolean
  readonly isStopping: () => boolean
}

let connections = 0

/** A connection of a listener: its session, its slot, and deadlines that slow bytes do not extend. */
export class Connection<Login> implements SlotHolder {
  readonly #deps: Deps<Login>
  readonly #wire: Wire
  readonly #session: Session<Login>
  /** Gives up the turn of a TLS handshake that has not begun. */
  #cancelHandshake: (() => void) | undefined
  #deadline: NodeJS.Timeout | undefined
  #identityTimer: NodeJS.Timeout | undefined
  /** When the message that comes in began. */
  #messageSince = 0

  constructor(socket: net.Socket, deps: Deps<Login>, port: Port) {
    this.#deps = deps
    const { handlers, isLocal, limits, name, secureContext, slots } = deps
    this.#wire = new Wire(socket, Duration.toMillis(limits.idle), port.hasImplicitTls, {
      onData: (piece) => this.#session.input.take(piece),
      onIdle: () => this.#timeOut(),
      onClose: () => this.#close(),
    })
    const options = {
      name,
      maxMessageBytes: limits.maxMessageBytes,
      maxRecipients: limits.maxRecipients,
      hasLogin: handlers.login !== undefined,
      offersTls: secureContext !== undefined,
      mayLogIn: () => this.#wire.tls !== null || isLocal(this.#wire.address),
      isStopping: port.isStopping,
      startTls: () => this.#startTls(),
      onMessage: (message: MessageStream) => this.#expectEndOf(message),
    }
    this.#session = new Session(String(++connections), this.#wire, options, handlers)
    if (slots.enter(this)) this.#begin(port.hasImplicitTls)
    else this.leave()
  }

  #begin(hasImplicitTls: boolean): void {
    this.#identityTimer = this.#expectIdentity()
    if (hasImplicitTls) return this.#awaitHandshake(() => this.#secure(() => this.#session.greet()))
    this.#session.greet()
    this.#wire.start()
  }

  get remoteAddress(): string {
    return this.#wire.address
  }

  isIdentified(): boolean {
    return this.#session.isIdentified
  }

  isBusy(): boolean {
    const { message } = this.#session
    return message === undefined ? this.#isAwaited() && this.#cancelHandshake === undefined : this.#isFast(message)
  }

  /** Whether the client waits for the server, rather than the server for the client. */
  #isAwaited(): boolean {
    return this.#session.input.isPending && !this.#wire.isBehind
  }

  /** Whether a message comes in, or is processed. One that comes too slowly keeps nobody else out. */
  #isFast(message: MessageStream): boolean {
    const elapsed_ms = performance.now() - this.#messageSince
    const least = this.isIdentified() ? MIN_BYTES_PER_SECOND : MIN_BYTES_PER_SECOND_UNIDENTIFIED
    return message.isWhole || elapsed_ms < SLOW_AFTER_MS || message.byteLength * 1000 >= least * elapsed_ms
  }

  leave(): void {
    this.#drop(Replies.of(421, "4.7.0", "Too many connections, please try again in a moment"))
  }

  /** Closes an idle connection because the service stops. A message in flight is still answered. */
  dismiss(): void {
    if (this.#wire.isHandshake) return this.#wire.drop()
    if (!this.#isAwaited() && this.#session.message === undefined)
      this.#end(Replies.of(421, "4.3.2", "The service is stopping, please come back"))
  }

  /** Closes the connection because the service has stopped. */
  end(): void {
    this.#end(Replies.of(421, "4.4.2", "Server shutting down"))
  }

  /** Calls `start` when it is the turn of this connection's TLS handshake, unless the connection is closed by then. */
  #awaitHandshake(start: () => void): void {
    let hasBegun = false
    const cancel = this.#deps.handshakes.begin(() => {
      hasBegun = true
      this.#cancelHandshake = undefined
      if (!this.#wire.isClosing) start()
    })
    if (!hasBegun) this.#cancelHandshake = cancel
  }

  /** Waits for a turn before the client is told to begin the handshake. */
  #startTls(): void {
    this.#awaitHandshake(() => {
      this.#wire.send(Replies.of(220, "2.0.0", "Ready to start TLS"))
      this.#session.input.clear()
      this.#secure(() => this.#session.restart())
    })
  }

  #secure(done: () => void): void {
    if (this.#deps.secureContext !== undefined) this.#wire.secure(this.#deps.secureContext, done)
  }

  /** Closes the connection unless the client identifies itself in time, which is shorter while slots are scarce. */
  #expectIdentity(): NodeJS.Timeout {
    const { limits, slots } = this.#deps
    const crowded = Duration.min(limits.identifiedWithinCrowded, limits.identifiedWithin)
    const rest = Duration.subtract(limits.identifiedWithin, crowded)
    const look = () => {
      const isUnwanted = !this.isIdentified() && slots.isCrowded()
      if (isUnwanted && !this.isBusy()) return this.#tooSlow()
      // A message that comes in, or is processed, is not cut off.
      if (isUnwanted) this.#identityTimer = setTimeout(look, Duration.toMillis(crowded)).unref()
      else this.#endAfter(rest)
    }
    return setTimeout(look, Duration.toMillis(crowded)).unref()
  }

  /** Closes the connection when its time is over. A message that is processed may be stored, and is answered first. */
  #endAfter(time: Duration.Duration): void {
    this.#identityTimer = setTimeout(() => {
      if (this.#deps.handlers.login !== undefined && this.isIdentified()) return
      if (this.#session.message?.isWhole === true) this.#endAfter(Duration.seconds(1))
      else this.#tooSlow()
    }, Duration.toMillis(time)).unref()
  }

  #expectEndOf(message: MessageStream): void {
    this.#messageSince = performance.now()
    clearTimeout(this.#deadline)
    this.#deadline = this.#closeAfter(
      this.#deps.limits.message,
      () => this.#session.message === message && !message.isWhole,
    )
  }

  #closeAfter(time: Duration.Duration, isDue: () => boolean): NodeJS.Timeout {
    const timer = setTimeout(() => {
      if (isDue()) this.#tooSlow()
    }, Duration.toMillis(time))
    return timer.unref()
  }

  #tooSlow(): void {
    this.#drop(Replies.of(421, "4.4.2", "Too slow, closing the connection"))
  }

  /** Closes a connection on which nothing came for long. A client that waits for a reply is not idle. */
  #timeOut(): void {
    if (!this.#isAwaited()) this.#end(Replies.of(421, "4.4.2", "Timeout - closing connection"))
  }

  /** Ends the dialogue, whatever the client was about to send. */
  #end(reply: Replies.Reply): void {
    this.#wire.send(reply)
    this.#session.input.close()
    this.#wire.close()
  }

  #drop(reply: Replies.Reply): void {
    this.#end(reply)
    this.#wire.drop()
  }

  #close(): void {
    clearTimeout(this.#deadline)
    clearTimeout(this.#identityTimer)
    this.#cancelHandshake?.()
    this.#deps.slots.remove(this)
    this.#session.close()
  }
}

export const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1"
