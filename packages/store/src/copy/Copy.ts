import { once } from "node:events"
import type { Socket } from "node:net"
import type pg from "pg"
import { CopyReader, type TakeRow } from "./CopyReader.ts"

/** The parts of node-postgres' own connection that COPY needs and its types omit. */
interface Wire {
  readonly stream: Socket
  query(text: string): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

/** A COPY in progress. node-postgres calls its methods by name. */
abstract class Copying {
  readonly done: Promise<void>
  readonly #text: string
  #resolve: () => void = () => {}
  #reject: (cause: unknown) => void = () => {}

  constructor(text: string) {
    this.#text = text
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }
  submit(connection: unknown): void {
    ;(connection as Wire).query(this.#text)
  }
  handleError(cause: unknown): void {
    this.#reject(cause)
  }
  handleCommandComplete(): void {}
  handleReadyForQuery(): void {
    this.#resolve()
  }
}

class Out extends Copying {
  readonly #take: TakeRow
  #failure: unknown
  #release: () => void = () => {}

  constructor(text: string, take: TakeRow) {
    super(text)
    this.#take = take
  }
  override submit(connection: unknown): void {
    this.#intercept((connection as Wire).stream)
    super.submit(connection)
  }

  /** Reads the rows in place of the listeners of node-postgres, which get all other messages, until the statement ends. */
  #intercept(stream: Socket): void {
    const listeners = stream.listeners("data") as Array<(bytes: Buffer) => void>
    const reader = new CopyReader(
      (rows, from, to) => {
        if (this.#failure !== undefined) return
        try {
          this.#take(rows, from, to)
        } catch (cause) {
          // The server goes on sending; the remaining rows are ignored, and the error is reported at the end.
          this.#failure = cause
        }
      },
      (message) => {
        for (const listener of listeners) listener.call(stream, message)
      },
    )
    let isReleased = false
    const read = (bytes: Buffer) => {
      reader.read(bytes)
      const rest = isReleased ? reader.rest() : undefined
      if (rest !== undefined && rest.length > 0) stream.emit("data", rest)
    }
    stream.on("data", read)
    for (const listener of listeners) stream.off("data", listener)
    this.#release = () => {
      for (const listener of listeners) stream.on("data", listener)
      stream.off("data", read)
      isReleased = true
      this.#release = () => {}
    }
  }

