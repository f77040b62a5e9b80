import { Duration } from "effect"
import type * as net from "node:net"
import type { SMTPServer, SMTPServerDataStream } from "smtp-server"
import { SMTPConnection, type SMTPConnectionOptions } from "smtp-server/lib/smtp-connection.js"
import * as Chunks from "./Chunks.ts"
import { checkParameters } from "./checkParameters.ts"
import type { Handshakes } from "./Handshakes.ts"
import type { ConnectionSlots, SlotHolder } from "./ConnectionSlots.ts"
import type { ListenerLimits } from "./ListenerLimits.ts"

/** Maximum number of logins that are tried on a connection before it is closed. A client with a key needs one. */
export const MAX_LOGIN_ATTEMPTS = 3

/** A message that comes more slowly than this, after a moment, loses its slot to others when slots are scarce. */
const MIN_BYTES_PER_SECOND = 1024
/** The same of a client that is not identified, so that some hundred of them cannot hold all slots with little traffic. */
export const MIN_BYTES_PER_SECOND_UNIDENTIFIED = 32 * 1024
const SLOW_AFTER_MS = 10_000

/** Time for a client to read the last reply before its connection is destroyed. */
const DROP_WITHIN_MS = 1_000

export interface Deps {
  readonly limits: ListenerLimits
  readonly slots: ConnectionSlots
  readonly handshakes: Handshakes
  /** Whether clients log in. Otherwise a client is identified while it has an accepted recipient. */
  readonly hasLogin: boolean
  /** Whether an accepted recipient identifies its client. */
  readonly identifies: (address: string) => boolean
  /** Whether a connection begins with TLS, before the greeting. */
  readonly hasImplicitTls: boolean
  /** Whether a client with this address may log in without TLS. */
  readonly isLocal: (address: string) => boolean
}

/** Parameters of MAIL that are offered to all clients. RCPT has none. */
const MAIL_PARAMETERS = ["SIZE", "BODY", "SMTPUTF8"]
/**
 * Parameters for clients that log in. Those of DSN (RFC 3461) have no effect, and DSN is not offered: no reports are sent
 * to submitters. Many programs send them anyway.
 */
const SUBMISSION_PARAMETERS = { mail: [...MAIL_PARAMETERS, "AUTH", "RET", "ENVID"], rcpt: ["NOTIFY", "ORCPT"] }

const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /u

/**
 * The library's connection, with behaviour that it has no option for: no pause of 100 ms before the greeting, logins
 * without TLS only from this machine, enhanced status codes, and deadlines that slow bytes do not extend.
 */
export class Connection extends SMTPConnection implements SlotHolder {
  #attempts = 0
  #isInEhlo = false
  readonly #deps: Deps
  /** Gives up the turn of a TLS handshake that has not begun. */
  #cancelHandshake: (() => void) | undefined
  /** The TLS socket, which exists before the library uses it, or the plain one. */
  #outermost: net.Socket | undefined
  #deadline: NodeJS.Timeout | undefined
  #identityTimer: NodeJS.Timeout | undefined
  /** When the message that comes in began. */
  #messageSince = 0
  readonly #chunks: Chunks.Chunks

  static accept(server: SMTPServer, deps: Deps, socket: net.Socket, options?: SMTPConnectionOptions | null): void {
    // A connection that was accepted just before the server stopped listening would hold up its stop.
    if (server._closeTimeout) return void socket.destroy()
    const connection = new Connection(server, deps, socket, options)
    server.connections.add(connection)
    connection.on("error", (error: Error) => server.emit("error", error))
    connection.init()
  }

  private constructor(server: SMTPServer, deps: Deps, socket: net.Socket, options?: SMTPConnectionOptions | null) {
    super(server, socket, options)
    this.#deps = deps
    this.#chunks = new Chunks.Chunks(this, deps.limits.maxMessageBytes, (stream) => this.#expectEndOf(stream))
  }

