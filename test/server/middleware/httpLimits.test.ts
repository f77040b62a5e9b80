import * as Account from "@waybill/domain/account/Account"
import * as Network from "@waybill/mail/dns/Network"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Layer, Result } from "effect"
import { request } from "node:http"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer, type Methods } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { layerFromMiddle, StandingClock } from "../../support/WallClock.ts"
import { type Answer, EMAIL, HttpWorld, reasonOf, signUp, statusesOf } from "../../support/world/HttpWorld.ts"

const MESSAGE = { from: "hi@acme.test", to: "ana@example.org", subject: "Hello" }

const trustedProxies = Result.getOrThrow(Network.parseAll(["127.0.0.0/8", "10.0.0.0/8"]))

layer(HttpWorld.layer({ trustedProxies, minuteStands: true }), { excludeTestServices: true, timeout: "180 seconds" })(
  "limits",
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
      const granted = yield* CommandLine.typed(
        "accounts",
        "limits",
        "--account",
        id,
        "--other",
        "125",
        "--send",
        "2000",
      )
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
      assert.strictEqual((yield* CommandLine.typed("accounts", "plan", "--account", id, "starter")).plan, "starter")
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
  },
)

const TENS = { ...EMAIL, to: Array.from({ length: 10 }, (_, nth) => `r${nth}@example.org`) }

const SEND = "/v1/email/send"

const customer = Effect.map(signUp({ domains: ["acme.test"], plan: "free" }), (customer) => ({
  ...customer,
  usage: Effect.map(customer.call("GET", "/v1/account"), ({ json }) => json.usage.emails as number),
}))

const refusedIn = (answers: ReadonlyArray<Answer>) => answers.filter(({ status }) => status === 429)

/** Registers what holds at any time of a month, whose end is `left_s` away. */
const inMonth = (it: Methods<HttpWorld | EventStore>, left_s: number) => {
  it.effect("is admitted to the last recipient under load, and canceled mail is refunded", function* () {
    const { call, usage } = yield* customer
    const canceled = yield* call("POST", SEND, { ...TENS, scheduled_at: "2026-12-03T12:00:00.000Z" })
    const answers = yield* Effect.forEach(Array.from({ length: 302 }), () => call("POST", SEND, TENS), {
      concurrency: 40,
    })
    const refused = refusedIn(answers)
    assert.deepStrictEqual(statusesOf(answers).toSorted(), [...Array(299).fill(200), 429, 429, 429])
    for (const each of refused) {
      assert.deepStrictEqual(reasonOf(each), [429, "monthly_quota"])
      assert.closeTo(Number(each.headers.get("retry-after")), left_s, 180)
    }
    assert.strictEqual((yield* call("POST", SEND, EMAIL)).status, 429)
    assert.strictEqual((yield* call("POST", `/v1/email/${canceled.json.id}/cancel`)).status, 200)
    assert.strictEqual((yield* call("POST", SEND, TENS)).status, 200)
    assert.strictEqual(yield* usage, 3_000)
  })

  it.effect("refuses a strict batch beyond it, and lets a permissive one fill it", function* () {
    const { call } = yield* customer
    const batch = (count: number, mode?: string) =>
      call("POST", "/v1/email/send/batch", { emails: Array.from({ length: count }, () => TENS), mode })
    for (const count of [100, 100, 95]) assert.strictEqual((yield* batch(count)).status, 200)
    const whole = yield* batch(6)
    assert.strictEqual(whole.status, 429)
    assert.isNotNull(whole.headers.get("retry-after"))
    const { json, status } = yield* batch(6, "permissive")
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(
      json.data.map(
        (each: { status: string | null; error: { reason: string } | null }) => each.error?.reason ?? each.status,
      ),
      ["queued", "queued", "queued", "queued", "queued", "monthly_quota"],
    )
  })
}

const OPTIONS = { excludeTestServices: true, timeout: "180 seconds" } as const
const Service = HttpWorld.layer({ minuteStands: true })
const Middle = Service.pipe(Layer.provideMerge(layerFromMiddle))

layer(Middle, OPTIONS)("the monthly volume, in the middle of a month,", (it) => inMonth(it, 15.5 * 86_400))

const LAST = "2026-11-30T23:59:59.900Z"
const End = Service.pipe(Layer.provideMerge(StandingClock.layer(LAST)))

layer(End, OPTIONS)("the monthly volume, a tenth of a second before a month ends,", (it) => {
  inMonth(it, 0.1)

  it.effect("begins anew at the turn and not before", function* () {
    const clock = yield* StandingClock
    const { account, call, usage } = yield* customer
    const { commit } = yield* EventStore
    const limited = Account.changeLimits(yield* NewIds.now, { ...Account.NONE_GRANTED, monthly_emails: 3 })
    yield* Effect.orDie(commit(Account, { account_id: account, stream_id: account }, limited))
    const sendTo = (count: number) => Effect.forEach(Array.from({ length: count }), () => call("POST", SEND, EMAIL))
    const before = yield* sendTo(4)
    assert.deepStrictEqual(statusesOf(before), [200, 200, 200, 429])
    assert.strictEqual(before[3]?.headers.get("retry-after"), "1")
    yield* clock.set("2026-11-30T23:59:59.999Z")
    assert.deepStrictEqual(statusesOf(yield* sendTo(1)), [429])
    yield* clock.set("2026-12-01T00:00:00.000Z")
    assert.strictEqual(yield* usage, 0)
    assert.deepStrictEqual(statusesOf(yield* sendTo(4)), [200, 200, 200, 429])
    // What was accepted before the turn is given back to the month before.
    yield* call("POST", `/v1/email/${before[0]?.json.id}/cancel`)
    assert.strictEqual(yield* usage, 3)
    yield* clock.set(LAST)
    assert.strictEqual(yield* usage, 2)
  })
})
