import { Context, Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect } from "node:net"
import * as NodeServer from "../../../apps/server/src/http/NodeServer.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { type Answer, EMAIL, HttpWorld, type RequestOptions, signUp } from "../../support/world/HttpWorld.ts"

const RATE_HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]

/** Sends bytes on a bare socket and returns everything received until the server closes it. */
const sendRaw = (url: string, ...pieces: ReadonlyArray<string | Buffer>): Effect.Effect<string> =>
  Effect.promise(
    () =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(url)
        const socket = connect(Number(port), hostname)
        let received = ""
        socket.on("data", (chunk) => (received += chunk.toString("latin1")))
        socket.on("close", () => resolve(received))
        socket.on("error", (error: NodeJS.ErrnoException) =>
          error.code === "ECONNRESET" || error.code === "EPIPE" ? resolve(received) : reject(error),
        )
        for (const piece of pieces) socket.write(piece)
      }),
  )

const bodyOf = (received: string) => JSON.parse(received.slice(received.indexOf("\r\n\r\n") + 4))

const padded = (bytes: number) => JSON.stringify(EMAIL).padEnd(bytes)

/** Checks what all error responses have in common. */
const isError = (answer: Answer, status: number, code: string, reason: string, what: string) => {
  assert.strictEqual(answer.status, status, `${what}: ${answer.text.slice(0, 300)}`)
  assert.deepStrictEqual(Object.keys(answer.json), ["error"], what)
  const { error } = answer.json
  assert.deepStrictEqual(Object.keys(error), ["code", "message", "reason", "docs", "request_id", "details"], what)
  assert.strictEqual(error.code, code, what)
  assert.strictEqual(error.reason, reason, what)
  assert.strictEqual(error.request_id, answer.headers.get("x-request-id"), what)
  assert.match(error.request_id, /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/u)
  assert.strictEqual(answer.headers.get("content-type"), "application/json", what)
  for (const name of RATE_HEADERS) assert.match(answer.headers.get(name) ?? "", /^\d+$/u, `${what}: ${name}`)
}

const LIMITS = { headers_ms: 300, request_ms: 600, check_ms: 50, stalled_ms: 10_000 }

