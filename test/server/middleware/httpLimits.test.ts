import * as Network from "@waybill/mail/dns/Network"
import { Effect, Result } from "effect"
import { request } from "node:http"
import { assert, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { awayFromEndOfMonth } from "../../support/WallClock.ts"
import { type Answer, HttpWorld } from "../../support/world/HttpWorld.ts"

const MESSAGE = { from: "hi@acme.test", to: "ana@example.org", subject: "Hello" }

const trustedProxies = Result.getOrThrow(Network.parseAll(["127.0.0.0/8", "10.0.0.0/8"]))

layer(HttpWorld.layer({ trustedProxies, minuteStands: true }), { excludeTestServices: true, timeout: "180 seconds" })(
  "limits (contract §10)",
  (it) => {
    const account = (plan: "free" | "business" = "business") =>
      Effect.gen(function* () {
        const world = yield* HttpWorld
        const id = yield* world.account(plan)
        const { secret: key } = yield* world.key(id)
        yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
        return { world, id, key: (yield* world.key(id)).secret }
      })

    const count = (answers: ReadonlyArray<Answer>) => {
      const counts: Record<number, number> = {}
      for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
      return counts
    }

    const WINDOWS = [
      ["GET /email/logs", 60, "GET", "/v1/email/logs"],
      ["every other endpoint", 120, "GET", "/v1/account"],
      ["an unknown route, like every other", 120, "GET", "/v1/nothing"],
      ["a forbidden call, like every other", 120, "GET", "/v1/audit"],
    ] as const
    for (const [what, limit, method, path] of WINDOWS)
      it.effect(`let exactly ${limit} a minute through at ${what}`, function* () {
        const { id, world } = yield* account()
        const { secret: key } = yield* world.key(id, { scopes: ["email:logs:read"] })
        const answers = yield* Effect.forEach(
          Array.from({ length: limit + 25 }),
          () => world.request(method, path, { key }),
          {
            concurrency: 25,
          },
        )
        assert.strictEqual(count(answers)[429], 25)
        const refused = answers.find(({ status }) => status === 429)
        assert.strictEqual(refused?.json.error.code, "rate_limited")
        assert.strictEqual(refused?.json.error.reason, "request_rate")
        assert.strictEqual(refused?.headers.get("x-ratelimit-limit"), String(limit))
        assert.strictEqual(refused?.headers.get("x-ratelimit-remaining"), "0")
        const reset = Number(refused?.headers.get("x-ratelimit-reset"))
        assert.strictEqual(reset % 60, 0)
        assert.strictEqual(refused?.headers.get("retry-after"), "30")
        const remaining = answers
          .filter(({ status }) => status !== 429)
          .map(({ headers }) => Number(headers.get("x-ratelimit-remaining")))
        assert.deepStrictEqual(
          remaining.sort((a, b) => a - b),
          Array.from({ length: limit }, (_, nth) => nth),
        )
      })

    it.effect("admit exactly 1,000 sends a minute, besides other requests", function* () {
      const { key, world } = yield* account()
      const answers = yield* Effect.forEach(
        Array.from({ length: 1_020 }),
        () => world.request("POST", "/v1/email/send", { key, body: MESSAGE }),
        { concurrency: 40 },
      )
      assert.deepStrictEqual(count(answers), { 200: 1_000, 429: 20 })
      assert.strictEqual((yield* world.request("GET", "/v1/account", { key })).status, 200)
      assert.strictEqual((yield* world.request("GET", "/v1/email/logs", { key })).status, 200)
      assert.strictEqual(
        (yield* world.request("POST", "/v1/email/send/batch", { key, body: { emails: [MESSAGE] } })).status,
        429,
      )
    })

    it.effect("count an absolute target in the window of its path, also an invalid one", function* () {
      const { key, world } = yield* account()
      const { hostname, port } = new URL(world.url)
      const headers = { authorization: `Bearer ${key}` }
      const limitOf = (path: string) =>
        Effect.promise(
          () =>
            new Promise<unknown>((done, fail) => {
              const sent = request({ hostname, port, path, method: "POST", headers }, (answer) => {
                answer.resume().on("end", () => done(answer.headers["x-ratelimit-limit"]))
              })
              sent.on("error", fail).end()
            }),
        )
      for (const target of ["http://x/v1/email/send", "http://[/v1/email/send", "https://[?/v1/email/send;x?y"])
        assert.strictEqual(yield* limitOf(target), "1000", target)
    })

    it.effect("follow an operator's grant, and every response shows them", function* () {
      const { id, key, world } = yield* account()
      const granted = yield* CommandLine.typed("accounts", "limits", id, "--other", "125", "--send", "2000")
      assert.deepStrictEqual(granted.granted, { send: 2_000, logs: null, other: 125, monthly_emails: null })
      const answers = yield* Effect.forEach(
        Array.from({ length: 130 }),
        () => world.request("GET", "/v1/account", { key }),
        { concurrency: 25 },
      )
      assert.deepStrictEqual(count(answers), { 200: 125, 429: 5 })
      const limitOf = ({ headers }: Answer) => headers.get("x-ratelimit-limit")
      assert.deepStrictEqual([...new Set(answers.map(limitOf))], ["125"])
      assert.strictEqual(limitOf(yield* world.request("POST", "/v1/email/send", { key, body: MESSAGE })), "2000")
      assert.strictEqual(limitOf(yield* world.request("GET", "/v1/email/logs", { key })), "60")
    })

    it.effect("follow the account's new plan", function* () {
      const { id, key, world } = yield* account("free")
      const body = { ...MESSAGE, to: Array.from({ length: 11 }, (_, nth) => `r${nth}@example.org`) }
      const send = Effect.map(world.request("POST", "/v1/email/send", { key, body }), ({ status }) => status)
      assert.strictEqual(yield* send, 422)
      assert.strictEqual((yield* CommandLine.typed("accounts", "plan", id, "starter")).plan, "starter")
      assert.strictEqual(yield* send, 200)
      const { json } = yield* world.request("GET", "/v1/account", { key })
      assert.deepStrictEqual([json.plan, json.limits.monthly_emails, json.usage.emails], ["starter", 50_000, 11])
    })

    it.effect("count malformed requests too, and 429 comes before 400 and 404", function* () {
      const { key, world } = yield* account()
      const bad = () => world.request("POST", "/v1/domains", { key, raw: "{" })
      const answers = yield* Effect.forEach(Array.from({ length: 121 }), bad, { concurrency: 20 })
      assert.deepStrictEqual(count(answers), { 400: 120, 429: 1 })
      assert.strictEqual((yield* world.request("GET", "/v1/nothing", { key })).status, 429)
    })

    it.effect("admit 120 requests a minute without a valid key per address", function* () {
      const { key, world } = yield* account()
      const from = (address: string) => ({ "x-forwarded-for": address })
      const anonymous = (address: string) => world.request("GET", "/v1/account", { headers: from(address) })
      const guess = (address: string) =>
        world.request("GET", "/v1/account", { key: `wb_${"x".repeat(49)}`, headers: from(address) })
      const answers = yield* Effect.forEach(
        Array.from({ length: 130 }, (_, nth) => (nth % 2 === 0 ? anonymous : guess)),
        (call) => call("198.51.100.7"),
        { concurrency: 20 },
      )
      assert.deepStrictEqual(count(answers), { 401: 120, 429: 10 })
      assert.strictEqual((yield* anonymous("198.51.100.8")).status, 401)
      // Entries that the client wrote itself do not count; the proxy's entry is the rightmost one.
      assert.strictEqual((yield* anonymous("203.0.113.9, 198.51.100.7")).status, 429)
      assert.strictEqual((yield* anonymous("198.51.100.7, 10.1.2.3")).status, 429)
      // A valid key is not limited by other clients of its address.
      assert.strictEqual(
        (yield* world.request("GET", "/v1/account", { key, headers: from("198.51.100.7") })).status,
        200,
      )
    })

    it.effect("admit the monthly volume to the last recipient under load, and refund canceled mail", function* () {
      yield* awayFromEndOfMonth
      const { key, world } = yield* account("free")
      const tens = { ...MESSAGE, to: Array.from({ length: 10 }, (_, nth) => `r${nth}@example.org`) }
      const later = { ...tens, scheduled_at: new Date(Date.now() + 3_600_000).toISOString() }
      const canceled = yield* world.request("POST", "/v1/email/send", { key, body: later })
      const answers = yield* Effect.forEach(
        Array.from({ length: 302 }),
        () => world.request("POST", "/v1/email/send", { key, body: tens }),
        { concurrency: 40 },
      )
      assert.deepStrictEqual(count(answers), { 200: 299, 429: 3 })
      const refused = answers.find(({ status }) => status === 429)
      assert.strictEqual(refused?.json.error.reason, "monthly_quota")
      const now = new Date()
      const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
      assert.closeTo(Number(refused?.headers.get("retry-after")), (nextMonth - Date.now()) / 1000, 30)
      assert.strictEqual((yield* world.request("POST", "/v1/email/send", { key, body: MESSAGE })).status, 429)
      assert.strictEqual((yield* world.request("POST", `/v1/email/${canceled.json.id}/cancel`, { key })).status, 200)
      assert.strictEqual((yield* world.request("POST", "/v1/email/send", { key, body: tens })).status, 200)
      const { json } = yield* world.request("GET", "/v1/account", { key })
      assert.deepStrictEqual([json.usage.emails, json.limits.monthly_emails], [3_000, 3_000])
    })

    it.effect("refuse a strict batch beyond the monthly volume, and let a permissive one fill it", function* () {
      yield* awayFromEndOfMonth
      const { key, world } = yield* account("free")
      const ten = { ...MESSAGE, to: Array.from({ length: 10 }, (_, nth) => `r${nth}@example.org`) }
      const batch = (count: number, mode?: string) =>
        world.request("POST", "/v1/email/send/batch", {
          key,
          body: { emails: Array.from({ length: count }, () => ten), mode },
        })
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* batch(100)).status, 200)
      assert.strictEqual((yield* batch(95)).status, 200)
      const whole = yield* batch(6)
      assert.strictEqual(whole.status, 429)
      assert.isNotNull(whole.headers.get("retry-after"))
      const { json, status } = yield* batch(6, "permissive")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(
        json.data.map(
          (each: { status: string | null; error: { reason: string } | null }) => each.status ?? each.error?.reason,
        ),
        ["queued", "queued", "queued", "queued", "queued", "monthly_quota"],
      )
    })
  },
)
