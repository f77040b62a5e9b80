import { constants } from "node:crypto"
import type * as http from "node:http"

/**
 * Interim answers (1xx) to one request. Node raises an event for each and counts none; a server that means well sends
 * one or two.
 */
export const MAX_INTERIM_ANSWERS = 8
/**
 * How often the bytes of an answer are counted. The parser raises no event while it skips line ends before the status
 * line, chunk extensions and the zeros before a chunk's size, so these are only seen by the bytes of the socket.
 */
export const COUNT_EVERY_MS = 50
/** A server that asks for the handshake again and again would have this side compute a key each time. */
export const TLS_OPTIONS = { secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const

/**
 * Ends a request whose answer costs more than it may: in bytes on the wire, all heads, chunk framing and the TLS
 * handshake included, or in interim answers.
 */
export const watch = (request: http.ClientRequest, max_bytes: number, over: (reason: string) => void): void => {
  let bytes: () => number = () => 0
  let interim = 0
  const count = () => {
    if (bytes() > max_bytes) end(`the answer takes more than ${max_bytes / 1024} KB on the wire`)
  }
  const timer = setInterval(count, COUNT_EVERY_MS)
  const stop = () => clearInterval(timer)
  const end = (reason: string) => {
    stop()
    over(reason)
    request.destroy()
  }
  request.once("socket", (socket) => {
    // A kept connection has read the answers to earlier requests.
    const before = socket.bytesRead
    bytes = () => socket.bytesRead - before
  })
  request.on("information", () => {
    interim++
    // The rest of what was read at once comes as events too, although the connection is closed.
    if (interim > MAX_INTERIM_ANSWERS && !request.destroyed)
      end(`more than ${MAX_INTERIM_ANSWERS} interim answers (1xx)`)
  })
  request.once("close", stop)
}
