import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** What Node keeps of a connection beside its public API; `test/server/edge/httpPipelining.test.ts` holds it to that. */
interface ServedSocket extends Socket {
  /** Set by Node when it wants to read no more, and taken back by it at the next `drain`. */
  _paused?: boolean
  readonly parser?: Parser | null
  readonly _handle?: { reading: boolean; readonly readStop: () => void } | null
}

interface Parser {
  /** Called with each request whose headers are complete; its answer goes to the parser in C. */
  onIncoming: (...args: ReadonlyArray<never>) => number
  readonly resume: () => void
}

/** An answer of `onIncoming`: the parser stops behind the headers (llhttp's `HPE_PAUSED`). */
const PAUSE = 21
/** The code of the error with which such a parser hands back the rest of the chunk. */
export const PAUSED = "HPE_PAUSED"

/** What Node adds to the error of a parser. */
export interface ParserError extends NodeJS.ErrnoException {
  /** Up to where the chunk was parsed. */
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

interface Held {
  /** Bytes that were read from the socket and not parsed, once the parser has handed them back: a chunk or two. */
  rest: Buffer | undefined
}

const heldSockets = new WeakMap<Socket, Held>()

/** True for a request that came while an answer before it is being made, or waits to be read by its client. */
export const isEarly = (response: ServerResponse): boolean => response.socket === null

/** Lets the parser of a new connection stop at a request that is held. */
export const watch = (socket: ServedSocket): void => {
  const { parser } = socket
  if (!parser) return
  const { onIncoming } = parser
  parser.onIncoming = (...args) => {
    const answer = onIncoming(...args)
    return answer === 0 && heldSockets.has(socket) ? PAUSE : answer
  }
}

export const isHeld = (socket: Socket): boolean => heldSockets.has(socket)

/**
 * Begins a request once the answer before it has left for the client. Until then nothing more is read from the
 * connection, and nothing that was read is parsed, so a connection holds one request that waits and the rest of one
 * chunk, however many requests were sent at once. Node by itself begins every request of a chunk.
 */
export const hold = (socket: ServedSocket, response: ServerResponse, begin: () => void): void => {
  const held = stop(socket)
  // An answer is given the socket when the one before it was flushed. Begun in a turn of its own, so that a client with
  // a thousand small requests takes its turns among all others.
  response.once("socket", () =>
    setImmediate(() => {
      heldSockets.delete(socket)
      Reflect.deleteProperty(socket, "resume")
      if (socket.destroyed) return
      socket.parser?.resume()
      begin()
      if (held.rest !== undefined) socket.emit("data", held.rest)
      if (!isHeld(socket)) socket.resume()
    }),
  )
}

/** Reads no more from a connection. */
export const stop = (socket: ServedSocket): Held => {
  const held: Held = { rest: undefined }
  heldSockets.set(socket, held)
  socket.pause()
  // Node resumes a connection in several places; none of them knows of this pause.
  socket._paused = false
  socket.resume = () => socket
  return held
}

/** Keeps what a paused parser has handed back. */
export const keep = (socket: ServedSocket, { bytesParsed, rawPacket }: ParserError): void => {
  const held = heldSockets.get(socket)
  if (held === undefined || rawPacket === undefined) return void socket.destroy()
  // A `resume` that was on its way before the pause reads once more. Of what it read nothing was parsed, whatever the
  // error says, whose place is that of the pause.
  held.rest = held.rest === undefined ? rawPacket.subarray(bytesParsed) : Buffer.concat([held.rest, rawPacket])
  const { _handle: handle } = socket
  if (!handle?.reading) return
  handle.reading = false
  handle.readStop()
}
