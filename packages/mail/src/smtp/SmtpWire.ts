import * as net from "node:net"
import * as tls from "node:tls"
import { Deadline } from "./Deadline.ts"
import { ReplyLines, type WireReply } from "./ReplyLines.ts"
import { connectKind, WireError } from "./WireError.ts"

/**
 * Maximum unread replies: MAIL, a hundred RCPT and DATA are the largest group. A server that sends more fills no
 * memory.
 */
export const MAX_UNREAD_REPLIES = 102
/** Maximum bytes of unread replies, since not all may be as long as one may be. */
export const MAX_UNREAD_BYTES = 256 * 1024

/** Takes one reply. It is called while bytes are read, so that a reply costs no promise. */
export interface ReplyReader {
  readonly take: (reply: WireReply) => void
  /** The connection has ended without that reply. */
  readonly fail: (error: WireError) => void
}

interface Drain {
  readonly resolve: () => void
  readonly reject: (error: WireError) => void
  readonly timer: NodeJS.Timeout
}

/** Lines over a socket: writes, replies in order, and the reason of its end. Times are the socket's own. */
export class SmtpWire {
  #socket: net.Socket
  readonly #received = new ReplyLines()
  #replies: Array<WireReply> = []
  #unread = 0
  /** Takes the next reply. Only one transaction is under way. */
  #reader: ReplyReader | undefined
  readonly #deadline = new Deadline(() => this.#end(new WireError("timeout", "reply timed out")))
  /** Pieces to send at once. */
  #gathered: Array<string | Uint8Array> | undefined
  #drain: Drain | undefined
  #ended: WireError | undefined
  #onEarly: (() => void) | undefined
  #idle = false

  private constructor(socket: net.Socket) {
    this.#socket = socket
    this.#attach(socket)
  }

