import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { createMcpHandler, type McpServerFactory } from "@modelcontextprotocol/server"
import { Effect, Layer } from "effect"
import { HttpEffect, HttpServer } from "effect/http"
import { createServer } from "node:http"
import * as HttpGuard from "./HttpGuard.ts"

/** Maximum size of a request's body. */
export const MAX_REQUEST_BYTES = 1_048_576
const MAX_HEADER_BYTES = 16_384
const MAX_CONNECTIONS = 64
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
  return HttpServer.serve(HttpEffect.fromWebHandler(respond)).pipe(
    Layer.merge(Layer.effectDiscard(Effect.addFinalizer(() => Effect.promise(handler.close)))),
    Layer.provideMerge(NodeHttpServer.layer(listener, { host, port })),
  )
}

const listener = () => {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
  })
  server.maxConnections = MAX_CONNECTIONS
  return server
}
