import { Context } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as net from "node:net"
import * as NodeServer from "../../../apps/server/src/http/NodeServer.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

/** More requests than fit into a chunk of 64 KiB. */
const REQUESTS = 4_000
/** More than the socket buffers of both ends hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, "x")

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Starts the service's listener with a handler of the test, until the end of the test. */
const listening = async (handler: Handler, timeouts = NodeServer.TIMEOUTS) => {
  const server = NodeServer.make(Context.empty(), timeouts)
  const begun: Array<string> = []
  const handle: Handler = (request, response) => {
    begun.push(`${request.method} ${request.url}`)
    handler(request, response)
  }
  server.on("request", handle)
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    response.writeContinue()
    handle(request, response)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as net.AddressInfo
  const connect = async () => {
    const socket = net.connect(port, "127.0.0.1")
    socket.on("error", () => undefined)
    await once(socket, "connect")
    return socket
  }
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { server, begun, connect, [Symbol.dispose]: close }
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2))
}

/** Returns everything received until the connection closes. */
const receivedOn = async (socket: net.Socket) => {
  let received = ""
  socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")))
  await once(socket, "close")
  return received
}

const echo: Handler = (request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => response.end(`${request.url} ${Buffer.concat(chunks).toString("latin1")}\n`))
}

const answersIn = (received: string) => received.match(/^\/\d+ .*$/gmu) ?? []

