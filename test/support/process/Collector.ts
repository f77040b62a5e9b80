import { Effect, type Scope } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
}

export interface Collector {
  readonly url: string
  readonly spans: () => ReadonlyArray<Span>
  /** Request bodies as received. */
  readonly text: () => string
  readonly headers: () => ReadonlyArray<string>
}

/** Starts an OpenTelemetry collector that keeps all requests. */
export const listen: Effect.Effect<Collector, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const bodies: Array<string> = []
      const keys: Array<string> = []
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        keys.push(String(request.headers["x-collector-key"]))
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          bodies.push(Buffer.concat(chunks).toString("utf8"))
          response.writeHead(200, { "content-type": "application/json" }).end("{}")
        })
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return { server, bodies, keys, port: (server.address() as AddressInfo).port }
    }),
    ({ server }) =>
      Effect.promise(async () => {
        server.closeAllConnections()
        server.close()
        await once(server, "close")
      }),
  ),
  ({ bodies, keys, port }) => ({
    url: `http://127.0.0.1:${port}`,
    text: () => bodies.join("\n"),
    headers: () => keys,
    spans: () =>
      bodies.flatMap((body) => {
        const { resourceSpans } = JSON.parse(body) as {
          readonly resourceSpans: ReadonlyArray<{
            readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }>
          }>
        }
        return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
      }),
  }),
)
