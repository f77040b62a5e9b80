import { Api } from "@waybill/api/Api"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"

const BODIES: Readonly<Record<string, unknown>> = {
  "PATCH /v1/domains/{domain}": { open_tracking: false },
  "PATCH /v1/members/{id}": { role: "owner" },
  "PATCH /v1/email/{id}": { scheduled_at: "2030-01-01T00:00:00Z" },
  "PATCH /v1/templates/{template}": { name: "x" },
  "PATCH /v1/webhooks/{id}": { enabled: false },
  "PATCH /v1/inbound/routes/{id}": { enabled: false },
  "POST /v1/inbound/{id}/forward": { to: "bo@example.org" },
  "POST /v1/inbound/{id}/reply": { from: "hi@acme.test", text: "x" },
  "POST /v1/templates/{template}/duplicate": {},
  "POST /v1/templates/{template}/publish": {},
  "POST /v1/templates/{template}/render": {},
  "POST /v1/templates/{template}/rollback": { version: 1 },
  "POST /v1/test/clocks/{id}/advance": { by: "P1D" },
  "POST /v1/webhooks/{id}/replay": { created_after: "2020-01-01T00:00:00Z", created_before: "2030-01-01T00:00:00Z" },
}

/** Kind of the `{id}` of a path; any other is an email. */
const KINDS = [
  ["/webhooks/", "webhook"],
  ["/members/", "member"],
  ["/requests/", "request"],
  ["/clocks/", "clock"],
  ["/inbound/routes/", "route"],
  ["/inbound/", "received"],
  ["/threads/", "thread"],
] as const
const isOfTestMode = (path: string): boolean => path.startsWith("/v1/test/")