describe("pipelined requests", () => {
  // threat: pipelining
  it("start one at a time, with at most one more read in advance", async () => {
    let open = 0
    let most = 0
    // Counts the requests that Node has parsed.
    let parsed = 0
    let mostParsed = 0
    const onParsed = (message: unknown) => {
      if ((message as { readonly server: unknown }).server !== service.server) return
      parsed++
      mostParsed = Math.max(mostParsed, parsed - service.begun.length)
    }
    subscribe("http.server.request.start", onParsed)
    using service = await listening(({ url }, response) => {
      most = Math.max(most, ++open)
      response.on("close", () => open--)
      setImmediate(() => response.end(`${url} \n`))
    })
    const socket = await service.connect()
    const received = receivedOn(socket)
    const bytes = Array.from({ length: REQUESTS }, (_, nth) => `GET /${nth} HTTP/1.1\r\nHost: x\r\n`)
    socket.write(bytes.map((head, nth) => `${head}${nth === REQUESTS - 1 ? "Connection: close\r\n" : ""}\r\n`).join(""))
    assert.deepStrictEqual(
      answersIn(await received),
      Array.from({ length: REQUESTS }, (_, nth) => `/${nth} `),
    )
    unsubscribe("http.server.request.start", onParsed)
    assert.deepStrictEqual([most, mostParsed], [1, 1])
  })

  // threat: pipelining
  it("wait until the previous response was read", async () => {
    using service = await listening((request, response) => response.end(request.url === "/large" ? LARGE : "small"))
    const socket = await service.connect()
    socket.pause()
    socket.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n".repeat(500))
    socket.write("GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    await until(() => service.begun.length > 0)
    // Another client is served in the meantime.
    for (let nth = 0; nth < 20; nth++) {
      const other = await service.connect()
      other.write("GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      assert.match(await receivedOn(other), /small$/u)
    }
    assert.strictEqual(service.begun.filter((request) => request === "GET /large").length, 1)
    let bytes = 0
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > 3 * LARGE.length) socket.destroy()
    })
    socket.resume()
    await once(socket, "close")
    assert.isAtLeast(service.begun.filter((request) => request === "GET /large").length, 3)
    assert.isAtMost(service.begun.filter((request) => request === "GET /large").length, 5)
  })

  for (const size of [1, 7, 100, 1_000, 64 * 1024])
    it(`keep their bodies and their order, sent in pieces of ${size} bytes`, async () => {
      using service = await listening(echo)
      const socket = await service.connect()
      const received = receivedOn(socket)
      const bodies = Array.from({ length: 40 }, (_, nth) => "b".repeat(nth % 4 === 0 ? 0 : nth * 17))
      const requests = bodies.map((body, nth) => {
        const close = nth === bodies.length - 1 ? "Connection: close\r\n" : ""
        const expect = nth % 5 === 3 ? "Expect: 100-continue\r\n" : ""
        const head = `POST /${nth} HTTP/1.1\r\nHost: x\r\n${close}${expect}`
        return nth % 2 === 0
          ? `${head}Content-Length: ${body.length}\r\n\r\n${body}`
          : `${head}Transfer-Encoding: chunked\r\n\r\n${body === "" ? "" : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`
      })
      const bytes = requests.join("")
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.slice(at, at + size))
        if (size < 1_000 && (at / size) % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      assert.deepStrictEqual(
        answersIn(await received),
        bodies.map((body, nth) => `/${nth} ${body}`),
      )
    })

  it("are refused in order when malformed, and not parsed earlier", async () => {
    const waiting: Array<ServerResponse> = []
    using service = await listening((_, response) => waiting.push(response))
    const socket = await service.connect()
    const received = receivedOn(socket)
    socket.write(`${["/1", "/2"].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join("")}nonsense\r\n\r\n`)
    for (const path of ["/1", "/2"]) {
      await until(() => waiting.length === 1)
      waiting.shift()?.end(`${path} \n`)
    }
    const words = await received
    assert.deepStrictEqual(answersIn(words), ["/1 ", "/2 "])
    assert.deepStrictEqual(words.match(/^HTTP\/1.1 \d+/gmu), ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 400"])
  })

  it("behind a response that has started are refused once it is complete", async () => {
    const waiting: Array<ServerResponse> = []
    using service = await listening((_, response) => waiting.push(response))
    const socket = await service.connect()
    const heard = receivedOn(socket)
    socket.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
    await until(() => waiting.length === 1)
    waiting[0]?.writeHead(200, { "content-length": 8 }).write("/1 ")
    let refused = 0
    service.server.on("clientError", () => refused++)
    // After the first of it nothing more is read.
    for (let nth = 0; nth < 5; nth++) {
      socket.write("nonsense\r\n\r\n")
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    assert.strictEqual(refused, 1)
    waiting[0]?.end("well\n")
    const words = await heard
    assert.deepStrictEqual(answersIn(words), ["/1 well"])
    assert.deepStrictEqual(words.match(/HTTP\/1.1 \d+/gu), ["HTTP/1.1 200", "HTTP/1.1 400"])
  })

  it("do not time out while they wait for the previous response", async () => {
    const waiting: Array<ServerResponse> = []
    const handler: Handler = (request, response) =>
      request.url === "/1" ? waiting.push(response) : echo(request, response)
    using service = await listening(handler, { ...NodeServer.TIMEOUTS, headers_ms: 100, request_ms: 100, check_ms: 20 })
    const socket = await service.connect()
    const heard = receivedOn(socket)
    socket.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
    socket.write("POST /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody")
    await until(() => waiting.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    waiting[0]?.end("/1 \n")
    assert.deepStrictEqual(answersIn(await heard), ["/1 ", "/2 body"])
  })

  it("are dropped with their connection", async () => {
    const waiting: Array<ServerResponse> = []
    using service = await listening((_, response) => waiting.push(response))
    const socket = await service.connect()
    socket.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10))
    await until(() => waiting.length === 1)
    const [first] = waiting
    socket.destroy()
    first?.destroy()
    const other = await service.connect()
    other.write("GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    await until(() => waiting.length === 2)
    waiting[1]?.end("/2 \n")
    assert.deepStrictEqual(answersIn(await receivedOn(other)), ["/2 "])
    assert.deepStrictEqual(service.begun, ["GET /1", "GET /2"])
  })

  // threat: pipelining
  it("with CONNECT close the connection, not the service", async () => {
    using service = await listening(() => undefined)
    const socket = await service.connect()
    const received = receivedOn(socket)
    socket.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert.strictEqual(await received, "")
    assert.deepStrictEqual(service.begun, ["GET /1"])
  })
})
