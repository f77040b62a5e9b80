import * as AnswerBudget from "@waybill/mail/dns/AnswerBudget"
import { Effect } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"

/** Maximum number of bytes of an answer's body that are kept. */
export const KEPT_ANSWER_BYTES = 4 * 1024
/** Maximum number of bytes of an answer's body that are read before the connection is closed. */
export const MAX_ANSWER_BYTES = 256 * 1024
/** Maximum number of bytes that an endpoint may send for one call, including headers, chunk framing and TLS. */
export const MAX_WIRE_BYTES = 2 * MAX_ANSWER_BYTES
/** Time that an idle connection is kept for the next call. Many servers close theirs after five seconds. */
export const KEEP_ALIVE_MS = 4_000
/** Maximum number of idle connections to one address, which may serve many endpoints. */
export const MAX_IDLE_CONNECTIONS = 100
const KEPT_HEADERS = 20
const KEPT_HEADER_CHARS = 256

/** State of a call so far. */
export interface Seen {
  address: string | null
  status: number | null
  response_headers: Readonly<Record<string, string>>
  chunks: ReadonlyArray<Buffer>
  error: string | null
}
export const nothingSeen = (): Seen => ({ address: null, status: null, response_headers: {}, chunks: [], error: null })

export interface Agents {
  readonly "http:": http.Agent
  readonly "https:": https.Agent
  readonly secure: https.RequestOptions
}

export const makeAgents = (ca: string | undefined): Agents => {
  const options = { keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: KEEP_ALIVE_MS } as const
  // Never closed: a stop must not end calls in flight, and idle connections end by themselves and keep no process alive.
  return {
    "http:": new http.Agent(options),
    "https:": new https.Agent(ca === undefined ? options : { ...options, ca }),
    secure: ca === undefined ? AnswerBudget.TLS_OPTIONS : { ...AnswerBudget.TLS_OPTIONS, ca },
  }
}

/** Posts to the address in `seen.address`, and stores the answer in `seen`. */
export const post = (
  url: URL,
  agents: Agents,
  headers: http.OutgoingHttpHeaders,
  body: string | Uint8Array,
  seen: Seen,
) =>
  Effect.callback<void>((resume) => {
    const name = url.hostname.replace(/^\[|\]$/gu, "")
    const secure = url.protocol === "https:"
    const done = () => resume(Effect.void)
    let current: http.ClientRequest | undefined
    let isOver = false

    const send = (agent: http.Agent | https.Agent | false) => {
      const options: https.RequestOptions = {
        method: "POST",
        // The address that was checked, so that the name is not resolved again.
        host: seen.address,
        ...(url.port === "" ? {} : { port: url.port }),
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
        agent,
        ...(secure ? { ...agents.secure, servername: isIP(name) === 0 ? name : "" } : {}),
      }
      const request = (secure ? https : http).request(options, (response) => read(response, request))
      current = request
      AnswerBudget.watch(request, MAX_WIRE_BYTES, (reason) => {
        // A status that arrived is kept, as it is when the body is too long.
        if (seen.status === null) seen.error ??= reason
        isOver = true
        done()
      })
      request.on("error", (error: NodeJS.ErrnoException) => {
        // This side closed the connection, which Node reports as an error of the other side.
        if (isOver) return
        // The endpoint closed a kept connection just as it was used again, so the call is made once more on a new one.
        if (seen.status === null && request.reusedSocket && CLOSED.has(error.code ?? "")) return send(false)
        if (seen.status === null) seen.error ??= error.message
        done()
      })
      // After an unrequested 101, Node closes the connection without an error.
      request.on("close", () => {
        if (current === request && seen.status === null) done()
      })
      request.end(body)
    }

    const read = (response: http.IncomingMessage, request: http.ClientRequest) => {
      const chunks: Array<Buffer> = []
      let size = 0
      seen.status = response.statusCode ?? null
      seen.response_headers = firstHeaders(response.headers)
      seen.chunks = chunks
      response.on("data", (chunk: Buffer) => {
        if (size < KEPT_ANSWER_BYTES) chunks.push(chunk)
        size += chunk.length
        if (size > MAX_ANSWER_BYTES) request.destroy()
      })
      response.on("error", done)
      response.on("close", done)
    }

    send(secure ? agents["https:"] : agents["http:"])
    return Effect.sync(() => {
      isOver = true
      current?.destroy()
    })
  })

const CLOSED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"])

/** Returns the kept part of a body as text, without NUL, which Postgres does not store. */
export const text = (chunks: ReadonlyArray<Buffer>): string =>
  Buffer.concat(chunks).subarray(0, KEPT_ANSWER_BYTES).toString("utf8").replaceAll("\u0000", "\ufffd")

const firstHeaders = (headers: http.IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, KEPT_HEADERS)
      .map(([name, value]) => [name, String(value).slice(0, KEPT_HEADER_CHARS)]),
  )
