import * as ApiKeySecret from "@waybill/domain/ApiKeySecret"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

/** A key that could have been issued. */
export const KEY = ApiKeySecret.encode(new Uint8Array(32).fill(7))

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown } | "drop"

/** A server that answers each request with the next of these, and tells what it saw. */
export const answering = async (answers: ReadonlyArray<Answer>) => {
  const seen: Array<Seen> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const answer = answers[Math.min(seen.length, answers.length - 1)] ?? { status: 500 }
      seen.push({
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      })
      if (answer === "drop") return void request.socket.destroy()
      response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers })
      response.end(JSON.stringify(answer.body ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    seen,
    baseUrl: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
