import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as ApiError from "@waybill/api/errors/ApiError"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { type Context, Effect } from "effect"
import { type IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as NewIds from "../process/NewIds.ts"
import * as Requests from "../observability/Requests.ts"
import * as Connections from "../requests/Connections.ts"
import * as Pipelining from "./Pipelining.ts"

/** Maximum size of all headers of a request. */
export const MAX_HEADER_BYTES = 16_384
/** Time in which a client has to send its headers. */
export const HEADERS_TIMEOUT_MS = 10_000
/** Time for a whole request with its body: ten megabytes at 170 KB/s. */
export const REQUEST_TIMEOUT_MS = 60_000
/**
 * Longer than the idle timeout of common proxies, so that they close idle connections and this server does not close
 * one that they are about to use.
 */
export const KEEP_ALIVE_TIMEOUT_MS = 75_000
/**
 * Time after which a connection is closed if the client reads nothing or the handler writes nothing; longer than the
 * longest wait of a request.
 */
export const STALLED_TIMEOUT_MS = 120_000
/** Keep-alive time of connections once a stop has begun. 0 would mean unlimited. */
const CLOSING_KEEP_ALIVE_MS = 1
/** Time that a connection without a request has for its first one, once a stop has begun. */
const CLOSING_UNUSED_MS = 500
/** Interval of the check for slow requests. */
export const CHECK_INTERVAL_MS = 2_000
/** Maximum requests per connection; after that a client reconnects, perhaps to another node. */
export const MAX_REQUESTS_PER_SOCKET = 10_000

export interface Timeouts {
  readonly headers_ms: number
  readonly request_ms: number
  readonly check_ms: number
  readonly stalled_ms: number
}

export const TIMEOUTS: Timeouts = {
  headers_ms: HEADERS_TIMEOUT_MS,
  request_ms: REQUEST_TIMEOUT_MS,
  check_ms: CHECK_INTERVAL_MS,
  stalled_ms: STALLED_TIMEOUT_MS,
}

/** Events with which Node announces a request. */
const REQUEST_EVENTS: ReadonlySet<string> = new Set(["request", "checkContinue", "checkExpectation"])

interface Config {
  readonly timeouts: Timeouts
  readonly caps: Connections.Caps
  readonly context: Context.Context<never>
}

/** An HTTP server that limits its connections, and handles one request of a connection at a time. */
export class NodeServer extends Server {
  readonly #connections: Connections.Connections
  readonly #context: Context.Context<never>
  /** Requests that arrived when the port was open and nothing handled requests yet. */
  readonly #early: Array<() => void> = []

  constructor({ caps, context, timeouts }: Config) {
    super({
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: timeouts.headers_ms,
      requestTimeout: timeouts.request_ms,
      connectionsCheckingInterval: timeouts.check_ms,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      requireHostHeader: false,
    })
    this.#connections = new Connections.Connections(caps)
    this.#context = context
    this.on("newListener", (name) => {
      if (name === "request") setImmediate(() => this.#early.splice(0).forEach((begin) => begin()))
    })
  }

  override emit(event: string, ...args: ReadonlyArray<unknown>): boolean {
    if (event === "connection") return this.#accept(args[0] as Socket)
    if (!REQUEST_EVENTS.has(event)) return super.emit(event, ...args)
    const [request, response] = args as [IncomingMessage, ServerResponse & LastResponse]
    if (!Pipelining.isEarly(response)) return this.#begin(event, request, response)
    Pipelining.hold(request.socket, response, () => this.#begin(event, request, response))
    return true
  }

  #accept(socket: Socket): boolean {
    const isHandled = super.emit("connection", socket)
    this.#connections.add(socket)
    return isHandled
  }

  #begin(event: string, request: IncomingMessage, response: ServerResponse & LastResponse): boolean {
    const isReserved = this.#connections.isReserved(request.socket)
    // Closes the connection while stopping, because a busy client would delay the stop, and after the last request that
    // a connection may have, because Node would answer pipelined requests behind it with an empty 503. The client can
    // send those again.
    if (!this.listening || response.maxRequestsOnConnectionReached === true || isReserved)
      response.shouldKeepAlive = false
    if (isReserved && !Connections.isProbe(request.url)) return this.#turnAway(request, response)
    if (event !== "request") return super.emit(event, request, response)
    Requests.observe(request, response)
    // Without a listener, nobody would ever answer.
    if (this.listenerCount(event) > 0) return super.emit(event, request, response)
    this.#early.push(() => super.emit(event, request, response))
    return true
  }

  #turnAway(request: IncomingMessage, response: ServerResponse): boolean {
    const { body, headers, status } = Effect.runSyncWith(this.#context)(
      answerOf(new RequestRefusal.Overloaded({ budget: "connections" })),
    )
    request.resume()
    response.writeHead(status, headers).end(body)
    return true
  }
}

/** Node's mark on the last response of a connection. */
interface LastResponse {
  readonly maxRequestsOnConnectionReached?: boolean
}

