import * as Idempotency from "@waybill/api/schemas/Idempotency"
import { Effect } from "effect"
import { once } from "node:events"
import * as http from "node:http"
import * as net from "node:net"
import { assert, layer } from "../../support/effectTest.ts"
import { type Answer, EMAIL, HttpWorld, type RequestOptions, signUp } from "../../support/world/HttpWorld.ts"

const PATH = "/v1/email/send"
/** More than a read of a socket, so that it arrives in parts. */
const LARGE_CHARS = 256 * 1024

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
    "a body that takes several reads",
    200,
    ({ good: key }) => ({ key, body: { ...EMAIL, text: "x".repeat(LARGE_CHARS) } }),
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
const OF_THE_CONNECTION = ["connection", "keep-alive"]

const essence = ({ headers, status, text }: Answer) => ({
  status,
  text: text.replace(OWN, "…"),
  headers: Object.fromEntries(
    [...headers]
      .filter(([name]) => !OF_THE_CONNECTION.includes(name))
      .map(([name, value]) => [name, PASSING.includes(name) ? "…" : value]),
  ),
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

/** Sends a request whose headers have arrived when the first half of its body is sent. */
const sendLate = async (url: string, { body, headers: further, key, raw }: RequestOptions): Promise<Answer> => {
  const bytes = Buffer.from(raw ?? JSON.stringify(body))
  const request = http.request(`${url}${PATH}`, {
    method: "POST",
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      "content-type": "application/json",
      "content-length": bytes.length,
      ...further,
    },
  })
  // The answer may come before the body, if that is not read.
  const answered = once(request, "response")
  request.flushHeaders()
  for (const part of [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)]) {
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
    request.write(part)
  }
  request.end()
  const [response] = (await answered) as [http.IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString("utf8")
  const headers = new Headers(response.headers as Record<string, string>)
  return { status: response.statusCode ?? 0, text, headers, json: undefined }
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

layer(HttpWorld.layer({ minuteStands: true }), LAYER)("the body of a send", (it) => {
  it.effect("gets the same answer whether it arrives with its headers or after them", function* () {
    const { keys, world } = yield* setUp
    for (const [what, status, optionsOf] of REQUESTS) {
      const options = optionsOf(keys)
      const whole = yield* world.request("POST", PATH, options)
      const late = yield* Effect.promise(() => sendLate(world.url, options))
      assert.deepStrictEqual(essence(late), essence(whole), what)
      assert.strictEqual(whole.status, status, `${what}: ${whole.text}`)
      assert.match(whole.headers.get("x-request-id") ?? "", /^req_/u)
    }
  })

  it.effect("is accepted in parts", function* () {
    const { keys, world } = yield* setUp
    const body = JSON.stringify(EMAIL)
    const head =
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.good}\r\nConnection: close\r\n` +
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

  it.effect("gets a 500 with the request's id when a table is gone, for the admission or for the commit", function* () {
    const { keys, world } = yield* setUp
    for (const table of ["api_keys", "events"]) {
      yield* world.sql`ALTER TABLE ${world.sql(table)} RENAME TO elsewhere`
      const answer = yield* world.request("POST", PATH, { key: keys.good, body: EMAIL })
      yield* world.sql`ALTER TABLE elsewhere RENAME TO ${world.sql(table)}`
      assert.strictEqual(answer.status, 500)
      assert.match(answer.headers.get("x-request-id") ?? "", /^req_/u)
    }
  })
})
