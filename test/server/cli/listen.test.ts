import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import * as WebhookType from "@waybill/domain/webhook/WebhookType"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Effect, Exit, Layer } from "effect"
import { createServer } from "node:http"
import * as net from "node:net"
import { Webhook as StandardWebhook } from "standardwebhooks"
import * as Forwarder from "../../../apps/server/src/cli/remote/live/Forwarder.ts"
import * as TrackedLinks from "../../../apps/server/src/links/TrackedLinks.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"

/** Passes connections on to the service until they are cut. */
const proxy = Effect.fnUntraced(function* (target: string) {
  const { hostname, port } = new URL(target)
  const sockets = new Set<net.Socket>()
  let isAway = false
  const server = net.createServer((socket) => {
    if (isAway) return socket.destroy()
    const upstream = net.connect(Number(port), hostname)
    for (const each of [socket, upstream]) {
      sockets.add(each)
      each.on("error", () => {})
      each.on("close", () => sockets.delete(each))
    }
    return socket.pipe(upstream).pipe(socket)
  })
  const cut = Effect.sync(() => {
    for (const socket of sockets) socket.destroy()
  })
  const setAway = (away: boolean) => Effect.sync(() => void (isAway = away))
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.andThen(
        cut,
        Effect.sync(() => server.close()),
      ),
  )
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    cut,
    away: Effect.andThen(setAway(true), cut),
    back: setAway(false),
  }
})

const ids = ({ calls }: Receiver.Receiver) => calls.map(({ headers }) => headers["webhook-id"])
const untilCalls = (receiver: Receiver.Receiver, count: number) =>
  World.until(
    Effect.sync(() => receiver.calls),
    (calls) => calls.length >= count,
  )
const untilLine = (lines: ReadonlyArray<string>, text: string) =>
  World.until(
    Effect.sync(() => lines),
    (all) => all.some((line) => line.includes(text)),
  )

const secretOf = (lines: ReadonlyArray<string>) => /whsec_\S+/u.exec(lines.join("\n"))?.[0] ?? ""

/** Types that no request causes. */
const IMPOSSIBLE: ReadonlyArray<string> = ["domain.degraded", "domain.failed", "webhook.disabled"]

