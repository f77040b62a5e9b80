// Load generator in a process of its own: one loop per connection over plain keep-alive sockets, so that the load costs
// little.
import * as net from "node:net"
import { type Door, requests } from "./request.ts"

export interface Order {
  /** Port of the server, or of several that share the connections. */
  readonly port: number | ReadonlyArray<number>
  /** One connection per key. */
  readonly keys: ReadonlyArray<string>
  readonly millis: number
  /** Number of requests after which the load ends before its time is over. */
  readonly requests?: number
  readonly door?: Door
  /** Sends a request again that is answered 503, as on a busy machine. It counts once. */
  readonly isRepeated?: boolean
}
export interface Report {
  readonly done: number
  readonly millis: number
  readonly latencies: ReadonlyArray<number>
}
export type Answer = { readonly report: Report } | { readonly problem: string }

const HEAD_END = "\r\n\r\n"
const AGAIN_AFTER_MILLIS = 100
const LENGTH = /\r\ncontent-length: *(\d+)/iu

interface Client {
  readonly socket: net.Socket
  readonly next: () => Buffer
}

const clients = new Map<string, Client>()

/** Returns the open client of a key. Connections and message numbers continue from one order to the next. */
const clientOf = async (port: number, key: string, nth: number, door: Door): Promise<Client> => {
  const name = `${port} ${key} ${door}`
  const open = clients.get(name)
  if (open !== undefined && !open.socket.destroyed) return open
  const socket = net.connect(port, "127.0.0.1")
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject))
  socket.setNoDelay(true)
  const client = { socket, next: open?.next ?? requests(key, nth, door) }
  clients.set(name, client)
  return client
}

/** Sends the next request as soon as the last one is answered, until there is no turn left. */
const converse = (
  { next, socket }: Client,
  takeTurn: () => boolean,
  latencies: Array<number>,
  isRepeated: boolean,
): Promise<void> =>
  new Promise((resolve, reject) => {
    let sent = performance.now()
    let received = ""
    const finish = (problem?: string) => {
      socket.removeAllListeners("data").removeAllListeners("close").removeAllListeners("error")
      // An idle connection needs an error listener, or its error ends the process.
      socket.on("error", () => {})
      if (problem === undefined) return resolve()
      socket.destroy()
      reject(new Error(problem))
    }
    socket.on("error", (error) => finish(error.message))
    socket.on("close", () => finish("the server closed a connection"))
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
      const head = received.indexOf(HEAD_END)
      if (head < 0) return
      const length = Number(LENGTH.exec(received.slice(0, head))?.[1])
      if (!(received.length >= head + HEAD_END.length + length)) {
        return Number.isNaN(length) ? finish(`an answer without a length: ${received}`) : undefined
      }
      if (isRepeated && received.startsWith("HTTP/1.1 503 ")) {
        received = ""
        return setTimeout(() => socket.write(next()), AGAIN_AFTER_MILLIS)
      }
      if (!/^HTTP\/1\.1 20[02] /u.test(received)) return finish(`not accepted: ${received}`)
      const now = performance.now()
      latencies.push(now - sent)
      received = ""
      if (!takeTurn()) return finish()
      sent = now
      socket.write(next())
    })
    if (!takeTurn()) return finish()
    socket.write(next())
  })

const run = async ({
  door = "native",
  isRepeated = false,
  keys,
  millis,
  port,
  requests = Infinity,
}: Order): Promise<Report> => {
  const ports = [port].flat()
  const all = await Promise.all(
    keys.map((key, nth) => clientOf(ports[nth % ports.length] ?? Number.NaN, key, nth, door)),
  )
  const latencies: Array<number> = []
  const began = performance.now()
  let turns = 0
  const takeTurn = () => turns++ < requests && performance.now() < began + millis
  await Promise.all(all.map((client) => converse(client, takeTurn, latencies, isRepeated)))
  return { done: latencies.length, millis: performance.now() - began, latencies }
}

process.on("message", (order: Order) => {
  run(order).then(
    (report) => process.send?.({ report } satisfies Answer),
    (error: unknown) => process.send?.({ problem: String(error) } satisfies Answer),
  )
})
process.on("disconnect", () => process.exit())
