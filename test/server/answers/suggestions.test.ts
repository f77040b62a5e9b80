import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

const MESSAGE = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello", text: "Hi" }
const HOOK = { url: "https://example.org/hook", events: ["*"] }

type Case = readonly [method: string, path: string, body: unknown, at: string, nearest: string]

/** A misspelled value of each field and parameter that takes one of several. */
const VALUES: ReadonlyArray<Case> = [
  ["POST", "/v1/webhooks", { ...HOOK, events: ["email.sent", "email.open"] }, "events[1]", "email.opened"],
  ["POST", "/v1/webhooks", { ...HOOK, events: ["email.delivred"] }, "events[0]", "email.delivered"],
  // States of recipients, and the names of other services.
  ["POST", "/v1/webhooks", { ...HOOK, events: ["email.deferred"] }, "events[0]", "email.delivery_delayed"],
  ["POST", "/v1/webhooks", { ...HOOK, events: ["SpamComplaint"] }, "events[0]", "email.complained"],
  ["GET", "/v1/events?types=deferred", undefined, "types", "email.delivery_delayed"],
  ["POST", "/v1/members", { email: "ana@example.org", role: "members" }, "role", "member"],
  ["POST", "/v1/inbound/routes", { action: { type: "webhooks" } }, "action.type", "webhook"],
  ["POST", "/v1/templates", { name: "t", kind: "layouts" }, "kind", "layout"],
  ["POST", "/v1/webhooks", { ...HOOK, format: "Resend" }, "format", "resend"],
  ["POST", "/v1/email/send/batch", { emails: [MESSAGE], mode: "permisive" }, "mode", "permissive"],
  ["POST", "/v1/api-keys", { name: "k", scopes: ["email:sends"] }, "scopes[0]", "email:send"],
  ["POST", "/v1/api-keys", { name: "k", scopes: ["admin"], mode: "tests" }, "mode", "test"],
  ["POST", "/v1/suppressions", { email: "ana@example.org", reason: "hard-bounce" }, "reason", "hard_bounce"],
  ["GET", "/v1/email/logs?status=delivered,bounce", undefined, "status", "bounced"],
  ["GET", "/v1/email/logs?status=shceduled", undefined, "status", "scheduled"],
  ["GET", "/v1/email/logs?recipient_status=defered", undefined, "recipient_status", "deferred"],
  ["GET", "/v1/events?types=email.open", undefined, "types", "email.opened"],
  ["GET", "/v1/stats?group_by=days", undefined, "group_by", "day"],
  ["GET", "/v1/email/logs?livemode=True", undefined, "livemode", "true"],
]

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const { secret: key } = yield* world.key(yield* world.account())
  const refuse = (method: string, path: string, body?: unknown) =>
    Effect.map(world.request(method, path, { key, body }), ({ json, status }) => {
      assert.deepStrictEqual([status, json.error?.reason], [400, "validation_failed"], `${method} ${path}`)
      return json.error as { message: string; details: ReadonlyArray<{ path: string; message: string }> }
    })
  return { world, key, refuse }
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("a misspelled value", (it) => {
  it.effect("is refused with the nearest known one, and with all of them", function* () {
    const { refuse } = yield* setUp
    for (const [method, path, body, at, nearest] of VALUES) {
      const { details } = yield* refuse(method, path, body)
      assert.deepStrictEqual(
        details.map((detail) => detail.path),
        [at],
        path,
      )
      assert.include(details[0]?.message, `did you mean \`${nearest}\`?`, path)
    }
    const { details } = yield* refuse("POST", "/v1/webhooks", { ...HOOK, events: ["email.open"] })
    assert.match(
      details[0]?.message ?? "",
      /^is "email\.open", which is not known; did you mean `email\.opened`\? Known are email\.queued, /u,
    )
  })

  it.effect("in the place of a template is told its name, and others that a template can be named", function* () {
    const { key, world } = yield* setUp
    const send = (more: object) => world.request("POST", "/v1/email/send", { key, body: { ...MESSAGE, ...more } })
    const misspelled = yield* send({ templte: "welcome" })
    assert.match(misspelled.json.error.message, /has an unknown field `templte`; did you mean `template`\?/u)
    const body = yield* send({ body: "Hi" })
    assert.match(body.json.error.message, /has an unknown field `body`; did you mean `text` or `html`\?/u)
    const foreign = yield* send({ foo: "Hi" })
    assert.match(
      foreign.json.error.details[0].message,
      /^is an unknown field; known are from, .*, tracking, template$/u,
    )
  })

  it.effect("that is near to none lists the known ones; values are compared for some violations only", function* () {
    const { refuse } = yield* setUp
    const far = yield* refuse("POST", "/v1/suppressions", { email: "ana@example.org", reason: "x" })
    assert.deepStrictEqual(far.details, [
      { path: "reason", message: 'must be one of hard_bounce, complaint, manual or unsubscribe, not "x"' },
    ])
    const many = yield* refuse("POST", "/v1/api-keys", {
      name: "k",
      scopes: Array.from({ length: 60 }, () => "email:sends"),
    })
    const suggested = many.details.filter(({ message }) => message.includes("did you mean")).length
    assert.isAtLeast(suggested, 10)
    assert.isAtMost(suggested, 20)
  })

  it.effect("is not repeated", function* () {
    const { refuse } = yield* setUp
    const { details } = yield* refuse("GET", "/v1/email/logs?status=delivred%3Cscript%3E")
    assert.notInclude(JSON.stringify(details), "script")
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("a refusal says what to write", (it) => {
  it.effect("for several addresses in one string", function* () {
    const { refuse } = yield* setUp
    const message = 'has several addresses in one string; use an array: ["ana@example.org", "bo@example.org"]'
    for (const field of ["to", "cc", "bcc", "reply_to"])
      for (const list of ["a@x.test, b@x.test", "a@x.test;b@x.test", "Ana <a@x.test>, Bo <b@x.test>", "a@x.test,"])
        assert.deepStrictEqual(
          (yield* refuse("POST", "/v1/email/send", { ...MESSAGE, [field]: list })).details,
          [{ path: field, message }],
          `${field}: ${list}`,
        )
    const item = yield* refuse("POST", "/v1/email/send", { ...MESSAGE, to: ["c@x.test", "a@x.test, b@x.test"] })
    assert.deepStrictEqual(item.details, [
      { path: "to[1]", message: "has several addresses in one string; make each an item of the array" },
    ])
    const from = yield* refuse("POST", "/v1/email/send", { ...MESSAGE, from: "a@x.test, b@x.test" })
    assert.deepStrictEqual(from.details, [{ path: "from", message: "has several addresses; one is accepted" }])
    const long = Array.from({ length: 1_000 }, (_, nth) => `person-${nth}@x.test`).join(",")
    assert.deepStrictEqual((yield* refuse("POST", "/v1/email/send", { ...MESSAGE, to: long })).details, [
      { path: "to", message },
    ])
  })

  it.effect("for a tag that is a pair", function* () {
    const { refuse } = yield* setUp
    const message = "must be a string; a name with a value is `metadata`"
    const tags = [{ name: "campaign", value: "spring" }, "plain"]
    assert.deepStrictEqual((yield* refuse("POST", "/v1/email/send", { ...MESSAGE, tags })).details, [
      { path: "tags[0]", message },
    ])
    assert.deepStrictEqual(
      (yield* refuse("POST", "/v1/email/send", { ...MESSAGE, tags: { campaign: "spring" } })).details,
      [{ path: "tags", message: "must be an array of strings; a name with a value is `metadata`" }],
    )
    assert.deepStrictEqual(
      (yield* refuse("POST", "/v1/email/send/batch", { emails: [MESSAGE, { ...MESSAGE, tags }] })).details,
      [{ path: "emails[1].tags[0]", message }],
    )
  })

  it.effect("for a domain that is a URL or an address", function* () {
    const { refuse } = yield* setUp
    for (const text of [
      "https://acme.test",
      "http://acme.test/",
      "https://acme.test:8443/path?q#f",
      "acme.test/path",
      "acme.test:25",
      "hi@acme.test",
      "@acme.test",
      "mailto:hi@acme.test",
      "*.acme.test",
    ]) {
      const { details } = yield* refuse("POST", "/v1/domains", { name: text })
      assert.deepStrictEqual(details, [{ path: "name", message: "is not a domain name; did you mean `acme.test`?" }])
    }
    for (const text of ["https://", "https://x y", "https://user:wb_secret@/", "a b.test", "https://10.0.0.1/"]) {
      const { details } = yield* refuse("POST", "/v1/domains", { name: text })
      assert.notInclude(details[0]?.message, "did you mean", text)
    }
    const { details } = yield* refuse("POST", "/v1/api-keys", {
      name: "k",
      scopes: ["admin"],
      domain: "https://acme.test",
    })
    assert.include(details[0]?.message, "`acme.test`")
  })
})
