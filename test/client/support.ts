import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

/** A well-formed key. */
export const KEY = ApiKeySecret.encode(new Uint8Array(32).fill(7))

export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

interface CannedResponse {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
  /** A raw body instead of JSON. */
  readonly text?: string
  readonly after_ms?: number
  /** Leaves the response open. */
  readonly isOpen?: boolean
}
type Answer = CannedResponse | "drop"

/** Starts a server that returns these responses in order and records the requests. */
export const serverWith = async (answers: ReadonlyArray<Answer>) => {
  const seen: Array<RecordedRequest> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const answer = answers[Math.min(seen.length, answers.length - 1)] ?? ({ status: 500 } satisfies CannedResponse)
      seen.push({
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      })
      if (answer === "drop") return void request.socket.destroy()
      const { after_ms = 0, body = {}, headers, isOpen = false, status, text = JSON.stringify(body) } = answer
      setTimeout(() => {
        response.writeHead(status, { "content-type": "application/json", ...headers })
        if (isOpen) response.write(text)
        else response.end(text)
      }, after_ms)
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
