import * as Idempotency from "@waybill/api/schemas/Idempotency"
import { Effect } from "effect"
import { once } from "node:events"
import * as net from "node:net"
import { MAX_FAST_BYTES } from "../../../apps/server/src/http/sendFastPath.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { type Answer, EMAIL, HttpWorld, type RequestOptions, signUp } from "../../support/world/HttpWorld.ts"

/** An empty query avoids the fast path. */
const FAST = "/v1/email/send"
const NORMAL = "/v1/email/send?"

const without = (field: string) => ({ ...EMAIL, [field]: undefined })
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`

interface Keys {
  readonly good: string
  readonly unscoped: string
  readonly elsewhere: string
  readonly revoked: string
  readonly foreign: string
}

type Request = readonly [what: string, status: number, options: (keys: Keys) => RequestOptions]

const REQUESTS: ReadonlyArray<Request> = [
  ["a message", 200, ({ good: key }) => ({ key, body: EMAIL })],
  [
    "a message with all there is",
    200,
    ({ good: key }) => ({
      key,
      body: {
        ...EMAIL,
        html: "<p>Grüße</p>",
        cc: ["Bo <bo@example.org>"],
        bcc: "cy@example.org",
        reply_to: ["help@acme.test"],
        headers: { "X-Order": "1" },
        tags: ["a", "b", "a"],
        scheduled_at: new Date(Date.now() + 60_000).toISOString(),
        attachments: [{ filename: "a.txt", content: "aGk=" }],
        list_unsubscribe: true,
        tracking: { opens: false },
      },
    }),
  ],
  [
    "a body too large for the fast path",
    200,
    ({ good: key }) => ({ key, body: { ...EMAIL, text: "x".repeat(MAX_FAST_BYTES) } }),
  ],
  [
    "a body with another media type's parameter",
    200,
    ({ good: key }) => ({ key, body: EMAIL, headers: { "content-type": "application/json; charset=utf-8" } }),
  ],
  ["a body behind a byte order mark", 200, ({ good: key }) => ({ key, raw: `\ufeff${JSON.stringify(EMAIL)}` })],
  ["a body behind two", 400, ({ good: key }) => ({ key, raw: `\ufeff\ufeff${JSON.stringify(EMAIL)}` })],
  ["an unknown field", 400, ({ good: key }) => ({ key, body: { ...EMAIL, scheduledAt: "2026-11-21T10:00:00Z" } })],
  [
    "an unknown field of an attachment",
    400,
    ({ good: key }) => ({
      key,
      body: { ...EMAIL, attachments: [{ filename: "a", content: "", type: "text/plain" }] },
    }),
  ],
  ["an unknown field of tracking", 400, ({ good: key }) => ({ key, body: { ...EMAIL, tracking: { open: true } } })],
  [
    "an attachment in wrapped base64",
    200,
    ({ good: key }) => ({ key, body: { ...EMAIL, attachments: [{ filename: "a", content: "aGkg\r\naGkg\n" }] } }),
  ],
  [
    "an attachment with a space in its base64",
    400,
    ({ good: key }) => ({ key, body: { ...EMAIL, attachments: [{ filename: "a", content: "aGkg aGkg" }] } }),
  ],
  ["one violation", 400, ({ good: key }) => ({ key, body: without("from") })],
  [
    "many violations",
    400,
    ({ good: key }) => ({ key, body: { to: [1, "no address"], subject: 7, tags: ["", 1], headers: { Bcc: "x" } } }),
  ],
  ["no object", 400, ({ good: key }) => ({ key, raw: "[]" })],
  ["null", 400, ({ good: key }) => ({ key, raw: "null" })],
  ["nothing", 400, ({ good: key }) => ({ key, raw: "" })],
  ["half an object", 400, ({ good: key }) => ({ key, raw: '{"from":' })],
  ["a body that is not UTF-8", 400, ({ good: key }) => ({ key, raw: new Uint8Array([0x7b, 0xff, 0x7d]) })],
  ["a body nested too deep", 400, ({ good: key }) => ({ key, raw: deep(40) })],
  [
    "another media type",
    400,
    ({ good: key }) => ({ key, raw: "from=x", headers: { "content-type": "application/x-www-form-urlencoded" } }),
  ],
  ...["k".repeat(Idempotency.MAX_KEY_CHARS + 1), "", "clé", "a\tb"].map((invalid): Request => [
    `the idempotency key "${invalid}"`,
    400,
    ({ good: key }) => ({ key, body: EMAIL, headers: { "idempotency-key": invalid } }),
  ]),
  [
    "an idempotency key and a body that are both wrong",
    400,
    ({ good: key }) => ({ key, body: { to: [1], subject: 7 }, headers: { "idempotency-key": "" } }),
  ],
  [
    "an idempotency key and a text that are both wrong",
    400,
    ({ good: key }) => ({ key, raw: '{"from":', headers: { "idempotency-key": "" } }),
  ],
  ["no key", 401, () => ({ body: EMAIL })],
  ["what is no key", 401, () => ({ key: "abc", body: EMAIL })],
  ["a revoked key", 401, ({ revoked: key }) => ({ key, body: EMAIL })],
  ["a key that is not allowed from here", 401, ({ foreign: key }) => ({ key, body: EMAIL })],
  ["a key without the scope, and a bad body", 403, ({ unscoped: key }) => ({ key, raw: "{" })],
  ["a key for another domain", 403, ({ elsewhere: key }) => ({ key, body: EMAIL })],
  ["an unknown domain", 422, ({ good: key }) => ({ key, body: { ...EMAIL, from: "hi@other.example" } })],
  ["a message that is to be tracked", 422, ({ good: key }) => ({ key, body: { ...EMAIL, tracking: { opens: true } } })],
  ["a tracking that is none", 400, ({ good: key }) => ({ key, body: { ...EMAIL, tracking: { opens: "yes" } } })],
  ["a time too far ahead", 422, ({ good: key }) => ({ key, body: { ...EMAIL, scheduled_at: "2099-01-01T00:00:00Z" } })],
]

/** Values that differ between two equal requests. */
const OWN = /"(id|request_id|created_at)":"[^"]*"|\b20\d\d-[\d-]+T[\d:.]+Z/gu
const PASSING = ["x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after", "date", "content-length"]

const essence = ({ headers, status, text }: Answer) => ({
  status,
  text: text.replace(OWN, "…"),
  headers: Object.fromEntries([...headers].map(([name, value]) => [name, PASSING.includes(name) ? "…" : value])),
})

/** Sends parts of a request, each in a packet of its own. */
const answerTo = async (port: number, parts: ReadonlyArray<string>): Promise<string> => {
  const socket = net.connect(port, "127.0.0.1").setNoDelay(true)
  await once(socket, "connect")
  let answer = ""
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")))
  for (const part of parts) {
    await new Promise((resolve) => socket.write(part, resolve))
    // The server reads what has arrived before its next turn.
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  }
  await once(socket, "close")
  return answer
}

const LAYER = { excludeTestServices: true, timeout: "90 seconds" } as const

const setUp = Effect.gen(function* () {
  const { account, call, key, keyWith, world } = yield* signUp({ domains: ["acme.test"] })
  const revoked = yield* world.key(account)
  const keys: Keys = {
    good: key,
    unscoped: yield* keyWith({ scopes: ["domains:read"] }),
    elsewhere: yield* keyWith({ domain: "other.test" }),
    revoked: revoked.secret,
    foreign: yield* keyWith({ allowed_ips: ["203.0.113.0/24"] }),
  }
  yield* call("DELETE", `/v1/api-keys/${revoked.id}`)
  return { world, keys }
})

layer(HttpWorld.layer({ minuteStands: true }), LAYER)("fast and normal path of a send", (it) => {
  it.effect("give equal responses", function* () {
    const { keys, world } = yield* setUp
    for (const [what, status, optionsOf] of REQUESTS) {
      const fast = yield* world.request("POST", FAST, optionsOf(keys))
      const normal = yield* world.request("POST", NORMAL, optionsOf(keys))
      assert.deepStrictEqual(essence(fast), essence(normal), what)
      assert.strictEqual(fast.status, status, `${what}: ${fast.text}`)
      assert.match(fast.headers.get("x-request-id") ?? "", /^req_/u)
    }
  })

  it.effect("give equal responses to a key that is revoked after it has sent", function* () {
    const { keys, world } = yield* setUp
    const { account } = yield* signUp({ domains: ["acme.test"] })
    const admin = yield* world.key(account)
    const leaver = yield* world.key(account)
    const options: RequestOptions = { key: leaver.secret, body: EMAIL }
    for (let sent = 0; sent < 3; sent++) assert.strictEqual((yield* world.request("POST", FAST, options)).status, 200)
    yield* world.request("DELETE", `/v1/api-keys/${leaver.id}`, { key: admin.secret })
    const [fast, normal] = [yield* world.request("POST", FAST, options), yield* world.request("POST", NORMAL, options)]
    assert.deepStrictEqual(essence(fast), essence(normal))
    assert.strictEqual(fast.status, 401)
    assert.strictEqual((yield* world.request("POST", FAST, { key: keys.good, body: EMAIL })).status, 200)
  })

  it.effect("accept a body that comes after its headers, in parts", function* () {
    const { keys, world } = yield* setUp
    const body = JSON.stringify(EMAIL)
    const head =
      `POST ${FAST} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.good}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
    const { port } = new URL(world.url)
    for (const parts of [
      [head + body],
      [head, body],
      [head, body.slice(0, 20), body.slice(20)],
      [head + body.slice(0, 20), body.slice(20)],
    ])
      assert.match(yield* Effect.promise(() => answerTo(Number(port), parts)), /^HTTP\/1\.1 200 /u)
  })

  it.effect("give equal responses when a table is gone, for the admission or for the commit", function* () {
    const { keys, world } = yield* setUp
    for (const table of ["api_keys", "events"]) {
      yield* world.sql`ALTER TABLE ${world.sql(table)} RENAME TO elsewhere`
      const options: RequestOptions = { key: keys.good, body: EMAIL }
      const [fast, normal] = [
        yield* world.request("POST", FAST, options),
        yield* world.request("POST", NORMAL, options),
      ]
      yield* world.sql`ALTER TABLE elsewhere RENAME TO ${world.sql(table)}`
      assert.deepStrictEqual(essence(fast), essence(normal), table)
      assert.strictEqual(fast.status, 500)
      assert.match(fast.headers.get("x-request-id") ?? "", /^req_/u)
    }
  })

  it.effect("share idempotency keys and rate windows", function* () {
    const { keys, world } = yield* setUp
    const options: RequestOptions = { key: keys.good, body: EMAIL, headers: { "idempotency-key": "duplicates" } }
    const first = yield* world.request("POST", FAST, options)
    const duplicate = yield* world.request("POST", NORMAL, options)
    const third = yield* world.request("POST", FAST, options)
    assert.deepStrictEqual([duplicate.json, third.json], [first.json, first.json])
    const replayed = [first, duplicate, third].map(({ headers }) => headers.get("idempotent-replayed"))
    assert.deepStrictEqual(replayed, [null, "true", "true"])
    const other = { ...options, body: { ...EMAIL, subject: "Another" } }
    for (const path of [FAST, NORMAL]) assert.strictEqual((yield* world.request("POST", path, other)).status, 422)
    const left = Number(third.headers.get("x-ratelimit-remaining"))
    const after = yield* world.request("POST", NORMAL, options)
    assert.strictEqual(Number(after.headers.get("x-ratelimit-remaining")), left - 3)
  })

  it.effect("write equal log records", function* () {
    const { keys, world } = yield* setUp
    const records = []
    for (const path of [FAST, NORMAL]) {
      const { json } = yield* world.request("POST", path, { key: keys.good, body: EMAIL })
      const record = yield* world.request("GET", `/v1/email/logs/${json.id}`, { key: keys.good })
      records.push(
        record.text
          .replaceAll(json.id, "…")
          .replaceAll(/ev_\w+|req_\w+/gu, "…")
          .replace(OWN, "…"),
      )
    }
    assert.strictEqual(records[0]?.replaceAll(/20\d\d-[^"]*/gu, "…"), records[1]?.replaceAll(/20\d\d-[^"]*/gu, "…"))
  })
})

layer(HttpWorld.layer({ tracks: true }), LAYER)("fast and normal path of a send", (it) => {
  it.effect("track opens and clicks as message and domain say", function* () {
    const { keys, world } = yield* setUp
    const trackingOf = (path: string, tracking?: unknown) =>
      Effect.gen(function* () {
        const { json } = yield* world.request("POST", path, { key: keys.good, body: { ...EMAIL, tracking } })
        const events = yield* world.request("GET", `/v1/email/logs/${json.id}/events`, { key: keys.good })
        return events.json.data[0].data.tracking
      })
    for (const path of [FAST, NORMAL]) assert.isUndefined(yield* trackingOf(path))
    for (const path of [FAST, NORMAL])
      assert.deepStrictEqual(yield* trackingOf(path, { clicks: true }), { opens: false, clicks: true })
    yield* world.request("PATCH", "/v1/domains/acme.test", { key: keys.good, body: { open_tracking: true } })
    for (const path of [FAST, NORMAL]) {
      assert.deepStrictEqual(yield* trackingOf(path), { opens: true, clicks: false })
      assert.isUndefined(yield* trackingOf(path, { opens: false }))
    }
  })
})
