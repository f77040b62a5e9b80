import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { createMcpHandler, type McpServerFactory } from "@modelcontextprotocol/server"
import { Effect, Layer, Option } from "effect"
import { HttpEffect, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer, type IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import * as HostNames from "../process/HostNames.ts"
import * as HttpGuard from "./HttpGuard.ts"

/** Maximum size of a request's body. */
export const MAX_REQUEST_BYTES = 1_048_576
const MAX_HEADER_BYTES = 16_384
export const MAX_CONNECTIONS = 64
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const MAX_SUBSCRIPTIONS = 64

export interface Listen {
  readonly host: string
  readonly port: number
}

/** Serves streamable HTTP. The layer ends with the requests in progress. */
export const overHttp = (factory: McpServerFactory, guard: HttpGuard.Guard, { host, port }: Listen) => {
  const handler = createMcpHandler(factory, {
    maxRequestBodySize: MAX_REQUEST_BYTES,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
  })
  const respond = (request: Request): Promise<Response> => {
    const refusal = HttpGuard.refusalOf(request, guard)
    return refusal === undefined ? handler.fetch(request) : Promise.resolve(refusal)
  }
  return HttpServer.serve(Effect.flatMap(unreadable, (refusal) => refusal ?? HttpEffect.fromWebHandler(respond))).pipe(
    Layer.merge(Layer.effectDiscard(Effect.addFinalizer(() => Effect.promise(handler.close)))),
    Layer.provideMerge(NodeHttpServer.layer(() => listener(guard), { host, port })),
  )
}

/** Methods of the protocol, and those by which clients ask for them. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS"])

/** Refuses a request that has no form as a request of the web, such as one with a user name in its host. */
const unreadable = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
  if (!METHODS.has(request.method)) return refuse(405, "The method is not one of this server.")
  const url = Option.getOrUndefined(HttpServerRequest.toURL(request))
  const { host = "" } = request.headers
  return url === undefined || url.username !== "" || url.password !== "" || !HostNames.isHost(host)
    ? refuse(400, "The host or the path of the request cannot be read.")
    : undefined
})

const refuse = (status: number, message: string) =>
  Effect.succeed(HttpServerResponse.fromWeb(HttpGuard.refuse(status, message)))

const listener = ({ token }: HttpGuard.Guard) => {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
  })
  const open = new Set<Socket>()
  /** Connections that have not shown the token, oldest first. */
  const unproven = new Set<Socket>()
  server.on("connection", (socket) => {
    open.add(socket)
    unproven.add(socket)
    socket.once("close", () => {
      open.delete(socket)
      unproven.delete(socket)
    })
    // A program without the token may fill the places, but keeps out no client that has it.
    if (open.size > MAX_CONNECTIONS) for (const oldest of unproven) return void oldest.destroy()
  })
  server.on("request", ({ headers, socket }: IncomingMessage) => {
    if (HttpGuard.isToken(headers.authorization, token)) unproven.delete(socket)
  })
  return server
}
