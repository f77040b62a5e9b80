import { Duration } from "effect"
import type * as net from "node:net"
import type { SMTPServer } from "smtp-server"
import { SMTPConnection, type SMTPConnectionOptions } from "smtp-server/lib/smtp-connection.js"
import type { Limits } from "./Listener.ts"

/** After it the connection is closed: whoever has a key needs one attempt. */
export const MAX_LOGIN_ATTEMPTS = 3

export interface Rules {
  readonly limits: Limits
  /** Whose login may come in the clear. */
  readonly isLocal: (address: string) => boolean
}

const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /u

/**
 * The library's connection, with what it has no option for: no pause of 100 ms before each greeting (this is not port
 * 25, where a pause unmasks spammers), logins in the clear from this machine only, enhanced codes of our own, and
 * deadlines that trickling bytes do not move.
 */
export class Connection extends SMTPConnection {
  #attempts = 0
  #helloing = false
  readonly #limits: Limits
  readonly #isLocal: (address: string) => boolean
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
    this.#limits = rules.limits
    this.#isLocal = rules.isLocal
  }

  override init(): void {
    this._setListeners(() => {
      const { connections } = this._server
      const siblings = [...connections].filter(({ remoteAddress }) => remoteAddress === this.remoteAddress)
      if (connections.size > this.#limits.maxConnections || siblings.length > this.#limits.maxConnectionsPerAddress)
        return this.send(421, "4.7.0 Too many connections, please try again in a moment")
      this.#stranger = this.#closeAfter(this.#limits.stranger, () => !this.session.user)
      this.connectionReady()
    })
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
    this.#deadline = this.#closeAfter(this.#limits.message, () => this._dataStream === stream && !stream.writableEnded)
  }

  override _onClose(): void {
    clearTimeout(this.#deadline)
    clearTimeout(this.#stranger)
    super._onClose()
  }

  #mayLogIn(): boolean {
    return this.secure || this.#isLocal(this.remoteAddress)
  }

  #closeAfter(time: Duration.Duration, stillDue: () => boolean): NodeJS.Timeout {
    const timer = setTimeout(() => {
      if (!stillDue()) return
      this.send(421, "4.4.2 Too slow, closing the connection")
      // A socket in mid-message would keep the library waiting for the end that never comes.
      this._socket.destroySoon()
    }, Duration.toMillis(time))
    return timer.unref()
  }
}

export const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1"