layer(HttpWorld.layer({ requestLog: true }), { excludeTestServices: true, timeout: "90 seconds" })("accounts", (it) => {
  /** Creates an account with one of each resource, and their ids. */
  const furnished = Effect.gen(function* () {
    const { account, call, key, key_id, keyWith, world } = yield* signUp()
    const post = (path: string, body: unknown) => call("POST", path, body)
    const domain = (yield* post("/v1/domains", { name: "acme.test" })).json
    const webhook = (yield* post("/v1/webhooks", { url: "https://example.org/hook", events: ["*"] })).json
    const email = (yield* post("/v1/email/send", {
      from: "hi@acme.test",
      to: "ana@example.org",
      subject: "x",
      scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
    })).json
    const received = (yield* post("/v1/test/inbound", { from: "ana@example.org", to: "hi@acme.test", text: "x" })).json
    const route = (yield* post("/v1/inbound/routes", { action: { type: "store" }, enabled: false })).json
    const template = (yield* post("/v1/templates", { name: "x", html: "<p>Hi</p>" })).json
    yield* post("/v1/suppressions", { email: "gone@example.org" })
    const member = (yield* post("/v1/members", { email: `m${webhook.id}@example.org`, role: "viewer" })).json.member
    const delivery = (yield* call("GET", `/v1/webhooks/${webhook.id}/deliveries`)).json.data[0]
    const clock = yield* world.request("POST", "/v1/test/clocks", { key: yield* keyWith({ mode: "test" }), body: {} })
    const requests = yield* World.until(call("GET", "/v1/requests"), ({ json }) => json.data.length > 0)
    return {
      account,
      key,
      key_id,
      request: requests.json.data[0].id as string,
      clock: clock.json.id as string,
      domain: domain.name as string,
      domain_id: domain.id as string,
      webhook: webhook.id as string,
      email: email.id as string,
      received: received.id as string,
      thread: received.thread_id as string,
      route: route.id as string,
      template: template.id as string,
      delivery: delivery.id as string,
      member: member.id as string,
    }
  })

  const routes = Object.entries(OpenApi.fromApi(Api).paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )

  // threat: tenants
  it.effect("get 404 for another account's resources at every endpoint", function* () {
    const world = yield* HttpWorld
    const theirs = yield* furnished
    const account = yield* world.account()
    const { secret: live } = yield* world.key(account)
    const { secret: test } = yield* world.key(account, { mode: "test" })
    const fill = (path: string): ReadonlyArray<string> => {
      if (path.includes("/domains/"))
        return [theirs.domain, theirs.domain_id].map((name) => path.replace("{domain}", name))
      return [
        path
          .replace("{key_id}", theirs.key_id)
          .replace("{delivery_id}", theirs.delivery)
          .replace("{email}", "gone@example.org")
          .replace("{attachment}", "att_1")
          .replace("{number}", "1")
          .replace("{template}", theirs.template)
          .replace(
            "{id}",
            KINDS.map(([part, kind]) => (path.includes(part) ? theirs[kind] : undefined)).find(
              (id) => id !== undefined,
            ) ?? theirs.email,
          ),
      ]
    }
    const named = routes.filter((route) => route.includes("{"))
    assert.isAbove(named.length, 15)
    for (const route of named) {
      const [method = "", path = ""] = route.split(" ")
      for (const filled of fill(path)) {
        assert.notInclude(filled, "{", route)
        const body = BODIES[route]
        const answer = yield* world.request(method, filled, { key: isOfTestMode(path) ? test : live, body })
        assert.strictEqual(answer.status, 404, `${route}: ${answer.text}`)
        assert.notStrictEqual(answer.json.error.reason, "route_not_found", route)
      }
    }
    // The other account's requests have not changed the owner's resources.
    const mine = (path: string) => Effect.map(world.request("GET", path, { key: theirs.key }), ({ json }) => json)
    assert.strictEqual((yield* mine(`/v1/email/logs/${theirs.email}`)).status, "queued")
    assert.strictEqual((yield* mine(`/v1/webhooks/${theirs.webhook}`)).enabled, true)
    assert.strictEqual((yield* mine(`/v1/domains/${theirs.domain}`)).status, "verified")
    assert.strictEqual((yield* mine(`/v1/suppressions/gone@example.org`)).reason, "manual")
  })

  // threat: tenants
  it.effect("see nothing of another account in any list", function* () {
    const world = yield* HttpWorld
    const theirs = yield* furnished
    const account = yield* world.account()
    const { id, secret: live } = yield* world.key(account)
    const { id: test_id, secret: test } = yield* world.key(account, { mode: "test" })
    const lists = routes.filter(
      (route) =>
        route.startsWith("GET /v1/") &&
        !route.includes("{") &&
        !route.endsWith("/account") &&
        !route.endsWith("/session") &&
        // Statistics contain numbers only.
        !route.endsWith("/stats") &&
        !route.endsWith("/stream"),
    )
    assert.sameMembers(
      lists.map((route) => route.split("/v1/")[1]),
      [
        "email/logs",
        "domains",
        "api-keys",
        "webhooks",
        "suppressions",
        "members",
        "events",
        "audit",
        "requests",
        "sandbox/messages",
        "inbound",
        "inbound/routes",
        "templates",
        "test/clocks",
      ],
    )
    for (const route of lists) {
      const [method = "", path = ""] = route.split(" ")
      const { json } = yield* world.request(method, path, { key: isOfTestMode(path) ? test : live })
      const ids = json.data.map((each: { id: string; stream_id?: string }) => each.stream_id ?? each.id)
      if (path.endsWith("/requests")) assert.notInclude(ids, theirs.request)
      else assert.includeMembers([id, test_id, account], ids, route)
    }
  })

  it.effect("can use the same domains, suppressions and idempotency keys as another account", function* () {
    const world = yield* HttpWorld
    const one = yield* furnished
    const two = yield* furnished
    const send = (key: string, subject: string) =>
      world.request("POST", "/v1/email/send", {
        key,
        headers: { "idempotency-key": "same" },
        body: { from: "hi@acme.test", to: "ana@example.org", subject },
      })
    const first = yield* send(one.key, "one")
    const second = yield* send(two.key, "two")
    assert.strictEqual(first.status, 200)
    assert.strictEqual(second.status, 200)
    assert.notStrictEqual(first.json.id, second.json.id)
  })
})
