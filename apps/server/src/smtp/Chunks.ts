import { PassThrough } from "node:stream"
import type { SMTPServerDataStream } from "smtp-server"
import type { SMTPConnection } from "smtp-server/lib/smtp-connection.js"
import type { SMTPStream } from "smtp-server/lib/smtp-stream.js"

const COMMAND = /^BDAT (\d{1,10})( LAST)?\s*$/iu

export interface Chunk {
  readonly size: number
  readonly isLast: boolean
}

export const parse = (command: string): Chunk | undefined => {
  const [, size, last] = COMMAND.exec(command) ?? []
  return size === undefined ? undefined : { size: Number(size), isLast: last !== undefined }
}

/** Reads what follows a command as bytes, however many it says, and then returns to commands. */
const readBytes = (
  parser: SMTPStream,
  size: number,
  take: (piece: Buffer, next: () => void) => void,
  end: (next: () => void) => void,
): void => {
  let left = size
  parser._dataMode = true
  parser._feedDataStream = (bytes, done) => {
    const piece = bytes.subarray(0, left)
    left -= piece.length
    if (left > 0) return take(piece, () => done())
    Reflect.deleteProperty(parser, "_feedDataStream")
    parser._dataMode = false
    parser._remainder = ""
    const rest = bytes.subarray(piece.length)
    take(piece, () => end(() => parser._write(rest, "buffer", done)))
  }
}

/** A message that comes in chunks (RFC 3030): without an end of its own, and without escapes. */
export class Chunks {
  #stream: SMTPServerDataStream | undefined
  /** Continues with commands when the message was answered. */
  #next: () => void = () => undefined
  readonly #connection: SMTPConnection
  readonly #maxBytes: number
  /** Called with the stream of a message that begins. */
  readonly #onBegin: (stream: SMTPServerDataStream) => void

  constructor(connection: SMTPConnection, maxBytes: number, onBegin: (stream: SMTPServerDataStream) => void) {
    this.#connection = connection
    this.#maxBytes = maxBytes
    this.#onBegin = onBegin
  }

  /** Whether a message has begun and its last chunk has not come. */
  get isOpen(): boolean {
    return this.#stream !== undefined
  }

  /** Forgets a message of which more chunks were to come. */
  abort(): void {
    const stream = this.#stream
    if (stream === undefined) return
    this.#stream = undefined
    this.#connection._dataStream = false
    stream.destroy()
  }

  /** Takes a chunk, all of which is read even if it is refused: its lines must not be read as commands. */
  take({ isLast, size }: Chunk, callback: () => void): void {
    const parser = this.#connection._parser
    if (!parser) return callback()
    const refusal = this.#refusalOf(size)
    const stream = refusal === undefined ? (this.#stream ??= this.#begin()) : undefined
    const end = (next: () => void) => {
      if (refusal !== undefined) {
        this.#connection.send(...refusal)
        this.#connection._resetSession()
        return next()
      }
      if (!isLast) {
        this.#connection.send(250, `2.0.0 ${size} bytes received`)
        return next()
      }
      this.#next = next
      this.#stream = undefined
      stream?.end()
    }
    if (size === 0) return end(callback)
    readBytes(parser, size, (piece, next) => this.#write(stream, piece, next), end)
    callback()
  }

  #refusalOf(size: number): readonly [code: number, text: string] | undefined {
    if (this.#connection.session.envelope.rcptTo.length === 0) return [503, "5.5.1 Send RCPT first"]
    const length = (this.#stream?.byteLength ?? 0) + size
    return length > this.#maxBytes ? [552, `5.3.4 The message is larger than ${this.#maxBytes} bytes`] : undefined
  }

  #begin(): SMTPServerDataStream {
    const stream = Object.assign(new PassThrough(), { byteLength: 0, sizeExceeded: false }) as SMTPServerDataStream
    const connection = this.#connection
    connection._dataStream = stream
    this.#onBegin(stream)
    connection._server.onData(stream, connection.session, (error, message) => {
      connection._dataStream = false
      if (error) connection.send((error as { readonly responseCode?: number }).responseCode ?? 450, error.message)
      else connection.send(250, typeof message === "string" ? message : "2.0.0 OK")
      connection._unrecognizedCommands = 0
      connection._resetSession()
      this.#next()
    })
    return stream
  }

  #write(stream: SMTPServerDataStream | undefined, piece: Buffer, next: () => void): void {
    if (stream === undefined || !stream.writable || piece.length === 0) return next()
    stream.byteLength += piece.length
    if (stream.write(piece)) return next()
    const go = () => {
      stream.off("drain", go)
      stream.off("close", go)
      next()
    }
    stream.once("drain", go)
    stream.once("close", go)
  }
}
