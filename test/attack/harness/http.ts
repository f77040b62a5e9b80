import * as http from "node:http"
import * as net from "node:net"

export interface Endpoint {
  readonly host: string
  readonly port: number
}

export interface RequestOptions {
  readonly key?: string
  readonly body?: unknown
  /** Body that is sent unchanged. */
  readonly raw?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: string | undefined
  readonly within_ms?: number
}

export interface Reply {
  /** HTTP status, or 0 if the connection was refused, closed or silent. */
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  // The scenarios look into answers of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  readonly took_ms: number
}

const TIMEOUT_MS = 20_000
const local = (from: string | undefined) => (from === undefined ? {} : { localAddress: from })

/** Sends one request on a new connection. Never throws: a broken connection is an answer with status 0. */
export const sendRequest = (
  endpoint: Endpoint,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Reply> => {
  const { body, from, headers = {}, key, raw, within_ms = TIMEOUT_MS } = options
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const startedAt = performance.now()
  return new Promise((resolve) => {
    const done = (status: number, text: string, answerHeaders: http.IncomingHttpHeaders = {}) =>
      resolve({ status, text, headers: answerHeaders, json: parsed(text), took_ms: performance.now() - startedAt })
    const request = http.request(
      {
        ...endpoint,
        ...local(from),
        method,
        path,
        agent: false,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(sent === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", (error) => done(0, String(error)))
        response.on("end", () =>
          done(response.statusCode ?? 0, Buffer.concat(chunks).toString("utf8"), response.headers),
        )
      },
    )
    const timer = setTimeout(() => request.destroy(new Error("no answer in time")), within_ms)
    request.on("error", (error) => done(0, error.message))
    request.on("close", () => clearTimeout(timer))
    request.end(sent)
  })
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A raw connection for a client that controls every byte and may leave answers unread. */
export interface Connection {
  readonly socket: net.Socket
  readonly received: () => string
  readonly closed: () => boolean
}

/** Resolves once connected or refused. */
export const open = (
  { host, port }: Endpoint,
  { from, reads = true }: { from?: string | undefined; reads?: boolean },
) =>
  new Promise<Connection>((resolve) => {
    const socket = net.connect({ host, port, ...local(from) })
    let text = ""
    let closed = false
    const connection: Connection = { socket, received: () => text, closed: () => closed }
    socket.on("error", () => undefined)
    socket.on("connect", () => resolve(connection))
    socket.on("close", () => {
      closed = true
      resolve(connection)
    })
    if (reads) socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")))
    else socket.pause()
  })

/** Opens connections a few at a time, so that the system's backlog refuses none. */
export const openMany = async (
  count: number,
  one: (nth: number) => Promise<Connection>,
): Promise<ReadonlyArray<Connection>> => {
  const connections: Array<Connection> = []
  for (let nth = 0; nth < count; nth += AT_ONCE)
    connections.push(
      ...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - nth) }, (_, at) => one(nth + at)))),
    )
  return connections
}
const AT_ONCE = 50

export const hangUp = (connections: ReadonlyArray<Connection>): void => {
  for (const { socket } of connections) socket.destroy()
}

/** A client with the cookies and request headers of the dashboard. */
export const browser = (endpoint: Endpoint, origin: string, from?: string) => {
  const jar = new Map<string, string>()
  return {
    jar,
    request: async (
      method: string,
      path: string,
      body?: unknown,
      headers: Readonly<Record<string, string>> = {},
      raw?: string,
    ) => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
      const reply = await sendRequest(endpoint, method, path, {
        from,
        ...(body === undefined ? {} : { body }),
        ...(raw === undefined ? {} : { raw }),
        headers: { origin, "x-waybill-dashboard": "1", ...(cookie === "" ? {} : { cookie }), ...headers },
      })
      for (const cookieLine of reply.headers["set-cookie"] ?? []) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/u.exec(cookieLine) ?? []
        if (value === "" || /max-age=0/iu.test(cookieLine)) jar.delete(name)
        else jar.set(name, value)
      }
      return reply
    },
  }
}
export type Browser = ReturnType<typeof browser>
