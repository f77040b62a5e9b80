import { InvalidRequest, Overloaded } from "@waybill/api/errors/RequestRefusal"
import * as ApiError from "@waybill/api/errors/ApiError"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { type Context, Effect } from "effect"
import { type IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { newId, now } from "../operate/fresh.ts"
import * as Requests from "../observability/Requests.ts"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Connections from "./middleware/Connections.ts"
import * as Pipelining from "./middleware/Pipelining.ts"

/** All headers of a request together. */
export const MAX_HEADER_BYTES = 16_384
/** A client that takes longer to send its headers is none. */
export const HEADERS_TIMEOUT_MS = 10_000
/** For the whole request, its body included: ten megabytes at a modest 170 KB/s. */
export const REQUEST_TIMEOUT_MS = 60_000
/** Longer than the idle time of common proxies, so that they and not we end a connection they might just use. */
export const KEEP_ALIVE_TIMEOUT_MS = 75_000
/** Nothing of an answer is read, or nothing said in it: longer than the longest wait that a request may ask for. */
export const STALLED_TIMEOUT_MS = 120_000
/** Once a stop has begun, a connection that has its answer is let go. 0 would mean for ever. */
const CLOSING_KEEP_ALIVE_MS = 1
/** How often slow requests are looked for. */
export const CHECK_INTERVAL_MS = 2_000
/** Requests on one connection; then a client is spread over the nodes anew. */
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

/** Handles a request outside the normal path. Returns false, or calls `normalPath` later, for a request that it leaves to it. */
export type FastPath = (request: IncomingMessage, response: ServerResponse, normalPath: () => void) => boolean

/** Events with which Node hands over a request. */
const REQUEST_EVENTS: ReadonlySet<string> = new Set(["request", "checkContinue", "checkExpectation"])

interface Rules {
  readonly timeouts: Timeouts
  readonly caps: Connections.Caps
  readonly context: Context.Context<never>
}

/** A server that bounds its connections, begins one request of a connection at a time, and has a way past all listeners. */
export class NodeServer extends Server {
  fastPath: FastPath = () => false
  readonly #connections: Connections.Connections
  readonly #context: Context.Context<never>

  constructor({ caps, context, timeouts }: Rules) {
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
  }

  override emit(event: string, ...args: ReadonlyArray<unknown>): boolean {
    if (event === "connection") return this.#accept(args[0] as Socket)
    if (!REQUEST_EVENTS.has(event)) return super.emit(event, ...args)
    const [request, response] = args as [IncomingMessage, ServerResponse & Counted]
    if (!Pipelining.isEarly(response)) return this.#begin(event, request, response)
    Pipelining.hold(request.socket, response, () => this.#begin(event, request, response))
    return true
  }

  #accept(socket: Socket): boolean {
    const isHeard = super.emit("connection", socket)
    Pipelining.watch(socket)
    this.#connections.add(socket)
    return isHeard
  }

  #begin(event: string, request: IncomingMessage, response: ServerResponse & Counted): boolean {
    const isReserved = this.#connections.isReserved(request.socket)
    // A busy client would hold a server that is to stop for ever. And after the last request that a connection may have,
    // Node would answer 503 without a word to those that were sent behind it; closed, they are the client's to send anew.
    if (!this.listening || response.maxRequestsOnConnectionReached === true || isReserved)
      response.shouldKeepAlive = false
    if (isReserved && !Connections.isProbe(request.url)) return this.#turnAway(request, response)
    if (event !== "request") return super.emit(event, request, response)
    Requests.observe(request, response)
    const normalPath = () => super.emit(event, request, response)
    return this.fastPath(request, response, normalPath) || normalPath()
  }

  #turnAway(request: IncomingMessage, response: ServerResponse): boolean {
    const { body, headers, status } = Effect.runSyncWith(this.#context)(
      answerOf(new Overloaded({ budget: "connections" })),
    )
    request.resume()
    response.writeHead(status, headers).end(body)
    return true
  }
}

/** What Node keeps of an answer after which there is no other on its connection. */
interface Counted {
  readonly maxRequestsOnConnectionReached?: boolean
}

