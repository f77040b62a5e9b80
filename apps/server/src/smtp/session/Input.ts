import type { MessageStream } from "./MessageStream.ts"

/** Maximum length of a command. RFC 5321 §4.5.3.1.4 requires 512 octets, and a login may carry a long token. */
export const MAX_LINE_BYTES = 16 * 1024
/** Number of bytes that are kept while a command or a message is processed, beyond which the client has to wait. */
export const MAX_WAITING_BYTES = 16 * 1024
/** Number of commands that are read at a time before other connections have their turn. */
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

const EMPTY = Buffer.alloc(0)

/** Reads the bytes of a client: commands, and between them bodies. After each it waits until `next` is called. */
export class Input {
  /** Bytes that are not read yet: one buffer, since a client can send each byte by itself. */
  #waiting: Buffer = EMPTY
  /** Number of bytes at their beginning that have no line end. */
  #searched = 0
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
    this.#waiting = this.#waiting.length === 0 ? piece : Buffer.concat([this.#waiting, piece])
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
    this.#waiting = EMPTY
    this.#searched = 0
    this.#body = undefined
    this.#isPending = false
    this.#isPaused = false
  }

  close(): void {
    this.#isClosed = true
    this.clear()
  }

  /** Reads as far as it may. */
  read(): void {
    if (this.#isReading) return
    this.#isReading = true
    try {
      for (let count = 0; this.#mayRead(); count++) {
        if (count === MAX_READ_AT_ONCE) {
          setImmediate(() => this.read())
          break
        }
        if (this.#body === undefined) this.#readLine()
        else this.#readBody(this.#body)
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
    return !this.#isPending && this.#waiting.length > this.#searched && this.#body?.stream?.isFull !== true
  }

  /** Lets a client wait that sends faster than it is answered. */
  #limit(): void {
    const isFull = this.#waiting.length > MAX_WAITING_BYTES
    if (isFull === this.#isPaused || this.#isClosed) return
    this.#isPaused = isFull
    if (isFull) this.#events.pause()
    else this.#events.resume()
  }

  #readLine(): void {
    const waiting = this.#waiting
    const end = waiting.indexOf(LF, this.#searched)
    if (end === -1) {
      this.#searched = waiting.length
      return waiting.length > MAX_LINE_BYTES ? this.#events.onTooLong() : undefined
    }
    this.#leave(waiting.subarray(end + 1))
    const line = waiting.subarray(0, waiting[end - 1] === CR ? end - 1 : end)
    if (line.length > MAX_LINE_BYTES) return this.#events.onTooLong()
    this.#isPending = true
    this.#events.onLine(line.toString())
  }

  #readBody(body: Body): void {
    const piece = this.#waiting
    this.#leave(EMPTY)
    const rest = body.take(piece)
    if (rest === undefined) return
    this.#leave(rest)
    this.#body = undefined
    this.#isPending = true
    this.#onBodyEnd()
  }

  /** Leaves the rest for later; of an empty one, not the memory that it is a part of. */
  #leave(rest: Buffer): void {
    this.#waiting = rest.length === 0 ? EMPTY : rest
    this.#searched = 0
  }
}
