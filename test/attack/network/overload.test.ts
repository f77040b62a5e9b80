import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { once } from "node:events"
import { LIMITS } from "../../../apps/server/src/http/pages/DocumentWindows.ts"
import * as net from "node:net"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const MIB = 1024 * 1024
const BUDGETS = {
  bodies: { total_bytes: 6 * MIB, holder_bytes: 4 * MIB },
  answers: { total_bytes: 48 * MIB, holder_bytes: 32 * MIB },
}

const DOCUMENTS = { ...LIMITS, requests: 5, bytes: 64 * MIB, allBytes: 64 * MIB, firstBytes: 0 }

interface Client {
  readonly socket: net.Socket
  received: string
}

const open = (url: string, request: string, reads = true) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { hostname, port } = new URL(url)
      const socket = net.connect(Number(port), hostname)
      socket.on("error", () => undefined)
      await once(socket, "connect")
      const client: Client = { socket, received: "" }
      if (reads) socket.on("data", (chunk: Buffer) => (client.received += chunk.toString("latin1")))
      else socket.pause()
      socket.write(request)
      return client
    }),
    ({ socket }) => Effect.sync(() => socket.destroy()),
  )

const post = (path: string, key: string, bytes: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`

const pause = Effect.sleep("20 millis")

const poll = <A>(read: () => A, isDone: (value: A) => boolean) =>
  Effect.gen(function* () {
    while (!isDone(read())) yield* pause
    return read()
  })

const refusalIn = (received: string) => ({
  status: Number(received.split(" ")[1]),
  retry: /^retry-after: (\d+)/imu.exec(received)?.[1],
  error: JSON.parse(received.slice(received.indexOf("\r\n\r\n") + 4)).error as Record<string, string>,
})

const setUp = Effect.gen(function* () {
  const customer = yield* signUp()
  const domain = `${customer.account.slice(-12)}.test`
  yield* customer.call("POST", "/v1/domains", { name: domain })
  return { ...customer, from: `hi@${domain}` }
})

layer(HttpWorld.layer({ budgets: BUDGETS, documents: DOCUMENTS }), {
  excludeTestServices: true,
  timeout: "90 seconds",
})("a crowd of HTTP clients", (it) => {
  for (const [way, path, each] of [
    ["one message", "/v1/email/send", 240 * 1024],
    ["a batch", "/v1/email/send/batch", 900 * 1024],
  ] as const)
    // threat: memory-budgets
    it.effect(`with incomplete bodies gets a 503 at the budget of its account: ${way}`, function* () {
      const { call, key, world } = yield* setUp
      const many = Math.ceil(BUDGETS.bodies.holder_bytes / each) + 6
      const clients = yield* Effect.forEach(Array.from({ length: many }), () =>
        open(world.url, post(path, key, each) + "x".repeat(each - 1)),
      )
      const refused = yield* poll(
        () => clients.filter(({ received }) => received.includes("}}")),
        ({ length }) => length >= many - Math.floor(BUDGETS.bodies.holder_bytes / (each - 1)),
      )
      for (const { received } of refused) {
        const { error, retry, status } = refusalIn(received)
        assert.deepStrictEqual(
          [status, error["code"], error["reason"], retry],
          [503, "internal_error", "overloaded", "5"],
        )
      }
      // Other accounts have their own budget, and this account has capacity again once its clients have left.
      const other = yield* setUp
      const send = (from: string, key: string) =>
        world.request("POST", "/v1/email/send", {
          key,
          body: { from, to: "ana@example.org", subject: "x", text: "x" },
        })
      assert.strictEqual((yield* send(other.from, other.key)).status, 200)
      for (const { socket } of clients) socket.destroy()
      const large = { emails: [{ from: other.from, to: "ana@example.org", subject: "x", text: "x".repeat(each) }] }
      const sendLarge = () => call("POST", "/v1/email/send/batch", large)
      let answer = yield* sendLarge()
      while (answer.status === 503) answer = yield* Effect.andThen(pause, sendLarge())
      assert.strictEqual(answer.json.error.reason, "domain_not_verified")
    })

  it.effect("that announces bodies over the budget of its account gets a 503 before it sends them", function* () {
    const { key, world } = yield* setUp
    for (const path of ["/v1/email/send", "/v1/email/send/batch"]) {
      const client = yield* open(world.url, post(path, key, BUDGETS.bodies.holder_bytes + 1))
      const received = yield* poll(
        () => client.received,
        (received) => received.includes("}}"),
      )
      const { error, retry, status } = refusalIn(received)
      assert.deepStrictEqual([status, error["reason"], retry], [503, "overloaded", "5"], path)
    }
  })

  // threat: memory-budgets
  it.effect("of several accounts, each below its budget, leaves capacity for small requests", function* () {
    const each = 2 * MIB
    const { world } = yield* setUp
    const accounts = yield* Effect.forEach(Array.from({ length: 4 }), () => setUp)
    const clients = yield* Effect.forEach(accounts, ({ key }) =>
      open(world.url, post("/v1/email/send/batch", key, each) + "x".repeat(each - 1)),
    )
    yield* poll(
      () => clients.filter(({ received }) => received.includes("}}")),
      ({ length }) => length >= 2,
    )
    const small = yield* setUp
    const body = { from: small.from, to: "ana@example.org", subject: "x", text: "x" }
    assert.strictEqual((yield* world.request("POST", "/v1/email/send", { key: small.key, body })).status, 200)
  })

  // threat: documents
  it.effect("that requests documents too often gets a 429 per address, and probes still get an answer", function* () {
    const { world } = yield* setUp
    // A minute may end during these requests.
    const answers = yield* Effect.forEach(Array.from({ length: 12 }), (_, nth) =>
      world.request("GET", nth % 2 === 0 ? "/openapi.json" : "/docs/api", { headers: { "accept-encoding": "br" } }),
    )
    const refused = answers.filter(({ status }) => status === 429)
    assert.isAtLeast(refused.length, 2)
    for (const { headers, json } of refused) {
      assert.deepStrictEqual([json.error.code, json.error.reason], ["rate_limited", "request_rate"])
      assert.deepStrictEqual([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")], ["5", "0"])
      assert.match(headers.get("retry-after") ?? "", /^\d+$/u)
    }
    for (const path of ["/healthz", "/readyz"]) assert.strictEqual((yield* world.request("GET", path)).status, 200)
  })
})

/** Number of clients that request the documentation and read nothing: 18 MB of copies. */
const UNREAD_CLIENTS = 60
setFlagsFromString("--expose_gc")
const collect = runInNewContext("gc") as () => void
/** Returns the memory of the process in objects and in buffers, without what nobody holds any more. */
const memoryInUse = () => {
  collect()
  const { external, heapUsed } = process.memoryUsage()
  return external + heapUsed
}

const ANSWERS = { total_bytes: 64 * MIB, holder_bytes: 32 * MIB }

layer(HttpWorld.layer({ budgets: { ...BUDGETS, bodies: ANSWERS, answers: ANSWERS } }), {
  excludeTestServices: true,
  timeout: "90 seconds",
})("a crowd of HTTP clients that reads nothing", (it) => {
  // threat: memory-budgets
  it.effect("with large unread answers gets a short 503 at the budget of its account", function* () {
    const { call, from, key, world } = yield* setUp
    // A body far larger than the buffers between two sockets of one machine.
    const body = { from, to: "ana@example.org", subject: "x", text: "x".repeat(9 * MIB) }
    const { id } = (yield* call("POST", "/v1/email/send", body)).json
    const get = (key: string) => world.request("GET", `/v1/email/logs/${id}`, { key })
    const request = `GET /v1/email/logs/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`
    const clients = yield* Effect.forEach(Array.from({ length: 8 }), () => open(world.url, request, false))
    let answer = yield* get(key)
    while (answer.status === 200) answer = yield* Effect.andThen(pause, get(key))
    assert.deepStrictEqual(
      [answer.status, answer.json.error.reason, answer.headers.get("retry-after")],
      [503, "overloaded", "5"],
    )
    // Small answers are still given, and large ones after some have been read or dropped.
    assert.strictEqual((yield* call("GET", "/v1/domains")).status, 200)
    for (const { socket } of clients) socket.destroy()
    while (answer.status === 503) answer = yield* Effect.andThen(pause, get(key))
    assert.strictEqual(answer.json.content.text.length, 9 * MIB)
  })

  // threat: documents
  it.effect("without reading shares one copy of the documentation", function* () {
    const { world } = yield* setUp
    // The documentation is built at the first request.
    const { text } = yield* world.request("GET", "/openapi.json", { headers: { "accept-encoding": "identity" } })
    assert.isAbove(text.length, MIB / 5)
    const growth = Effect.fnUntraced(function* (path: string) {
      const before = memoryInUse()
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: identity\r\n\r\n`.repeat(3)
      yield* Effect.forEach(Array.from({ length: UNREAD_CLIENTS }), () => open(world.url, request, false))
      // The last answer has begun once a later probe is answered.
      for (let nth = 0; nth < 5; nth++) assert.strictEqual((yield* world.request("GET", "/healthz")).status, 200)
      return memoryInUse() - before
    })
    // Memory that the test before has let go may be given back only now, which is no growth below nothing.
    const connections = Math.max(0, yield* growth("/healthz"))
    const documents = yield* growth("/openapi.json")
    assert.isBelow(documents - connections, (UNREAD_CLIENTS * text.length) / 2)
  })
})