  override init(): void {
    this._setListeners(() => {
      if (this.#deps.hasImplicitTls) this.#holdInput()
      if (!this.#deps.slots.enter(this)) return this.leave()
      this.#identityTimer = this.#expectIdentity()
      if (!this.#deps.hasImplicitTls) return this.connectionReady()
      const ignore = () => undefined
      this.#awaitHandshake(() => this.upgrade(ignore, () => this.connectionReady()))
    })
  }

  /** Keeps what the client sends for the TLS handshake, and sends nothing before it. */
  #holdInput(): void {
    this._upgrading = true
    if (this._parser) this._socket.unpipe(this._parser)
  }

  /** Calls `start` when it is the turn of this connection's TLS handshake, unless the connection is closed by then. */
  #awaitHandshake(start: () => void): void {
    let hasBegun = false
    const cancel = this.#deps.handshakes.begin(() => {
      hasBegun = true
      this.#cancelHandshake = undefined
      if (!this._closing && !this._closed) start()
    })
    if (!hasBegun) this.#cancelHandshake = cancel
  }

  isIdentified(): boolean {
    if (this.#deps.hasLogin) return Boolean(this.session.user)
    const recipients = this.session.envelope?.rcptTo ?? []
    return recipients.length === 0
      ? Boolean(this._dataStream)
      : recipients.some(({ address }) => this.#deps.identifies(address))
  }

  isBusy(): boolean {
    return this.#isReceiving() || (this._handlerPending && this.#cancelHandshake === undefined)
  }

  /** Whether a message comes in, or is being processed. One that comes too slowly keeps nobody else out. */
  #isReceiving(): boolean {
    const stream = this._dataStream
    if (!stream) return false
    const elapsed_ms = performance.now() - this.#messageSince
    const least = this.isIdentified() ? MIN_BYTES_PER_SECOND : MIN_BYTES_PER_SECOND_UNIDENTIFIED
    const isFast = stream.byteLength * 1000 >= least * elapsed_ms
    return stream.writableEnded || elapsed_ms < SLOW_AFTER_MS || isFast
  }

  leave(): void {
    this.send(421, "4.7.0 Too many connections, please try again in a moment")
    this.#drop()
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
      else this.#identityTimer = this.#closeAfter(rest, () => !this.session.user)
    }
    return setTimeout(look, Duration.toMillis(crowded)).unref()
  }

  /** Closes an idle connection because the service stops. A message in flight is still answered. */
  dismiss(): void {
    if (this._dataStream || this._handlerPending) return
    if (this._upgrading) return this.#drop()
    this.send(421, "4.3.2 The service is stopping, please come back")
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (this.#isInEhlo && Array.isArray(data)) return super.send(code, data.toSpliced(1, 0, "CHUNKING"), context)
    if (typeof data !== "string" || !ENHANCED.test(data)) return super.send(code, data, context)
    super.send(code, data.includes("\n") ? data.split("\n") : data, false)
  }

  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.#isInEhlo = true
    super.handler_EHLO(command, callback)
    this.#isInEhlo = false
  }

  /** Leaves AUTH out of the reply to EHLO if it would be refused, so that no client sends its key without TLS. */
  override _isSupported(command: string): boolean {
    return super._isSupported(command) && !(this.#isInEhlo && command === "AUTH" && !this.#mayLogIn())
  }

  /** Waits for a turn before the client is told to begin the handshake. */
  override handler_STARTTLS(command: Buffer, callback: () => void): void {
    this.#awaitHandshake(() => super.handler_STARTTLS(command, callback))
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

  override handler_MAIL(command: Buffer, callback: () => void): void {
    const known = this.#deps.hasLogin ? SUBMISSION_PARAMETERS.mail : MAIL_PARAMETERS
    if (!this.#refusesParameters("mail from", command, known)) return super.handler_MAIL(command, callback)
    callback()
  }

  override handler_RCPT(command: Buffer, callback: () => void): void {
    if (this.#refusesInChunks(callback)) return
    const known = this.#deps.hasLogin ? SUBMISSION_PARAMETERS.rcpt : []
    if (!this.#refusesParameters("rcpt to", command, known)) return super.handler_RCPT(command, callback)
    callback()
  }

  /** Refuses a command with parameters that are unknown or not well formed. One whose address cannot be read is left to the library. */
  #refusesParameters(name: string, command: Buffer, known: ReadonlyArray<string>): boolean {
    const refusal = this._parseAddressCommand(name, command) && checkParameters(command.toString(), known)
    if (!refusal) return false
    this.send(refusal.code, refusal.message)
    return true
  }

  override handler_DATA(command: Buffer, callback: () => void): void {
    if (this.#refusesInChunks(callback)) return
    super.handler_DATA(command, callback)
    if (this._dataStream) this.#expectEndOf(this._dataStream)
  }

  #expectEndOf(stream: SMTPServerDataStream): void {
    this.#messageSince = performance.now()
    clearTimeout(this.#deadline)
    this.#deadline = this.#closeAfter(
      this.#deps.limits.message,
      () => this._dataStream === stream && !stream.writableEnded,
    )
  }

  /** Takes a chunk. Without its size nobody knows where the message ends, whose lines must not be read as commands. */
  handler_BDAT(command: Buffer, callback: () => void): void {
    const chunk = Chunks.parse(command.toString())
    if (chunk !== undefined) return this.#chunks.take(chunk, callback)
    this.send(501, "5.5.4 The form is BDAT <size> or BDAT <size> LAST")
    this.#drop()
  }

  /** Refuses a command in the middle of a message that comes in chunks. */
  #refusesInChunks(callback: () => void): boolean {
    if (!this.#chunks.isOpen) return false
    this.send(503, "5.5.1 The message comes in chunks: send BDAT, or RSET to begin again")
    callback()
    return true
  }

  override _resetSession(): void {
    this.#chunks.abort()
    super._resetSession()
  }

  override _onClose(): void {
    clearTimeout(this.#deadline)
    clearTimeout(this.#identityTimer)
    this.#cancelHandshake?.()
    this.#deps.slots.remove(this)
    super._onClose()
  }

  #mayLogIn(): boolean {
    return this.secure || this.#deps.isLocal(this.remoteAddress)
  }

  #closeAfter(time: Duration.Duration, isDue: () => boolean): NodeJS.Timeout {
    const timer = setTimeout(() => {
      if (isDue()) this.#tooSlow()
    }, Duration.toMillis(time))
    return timer.unref()
  }

  #tooSlow(): void {
    this.send(421, "4.4.2 Too slow, closing the connection")
    this.#drop()
  }

  /** Destroys the socket after a moment, since a client that reads no replies would keep the connection open. */
  #drop(): void {
    // No reply can be sent in the middle of a handshake.
    if (this._upgrading) return void (this.#outermost ?? this._socket).destroy()
    const socket = this._socket
    socket.destroySoon()
    setTimeout(() => socket.destroy(), DROP_WITHIN_MS).unref()
  }
}

export const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1"
