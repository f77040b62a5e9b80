import * as AnswerBudget from "@waybill/mail/smtp/AnswerBudget"
import { Effect } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"

/** What is kept of an answer's body. */
export const KEPT_ANSWER_BYTES = 4 * 1024
/** An endpoint that sends more than this is cut off; its status has been seen by then. */
export const MAX_ANSWER_BYTES = 256 * 1024
/** All that an endpoint may send for one call: interim answers, heads, chunk framing and the TLS handshake included. */
export const MAX_WIRE_BYTES = 2 * MAX_ANSWER_BYTES
/** A connection waits so long for the next call to the same address. Many servers close theirs after five seconds. */
export const KEEP_ALIVE_MS = 4_000
/** Connections to one address that wait for a next call: many endpoints lie behind one, each with calls of its own. */
export const MAX_IDLE_CONNECTIONS = 100
const KEPT_HEADERS = 20
const KEPT_HEADER_CHARS = 256

/** What is known of a call so far. */
export interface Seen {
  address: string | null
  status: number | null
  response_headers: Readonly<Record<string, string>>
  chunks: ReadonlyArray<Buffer>
  error: string | null
}
export const silence = (): Seen => ({ address: null, status: null, response_headers: {}, chunks: [], error: null })

export interface Agents {
  readonly "http:": http.Agent
  readonly "https:": https.Agent
  readonly secure: https.RequestOptions
}

export const makeAgents = (ca: string | undefined): Agents => {
  const kept = { keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: KEEP_ALIVE_MS } as const
  // Closed by nobody: a stop must not cut calls under way, and idle connections end by themselves and hold no process.
  return {
    "http:": new http.Agent(kept),
    "https:": new https.Agent(ca === undefined ? kept : { ...kept, ca }),
    secure: ca === undefined ? AnswerBudget.TLS_OPTIONS : { ...AnswerBudget.TLS_OPTIONS, ca },
  }
}

/** Posts to the address in `seen.address`, and writes down there what comes back. */
export const post = (url: URL, agents: Agents, headers: http.OutgoingHttpHeaders, body: string, seen: Seen) =>
  Effect.callback<void>((resume) => {
    const name = url.hostname.replace(/^\[|\]$/gu, "")
    const secure = url.protocol === "https:"
    const done = () => resume(Effect.void)
    let current: http.ClientRequest | undefined
    let isOver = false

    const send = (agent: http.Agent | https.Agent | false) => {
      const options: https.RequestOptions = {
        method: "POST",
        // The address that was checked, so that nothing is looked up again; the name is for TLS and the Host header.
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
        // A status that was seen stands, as it does when the body is too long.
        if (seen.status === null) seen.error ??= reason
        isOver = true
        done()
      })
      request.on("error", (error: NodeJS.ErrnoException) => {
        // We hung up ourselves, which Node words as if the other side had: nothing goes out after that.
        if (isOver) return
        // The endpoint closed a kept connection just as it was used again: that says nothing about the call. A connection
        // of its own is no kept one, so it goes out again once at most.
        if (seen.status === null && request.reusedSocket && GONE.has(error.code ?? "")) return send(false)
        if (seen.status === null) seen.error ??= error.message
        done()
      })
      // After a 101, which nobody asked for, Node closes the connection and tells of no error.
      request.on("close", () => {
        if (current === request && seen.status === null) done()
      })
      request.end(body)
    }

    const read = (response: http.IncomingMessage, request: http.ClientRequest) => {
      const chunks: Array<Buffer> = []
      let size = 0
      seen.status = response.statusCode ?? null
      seen.response_headers = kept(response.headers)
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

const GONE: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"])

/** Postgres keeps no NUL in its texts. */
export const text = (chunks: ReadonlyArray<Buffer>): string =>
  Buffer.concat(chunks).subarray(0, KEPT_ANSWER_BYTES).toString("utf8").replaceAll("\u0000", "\ufffd")

const kept = (headers: http.IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, KEPT_HEADERS)
      .map(([name, value]) => [name, String(value).slice(0, KEPT_HEADER_CHARS)]),
  )
