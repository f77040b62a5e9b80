import { constants } from "node:crypto"
import type * as http from "node:http"

/**
 * Maximum interim responses (1xx) to one request. Node raises an event for each and bounds none; well-meaning servers
 * send one or two.
 */
export const MAX_INTERIM_ANSWERS = 8
/**
 * Interval at which the bytes of a response are counted. The parser raises no event while it skips line ends before the
 * status line, chunk extensions and zeros before a chunk's size, so only the socket's byte count shows these.
 */
export const COUNT_EVERY_MS = 50
/** Refuses renegotiation: each one would make this side compute a key. */
export const TLS_OPTIONS = { secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const

/**
 * Ends a request whose response exceeds its budget of bytes on the wire (heads, chunk framing and TLS handshake
 * included) or of interim responses.
 */
export const watch = (request: http.ClientRequest, max_bytes: number, over: (reason: string) => void): void => {
  let bytes: () => number = () => 0
  let interim = 0
  const count = () => {
    if (bytes() > max_bytes) end(`the response is larger than ${max_bytes / 1024} KB on the wire`)
  }
  const timer = setInterval(count, COUNT_EVERY_MS)
  const stop = () => clearInterval(timer)
  const end = (reason: string) => {
    stop()
    over(reason)
    request.destroy()
  }
  request.once("socket", (socket) => {
    // A reused connection has already read the responses to earlier requests.
    const before = socket.bytesRead
    bytes = () => socket.bytesRead - before
  })
  request.on("information", () => {
    interim++
    // The rest of a read still arrives as events after the connection is closed.
    if (interim > MAX_INTERIM_ANSWERS && !request.destroyed)
      end(`more than ${MAX_INTERIM_ANSWERS} interim responses (1xx)`)
  })
  request.once("close", stop)
}
