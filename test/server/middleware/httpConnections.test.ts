import * as Network from "@waybill/mail/dns/Network"
import { Context, Effect, Result } from "effect"
import { EventEmitter, once } from "node:events"
import * as net from "node:net"
import * as Connections from "../../../apps/server/src/requests/Connections.ts"
import * as NodeServer from "../../../apps/server/src/http/NodeServer.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"

const PROXY = "10.9.8.7"
const CAPS: Connections.Caps = {
  total: 20,
  perAddress: 5,
  trustedProxies: Result.getOrThrow(Network.parseAll([`${PROXY}/32`])),
}

class FakeSocket extends EventEmitter {
  isDestroyed = false
  readonly remoteAddress: string
  constructor(address: string) {
    super()
    this.remoteAddress = address
  }
  destroy() {
    this.isDestroyed = true
    this.emit("close")
  }
}

const house = () => {
  const connections = new Connections.Connections(CAPS)
  const open = (address: string) => {
    const socket = new FakeSocket(address)
    connections.add(socket as unknown as net.Socket)
    return socket
  }
  const isReserved = (socket: FakeSocket) => connections.isReserved(socket as unknown as net.Socket)
  return { open, isReserved }
}

describe("connections of a server", () => {
  // threat: http-connections
  it("are limited per address (IPv6: per /64), however it is written", () => {
    const { isReserved, open } = house()
    const v4 = ["1.2.3.4", "::ffff:1.2.3.4", "1.2.3.4", "::ffff:1.2.3.4", "1.2.3.4", "1.2.3.4"].map(open)
    assert.deepStrictEqual(v4.map(isReserved), [false, false, false, false, false, true])
    const v6 = ["2001:db8::1", "2001:db8::2", "2001:db8::3:1", "2001:db8:0:0:9::", "2001:db8::5", "2001:db8::6"].map(
      open,
    )
    assert.deepStrictEqual(v6.map(isReserved), [false, false, false, false, false, true])
    assert.isFalse(isReserved(open("2001:db8:0:1::1")))
    v4[0]?.destroy()
    assert.isFalse(isReserved(open("1.2.3.4")))
    assert.isTrue(isReserved(open("1.2.3.4")))
  })

  it("are limited in total; those of a trusted proxy only there", () => {
    const { isReserved, open } = house()
    const proxied = Array.from({ length: CAPS.total }, () => open(PROXY))
    assert.isFalse(proxied.some(isReserved))
    assert.isTrue(isReserved(open(PROXY)))
    assert.isTrue(isReserved(open("1.2.3.4")))
  })

  it("beyond the limits are few, and the newest replaces the oldest", () => {
    const { isReserved, open } = house()
    const sockets = Array.from({ length: CAPS.perAddress + 3 * Connections.RESERVED_CONNECTIONS }, () =>
      open("1.2.3.4"),
    )
    const alive = sockets.filter(({ isDestroyed }) => !isDestroyed)
    assert.strictEqual(alive.length, CAPS.perAddress + Connections.RESERVED_CONNECTIONS)
    assert.deepStrictEqual(alive.slice(CAPS.perAddress), sockets.slice(-Connections.RESERVED_CONNECTIONS))
    assert.isTrue(alive.slice(CAPS.perAddress).every(isReserved))
  })
})

describe("a server that stops", () => {
  it("closes connections that never had a request, and waits for the response of another", async () => {
    const server = NodeServer.make(Context.empty(), NodeServer.TIMEOUTS)
    server.on("request", (_, response) => setTimeout(() => response.end("late"), 1_000))
    await once(server.listen(0, "127.0.0.1"), "listening")
    const { port } = server.address() as net.AddressInfo
    const answered = fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text())
    await once(server, "request")
    const unused = net.connect(port, "127.0.0.1")
    await once(server, "connection")
    const closed = once(unused.resume(), "close")
    await new Promise((resolve) => server.close(resolve))
    await closed
    assert.strictEqual(await answered, "late")
  })
})

describe("a server at its connection limit", () => {
  // threat: http-connections
  it("answers health checks, and all else with a 503 and Retry-After", async () => {
    const server = NodeServer.make(Context.empty(), NodeServer.TIMEOUTS, CAPS)
    const served: Array<string | undefined> = []
    server.on("request", ({ url }, response) => {
      served.push(url)
      response.end("well")
    })
    await once(server.listen(0, "127.0.0.1"), "listening")
    const { port } = server.address() as net.AddressInfo
    const idle = await Promise.all(
      Array.from({ length: 400 }, async () => {
        const socket = net.connect(port, "127.0.0.1")
        socket.on("error", () => undefined)
        await once(socket, "connect")
        return socket
      }),
    )
    const request = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: "GET" })
      return { answer, text: await answer.text() }
    }
    for (const path of ["/healthz", "/readyz?x=1"]) assert.strictEqual((await request(path)).text, "well")
    const { answer, text } = await request("/v1/account")
    const { error } = JSON.parse(text)
    assert.deepStrictEqual(
      [answer.status, error.code, error.reason, answer.headers.get("retry-after"), answer.headers.get("connection")],
      [503, "internal_error", "overloaded", "5", "close"],
    )
    assert.strictEqual(error.request_id, answer.headers.get("x-request-id"))
    assert.match(answer.headers.get("x-ratelimit-limit") ?? "", /^\d+$/u)
    assert.deepStrictEqual(served, ["/healthz", "/readyz?x=1"])
    const open = await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
    assert.isAtMost(open, CAPS.perAddress + Connections.RESERVED_CONNECTIONS)
    for (const socket of idle) socket.destroy()
    server.closeAllConnections()
    server.close()
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("a service", (it) => {
  for (const setting of ["HTTP_MAX_CONNECTIONS", "HTTP_MAX_CONNECTIONS_PER_ADDRESS"])
    it.effect(
      `turns away what is beyond ${setting}`,
      function* () {
        const { url } = yield* Database.Fresh
        const service = yield* ServiceProcess.start(url, { ROLES: "api", [setting]: "10" })
        const { hostname, port } = new URL(service.url)
        yield* Effect.acquireRelease(
          Effect.promise(() =>
            Promise.all(
              Array.from({ length: 10 }, async () => {
                const socket = net.connect(Number(port), hostname)
                socket.on("error", () => undefined)
                await once(socket, "connect")
                return socket
              }),
            ),
          ),
          (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy())),
        )
        const { json, status } = yield* Effect.promise(() => service.request("GET", "/v1/account", { key: "wb_x" }))
        assert.deepStrictEqual([status, json.error.reason], [503, "overloaded"])
      },
      90_000,
    )
})
