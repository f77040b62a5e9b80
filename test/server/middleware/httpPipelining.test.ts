import { Context } from "effect"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as net from "node:net"
import * as Pipelining from "../../../apps/server/src/http/Pipelining.ts"
import * as NodeServer from "../../../apps/server/src/http/NodeServer.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

/** The requests that a connection may have at once: one in progress, the others waiting. */
const AT_MOST = Array.from({ length: 1 + Pipelining.MAX_WAITING_REQUESTS }, (_, nth) => nth)
/** More requests than fit into a chunk of 64 KiB. */
const MANY = 4_000
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
  // Closed also by an error, since the other end may have bytes that it did not read.
  await new Promise((resolve) => socket.once("close", resolve))
  return received
}

const echo: Handler = (request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => response.end(`${request.url} ${Buffer.concat(chunks).toString("latin1")}\n`))
}

const closeAfterLast = (nth: number) => (nth === AT_MOST.length - 1 ? "Connection: close\r\n" : "")

const answersIn = (received: string) => received.match(/^\/\d+ .*$/gmu) ?? []

describe("pipelined requests", () => {
  // threat: pipelining
  it("start one at a time, in their order", async () => {
    let open = 0
    let most = 0
    using service = await listening(({ url }, response) => {
      most = Math.max(most, ++open)
      response.on("close", () => open--)
      setImmediate(() => response.end(`${url} \n`))
    })
    const socket = await service.connect()
    const received = receivedOn(socket)
    socket.write(AT_MOST.map((nth) => `GET /${nth} HTTP/1.1\r\nHost: x\r\n${closeAfterLast(nth)}\r\n`).join(""))
    assert.deepStrictEqual(
      answersIn(await received),
      AT_MOST.map((nth) => `/${nth} `),
    )
    assert.strictEqual(most, 1)
  })

  // threat: pipelining
  it("close their connection when more of them wait, and none of these starts", async () => {
    using service = await listening(() => undefined)
    const socket = await service.connect()
    const received = receivedOn(socket)
    socket.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(MANY))
    assert.strictEqual(await received, "")
    assert.deepStrictEqual(service.begun, ["GET /1"])
  })

  // threat: pipelining
  it("wait until the previous response was read", async () => {
    using service = await listening((request, response) => response.end(request.url === "/large" ? LARGE : "small"))
    const socket = await service.connect()
    socket.pause()
    socket.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n".repeat(AT_MOST.length))
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
      const bodies = AT_MOST.map((nth) => "b".repeat(nth % 4 === 0 ? 0 : nth * 80))
      const requests = bodies.map((body, nth) => {
        const expect = nth % 5 === 3 ? "Expect: 100-continue\r\n" : ""
        const head = `POST /${nth} HTTP/1.1\r\nHost: x\r\n${closeAfterLast(nth)}${expect}`
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

  it("are refused in order when malformed, and answered once", async () => {
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
    for (let nth = 0; nth < 5; nth++) {
      socket.write("nonsense\r\n\r\n")
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
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
    socket.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(AT_MOST.length))
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