layer(HttpWorld.layer({ tracks: true }), { excludeTestServices: true })("waybill listen", (it) => {
  it.effect("forwards what webhooks get, once and in order, over lost connections", function* () {
    const { url } = yield* Database.Fresh
    yield* Layer.build(Webhooks.worker(url))
    const { account, call, key, world } = yield* signUp({ domains: ["acme.test"] })
    const real = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(real.url, { account_id: account })
    const local = yield* Receiver.listen({
      answer: (_, nth) => (nth === 1 ? { status: 500, body: "no such table\u001b[2J" } : { status: 204 }),
    })
    const accept = Webhooks.acceptEmail(account, {
      to: [{ address: "ana@example.org", name: "Ana" }],
      tags: ["receipt"],
    })

    yield* accept
    yield* call("POST", "/v1/suppressions", { email: "bo@example.org" })
    const way = yield* proxy(world.url)
    const env = { WAYBILL_URL: way.url, WAYBILL_KEY: key }
    const listening = yield* CommandLine.start(env, "listen", "--forward-to", local.url, "--from", "1h")
    yield* untilCalls(local, 5)
    for (let cuts = 0; cuts < 2; cuts++) {
      yield* way.cut
      yield* accept
      yield* accept
      yield* untilCalls(local, 7 + 2 * cuts)
    }
    yield* listening.stop

    const secret = secretOf(listening.printed)
    for (const { body, headers } of local.calls) new StandardWebhook(secret).verify(body, { ...headers })
    const { json } = yield* call("GET", "/v1/events?limit=1000")
    const events = json.data as ReadonlyArray<{ readonly id: string; readonly type: string }>
    const expected = events.filter(({ type }) => WebhookType.isWebhookType(type)).map(({ id }) => id)
    assert.lengthOf(expected, 9)
    assert.deepStrictEqual(ids(local), expected)
    // The real webhook was created after the key and the domain.
    yield* Webhooks.settledAll(endpoint, 6)
    assert.lengthOf(real.calls, 6)
    const bodies = new Map(local.calls.map(({ body, headers }) => [headers["webhook-id"], body]))
    for (const { body, headers } of real.calls) assert.strictEqual(bodies.get(headers["webhook-id"]), body)
    const sent = ({ headers }: Receiver.Received) => [headers["content-type"], headers["user-agent"]]
    assert.deepStrictEqual(local.calls.map(sent)[0], real.calls.map(sent)[0])
    assert.match(listening.printed.join("\n"), /api_key\.created .*  500  \d+ ms  no such table\\u001b\[2J\n/u)
  })

  it.effect("forwards received mail with the texts that webhooks get", function* () {
    const { call, key, world } = yield* signUp({ domains: ["acme.test"] })
    const local = yield* Receiver.listen()
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key }
    const words = ["--types", "email.received", "--from", "1h"]
    const listening = yield* CommandLine.start(env, "listen", "--forward-to", local.url, ...words)
    const mail = { from: "ana@example.org", to: "hi@acme.test", subject: "Hi", text: "Yes.\n\n-- \nAna" }
    const { json } = yield* call("POST", "/v1/test/inbound", mail)
    yield* untilCalls(local, 1)
    yield* listening.stop
    const { data, type } = JSON.parse(local.calls[0]?.body ?? "")
    assert.strictEqual(type, "email.received")
    assert.deepInclude(data, { id: json.id, object: "inbound_email", subject: "Hi", stripped_text: "Yes." })
  })

  it.effect("continues at a position, with some types, and says that nothing listens there", function* () {
    const { account, call, key, world } = yield* signUp()
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key }
    yield* Webhooks.acceptEmail(account)
    const { json } = yield* call("GET", "/v1/events")
    const local = yield* Receiver.listen({
      answer: () => ({ status: 302, headers: { location: "http://127.0.0.1:1/" } }),
    })
    const words = ["--types", "email.queued", "--from", json.next_position, "--json"]
    const listening = yield* CommandLine.start(
      env,
      "listen",
      "--forward-to",
      local.url,
      "--forward-to",
      "http://127.0.0.1:1/hook",
      ...words,
    )
    yield* call("POST", "/v1/suppressions", { email: "bo@example.org" })
    const email_id = yield* Webhooks.acceptEmail(account)
    yield* World.until(
      Effect.sync(() => listening.printed),
      (lines) => lines.length === 3,
    )
    yield* listening.stop
    assert.lengthOf(local.calls, 1)
    const [head, ...lines] = listening.printed.map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.match(String(head?.["secret"]), /^whsec_/u)
    const calls = lines.map(({ error, event, status, url, ...rest }) => [
      url,
      status,
      (event as { readonly data: { readonly email_id: string } }).data.email_id,
      rest["problem"],
    ])
    assert.sameDeepMembers(calls, [
      [local.url, 302, email_id, ""],
      ["http://127.0.0.1:1/hook", null, email_id, calls.find(([url]) => url !== local.url)?.[3]],
    ])
  })

  it.effect("says that the service is away, and continues when it is back", function* () {
    const { account, key, world } = yield* signUp()
    const way = yield* proxy(world.url)
    const local = yield* Receiver.listen()
    const listening = yield* CommandLine.start(
      { WAYBILL_URL: way.url, WAYBILL_KEY: key },
      "listen",
      "--forward-to",
      local.url,
    )
    yield* untilLine(listening.printed, "Ready.")
    yield* way.away
    yield* untilLine(listening.errors, "; trying again")
    yield* Webhooks.acceptEmail(account)
    yield* way.back
    yield* untilLine(listening.errors, "connected again")
    yield* untilCalls(local, 1)
    yield* listening.stop
    assert.lengthOf(local.calls, 1)
  })

  it.effect("waybill trigger causes every type of event, or says why it cannot", function* () {
    const { url } = yield* Database.Fresh
    const capture = yield* Layer.build(Layer.unwrap(Effect.map(Sandbox.recorder, SandboxTransport.layer)))
    const { key, world } = yield* signUp({ domains: ["acme.test"] })
    const [secretKey = new Uint8Array()] = yield* TrackedLinks.trackingKeys
    const way = { base: world.url, customers: false, secretKey, stopped: { has: () => false } }
    const track = TrackedLinks.trackingOf(way)
    yield* Layer.build(World.worker(url, { capture: Layer.succeedContext(capture) }, { track }))
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key }
    const answers = yield* Effect.forEach(
      WebhookType.WebhookType.literals,
      (type) => Effect.map(CommandLine.typeWith(env, "trigger", type), (answer) => ({ type, ...answer })),
      { concurrency: 6 },
    )
    const refused = answers.filter(({ exit }) => Exit.isFailure(exit))
    assert.sameMembers(
      refused.map(({ type }) => type),
      [...IMPOSSIBLE],
      refused.map(({ errors }) => errors).join("\n"),
    )
    for (const { errors, type } of refused)
      assert.match(errors, new RegExp(`^waybill: ${type} cannot be triggered`, "u"))
    for (const { output, type } of answers)
      if (!IMPOSSIBLE.includes(type)) assert.match(output, new RegExp(`^${type}  `, "u"))
  })
})

describe("an answer of the program", () => {
  it.effect("of endless length is shown by its beginning, and then given up", function* () {
    const server = createServer((_, response) => {
      response.writeHead(500)
      const write = () => void (response.writable && response.write("x".repeat(65_536), write))
      write()
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () => Effect.sync(() => void server.close()),
    )
    const { port } = server.address() as net.AddressInfo
    const call = yield* Forwarder.forward(`http://127.0.0.1:${port}`, "evt_1", {}, yield* Forwarder.makeSecret)
    assert.deepInclude(call, { status: 500, problem: "x".repeat(200) })
  })
})

layer(HttpWorld.layer({ transport: "relay" }), { excludeTestServices: true })(
  "waybill trigger with a live key",
  (it) => {
    it.effect("sends nothing", function* () {
      const { call, key, world } = yield* signUp({ domains: ["acme.test"] })
      const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key }
      const { errors } = yield* CommandLine.typeWith(env, "trigger", "email.bounced")
      assert.match(errors, /^waybill: Mail of this key is really sent\. Use a test key/u)
      assert.deepStrictEqual((yield* call("GET", "/v1/email/logs")).json.data, [])
    })
  },
)
