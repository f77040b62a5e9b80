import { Cursors } from "@waybill/store/feed/Cursors"
import { Clock, Duration, Effect, Fiber } from "effect"
import * as http from "node:http"
import * as net from "node:net"
import { MAX_STREAMS_PER_ACCOUNT } from "../../../apps/server/src/live/EventFeed.ts"
import { Waybill } from "../../../packages/client/src/Waybill.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import { fieldOf, HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

interface Message {
  readonly id: string
  readonly event: string
  readonly data: { readonly type?: string; readonly position: string; readonly stream_id?: string }
}

/** Reads a stream of server-sent events. */
const openStream = (url: string, key: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const control = new AbortController()
    const response = yield* Effect.acquireRelease(
      Effect.promise(() =>
        fetch(url, { headers: { authorization: `Bearer ${key}`, ...headers }, signal: control.signal }),
      ),
      () => Effect.sync(() => control.abort()),
    )
    const messages: Array<Message> = []
    const state = { ended: false }
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const pump = async () => {
      let rest = ""
      for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
        const parts = (rest + read.value).split("\n\n")
        rest = parts.pop() ?? ""
        for (const part of parts) {
          const fields = new Map(
            part.split("\n").map((line) => [line.split(":")[0] ?? "", line.slice(line.indexOf(":") + 1).trim()]),
          )
          messages.push({
            id: fields.get("id") ?? "",
            event: fields.get("event") ?? "",
            data: JSON.parse(fields.get("data") ?? "{}") as Message["data"],
          })
        }
      }
      state.ended = true
    }
    void pump().catch(() => (state.ended = true))
    return { status: response.status, type: response.headers.get("content-type"), messages, state }
  })

/** Opens a stream on a connection of its own, reads nothing of it, and returns its status. */
const openUnread = (url: string, key: string) =>
  Effect.acquireRelease(
    Effect.callback<http.IncomingMessage>((resume) => {
      const headers = { authorization: `Bearer ${key}` }
      http.get(url, { agent: false, headers }, (response) => resume(Effect.succeed(response)))
    }),
    (response) => Effect.sync(() => response.destroy()),
  ).pipe(Effect.map(({ statusCode }) => statusCode))

