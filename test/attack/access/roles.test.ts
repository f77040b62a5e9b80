import { Api } from "@waybill/api/Api"
import * as Team from "@waybill/domain/account/Team"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { readFileSync } from "node:fs"
import { browser, House, tokenOf } from "../../server/signIn/house.ts"
import { assert, describe, it as plain, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

/** Endpoints that a session of each role may call; an owner may call all. */
const VIEWER = [
  "account.get",
  "domains.dmarc",
  "domains.get",
  "domains.list",
  "domains.tls",
  "inbound.attachment",
  "inbound.get",
  "inbound.list",
  "inbound.raw",
  "inbound.receipt",
  "inbound.thread",
  "logs.events",
  "emails.get",
  "emails.receipt",
  "logs.get",
  "logs.list",
  "members.session",
  "requests.get",
  "requests.list",
  "sandbox.get",
  "sandbox.list",
  "stats.get",
  "suppressions.get",
  "suppressions.list",
  "templates.get",
  "templates.list",
  "templates.render",
  "templates.version",
  "templates.versions",
]
const MEMBER = [
  ...VIEWER,
  "domains.add",
  "domains.addEd25519",
  "domains.remove",
  "domains.removeEd25519",
  "domains.rotateDkim",
  "domains.rotateEd25519",
  "domains.update",
  "domains.verify",
  "emails.cancel",
  "emails.resend",
  "emails.reschedule",
  "emails.send",
  "emails.sendBatch",
  "inbound.forward",
  "inbound.remove",
  "inbound.replay",
  "inbound.reply",
  "inbound.test",
  "inboundRoutes.create",
  "inboundRoutes.get",
  "inboundRoutes.list",
  "inboundRoutes.remove",
  "inboundRoutes.test",
  "inboundRoutes.update",
  "sandbox.clear",
  "sandbox.remove",
  "templates.archive",
  "templates.create",
  "templates.duplicate",
  "templates.publish",
  "templates.push",
  "templates.rollback",
  "templates.update",
  "templates.validate",
  "testClocks.advance",
  "testClocks.create",
  "testClocks.get",
  "testClocks.list",
  "testClocks.remove",
  "webhooks.create",
  "webhooks.deliveries",
  "webhooks.delivery",
  "webhooks.get",
  "webhooks.list",
  "webhooks.remove",
  "webhooks.replay",
  "webhooks.replayDelivery",
  "webhooks.rotateSecret",
  "webhooks.test",
  "webhooks.update",
]

const operations = Object.entries(OpenApi.fromApi(Api).paths)
  .filter(([path]) => path.startsWith("/v1/"))
  .flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { readonly operationId: string }>).map(([method, { operationId }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
    })),
  )
const all = operations.map(({ id }) => id)

const ALLOWED: { readonly [R in Team.Role]: ReadonlyArray<string> } = { owner: all, member: MEMBER, viewer: VIEWER }