/** Limits that allow a few copies of the contract. */
const DOCUMENT_LIMITS = { ...LIMITS, requests: 1_000, bytes: 2 * MIB, allBytes: 64 * MIB, firstBytes: 0 }

layer(HttpWorld.layer({ documents: DOCUMENT_LIMITS }), { excludeTestServices: true, timeout: "90 seconds" })(
  "a client that downloads documents",
  (it) => {
    it.effect("gets a 429 after the bytes of a minute, to which a HEAD request adds nothing", function* () {
      const { world } = yield* setUp
      const download = (method: string) =>
        world.request(method, "/openapi.json", { headers: { "accept-encoding": "identity" } })
      const size = Buffer.byteLength((yield* download("GET")).text)
      assert.isTrue(size > DOCUMENT_LIMITS.bytes / 20 && size < DOCUMENT_LIMITS.bytes, String(size))
      for (let nth = 0; nth < 20; nth++) assert.strictEqual((yield* download("HEAD")).status, 200)
      // A minute may end during these requests.
      const many = 2 * Math.ceil(DOCUMENT_LIMITS.bytes / size) + 1
      const answers = yield* Effect.forEach(Array.from({ length: many }), () => download("GET"))
      const refused = answers.filter(({ status }) => status === 429)
      assert.isAtLeast(refused.length, 1)
      for (const { headers, json } of refused) {
        assert.strictEqual(json.error.reason, "request_rate")
        assert.match(headers.get("retry-after") ?? "", /^\d+$/u)
      }
    })
  },
)