/** `node:http` with limits, and with our own words for what it refuses before any of our code sees a request. */
export const make = (
  context: Context.Context<never>,
  timeouts: Timeouts,
  caps: Connections.Caps = Connections.CAPS,
): NodeServer => {
  const server = new NodeServer({ context, timeouts, caps })
  // Bounded by their bytes; Node would drop the ones above its own number without a word.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  // Node's own default is to wait for ever for a client that asks for much and reads nothing.
  server.timeout = timeouts.stalled_ms
  server.on("clientError", (error: Pipelining.ParserError, socket: Socket) => {
    if (error.code === Pipelining.PAUSED) return Pipelining.keep(socket, error)
    refuse(context, error, socket)
  })
  leaveNobodyWaiting(server)
  // An expectation that we do not know is ignored, like a header that we do not know.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
    server.emit("request", request, response),
  )
  server.on("connect", (request: IncomingMessage, socket: Socket) => answerLikeAny(server, request, socket))
  return server
}

/** Answers what cannot be read as a request, and closes the connection. */
const refuse = (context: Context.Context<never>, { code }: NodeJS.ErrnoException, socket: Socket & Answering): void => {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  // The client of a request that waits for the answer before it is not late, and one that was refused hears it once.
  if (Pipelining.isHeld(socket)) return
  const pending = socket._httpMessage ?? undefined
  const isBehind = pending?.req.complete === true
  if (pending?.headersSent === true && (!isBehind || code === REQUEST_TIMED_OUT)) return void socket.destroy()
  const answer = Effect.runSyncWith(context)(rawAnswer(refusalOf(code)))
  if (!isBehind) return void socket.end(answer)
  // A request that is whole has its answer first.
  Pipelining.stop(socket)
  pending.once("finish", () => socket.end(answer))
}

/**
 * A client that takes this server for a proxy is answered like any with a wrong method; Node would hang up without a
 * word. Behind a request that has no answer yet the connection is closed: Node has taken away all that bounds it.
 */
const answerLikeAny = (server: Server, request: IncomingMessage, socket: Socket & Answering): void => {
  if (socket._httpMessage) return void socket.destroy()
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.on("finish", () => socket.destroySoon())
  // Node has taken its own listeners away.
  socket.on("error", () => socket.destroy())
  server.emit("request", request, response)
}

/**
 * Node stops listening and goes on waiting for whoever has a connection: one that falls idle now would hold a server that
 * is to stop for as long as connections are kept.
 */
const leaveNobodyWaiting = (server: Server): void => {
  const close = server.close.bind(server)
  server.close = (done) => {
    server.keepAliveTimeout = CLOSING_KEEP_ALIVE_MS
    server.keepAliveTimeoutBuffer = 0
    return close(done)
  }
}

/** What Node keeps of the answer that is being written on a socket. */
interface Answering {
  readonly _httpMessage?: ServerResponse<IncomingMessage> | null
}

const REQUEST_TIMED_OUT = "ERR_HTTP_REQUEST_TIMEOUT"

const refusalOf = (code: string | undefined): InvalidRequest => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return refusal("headers_too_large", `has more than ${MAX_HEADER_BYTES} bytes of headers`)
    case REQUEST_TIMED_OUT:
      return refusal("request_timeout", "took too long to arrive")
    default:
      return refusal("malformed_request", "is not a request of HTTP/1.1")
  }
}

const refusal = (reason: InvalidRequest["reason"], message: string) =>
  new InvalidRequest({ reason, details: [], said: `The request ${message}.` })

/** A refusal without a request that the rest of the service could answer. */
const answerOf = (refusal: Refusal) =>
  Effect.gen(function* () {
    const id = yield* newId("RequestId")
    const standing = RateLimit.standing(RateLimit.ANONYMOUS_PER_MINUTE, 0, Timestamp.toMillis(yield* now))
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

/** The same, for a connection on which nothing could be read as a request. */
const rawAnswer = (refusal: InvalidRequest) =>
  Effect.map(answerOf(refusal), ({ body, headers }) =>
    [
      "HTTP/1.1 400 Bad Request",
      "Connection: close",
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      "",
      body,
    ].join("\r\n"),
  )