describe("roles", () => {
  plain("a viewer may call no endpoint that changes anything", () => {
    // Rendering a template changes nothing.
    const changing = operations
      .filter(({ id, method }) => id !== "templates.render" && method !== "GET")
      .map(({ id }) => id)
    assert.deepStrictEqual(
      VIEWER.filter((id) => changing.includes(id)),
      [],
    )
    for (const id of MEMBER) assert.include(all, id)
  })

  plain("docs/api-keys.md lists the scopes of each role", () => {
    const page = readFileSync("docs/api-keys.md", "utf8")
    for (const [role, scopes] of Object.entries(Team.SCOPES))
      assert.include(page, `| ${role} | ${scopes.map((scope) => `\`${scope}\``).join(", ")}`)
  })
})

const PASSWORD = "three blind mice, see how"

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("a session", (it) => {
  /** Returns a browser signed in as a user with this role. */
  const signedIn = Effect.fnUntraced(function* (role: Team.Role) {
    const { owner, url } = yield* House
    const first = browser(url)
    yield* first.signIn(owner)
    if (role === "owner") return first
    const email = `${role}@example.org`
    const { json } = yield* first.request("POST", "/v1/members", { body: { email, role } })
    const page = browser(url)
    const body = { token: tokenOf(json.url), newPassword: PASSWORD }
    yield* page.request("POST", "/auth/reset-password", { body })
    yield* page.signIn({ email, password: PASSWORD })
    return page
  })

  // threat: roles
  it.effect.each(["viewer", "member", "owner"] as const)(
    "with the role %s is refused at every endpoint outside that role",
    (role) =>
      Effect.gen(function* () {
        const page = yield* signedIn(role)
        const allowed: Array<string> = []
        for (const { id, method, path } of operations) {
          // A stream that is accepted does not end.
          if (id === "events.stream" && role === "owner") {
            allowed.push(id)
            continue
          }
          const filled = path
            .replace("{domain}", "nobody.test")
            .replace("{delivery_id}", "whd_00000000000000000000000000")
            .replace("{email}", "nobody@example.org")
            .replace("{key_id}", "key_00000000000000000000000000")
            .replace("{template}", "receipt")
            .replace("{number}", "1")
            .replace("{id}", `${kindOf(path)}_00000000000000000000000000`)
          const { json, status } = yield* page.request(method, filled, method === "GET" ? {} : { body: {} })
          assert.notInclude([401, 429, 500], status, id)
          if (status !== 403) allowed.push(id)
          else assert.strictEqual(json.error.reason, "missing_scope", id)
        }
        assert.sameMembers(allowed, [...ALLOWED[role]])
      }),
  )

  it.effect("sees test mail with livemode=false, and live mail without", function* () {
    const page = yield* signedIn("owner")
    const { url } = yield* House
    const made = yield* page.request("POST", "/v1/api-keys", {
      body: { name: "Tests", mode: "test", scopes: ["email:send"] },
    })
    const body = { from: "hi@shop.example", to: "ana@example.org", subject: "Hello" }
    const sent = yield* Effect.promise(() =>
      fetch(`${url}/v1/email/send`, {
        method: "POST",
        headers: { authorization: `Bearer ${made.json.key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }).then((response) => response.json() as Promise<{ readonly id: string }>),
    )
    const ids = (path: string) =>
      Effect.map(page.request("GET", path), ({ json }) => json.data.map((each: { id: string }) => each.id))
    assert.deepStrictEqual(yield* ids("/v1/email/logs?livemode=false"), [sent.id])
    for (const query of ["", "?livemode=true"]) assert.notInclude(yield* ids(`/v1/email/logs${query}`), sent.id)
    const path = "/v1/suppressions/bo@example.org"
    const add = yield* page.request("POST", "/v1/suppressions?livemode=false", { body: { email: "bo@example.org" } })
    assert.deepStrictEqual([add.status, add.json.livemode], [201, false])
    assert.strictEqual((yield* page.request("GET", path)).status, 404)
    assert.strictEqual((yield* page.request("DELETE", `${path}?livemode=false`)).status, 200)
    const wrong = yield* page.request("GET", "/v1/email/logs?livemode=no")
    assert.deepStrictEqual([wrong.status, wrong.json.error.details[0].path], [400, "livemode"])
    const requests = page.request("GET", "/v1/requests?livemode=false")
    const logged = yield* World.until(requests, ({ json }) => json.data.length >= 3)
    assert.deepStrictEqual(
      logged.json.data.map((each: Record<string, unknown>) => [each["method"], each["livemode"]]),
      [
        ["DELETE", false],
        ["POST", false],
        ["POST", false],
      ],
    )
  })
})

const kindOf = (path: string): string =>
  path.includes("/webhooks/") ? "whk" : path.includes("/members/") ? "usr" : path.includes("/requests/") ? "req" : "msg"