  static connect(options: net.TcpNetConnectOpts, timeout_ms: number, signal: AbortSignal): Promise<SmtpWire> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ ...options, noDelay: true })
      const fail = (error: WireError) => {
        clearTimeout(timer)
        socket.destroy()
        reject(error)
      }
      const timer = setTimeout(() => fail(new WireError("timeout", "connection timed out")), timeout_ms)
      const abort = () => fail(new WireError("closed", "canceled"))
      signal.addEventListener("abort", abort, { once: true })
      socket.once("error", (error: NodeJS.ErrnoException) =>
        fail(new WireError(connectKind(error, options.localAddress), error.code ?? error.message)),
      )
      socket.once("connect", () => {
        clearTimeout(timer)
        signal.removeEventListener("abort", abort)
        socket.removeAllListeners("error")
        resolve(new SmtpWire(socket))
      })
    })
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  /** False once the other side has closed, or has sent a reply that no command caused. */
  get isQuiet(): boolean {
    return !this.hasEnded && this.#replies.length === 0 && this.#received.isEmpty
  }

  get protocol(): string | null {
    return this.#socket instanceof tls.TLSSocket ? this.#socket.getProtocol() : null
  }

  /** Passes on the next reply, also one that was received before the end. */
  expect(timeout_ms: number, reader: ReplyReader): void {
    const reply = this.#replies.shift()
    if (reply !== undefined) {
      this.#unread -= sizeOf(reply)
      return reader.take(reply)
    }
    if (this.#ended !== undefined) return reader.fail(this.#ended)
    this.#reader = reader
    this.#deadline.set(timeout_ms)
  }

  /** Returns the next reply. */
  read(timeout_ms: number): Promise<WireReply> {
    return new Promise((take, fail) => this.expect(timeout_ms, { take, fail }))
  }

  /** Sends what `write` writes at once, in one packet if it fits. */
  together(write: () => void): void {
    const pieces: Array<string | Uint8Array> = (this.#gathered = [])
    try {
      write()
    } finally {
      this.#gathered = undefined
      if (pieces.length > 0 && this.#ended === undefined) this.#socket.write(joined(pieces))
    }
  }

  /** Expects nothing: until the next write no reply may arrive. */
  rest(): void {
    if (this.isQuiet) this.#idle = true
    else this.#end(new WireError("protocol", "unsolicited reply"))
  }

  /** Whether an unread reply is here: in the middle of a body it means that the server has decided. */
  get hasReply(): boolean {
    return this.#replies.length > 0
  }

  /** Throws once the connection is lost, so that unsent data is never counted as sent. */
  write(data: string | Uint8Array): void {
    this.#idle = false
    if (this.#gathered !== undefined && this.#ended === undefined) this.#gathered.push(data)
    else if (this.#ended === undefined) this.#socket.write(data)
    // A final reply of the server that is still unread explains more than the lost connection.
    else if (!this.hasReply) throw this.#ended
  }

  /** Waits until the kernel has taken all writes, or a reply arrives early. */
  flushed(timeout_ms: number): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    if (!this.#socket.writableNeedDrain || this.hasReply) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end(new WireError("timeout", "the server stopped reading")), timeout_ms)
      const done = () => {
        clearTimeout(timer)
        this.#drain = undefined
        this.#onEarly = undefined
        resolve()
      }
      this.#drain = { resolve: done, reject, timer }
      this.#onEarly = done
    })
  }

  upgrade(options: tls.ConnectionOptions, timeout_ms: number): Promise<void> {
    // Data in the clear behind the answer to STARTTLS was injected by an attacker (CVE-2011-0411).
    if (!this.isQuiet) {
      const error = this.#ended ?? new WireError("protocol", "unencrypted data after the reply to STARTTLS")
      this.destroy()
      return Promise.reject(error)
    }
    const plain = this.#socket
    plain.removeAllListeners()
    return new Promise((resolve, reject) => {
      const secure = tls.connect({ ...options, socket: plain })
      const fail = (error: WireError) => {
        clearTimeout(timer)
        this.#ended ??= error
        secure.destroy()
        plain.destroy()
        reject(error)
      }
      const timer = setTimeout(() => fail(new WireError("timeout", "TLS handshake timed out")), timeout_ms)
      plain.on("error", () => {})
      secure.once("error", (error: NodeJS.ErrnoException) => fail(new WireError("tls", error.message)))
      secure.once("close", () => fail(new WireError("tls", "closed during the TLS handshake")))
      secure.once("secureConnect", () => {
        clearTimeout(timer)
        secure.removeAllListeners("error")
        secure.removeAllListeners("close")
        this.#socket = secure
        this.#attach(secure)
        resolve()
      })
    })
  }

  /** The socket, once it is encrypted. */
  get secure(): tls.TLSSocket | undefined {
    return this.#socket instanceof tls.TLSSocket ? this.#socket : undefined
  }

  destroy(): void {
    this.#end(new WireError("closed", "closed by this side"))
  }

  #attach(socket: net.Socket): void {
    socket.on("data", (chunk: Buffer) => this.#receive(chunk))
    socket.on("drain", () => this.#drain?.resolve())
    socket.on("error", (error: NodeJS.ErrnoException) =>
      this.#end(new WireError("closed", error.code ?? error.message)),
    )
    // Half-closed counts as closed: a server that sends no more answers no command.
    socket.on("end", () => this.#end(new WireError("closed", "the server closed the connection")))
    socket.on("close", () => this.#end(new WireError("closed", "the server closed the connection")))
  }

  #receive(chunk: Buffer): void {
    if (this.#ended !== undefined) return
    if (this.#idle) return this.#end(new WireError("protocol", "unsolicited reply"))
    const problem = this.#received.add(chunk, (reply) => {
      if (this.#ended === undefined) this.#deliver(reply)
    })
    if (problem !== undefined) this.#end(new WireError("protocol", problem))
  }

  #deliver(reply: WireReply): void {
    const reader = this.#reader
    if (reader === undefined) {
      this.#unread += sizeOf(reply)
      if (this.#replies.length >= MAX_UNREAD_REPLIES || this.#unread > MAX_UNREAD_BYTES) {
        return this.#end(new WireError("protocol", "more replies than commands"))
      }
      this.#replies.push(reply)
      this.#onEarly?.()
      return
    }
    this.#reader = undefined
    this.#deadline.lift()
    reader.take(reply)
  }

  #end(error: WireError): void {
    const ended = (this.#ended ??= error)
    this.#deadline.stop()
    this.#socket.destroy()
    const drain = this.#drain
    this.#drain = undefined
    clearTimeout(drain?.timer)
    const reader = this.#reader
    this.#reader = undefined
    reader?.fail(ended)
    drain?.reject(ended)
  }
}

const joined = (pieces: ReadonlyArray<string | Uint8Array>): Buffer =>
  Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)))

const sizeOf = ({ lines }: WireReply): number => lines.reduce((sum, line) => sum + line.length, 0)
