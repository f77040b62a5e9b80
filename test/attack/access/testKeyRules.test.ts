import { Api } from "@waybill/api/Api"
import * as TestKeys from "@waybill/api/TestKeys"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { assert, describe, it as plain, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { nextMillisecond } from "../../support/WallClock.ts"

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
}

const operations: ReadonlyArray<Operation> = Object.entries(OpenApi.fromApi(Api).paths)
  .filter(([path]) => path.startsWith("/v1/"))
  .flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { readonly operationId: string }>).map(([method, { operationId }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
    })),
  )

const ruleOf = ({ id }: Operation) => TestKeys.ruleOf(...(id.split(".") as [string, string]))
const MESSAGE = { from: "hi@shop.example", to: "ana@example.org", subject: "Hello" }
const BODIES: Readonly<Record<string, unknown>> = {
  "emails.send": MESSAGE,
  "emails.sendBatch": { emails: [MESSAGE] },
  "emails.reschedule": { scheduled_at: "2030-01-01T00:00:00Z" },
  "suppressions.add": { email: "ana@example.org" },
  "suppressions.batch": { add: [{ email: "ana@example.org" }] },
  "testClocks.advance": { by: "P1D" },
  "inbound.forward": { to: "bo@example.org" },
  "inbound.reply": { from: "hi@shop.example", text: "x" },
  "inbound.test": { from: "ana@example.org", to: "hi@shop.example" },
}
const KINDS: ReadonlyArray<readonly [part: string, prefix: string]> = [
  ["/webhooks/", "whk"],
  ["/members/", "usr"],
  ["/requests/", "req"],
  ["/clocks/", "clk"],
  ["/inbound/routes/", "rte"],
  ["/inbound/", "inb"],
  ["/threads/", "thr"],
]

const filled = (path: string): string => {
  const prefix = KINDS.find(([part]) => path.includes(part))?.[1] ?? "msg"
  return path
    .replace("{domain}", "acme.test")
    .replace("{delivery_id}", `whd_${"0".repeat(26)}`)
    .replace("{key_id}", `key_${"0".repeat(26)}`)
    .replace("{email}", "nobody@example.org")
    .replace("{attachment}", "att_1")
    .replace("{number}", "1")
    .replace("{template}", "receipt")
    .replace("{id}", `${prefix}_${"0".repeat(26)}`)
}

describe("test keys", () => {
  plain("every endpoint has a rule for test keys, and an unknown one is refused", () => {
    for (const { id } of operations) assert.property(TestKeys.RULES, id.split(".", 1)[0] ?? "")
    assert.strictEqual(TestKeys.ruleOf("letters", "burn"), "live only")
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })(
  "a test key with all its scopes",
  (it) => {
    // threat: test-mail
    it.effect("is refused at live things, and asks in its own mode for the rest", function* () {
      const { call, keyWith, world } = yield* signUp({ domains: ["acme.test"] })
      const key = yield* keyWith({ mode: "test" })
      const narrow = yield* keyWith({ mode: "test", scopes: ["email:send"] })
      const refused: Array<string> = []
      for (const operation of operations) {
        const { id, method, path } = operation
        const rule = ruleOf(operation)
        const body = BODIES[id] ?? (method === "GET" || method === "DELETE" ? undefined : {})
        const ask = (query: string) => world.request(method, `${filled(path)}${query}`, { key, body })
        if (rule === "live only") {
          assert.deepStrictEqual([id, ...reasonOf(yield* ask(""))], [id, 403, "live_only"])
          const narrowly = yield* world.request(method, filled(path), { key: narrow, body })
          assert.deepStrictEqual([id, ...reasonOf(narrowly)], [id, 403, "live_only"])
          refused.push(id)
          continue
        }
        if (rule === "test only") {
          assert.notInclude([401, 403, 500], (yield* ask("")).status, id)
          assert.deepStrictEqual([id, ...reasonOf(yield* call(method, filled(path), body))], [id, 403, "test_only"])
          continue
        }
        if (rule === "caller") {
          assert.strictEqual((yield* ask("")).status, 200, id)
          continue
        }
        assert.deepStrictEqual([id, ...reasonOf(yield* ask("?livemode=true"))], [id, 403, "other_mode"])
        // A stream that is accepted does not end.
        if (id === "events.stream") continue
        const answer = yield* ask("?livemode=false")
        assert.notInclude([400, 401, 403, 429, 500], answer.status, `${id}: ${answer.text}`)
      }
      assert.isAbove(refused.length, 25)
      // Nothing of the live account has changed, and no live mail was made.
      const lists = ["/v1/email/logs", "/v1/suppressions", "/v1/webhooks"]
      for (const path of lists) assert.deepStrictEqual((yield* call("GET", path)).json.data, [], path)
      assert.lengthOf((yield* call("GET", "/v1/domains")).json.data, 1)
    })

    // threat: test-mail
    it.effect("does not reach mail of the other mode by its id, nor does a live key", function* () {
      const { call, key: live, keyWith, send, world } = yield* signUp({ domains: ["acme.test"] })
      const test = yield* keyWith({ mode: "test" })
      const soon = new Date(Date.now() + 3_600_000).toISOString()
      const lived = yield* send({ scheduled_at: soon })
      yield* nextMillisecond
      const body = { ...MESSAGE, scheduled_at: soon }
      const tested = (yield* world.request("POST", "/v1/email/send", { key: test, body })).json.id as string
      const named = operations.filter((each) => /^\/v1\/(?:email|sandbox)\/.*\{id\}/u.test(each.path))
      assert.isAbove(named.length, 5)
      for (const { id, method, path } of named)
        for (const [key, other] of [
          [live, tested],
          [test, lived],
        ] as const) {
          const { json, status } = yield* world.request(method, path.replace("{id}", other), { key, body: BODIES[id] })
          assert.deepStrictEqual([id, status, json?.error?.code], [id, 404, "not_found"])
        }
      const states = yield* Effect.forEach([call("GET", `/v1/email/logs/${lived}`)], (each) => each)
      assert.deepStrictEqual(
        states.map(({ json }) => [json.status, json.scheduled_at]),
        [["queued", soon]],
      )
    })
  },
)