  override handleError(cause: unknown): void {
    this.#release()
    super.handleError(cause)
  }
  override handleReadyForQuery(): void {
    this.#release()
    if (this.#failure === undefined) super.handleReadyForQuery()
    else super.handleError(this.#failure)
  }
}

/** Size of the messages sent to Postgres, small enough for a processor's cache. */
const MESSAGE_BYTES = 64 * 1024
const COPY_DATA = "d".charCodeAt(0)

/** Returns the header of a message. Sent separately, because node-postgres would copy the data to prepend it. */
const headOf = (piece: Buffer): Buffer => {
  const head = Buffer.allocUnsafe(5)
  head[0] = COPY_DATA
  head.writeInt32BE(4 + piece.length, 1)
  return head
}

class In extends Copying {
  readonly #chunks: Iterable<Buffer>

  constructor(text: string, chunks: Iterable<Buffer>) {
    super(text)
    this.#chunks = chunks
  }
  handleCopyInResponse(connection: unknown): void {
    const wire = connection as Wire
    wire.stream.cork()
    for (const chunk of this.#chunks)
      for (let at = 0; at < chunk.length; at += MESSAGE_BYTES) {
        const piece = chunk.subarray(at, at + MESSAGE_BYTES)
        wire.stream.write(headOf(piece))
        wire.stream.write(piece)
      }
    wire.stream.uncork()
    wire.endCopyFrom()
  }
}

class InPieces extends Copying {
  readonly #pieces: AsyncIterable<Buffer>
  #failure: unknown
  #isOver = false

  constructor(text: string, pieces: AsyncIterable<Buffer>) {
    super(text)
    this.#pieces = pieces
  }
  handleCopyInResponse(connection: unknown): void {
    const wire = connection as Wire
    void this.#send(wire.stream).then(
      () => wire.endCopyFrom(),
      (cause: unknown) => {
        this.#failure = cause
        wire.sendCopyFail("the rows could not be read")
      },
    )
  }
  async #send(stream: Socket): Promise<void> {
    for await (const piece of this.#pieces) {
      if (this.#isOver) return
      stream.write(headOf(piece))
      if (!stream.write(piece)) await once(stream, "drain")
    }
  }
  override handleError(cause: unknown): void {
    this.#isOver = true
    super.handleError(this.#failure ?? cause)
  }
}

class Through extends Copying {
  readonly #source: pg.Client
  readonly #rows: string
  #failure: unknown

  constructor(text: string, source: pg.Client, rows: string) {
    super(text)
    this.#source = source
    this.#rows = rows
  }
  handleCopyInResponse(connection: unknown): void {
    const wire = connection as Wire
    const from = this.#stream()
    const resume = () => from.resume()
    wire.stream.on("drain", resume)
    void out(this.#source, this.#rows, ({ bytes }, at, to) => {
      // The reader uses its bytes again.
      const piece = Buffer.from(bytes.subarray(at, to))
      wire.stream.write(headOf(piece))
      if (!wire.stream.write(piece)) from.pause()
    })
      .then(
        () => wire.endCopyFrom(),
        (cause: unknown) => {
          this.#failure = cause
          wire.sendCopyFail("the rows could not be read")
        },
      )
      .finally(() => {
        wire.stream.off("drain", resume)
        // The last row may have paused it.
        resume()
      })
  }
  override handleError(cause: unknown): void {
    this.#stream().resume()
    super.handleError(this.#failure ?? cause)
  }
  #stream(): Socket {
    return streamOf(this.#source)
  }
}

/** Runs a `COPY … TO STDOUT`; each message is one row. */
export const out = (client: pg.Client, text: string, take: TakeRow): Promise<void> =>
  client.query(new Out(text, take)).done

/**
 * Runs a `COPY … FROM STDIN`. Chunks are sent without a copy, so they may be overwritten only after the promise
 * resolves.
 */
export const into = (client: pg.Client, text: string, chunks: Iterable<Buffer>): Promise<void> =>
  client.query(new In(text, chunks)).done

/** Runs a `COPY … FROM STDIN` with rows that arrive in pieces, each of which may end anywhere. */
export const intoFrom = (client: pg.Client, text: string, pieces: AsyncIterable<Buffer>): Promise<void> =>
  client.query(new InPieces(text, pieces)).done

const streamOf = (client: pg.Client): Socket => (client as unknown as { readonly connection: Wire }).connection.stream

/** Size of the pieces of rows that are yielded, large enough to be compressed well each by itself. */
const PIECE_BYTES = 256 * 1024

/** Yields the rows of a `COPY … TO STDOUT` in pieces of whole rows, no faster than they are taken. */
export async function* rowsOf(client: pg.Client, text: string): AsyncGenerator<Buffer> {
  const stream = streamOf(client)
  let rows: Array<Buffer> = []
  let bytes = 0
  let isOver = false
  let wake = () => {}
  const done = out(client, text, (reader, from, to) => {
    // The reader uses its bytes again.
    rows.push(Buffer.from(reader.bytes.subarray(from, to)))
    bytes += to - from
    if (bytes >= PIECE_BYTES) stream.pause()
    wake()
  }).finally(() => {
    isOver = true
    wake()
  })
  done.catch(() => {})
  while (bytes > 0 || !isOver) {
    if (bytes < PIECE_BYTES && !isOver) {
      await new Promise<void>((resolve) => (wake = resolve))
      continue
    }
    const piece = Buffer.concat(rows, bytes)
    rows = []
    bytes = 0
    stream.resume()
    yield piece
  }
  await done
}

/** Passes the rows of a `COPY … TO STDOUT` on to a `COPY … FROM STDIN` of another server, as fast as that takes them. */
export const through = (source: pg.Client, rows: string, target: pg.Client, text: string): Promise<void> =>
  target.query(new Through(text, source, rows)).done