/** A `node:http` server with limits, and with the API's errors for requests that Node itself refuses. */
export const make = (
  context: Context.Context<never>,
  timeouts: Timeouts,
  caps: Connections.Caps = Connections.CAPS,
): NodeServer => {
  const server = new NodeServer({ context, timeouts, caps })
  // Headers are limited by their bytes; Node would silently drop those beyond a number.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  // Node's default waits without limit for a client that does not read its response.
  server.timeout = timeouts.stalled_ms
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuse(context, error, socket))
  closeIdleWhenStopping(server)
  // Unknown expectations are ignored, like unknown headers.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
    server.emit("request", request, response),
  )
  server.on("connect", (request: IncomingMessage, socket: Socket) => answerConnect(server, request, socket))
  return server
}

/** Connections of which the last bytes were refused already. */
const refused = new WeakSet<Socket>()

/** Answers bytes that are not a valid request, and closes the connection. */
const refuse = (
  context: Context.Context<never>,
  { code }: NodeJS.ErrnoException,
  socket: Socket & RespondingSocket,
): void => {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  if (refused.has(socket)) return
  const held = Pipelining.lastHeld(socket)
  // A request that waits for the response before it is not late.
  if (held !== undefined && code === REQUEST_TIMED_OUT) return
  const pending = held ?? socket._httpMessage ?? undefined
  const isBehind = pending?.req.complete === true
  if (held !== undefined && !isBehind) return void socket.destroy()
  if (pending?.headersSent === true && (!isBehind || code === REQUEST_TIMED_OUT)) return void socket.destroy()
  refused.add(socket)
  const answer = Effect.runSyncWith(context)(rawAnswer(refusalOf(code)))
  if (!isBehind) return void socket.end(answer)
  // Requests that arrived completely are answered first.
  pending.once("finish", () => socket.end(answer))
}

/**
 * Answers a CONNECT request like one with a wrong method; Node would close the connection. Closes it if an earlier
 * response is still in progress, because Node has removed its limits from the socket.
 */
const answerConnect = (server: Server, request: IncomingMessage, socket: Socket & RespondingSocket): void => {
  if (socket._httpMessage) return void socket.destroy()
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.on("finish", () => socket.destroySoon())
  // Needed because Node has removed its own listeners.
  socket.on("error", () => socket.destroy())
  server.emit("request", request, response)
}

/**
 * Makes `close` end connections that become idle during a stop, and those that never had a request, which browsers and
 * pools open ahead. Node would wait for their keep-alive time, and for ever.
 */
const closeIdleWhenStopping = (server: Server): void => {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  const closeUnused = () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  const close = server.close.bind(server)
  server.close = (done) => {
    server.keepAliveTimeout = CLOSING_KEEP_ALIVE_MS
    server.keepAliveTimeoutBuffer = 0
    setTimeout(closeUnused, CLOSING_UNUSED_MS).unref()
    return close(done)
  }
}

/** Node's reference to the response in progress on a socket. */
interface RespondingSocket {
  readonly _httpMessage?: ServerResponse<IncomingMessage> | null
}

const REQUEST_TIMED_OUT = "ERR_HTTP_REQUEST_TIMEOUT"

const refusalOf = (code: string | undefined): RequestRefusal.InvalidRequest => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return refusal("headers_too_large", `has more than ${MAX_HEADER_BYTES} bytes of headers`)
    case REQUEST_TIMED_OUT:
      return refusal("request_timeout", "took too long to arrive")
    default:
      return refusal("malformed_request", "is not a valid HTTP/1.1 request")
  }
}

const refusal = (reason: RequestRefusal.InvalidRequest["reason"], message: string) =>
  new RequestRefusal.InvalidRequest({ reason, details: [], summary: `The request ${message}.` })

/** Returns the response of a refusal before the request reached the application. */
const answerOf = Effect.fnUntraced(function* (refusal: Refusal) {
  const id = yield* NewIds.newId("RequestId")
  const standing = RateLimit.windowState(RateLimit.ANONYMOUS_PER_MINUTE, 0, Timestamp.toMillis(yield* NewIds.now))
  const body = JSON.stringify(ApiError.toBody(refusal, id))
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    "X-Request-Id": id,
    "X-RateLimit-Limit": standing.limit,
    "X-RateLimit-Remaining": standing.remaining,
    "X-RateLimit-Reset": standing.reset_s,
    ...(refusal.retry_after_s === undefined ? {} : { "Retry-After": refusal.retry_after_s }),
  }
  return { status: refusal.status, headers, body }
})

/** Returns the whole HTTP response as text, for a connection whose request could not be parsed. */
const rawAnswer = (refusal: RequestRefusal.InvalidRequest) =>
  Effect.map(answerOf(refusal), ({ body, headers }) =>
    [
      "HTTP/1.1 400 Bad Request",
      "Connection: close",
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      "",
      body,
    ].join("\r\n"),
  )
