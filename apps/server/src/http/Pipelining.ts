import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Requests that may wait on a connection for the answer to the one before them. Beyond it the connection is closed. */
export const MAX_WAITING_REQUESTS = 8

interface Held {
  /** Number of requests that wait. */
  waiting: number
  /** The response to the one that came last. */
  last: ServerResponse
}

const heldOn = new WeakMap<Socket, Held>()

/** True for a request that arrived before the previous response on its connection was sent. */
export const isEarly = (response: ServerResponse): boolean => response.socket === null

/** The response to the last of the requests that wait on a connection. */
export const lastHeld = (socket: Socket): ServerResponse | undefined => heldOn.get(socket)?.last

/**
 * Starts a request once the previous response was sent; Node by itself starts every request of a chunk at once. Nothing
 * tells an honest client from one that fills the memory but their number, and hardly any client sends ahead.
 */
export const hold = (socket: Socket, response: ServerResponse, begin: () => void): void => {
  const waiting = (heldOn.get(socket)?.waiting ?? 0) + 1
  if (waiting > MAX_WAITING_REQUESTS) return void socket.destroy()
  heldOn.set(socket, { waiting, last: response })
  // A response gets the socket when the one before it was flushed. Started in a turn of the event loop of its own, so
  // that a client with many pipelined requests does not delay others.
  response.once("socket", () =>
    setImmediate(() => {
      const held = heldOn.get(socket)
      if (held === undefined || --held.waiting === 0) heldOn.delete(socket)
      if (!socket.destroyed) begin()
    }),
  )
}
