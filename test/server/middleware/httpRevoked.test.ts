import { Clock, Effect, Fiber } from "effect"
import { once } from "node:events"
import * as net from "node:net"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { sendSlowly } from "../../support/web/sendSlowly.ts"

/** The contract says one second; slow machines get half a second more. */
const WITHIN_MS = 1_500

const setUp = Effect.gen(function* () {
  const customer = yield* signUp()
  const node = yield* customer.world.another
  /** Revokes the key on another node than that of the request. */
  const revoke = (id: string) =>
    Effect.map(customer.world.request("DELETE", `/v1/api-keys/${id}`, { key: customer.key, node }), ({ status }) =>
      assert.strictEqual(status, 200),
    )
  return { ...customer, revoke }
})

/** Opens a stream that counts its bytes and records when its connection closed. */
const streamOf = (url: string, key: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { hostname, port } = new URL(url)
      const socket = net.connect(Number(port), hostname)
      socket.on("error", () => undefined)
      const state = { text: "", isOver: false }
      socket.on("close", () => (state.isOver = true))
      socket.on("data", (chunk: Buffer) => {
        state.text += chunk.toString("latin1")
        // The last chunk of a chunked response.
        if (state.text.endsWith("\r\n0\r\n\r\n")) state.isOver = true
      })
      socket.write(`GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
      await once(socket, "data")
      return { socket, state }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy()),
  )

const isOver = ({ state }: { readonly state: { readonly isOver: boolean } }) =>
  World.until(
    Effect.sync(() => state.isOver),
    (over) => over,
  )

const EMAIL = JSON.stringify({ from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello", text: "Hi" })

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the revocation of a key", (it) => {
  // threat: revoked-access
  it.effect("ends its event streams within a second on every node, and no others", function* () {
    const { account, key: admin, revoke, world } = yield* setUp
    const key = yield* world.key(account)
    const streams = yield* Effect.forEach(Array.from({ length: 5 }), () => streamOf(world.url, key.secret))
    const unaffected = yield* streamOf(world.url, admin)
    yield* Effect.sleep("500 millis")
    assert.isFalse([...streams, unaffected].some(({ state }) => state.isOver))
    yield* revoke(key.id)
    const began = yield* Clock.currentTimeMillis
    yield* Effect.forEach(streams, isOver, { concurrency: "unbounded" })
    assert.isBelow((yield* Clock.currentTimeMillis) - began, WITHIN_MS)
    assert.isFalse(unaffected.state.isOver)
  })

  it.effect("ends waits for events and captured mail with a 401", function* () {
    const { account, revoke, world } = yield* setUp
    for (const path of ["/v1/sandbox/messages?wait=60s", "/v1/events?types=email.clicked&wait=20s"]) {
      const key = yield* world.key(account)
      const waiting = yield* Effect.forkChild(world.request("GET", path, { key: key.secret }))
      yield* Effect.sleep("300 millis")
      assert.isUndefined(waiting.pollUnsafe(), path)
      yield* revoke(key.id)
      const began = yield* Clock.currentTimeMillis
      const { json, status } = yield* Fiber.join(waiting)
      assert.isBelow((yield* Clock.currentTimeMillis) - began, WITHIN_MS)
      assert.deepStrictEqual(reasonOf({ json, status }), [401, "api_key_invalid"], path)
    }
  })

  // threat: revoked-access
  it.effect("refuses a request whose body was still arriving", function* () {
    const { account, revoke, world } = yield* setUp
    for (const [path, body] of [
      ["/v1/email/send", EMAIL],
      ["/v1/domains", JSON.stringify({ name: "late.test" })],
    ] as const) {
      const key = yield* world.key(account)
      assert.deepStrictEqual(
        reasonOf(yield* sendSlowly(world.url, path, key.secret, body, revoke(key.id))),
        [401, "api_key_invalid"],
        path,
      )
    }
  })

  it.effect("is required to refuse a slow body", function* () {
    const { call, keyWith, world } = yield* setUp
    yield* call("POST", "/v1/domains", { name: "acme.test" })
    const secret = yield* keyWith({})
    const { json, status } = yield* sendSlowly(world.url, "/v1/email/send", secret, EMAIL, Effect.void)
    assert.deepStrictEqual([status, json.status], [200, "queued"])
  })
})