layer(HttpWorld.layer(), { excludeTestServices: true })("GET /events", (it) => {
  it.effect("with wait returns when an event happens, or empty after the wait", function* () {
    const { account: account_id, call } = yield* signUp()
    const before = yield* call("GET", "/v1/events?limit=1000")
    const after = before.json.next_position as string
    const polled = yield* Effect.forkChild(
      call("GET", `/v1/events?after_position=${after}&wait=15s&types=email.queued`),
    )
    yield* Effect.sleep("300 millis")
    assert.isUndefined(polled.pollUnsafe())
    const email_id = yield* Webhooks.acceptEmail(account_id)
    const answer = yield* Fiber.join(polled)
    assert.deepStrictEqual(
      [answer.status, answer.json.data.length, answer.json.data[0].stream_id, answer.json.data[0].type],
      [200, 1, email_id, "email.queued"],
    )
    const began = yield* Clock.currentTimeMillis
    const empty = yield* call("GET", `/v1/events?after_position=${answer.json.next_position}&wait=1s`)
    assert.deepStrictEqual([empty.status, empty.json.data], [200, []])
    assert.isAtLeast((yield* Clock.currentTimeMillis) - began, 990)
  })

  it.effect("reports has_more exactly", function* () {
    const { account: account_id, call } = yield* signUp()
    const ids = yield* Effect.forEach([1, 2, 3], () => Webhooks.acceptEmail(account_id))
    const read = (after: string, limit: number) =>
      Effect.map(call("GET", `/v1/events?types=email.queued&after_position=${after}&limit=${limit}`), ({ json }) => ({
        ids: json.data.map(({ stream_id }: { readonly stream_id: string }) => stream_id) as ReadonlyArray<string>,
        more: json.has_more as boolean,
        next: json.next_position as string,
      }))
    const whole = yield* read("0", 3)
    assert.deepStrictEqual([whole.ids, whole.more], [ids, false])
    const first = yield* read("0", 2)
    const second = yield* read(first.next, 1)
    assert.deepStrictEqual([first.more, second.more, [...first.ids, ...second.ids]], [true, false, ids])
    const nothing = yield* read(second.next, 1)
    assert.deepStrictEqual([nothing.ids, nothing.more], [[], false])
    assert.deepStrictEqual((yield* read(nothing.next, 1)).ids, [])
  })

  it.effect("starts at a time, in the list and the stream, and adds the bodies of webhook calls", function* () {
    const { account: account_id, call, key, world } = yield* signUp()
    yield* Webhooks.acceptEmail(account_id)
    yield* Effect.sleep("5 millis")
    const email_id = yield* Webhooks.acceptEmail(account_id)
    yield* call("POST", "/v1/suppressions", { email: "bo@example.org" })
    const rows = yield* Effect.orDie(world.sql<{ readonly at: string }>`
      SELECT to_json(recorded_at) #>> '{}' AS at FROM events WHERE account_id = ${account_id} AND stream_id = ${email_id}`)
    const since = `created_after=${encodeURIComponent(rows[0]?.at ?? "")}`
    const all = yield* call("GET", "/v1/events")
    const { json } = yield* call("GET", `/v1/events?${since}&include=webhook_payload`)
    assert.deepStrictEqual(
      json.data.map(({ id }: { readonly id: string }) => id),
      all.json.data.slice(-2).map(({ id }: { readonly id: string }) => id),
    )
    const [queued, suppressed] = json.data
    assert.deepInclude(queued.webhook_payload, { id: queued.id, type: "email.queued", livemode: true })
    assert.strictEqual(queued.webhook_payload.data.email_id, email_id)
    assert.strictEqual(suppressed.webhook_payload.type, "suppression.added")
    assert.isUndefined(all.json.data[0].webhook_payload)
    const stream = yield* openStream(`${world.url}/v1/events/stream?${since}&include=webhook_payload`, key)
    yield* World.until(
      Effect.sync(() => stream.messages.length),
      (messages) => messages === 3,
    )
    assert.deepStrictEqual(
      stream.messages.slice(1).map(({ data }) => data),
      json.data,
    )
    const later = yield* call("GET", "/v1/events?created_after=9999-01-01T00:00:00Z")
    assert.deepStrictEqual([later.json.data, later.json.has_more], [[], false])
    const { data } = (yield* call("GET", `/v1/events?after_position=${all.json.next_position}`)).json
    assert.deepStrictEqual(data, [])
    for (const [query, field] of [
      [`${since}&after_position=0`, "created_after"],
      ["created_after=yesterday", "created_after"],
      ["include=body", "include"],
    ] as const)
      for (const path of ["/v1/events", "/v1/events/stream"])
        assert.deepStrictEqual(fieldOf(yield* call("GET", `${path}?${query}`)), [400, field], `${path}?${query}`)
  })

  it.effect("refuses a position beyond the log, without revealing its end", function* () {
    const { account: account_id, call, key, world } = yield* signUp()
    const cursors = yield* Effect.provide(Cursors, Cursors.layer)
    const { next_position } = (yield* call("GET", "/v1/events?limit=1000")).json
    const end = cursors.read(account_id, next_position) ?? assert.fail(next_position)
    const position = cursors.ofProgress(account_id, end + 1_000n)
    for (const [path, headers] of [
      [`/v1/events?after_position=${position}`, {}],
      [`/v1/events?after_position=${position}&wait=20s`, {}],
      [`/v1/events/stream?after_position=${position}`, {}],
      ["/v1/events/stream", { "last-event-id": position }],
    ] as const) {
      const { json, status } = yield* world.request("GET", path, { key, headers })
      assert.deepStrictEqual(reasonOf({ json, status }), [422, "position_ahead"], path)
      assert.notMatch(json.error.message, /[1-9]/u)
    }
  })

  it.effect("refuses a wait that is too long", function* () {
    const { call } = yield* signUp()
    for (const wait of ["21s", "1m", "-1s", "", "2.5s"]) {
      assert.deepStrictEqual(fieldOf(yield* call("GET", `/v1/events?wait=${wait}`)), [400, "wait"], wait)
    }
    assert.strictEqual((yield* call("GET", "/v1/events?wait=0")).status, 200)
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true })("GET /events/stream", (it) => {
  it.effect("streams new events, and resumes from the last id", function* () {
    const { account: account_id, key, world } = yield* signUp()
    const url = `${world.url}/v1/events/stream`
    const stream = yield* openStream(url, key)
    assert.deepStrictEqual([stream.status, stream.type?.split(";")[0]], [200, "text/event-stream"])
    const emails = yield* Effect.forEach([1, 2], () => Webhooks.acceptEmail(account_id))
    yield* World.until(
      Effect.sync(() => stream.messages.length),
      (messages) => messages === 3,
    )
    const [began, first, second] = stream.messages
    assert.deepStrictEqual([began?.event, began?.id], ["ping", began?.data.position])
    assert.deepStrictEqual(
      stream.messages.slice(1).map(({ data }) => data.stream_id),
      emails as Array<string>,
    )
    assert.deepStrictEqual([first?.event, first?.data.type, first?.id], ["", "email.queued", first?.data.position])
    const again = yield* openStream(`${url}?after_position=0`, key, { "last-event-id": first?.id ?? "" })
    yield* World.until(
      Effect.sync(() => again.messages.length),
      (messages) => messages === 2,
    )
    assert.deepStrictEqual(again.messages[1], second)
  })

  it.effect("can be read with the client library, together with earlier events", function* () {
    const { account: account_id, key: secret, key_id: actor, world } = yield* signUp()
    const waybill = new Waybill(secret, { baseUrl: world.url })
    const earlier = yield* Webhooks.acceptEmail(account_id)
    const { next_position: after_position } = yield* Effect.promise(() => waybill.events.list({ limit: 1_000 }))
    const stream = waybill.events.stream({ after_position, types: ["email.queued"] })
    const first = stream.next()
    const later = yield* Effect.forEach([1, 2], () => Webhooks.acceptEmail(account_id))
    const read = yield* Effect.promise(async () => {
      const both = [await first, await stream.next()]
      await stream.return()
      return both.map(({ value }) => value?.stream_id)
    })
    assert.deepStrictEqual(read, later)
    const all: Array<string> = []
    yield* Effect.promise(async () => {
      for await (const { stream_id } of waybill.events.all({ types: ["email.queued"] })) all.push(stream_id)
    })
    assert.deepStrictEqual(all, [earlier, ...later])
    const session = yield* Effect.promise(() => waybill.session.get())
    assert.deepStrictEqual([session.account_id, session.actor], [account_id, { type: "api_key", id: actor }])
    const stats = yield* Effect.promise(() => waybill.stats.get({ group_by: ["day", "domain"] }))
    assert.deepStrictEqual(stats.group_by, ["day", "domain"])
  })

  // threat: memory-budgets
  it.effect("refuses more streams than an account may have, also if they are requested together", function* () {
    const { key, world } = yield* signUp()
    const openAll = (count: number) =>
      Effect.all(
        Array.from({ length: count }, () => openUnread(`${world.url}/v1/events/stream`, key)),
        { concurrency: "unbounded" },
      )
    const statuses = yield* Effect.scoped(openAll(MAX_STREAMS_PER_ACCOUNT + 2))
    assert.deepStrictEqual(statuses.toSorted(), [
      ...Array.from({ length: MAX_STREAMS_PER_ACCOUNT }, () => 200),
      422,
      422,
    ])
    // Clients that hung up hold no places, whenever they did.
    const { hostname, port } = new URL(world.url)
    for (let nth = 0; nth < MAX_STREAMS_PER_ACCOUNT; nth++) {
      const socket = net.connect(Number(port), hostname)
      socket.on("error", () => undefined)
      socket.write(`GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
      yield* Effect.sleep(Duration.millis(nth / 4))
      socket.destroy()
    }
    yield* World.until(Effect.scoped(openAll(MAX_STREAMS_PER_ACCOUNT)), (again) =>
      again.every((status) => status === 200),
    )
  })

  it.effect("requires an administrative key", function* () {
    const world = yield* HttpWorld
    const { secret: key } = yield* world.key(yield* world.account(), { scopes: ["email:send"] })
    assert.strictEqual((yield* world.request("GET", "/v1/events/stream", { key })).status, 403)
    assert.strictEqual((yield* world.request("GET", "/v1/events/stream")).status, 401)
  })
})
