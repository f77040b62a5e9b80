import { Duration } from "effect"
import type * as net from "node:net"
import type { SMTPServer } from "smtp-server"
import { SMTPConnection, type SMTPConnectionOptions } from "smtp-server/lib/smtp-connection.js"
import type { Handshakes } from "./Handshakes.ts"
import type { Limits } from "./Listener.ts"
import type { Guest, Places } from "./ConnectionSlots.ts"

/** After it the connection is closed: whoever has a key needs one attempt. */
export const MAX_LOGIN_ATTEMPTS = 3

/** A connection that has to go has this long to take in what it is told. */
const DROP_WITHIN_MS = 1_000

export interface Rules {
  readonly limits: Limits
  readonly places: Places
  readonly handshakes: Handshakes
  /** Whether clients log in here. Elsewhere a client is known for as long as it has an accepted recipient. */
  readonly hasLogin: boolean
  /** Whose login may come in the clear. */
  readonly isLocal: (address: string) => boolean
}

const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /u

/**
 * The library's connection, with what it has no option for: no pause of 100 ms before each greeting (this is not port
 * 25, where a pause unmasks spammers), logins in the clear from this machine only, enhanced codes of our own, and
 * deadlines that trickling bytes do not move.
 */
export class Connection extends SMTPConnection implements Guest {
  #attempts = 0
  #helloing = false
  readonly #rules: Rules
  /** Gives up the turn of a TLS handshake that has not begun. */
  #waits: (() => void) | undefined
  /** The TLS socket as soon as there is one, which may be before the library uses it. */
  #outermost: net.Socket | undefined
  #deadline: NodeJS.Timeout | undefined
  #stranger: NodeJS.Timeout | undefined

  static accept(server: SMTPServer, rules: Rules, socket: net.Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new Connection(server, rules, socket, options)
    server.connections.add(connection)
    connection.on("error", (error: Error) => server.emit("error", error))
    connection.init()
  }

  private constructor(server: SMTPServer, rules: Rules, socket: net.Socket, options?: SMTPConnectionOptions | null) {
    super(server, socket, options)
    this.#rules = rules
  }

  override init(): void {
    this._setListeners(() => {
      if (!this.#rules.places.enter(this)) return this.leave()
      this.#stranger = this.#expect()
      this.connectionReady()
    })
  }

  isKnown(): boolean {
    if (this.#rules.hasLogin) return Boolean(this.session.user)
    return Boolean(this._dataStream) || (this.session.envelope?.rcptTo.length ?? 0) > 0
  }

  isBusy(): boolean {
    return Boolean(this._dataStream) || (this._handlerPending && this.#waits === undefined)
  }

  leave(): void {
    this.send(421, "4.7.0 Too many connections, please try again in a moment")
    this.#drop()
  }

  /** A client has its time to show who it is, and a part of it while strangers crowd the listener. */
  #expect(): NodeJS.Timeout {
    const { limits, places } = this.#rules
    const crowded = Duration.min(limits.strangerInCrowd, limits.stranger)
    const rest = Duration.subtract(limits.stranger, crowded)
    const timer = setTimeout(() => {
      if (!this.isKnown() && places.isCrowded()) return this.#tooSlow()
      this.#stranger = this.#closeAfter(rest, () => !this.session.user)
    }, Duration.toMillis(crowded))
    return timer.unref()
  }

  /** A service that stops has no more commands to wait for; a message under way is still answered. */
  dismiss(): void {
    if (this._dataStream || this._handlerPending) return
    this.send(421, "4.3.2 The service is stopping, please come back")
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    super.send(code, data, typeof data === "string" && ENHANCED.test(data) ? false : context)
  }

  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.#helloing = true
    super.handler_EHLO(command, callback)
    this.#helloing = false
  }

  /** AUTH is not even offered where it would be refused, so that a careful client sends no key in the clear. */
  override _isSupported(command: string): boolean {
    return super._isSupported(command) && !(this.#helloing && command === "AUTH" && !this.#mayLogIn())
  }

  /** Its turn comes when others have had theirs: until then the client is not told to begin. */
  override handler_STARTTLS(command: Buffer, callback: () => void): void {
    const begun = this.#rules.handshakes.begin(() => {
      this.#waits = undefined
      if (!this._closing && !this._closed) super.handler_STARTTLS(command, callback)
    })
    if (this._handlerPending && !this._upgrading) this.#waits = begun
  }

  override _armTimeout(socket?: net.Socket): void {
    this.#outermost = socket ?? this.#outermost
    super._armTimeout(socket)
  }

  override handler_AUTH(command: Buffer, callback: () => void): void {
    if (!this.#mayLogIn()) {
      const how = this._isSupported("STARTTLS") ? "Issue STARTTLS first" : "This server has no certificate for STARTTLS"
      this.send(538, `5.7.11 A key is not taken in the clear from another machine. ${how}`)
      return callback()
    }
    if (++this.#attempts > MAX_LOGIN_ATTEMPTS) return this.send(421, "4.7.0 Too many failed logins on this connection")
    super.handler_AUTH(command, callback)
  }

  override handler_DATA(command: Buffer, callback: () => void): void {
    super.handler_DATA(command, callback)
    const stream = this._dataStream
    if (!stream) return
    clearTimeout(this.#deadline)
    this.#deadline = this.#closeAfter(
      this.#rules.limits.message,
      () => this._dataStream === stream && !stream.writableEnded,
    )
  }

  override _onClose(): void {
    clearTimeout(this.#deadline)
    clearTimeout(this.#stranger)
    this.#waits?.()
    this.#rules.places.remove(this)
    super._onClose()
  }

  #mayLogIn(): boolean {
    return this.secure || this.#rules.isLocal(this.remoteAddress)
  }

  #closeAfter(time: Duration.Duration, stillDue: () => boolean): NodeJS.Timeout {
    const timer = setTimeout(() => {
      if (stillDue()) this.#tooSlow()
    }, Duration.toMillis(time))
    return timer.unref()
  }

  #tooSlow(): void {
    this.send(421, "4.4.2 Too slow, closing the connection")
    this.#drop()
  }

  /** A socket in mid-message, or one that reads no answers, would keep the library waiting for an end that never comes. */
  #drop(): void {
    // Nothing can be said in the middle of a handshake.
    if (this._upgrading) return void (this.#outermost ?? this._socket).destroy()
    const socket = this._socket
    socket.destroySoon()
    setTimeout(() => socket.destroy(), DROP_WITHIN_MS).unref()
  }
}

export const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1"