layer(HttpWorld.layer({ maxBodyBytes: 200_000, timeouts: LIMITS }), {
  excludeTestServices: true,
  timeout: "90 seconds",
})("the edge", (it) => {
  const setUp = signUp()

  it.effect("gives every error the same shape, an id and the rate window", function* () {
    const { account, key, world } = yield* setUp
    const sender = yield* world.key(account, { scopes: ["email:send"] })
    const post = "POST /v1/email/send"
    const cases: ReadonlyArray<readonly [what: string, call: string, options: RequestOptions, error: string]> = [
      ["no key", post, { body: EMAIL }, "401 unauthorized api_key_missing"],
      [
        "another scheme",
        post,
        { body: EMAIL, headers: { authorization: "Basic Zm9v" } },
        "401 unauthorized api_key_invalid",
      ],
      ["a mistyped key", post, { body: EMAIL, key: `${key.slice(0, -1)}!` }, "401 unauthorized api_key_invalid"],
      ["a key of nobody", post, { body: EMAIL, key: "wb_" + "0".repeat(49) }, "401 unauthorized api_key_invalid"],
      ["a missing scope", "GET /v1/domains", { key: sender.secret }, "403 forbidden missing_scope"],
      ["an unknown route", "GET /v1/nothing", { key }, "404 not_found route_not_found"],
      ["an unknown route outside /v1", "GET /nothing", { key }, "404 not_found route_not_found"],
      ["an unknown route outside /v1 without a key", "GET /nothing", {}, "404 not_found route_not_found"],
      ["a wrong method", "PUT /v1/email/send", { key, body: EMAIL }, "404 not_found route_not_found"],
      ["a method nobody has", "PROPFIND /v1/domains", { key }, "404 not_found route_not_found"],
      ["a trailing slash", "GET /v1/domains/", { key }, "404 not_found route_not_found"],
      ["another case", "GET /V1/domains", { key }, "404 not_found route_not_found"],
      ["a doubled slash", "GET /v1//domains", { key }, "404 not_found route_not_found"],
      ["an id that can be none", "GET /v1/email/logs/nothing", { key }, "404 not_found malformed_id"],
      [
        "an id of nothing",
        "GET /v1/email/logs/msg_00000000000000000000000000",
        { key },
        "404 not_found email_not_found",
      ],
      ["NUL in a path", "GET /v1/domains/a%00b", { key }, "404 not_found malformed_id"],
      ["half an escape in a path", "GET /v1/domains/%E0%A4%A", { key }, "404 not_found route_not_found"],
      ["bytes that are no UTF-8 in a path", "GET /v1/domains/%ff%fe", { key }, "404 not_found route_not_found"],
      ["dots in a path", "GET /v1/domains/..%2f..%2fetc", { key }, "404 not_found malformed_id"],
      ["a very long path", `GET /v1/domains/${"a".repeat(5_000)}`, { key }, "404 not_found route_not_found"],
      ["malformed JSON", post, { key, raw: '{"from":' }, "400 invalid_request malformed_json"],
      ["two JSON values", post, { key, raw: "{}{}" }, "400 invalid_request malformed_json"],
      [
        "bytes that are no UTF-8",
        post,
        { key, raw: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]) },
        "400 invalid_request malformed_json",
      ],
      [
        "a form",
        post,
        { key, raw: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } },
        "400 invalid_request unsupported_media_type",
      ],
      [
        "compressed JSON",
        post,
        { key, body: EMAIL, headers: { "content-encoding": "gzip" } },
        "400 invalid_request unsupported_media_type",
      ],
      ["a body over the limit", post, { key, raw: padded(200_001) }, "400 invalid_request payload_too_large"],
      [
        "deep JSON",
        post,
        { key, raw: "[".repeat(50_000) + "]".repeat(50_000) },
        "400 invalid_request payload_too_large",
      ],
      [
        "a hundred thousand values",
        post,
        { key, raw: `[${"1,".repeat(99_999)}1]` },
        "400 invalid_request payload_too_large",
      ],
      ["a bad query", "GET /v1/email/logs?limit=0", { key }, "400 invalid_request validation_failed"],
      [
        "a bad Idempotency-Key",
        post,
        { key, body: EMAIL, headers: { "idempotency-key": "x".repeat(256) } },
        "400 invalid_request validation_failed",
      ],
      [
        "what the account does not allow, in a body at the limit",
        post,
        { key, raw: padded(200_000) },
        "422 unprocessable domain_not_verified",
      ],
    ]
    for (const [what, call, options, error] of cases) {
      const [method = "", path = ""] = call.split(" ")
      const [status, code = "", reason = ""] = error.split(" ")
      isError(yield* world.request(method, path, options), Number(status), code, reason, what)
    }
  })

  it.effect("names the missing scope", function* () {
    const { keyWith, world } = yield* setUp
    const secret = yield* keyWith({ scopes: ["email:send"] })
    const { json } = yield* world.request("DELETE", "/v1/api-keys/key_00000000000000000000000000", { key: secret })
    assert.deepStrictEqual(json.error.details, [{ path: "required_scope", message: "admin" }])
  })

  it.effect("checks in the order of the contract: 401, 403, 404 of a route, 400, 404 of a resource, 422", function* () {
    const { call, key, keyWith, world } = yield* setUp
    const reader = yield* keyWith({ scopes: ["email:logs:read"] })
    const nothing = "/v1/email/msg_00000000000000000000000000"
    const bad = { raw: "{" }
    const late = { scheduled_at: "2000-01-01T00:00:00Z" }
    const statuses = yield* Effect.forEach(
      [
        world.request("POST", "/v1/nothing", bad),
        world.request("PATCH", nothing, { key: reader, ...bad }),
        world.request("POST", "/v1/nothing", { key: reader, ...bad }),
        world.request("PATCH", nothing, { key, ...bad }),
        call("PATCH", nothing, late),
      ],
      (call) => Effect.map(call, ({ status }) => status),
    )
    assert.deepStrictEqual(statuses, [401, 403, 404, 400, 404])
  })

  // threat: guessed-keys
  it.effect("never shows a key, nor more about a 401 than its message", function* () {
    const { world } = yield* setUp
    const secret = "wb_verysecretverysecretverysecret"
    const { text } = yield* world.request("GET", "/v1/domains", { key: secret })
    assert.notInclude(text, "verysecret")
  })

  it.effect("serves health checks and the API description to everybody, uncounted", function* () {
    const { world } = yield* setUp
    for (let i = 0; i < 130; i++) {
      const { headers, status } = yield* world.request("GET", "/healthz")
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("x-ratelimit-remaining"), "120")
    }
    assert.deepStrictEqual((yield* world.request("GET", "/readyz")).json, { status: "ok" })
    assert.strictEqual((yield* world.request("GET", "/openapi.json")).json.openapi, "3.1.0")
  })

  it.effect("answers HEAD like GET, without a body", function* () {
    const { call } = yield* setUp
    const { headers, status, text } = yield* call("HEAD", "/v1/domains")
    assert.strictEqual(status, 200)
    assert.strictEqual(text, "")
    assert.strictEqual(headers.get("x-ratelimit-limit"), "120")
  })

  // threat: endless-requests
  it.effect("stops reading a body at the limit, chunked or not", function* () {
    const { key, world } = yield* setUp
    const head = `POST /v1/email/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`
    const declared = yield* sendRaw(
      world.url,
      `${head}Connection: close\r\nContent-Length: 200001\r\n\r\n`,
      "x".repeat(200_001),
    )
    const chunked = yield* sendRaw(
      world.url,
      `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`,
      chunk,
      chunk,
      chunk,
      chunk,
      "0\r\n\r\n",
    )
    for (const received of [declared, chunked]) {
      assert.match(received, /^HTTP\/1\.1 400 /u)
      assert.strictEqual(bodyOf(received).error.reason, "payload_too_large")
    }
  })

  it.effect("answers bytes that are not a request with the same error shape", function* () {
    const { world } = yield* setUp
    const cases = [
      [
        "10,000 headers",
        `GET /v1/domains HTTP/1.1\r\nHost: x\r\n${"X-A: b\r\n".repeat(10_000)}\r\n`,
        "headers_too_large",
      ],
      [
        "one huge header",
        `GET /v1/domains HTTP/1.1\r\nHost: x\r\nX-A: ${"b".repeat(20_000)}\r\n\r\n`,
        "headers_too_large",
      ],
      ["noise", "\u0016\u0003\u0001 this is TLS\r\n\r\n", "malformed_request"],
      ["a header without a colon", "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n", "malformed_request"],
      [
        "both lengths",
        "POST /v1/email/send HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "malformed_request",
      ],
      ["headers that do not come", "GET /v1/domains HTTP/1.1\r\nHost: x\r\n", "request_timeout"],
    ] as const
    for (const [what, bytes, reason] of cases) {
      const received = yield* sendRaw(world.url, bytes)
      assert.match(received, /^HTTP\/1\.1 400 /u, what)
      assert.strictEqual(bodyOf(received).error.reason, reason, what)
      for (const name of RATE_HEADERS) assert.include(received.toLowerCase(), `${name}: `, what)
    }
  })

  // threat: slow-clients
  it.effect("times out on a body that does not arrive", function* () {
    const { key, world } = yield* setUp
    const head = `POST /v1/email/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
    const received = yield* sendRaw(world.url, head)
    assert.match(received, /^HTTP\/1\.1 400 /u)
    assert.strictEqual(bodyOf(received).error.reason, "request_timeout")
  })

  it.effect("survives clients that disconnect in the middle", function* () {
    const { call, key, world } = yield* setUp
    yield* Effect.promise(
      () =>
        new Promise<void>((resolve) => {
          const { hostname, port } = new URL(world.url)
          const socket = connect(Number(port), hostname, () => {
            socket.write(
              `POST /v1/email/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n{`,
            )
            socket.destroy()
            resolve()
          })
        }),
    )
    assert.strictEqual((yield* call("GET", "/v1/account")).status, 200)
  })

  it.effect("ignores upgrades, unknown expectations and absolute request targets", function* () {
    const { key, world } = yield* setUp
    const auth = `Host: x\r\nAuthorization: Bearer ${key}\r\nConnection: close`
    for (const bytes of [
      `GET /v1/account HTTP/1.1\r\n${auth}\r\nExpect: miracles\r\n\r\n`,
      `GET http://other.example/v1/account HTTP/1.1\r\n${auth}\r\n\r\n`,
      `GET /v1/account HTTP/1.1\r\n${auth}, Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    ])
      assert.match(yield* sendRaw(world.url, bytes), /^HTTP\/1\.1 200 /u, bytes)
    const body = '{"name":"acme.test"}'
    const json = "Content-Type: application/json\r\nTransfer-Encoding: chunked"
    const head = `POST /v1/domains HTTP/1.1\r\n${auth}, Upgrade\r\nUpgrade: h2c\r\n${json}\r\n\r\n`
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    assert.match(yield* sendRaw(world.url, head, chunked), /^HTTP\/1\.1 201 /u)
  })

  it.effect("answers CONNECT like any wrong method", function* () {
    const { key, world } = yield* setUp
    for (const head of ["", `Authorization: Bearer ${key}\r\n`]) {
      const received = yield* sendRaw(world.url, `CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n${head}\r\n`)
      assert.match(received, /^HTTP\/1\.1 404 /u)
      const { error } = bodyOf(received)
      assert.strictEqual(error.reason, "route_not_found")
      assert.include(received.toLowerCase(), `x-request-id: ${error.request_id}`)
      for (const name of RATE_HEADERS) assert.include(received.toLowerCase(), `${name}: `)
    }
  })
})

describe("a connection after its last request", () => {
  it("is closed, and requests behind it are neither handled nor answered", async () => {
    const server = NodeServer.make(Context.empty(), NodeServer.TIMEOUTS)
    server.maxRequestsPerSocket = 3
    const done: Array<string | undefined> = []
    server.on("request", ({ url }, response) => {
      done.push(url)
      response.end(`${url}\r\n`)
    })
    server.on("checkContinue", (request, response) => {
      response.writeContinue()
      server.emit("request", request, response)
    })
    await once(server.listen(0, "127.0.0.1"), "listening")
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const request = (path: string, header = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`
    for (const header of ["", "Expect: 100-continue\r\n"]) {
      const bytes = ["/1", "/2", "/3", "/4", "/5"].map((path) => request(path, header)).join("")
      const received = await Effect.runPromise(sendRaw(url, bytes))
      assert.deepStrictEqual(done.splice(0), ["/1", "/2", "/3"])
      assert.strictEqual(received.match(/^HTTP\/1\.1 (?!100)\d+|close/gmu)?.join(), `${"HTTP/1.1 200,".repeat(3)}close`)
    }
    server.close()
  })
})

describe("a request that arrives when the port is open and nothing handles requests yet", () => {
  it("is answered once something does", async () => {
    const server = NodeServer.make(Context.empty(), NodeServer.TIMEOUTS)
    let arrived = 0
    const { emit } = server
    server.emit = function (this: typeof server, event: string, ...args: ReadonlyArray<unknown>) {
      if (event === "request") arrived++
      return Reflect.apply(emit, this, [event, ...args])
    } as typeof server.emit
    await once(server.listen(0, "127.0.0.1"), "listening")
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const answers = Promise.all([1, 2].map(async (nth) => (await fetch(`${url}/${nth}`)).text()))
    while (arrived < 2) await new Promise((resolve) => setImmediate(resolve))
    server.on("request", ({ url }, response) => response.end(url))
    assert.deepStrictEqual(await answers, ["/1", "/2"])
    server.closeAllConnections()
    server.close()
  })
})
