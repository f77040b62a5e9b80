import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Internals of Node's connections; `test/server/middleware/httpPipelining.test.ts` checks them. */
interface ServedSocket extends Socket {
  /** Set by Node to stop reading, and cleared at the next `drain`. */
  _paused?: boolean
  readonly parser?: Parser | null
  readonly _handle?: { reading: boolean; readonly readStop: () => void } | null
}

interface Parser {
  /** Called for each request whose headers are complete; the return value goes to the native parser. */
  onIncoming: (...args: ReadonlyArray<never>) => number
  readonly resume: () => void
}

/** Return value of `onIncoming` that pauses the parser after the headers (llhttp's `HPE_PAUSED`). */
const PAUSE = 21
/** Code of the error with which a paused parser returns the rest of the chunk. */
export const PAUSED = "HPE_PAUSED"

/** Fields that Node adds to the error of a parser. */
export interface ParserError extends NodeJS.ErrnoException {
  /** Offset up to which the chunk was parsed. */
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

interface Held {
  /** Bytes that were read but not parsed, returned by the paused parser: one or two chunks. */
  rest: Buffer | undefined
}

const heldSockets = new WeakMap<Socket, Held>()

/** True for a request that arrived before the previous response on its connection was sent. */
export const isEarly = (response: ServerResponse): boolean => response.socket === null

/** Makes the parser of a new connection pause after a held request. */
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
 * Starts a request once the previous response was sent. Until then nothing more is read or parsed, so a connection
 * holds one waiting request and the rest of one chunk, however many requests were pipelined. Node by itself starts
 * every request of a chunk.
 */
export const hold = (socket: ServedSocket, response: ServerResponse, begin: () => void): void => {
  const held = stop(socket)
  // A response gets the socket when the one before it was flushed. Started in a turn of the event loop of its own, so
  // that a client with many pipelined requests does not delay others.
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

/** Stops reading from a connection. */
export const stop = (socket: ServedSocket): Held => {
  const held: Held = { rest: undefined }
  heldSockets.set(socket, held)
  socket.pause()
  // Node resumes connections in several places, so both ways to resume are disabled.
  socket._paused = false
  socket.resume = () => socket
  return held
}

/** Keeps the bytes that a paused parser returned. */
export const keep = (socket: ServedSocket, { bytesParsed, rawPacket }: ParserError): void => {
  const held = heldSockets.get(socket)
  if (held === undefined || rawPacket === undefined) return void socket.destroy()
  // A `resume` that was in progress before the pause reads one more chunk. None of that chunk was parsed, although the
  // error carries the offset of the pause.
  held.rest = held.rest === undefined ? rawPacket.subarray(bytesParsed) : Buffer.concat([held.rest, rawPacket])
  const { _handle: handle } = socket
  if (!handle?.reading) return
  handle.reading = false
  handle.readStop()
}
