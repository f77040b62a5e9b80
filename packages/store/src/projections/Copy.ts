import type pg from "pg"

/** What node-postgres has and does not type: its own connection, on which COPY is a few messages. */
interface Wire {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

/** One COPY on its way. node-postgres calls the rest by name. */
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
  readonly #take: (row: Buffer) => void
  #failure: unknown

  constructor(text: string, take: (row: Buffer) => void) {
    super(text)
    this.#take = take
  }
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (this.#failure !== undefined) return
    try {
      this.#take(chunk)
    } catch (cause) {
      // The server goes on sending: what it sends is thrown away, and the failure told at the end.
      this.#failure = cause
    }
  }
  override handleReadyForQuery(): void {
    if (this.#failure === undefined) super.handleReadyForQuery()
    else this.handleError(this.#failure)
  }
}

class In extends Copying {
  readonly #chunks: Iterable<Buffer>

  constructor(text: string, chunks: Iterable<Buffer>) {
    super(text)
    this.#chunks = chunks
  }
  handleCopyInResponse(connection: unknown): void {
    const wire = connection as Wire
    for (const chunk of this.#chunks) wire.sendCopyFromChunk(chunk)
    wire.endCopyFrom()
  }
}

/** Runs a `COPY … TO STDOUT`; each message is one row. */
export const out = (client: pg.Client, text: string, take: (row: Buffer) => void): Promise<void> =>
  client.query(new Out(text, take)).done

/** Runs a `COPY … FROM STDIN`. */
export const into = (client: pg.Client, text: string, chunks: Iterable<Buffer>): Promise<void> =>
  client.query(new In(text, chunks)).done
