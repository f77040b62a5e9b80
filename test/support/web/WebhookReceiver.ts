import { Effect, type Scope } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import type { AddressInfo } from "node:net"

/** Webhook call as received. */
export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly bytes: Buffer
}

/**
 * Response of a receiver. `hang` sends nothing and keeps the connection, `drop` closes it, `stall` sends the head and
 * never the rest.
 */
export type Answer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | "hang"
  | "drop"
  | "stall"

export interface Options {
  readonly host?: string
  readonly port?: number
  readonly answer?: (call: Received, nth: number) => Answer | Promise<Answer>
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly keepAliveMs?: number
}

export interface Receiver {
  readonly port: number
  readonly url: string
  readonly calls: ReadonlyArray<Received>
  readonly connections: () => number
  readonly close: () => Promise<void>
}

/** Starts an endpoint on loopback, on a port that the system chooses. */
export const open = async (options: Options = {}): Promise<Receiver> => {
  const host = options.host ?? "127.0.0.1"
  const calls: Array<Received> = []
  let connections = 0
  const listener: http.RequestListener = (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("error", () => {})
    request.on("end", () => {
      const bytes = Buffer.concat(chunks)
      const call = {
        path: request.url ?? "",
        headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
        body: bytes.toString("utf8"),
        bytes,
      }
      calls.push(call)
      const reply = async () => {
        const answer = (await options.answer?.(call, calls.length)) ?? { status: 204 }
        if (answer === "hang") return
        if (answer === "drop") request.socket.destroy()
        else if (answer === "stall") response.writeHead(200, { "content-length": "10" }).write("half")
        else response.writeHead(answer.status, answer.headers).end(answer.body)
      }
      void reply()
    })
  }
  const server = options.tls === undefined ? http.createServer(listener) : https.createServer(options.tls, listener)
  if (options.keepAliveMs !== undefined) server.keepAliveTimeout = options.keepAliveMs
  server.on("connection", () => connections++)
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, host, resolve))
  const { port } = server.address() as AddressInfo
  const name = host.includes(":") ? `[${host}]` : host
  return {
    port,
    url: `${options.tls === undefined ? "http" : "https"}://${name}:${port}/hook`,
    calls,
    connections: () => connections,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

export const listen = (options: Options = {}): Effect.Effect<Receiver, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => open(options)),
    ({ close }) => Effect.promise(close),
  )
