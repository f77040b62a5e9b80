import { Effect } from "effect"
import * as net from "node:net"
import * as tls from "node:tls"

/** Bytes that a server sends once, and bytes that it repeats as long as the client reads. */
export interface Flood {
  readonly first?: string
  readonly forever: string
}

const CHUNKED = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"

/** Endless responses to an HTTP request, one of each kind. */
export const HTTP_FLOODS = {
  "103 Early Hints": { forever: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" },
  "100 Continue": { forever: "HTTP/1.1 100 Continue\r\n\r\n" },
  "102 Processing with a long header": { forever: `HTTP/1.1 102 Processing\r\nA: ${"x".repeat(8_000)}\r\n\r\n` },
  "line ends before the status line": { forever: "\r\n" },
  "header fields": { first: "HTTP/1.1 200 OK\r\n", forever: "A: b\r\n" },
  "a header field without end": { first: "HTTP/1.1 200 OK\r\nA: ", forever: "x" },
  "a reason without end": { first: "HTTP/1.1 200 ", forever: "x" },
  "chunk extensions": { first: CHUNKED, forever: `1;${"x".repeat(16_000)}\r\nx\r\n` },
  "zeros before a chunk's size": { first: CHUNKED, forever: "0" },
  "trailer fields": { first: `${CHUNKED}0\r\n`, forever: "A: b\r\n" },
  "a body in chunks": { first: CHUNKED, forever: "4\r\nxxxx\r\n" },
  "a body till the end of the connection": {
    first: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n",
    forever: "x",
  },
  "one answer after the other": { forever: "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n" },
  "no HTTP at all": { forever: "hello\n" },
  "101 Switching Protocols": {
    forever: "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
  },
} as const satisfies Readonly<Record<string, Flood>>

export interface Flooder {
  readonly port: number
  readonly connections: () => number
  /** Number of open connections. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

const BLOCK = 64 * 1024
/** Delay after which the client has read a complete response. */
const UNASKED_AFTER_MS = 50

const flood = (socket: net.Socket, { first, forever }: Flood) => {
  const block = Buffer.from(forever.repeat(Math.ceil(BLOCK / forever.length)))
  const more = () => {
    while (socket.writable && socket.write(block));
    if (socket.writable) socket.once("drain", more)
  }
  if (first !== undefined) socket.write(first)
  more()
}

/**
 * A server on loopback that floods every client that sends something. The first responses may be valid, so that the
 * connection is reused.
 */
export const listen = (
  answer: Flood,
  options: {
    readonly tls?: tls.TlsOptions
    readonly before?: ReadonlyArray<string>
    /** Whether the flood starts before the client has sent anything. */
    readonly atOnce?: boolean
    /** Whether the flood follows the last valid response without a request. */
    readonly unasked?: boolean
  } = {},
) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Flooder>((resolve) => {
          const sockets = new Set<net.Socket>()
          let connections = 0
          const serve = (socket: net.Socket) => {
            const before = [...(options.before ?? [])]
            connections++
            sockets.add(socket)
            socket.on("error", () => undefined)
            socket.on("close", () => sockets.delete(socket))
            if (options.atOnce === true) return flood(socket, answer)
            socket.on("data", () => {
              const proper = before.shift()
              if (proper === undefined) flood(socket, answer)
              else socket.write(proper)
              if (options.unasked === true) setTimeout(() => flood(socket, answer), UNASKED_AFTER_MS)
            })
          }
          const server = options.tls === undefined ? net.createServer(serve) : tls.createServer(options.tls, serve)
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resolve({
              port: typeof address === "object" && address !== null ? address.port : 0,
              connections: () => connections,
              open: () => sockets.size,
              close: () =>
                new Promise<void>((done) => {
                  for (const socket of sockets) socket.destroy()
                  server.close(() => done())
                }),
            })
          })
        }),
    ),
    ({ close }) => Effect.promise(close),
  )
