import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface SeenRequest {
  /** First two parts of the path: the fault, and a name for its requests. */
  readonly label: string
  readonly method: string
  /** Path without the label and the query. */
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly at: number
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | Buffer
}

const refusal = (status: number, code: string, reason: string, retryAfter: string): Answer => ({
  status,
  headers: { "content-type": "application/json", "retry-after": retryAfter, "x-request-id": "req_proxy" },
  text: JSON.stringify({ error: { code, message: "Not now.", reason, request_id: "req_proxy", details: [] } }),
})
const BROKEN: Answer = { status: 502, headers: { "content-type": "text/html" }, text: "<h1>Bad gateway</h1>" }

/**
 * The connection is closed after the service has answered: before the answer (`cut`), or within one with a length (`torn`)
 * or in chunks (`frayed`). `silent` never answers.
 */
type Fault = "cut" | "torn" | "frayed" | "silent"

/** Answers of each fault; undefined passes the service's answer on. */
const faults: Readonly<Record<string, (nth: number, other: string) => Answer | Fault | undefined>> = {
  plain: () => undefined,
  replica: () => undefined,
  cut: (nth) => (nth === 0 ? "cut" : undefined),
  torn: (nth) => (nth === 0 ? "torn" : undefined),
  frayed: (nth) => (nth === 0 ? "frayed" : undefined),
  busy: (nth) => (nth === 0 ? refusal(429, "rate_limited", "request_rate", "1") : undefined),
  down: (nth) => (nth === 0 ? refusal(503, "internal_error", "unavailable", "0") : undefined),
  gateway: (nth) => (nth === 0 ? BROKEN : undefined),
  broken: () => BROKEN,
  quota: () => refusal(429, "rate_limited", "monthly_quota", "86400"),
  moved: (_, other) => ({ status: 307, headers: { location: `${other}/v1/domains` }, text: "" }),
  silent: () => "silent",
}

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections()
    server.close(() => resolve())
  })

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Sends a request to the service and returns its answer. */
const forward = async (url: string, request: IncomingMessage, body: Buffer): Promise<Answer> => {
  const headers = new Headers()
  for (const name of ["authorization", "content-type", "idempotency-key"]) {
    const value = request.headers[name]
    if (typeof value === "string") headers.set(name, value)
  }
  const method = request.method ?? ""
  const init = { method, headers, ...(body.length === 0 ? {} : { body: new Uint8Array(body) }) }
  const response = await fetch(url, init)
  const kept = ["content-type", "retry-after", "x-request-id"].flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return {
    status: response.status,
    headers: Object.fromEntries(kept) as Record<string, string>,
    text: Buffer.from(await response.arrayBuffer()),
  }
}

/**
 * Starts a proxy to a service. The path of a request begins with a fault and a name, such as `/cut/send/v1/email/send`;
 * faults that end do so after the first request of their name. `replica` adds the position of a write.
 */
export const start = async (service: string) => {
  const seen: Array<SeenRequest> = []
  const strays: Array<string> = []
  const other = createServer((request, response) => {
    strays.push(request.url ?? "")
    response.end()
  })
  const otherUrl = await listen(other)
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const [, fault = "", name = "", rest = ""] = /^\/(\w+)\/([\w-]+)(\/.*)$/u.exec(request.url ?? "") ?? []
    const label = `${fault}/${name}`
    const nth = seen.filter((each) => each.label === label).length
    const path = rest.split("?", 1)[0] ?? ""
    seen.push({ label, method: request.method ?? "", path, headers: request.headers, at: performance.now() })
    const body = await bodyOf(request)
    const planned = faults[fault]?.(nth, otherUrl)
    if (planned === "silent") return
    const answer = typeof planned === "object" ? planned : await forward(`${service}${rest}`, request, body)
    if (planned === "cut") return void request.socket.destroy()
    const position = fault === "replica" && request.method !== "GET" ? { "x-waybill-position": `pos_${nth}` } : {}
    const length = planned === "torn" ? { "content-length": `${Buffer.byteLength(answer.text)}` } : {}
    response.writeHead(answer.status, { ...answer.headers, ...position, ...length })
    if (planned !== "torn" && planned !== "frayed") return void response.end(answer.text)
    response.write(answer.text.slice(0, 20), () => request.socket.destroy())
  }
  const server = createServer((request, response) => void handle(request, response))
  const url = await listen(server)
  return {
    url,
    seen,
    /** Requests that were redirected to another host. */
    strays,
    close: () => Promise.all([close(server), close(other)]),
  }
}
