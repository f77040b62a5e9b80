import type { MessageStream } from "./MessageStream.ts"

/** Maximum length of a command. RFC 5321 §4.5.3.1.4 requires 512 octets, and a login may carry a long token. */
export const MAX_LINE_BYTES = 16 * 1024
/** Number of bytes that wait while a command or a message is processed, beyond which the client has to wait. */
export const MAX_WAITING_BYTES = 16 * 1024
/** Number of commands and pieces that are read at a time before other connections have their turn. */
const MAX_READ_AT_ONCE = 100

const LF = 0x0a
const CR = 0x0d

/** The content of a message, or a part of it, between commands. */
export interface Body {
  /** Takes a piece, which it may change. Returns what follows the body if the piece has its end. */
  readonly take: (piece: Buffer) => Buffer | undefined
  /** Where the content goes; `undefined` if it is read and dropped. */
  readonly stream: MessageStream | undefined
}

export interface InputEvents {
  /** A command without its line end. */
  readonly onLine: (line: string) => void
  readonly onTooLong: () => void
  /** Called with what a reader has thrown. Nothing more is read. */
  readonly onDefect: (cause: unknown) => void
  /** Called when too many bytes wait. */
  readonly pause: () => void
  readonly resume: () => void
}

/** Reads the bytes of a client: commands, and between them bodies. After each it waits until `next` is called. */
export class Input {
  #waiting: Array<Buffer> = []
  #waitingBytes = 0
  /** The beginning of a line whose end has not come. */
  #line: Array<Buffer> = []
  #lineBytes = 0
  #body: Body | undefined
  #onBodyEnd: () => void = () => undefined
  #isPending = false
  #isReading = false
  #isPaused = false
  #isClosed = false
  readonly #events: InputEvents

  constructor(events: InputEvents) {
    this.#events = events
  }

  /** Whether a command or a message was read that is not answered yet. */
  get isPending(): boolean {
    return this.#isPending
  }

  take(piece: Buffer): void {
    if (this.#isClosed) return
    this.#putBack(piece, this.#waiting.length)
    this.read()
  }

  /** Reads a body before the next command. */
  expect(body: Body, onEnd: () => void): void {
    this.#body = body
    this.#onBodyEnd = onEnd
  }

  next(): void {
    this.#isPending = false
    this.read()
  }

  /** Drops all that has come, so that nothing that was sent in the clear is read as a command inside TLS. */
  clear(): void {
    this.#waiting = []
    this.#waitingBytes = 0
    this.#line = []
    this.#lineBytes = 0
    this.#body = undefined
    this.#isPending = false
    this.#isPaused = false
  }

  close(): void {
    this.#isClosed = true
    this.clear()
  }

  /** Reads what waits, as far as it may. */
  read(): void {
    if (this.#isReading) return
    this.#isReading = true
    try {
      for (let count = 0; this.#mayRead(); count++) {
        if (count === MAX_READ_AT_ONCE) {
          setImmediate(() => this.read())
          break
        }
        const piece = this.#waiting.shift() ?? Buffer.alloc(0)
        this.#waitingBytes -= piece.length
        if (this.#body === undefined) this.#readLine(piece)
        else this.#readBody(this.#body, piece)
      }
      this.#limit()
    } catch (cause) {
      this.close()
      this.#events.onDefect(cause)
    } finally {
      this.#isReading = false
    }
  }

  #mayRead(): boolean {
    return !this.#isPending && this.#waiting.length > 0 && this.#body?.stream?.isFull !== true
  }

  /** Lets a client wait that sends faster than it is answered. */
  #limit(): void {
    const isFull = this.#waitingBytes > MAX_WAITING_BYTES
    if (isFull === this.#isPaused || this.#isClosed) return
    this.#isPaused = isFull
    if (isFull) this.#events.pause()
    else this.#events.resume()
  }

  #putBack(piece: Buffer, at = 0): void {
    if (piece.length === 0) return
    if (at === 0) this.#waiting.unshift(piece)
    else this.#waiting.push(piece)
    this.#waitingBytes += piece.length
  }

  #readLine(piece: Buffer): void {
    const end = piece.indexOf(LF)
    const part = end === -1 ? piece : piece.subarray(0, end)
    this.#line.push(part)
    this.#lineBytes += part.length
    if (end === -1) return this.#lineBytes > MAX_LINE_BYTES ? this.#events.onTooLong() : undefined
    this.#putBack(piece.subarray(end + 1))
    const whole = this.#line.length === 1 ? part : Buffer.concat(this.#line, this.#lineBytes)
    this.#line = []
    this.#lineBytes = 0
    const line = whole.at(-1) === CR ? whole.subarray(0, -1) : whole
    if (line.length > MAX_LINE_BYTES) return this.#events.onTooLong()
    this.#isPending = true
    this.#events.onLine(line.toString())
  }

  #readBody(body: Body, piece: Buffer): void {
    const rest = body.take(piece)
    if (rest === undefined) return
    this.#putBack(rest)
    this.#body = undefined
    this.#isPending = true
    this.#onBodyEnd()
  }
}
