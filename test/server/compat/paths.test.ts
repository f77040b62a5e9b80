import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect, Result } from "effect"
import { Resend } from "resend"
import * as Doors from "../../../apps/server/src/compat/doors/Doors.ts"
import * as PostmarkDoor from "../../../apps/server/src/compat/doors/Postmark.ts"
import * as ResendDoor from "../../../apps/server/src/compat/doors/Resend.ts"
import { assert, it, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

const KEY = { authorization: "Bearer wb_x" }
const TOKEN = { "x-postmark-server-token": "wb_x" }

type Row = readonly [method: string, path: string, headers: Record<string, string>, found: string | undefined]

/** The door that takes a request, and the path below it. */
const ROWS: ReadonlyArray<Row> = [
  ["POST", "/compat/resend/emails", KEY, "resend /emails"],
  ["POST", "/compat/resend//emails/", KEY, "resend /emails"],
  ["POST", "//compat//resend/emails", KEY, "resend /emails"],
  ["POST", "/compat/resendemails", KEY, "resend /emails"],
  ["POST", "/compat/emails", KEY, "resend /emails"],
  ["GET", "/compat/resend/emails/a%2Fb", KEY, "resend /emails/a%2Fb"],
  ["POST", "/compat/resend", KEY, "resend /"],
  ["POST", "/compat/postmarkemail", TOKEN, "postmark /email"],
  ["POST", "/compat/email", TOKEN, "postmark /email"],
  ["POST", "/compat/sendgrid/v3/mail/send/", KEY, "sendgrid /v3/mail/send"],
  ["POST", "/compat/v3/mail/send", KEY, "sendgrid /v3/mail/send"],
  ["POST", "/emails", KEY, "resend /emails"],
  ["POST", "/emails", {}, "resend /emails"],
  ["GET", "/emails", KEY, "resend /emails"],
  ["POST", "/email", KEY, "resend /email"],
  ["POST", "/email", TOKEN, "postmark /email"],
  ["POST", "/email/batch", TOKEN, "postmark /email/batch"],
  ["GET", "/bounces", TOKEN, "postmark /bounces"],
  ["POST", "/v3/mail/send", KEY, "sendgrid /v3/mail/send"],
  ["GET", "/v3/templates/x", KEY, "sendgrid /v3/templates/x"],
  // Pages of the dashboard, and Waybill's own API.
  ["GET", "/emails", {}, undefined],
  ["GET", "/emails/msg_1", {}, undefined],
  ["GET", "/emails", { authorization: "Basic b3duZXI6cGFzcw==" }, undefined],
  ["GET", "/domains", KEY, undefined],
  ["POST", "/v3/acme.test/messages", KEY, undefined],
  ["POST", "/v1/email/send", TOKEN, undefined],
  ["POST", "/v1/emails", KEY, undefined],
  ["GET", "/", KEY, undefined],
  ["GET", "/compat", KEY, undefined],
]

const foundBy = (entrance: Doors.Entrance | undefined) =>
  entrance === undefined ? undefined : `${entrance.door.prefix.slice("/compat/".length)} ${entrance.path}`

it.effect("a door is found by every spelling of its address, and takes no path of Waybill", () =>
  Effect.sync(() => {
    for (const [method, path, headers, found] of ROWS)
      assert.strictEqual(foundBy(Doors.entranceOf(path, { method, headers }, new Map())), found, `${method} ${path}`)
    const hosts = new Map([["mail.acme.test", "resend"]] as const)
    const at = (host: string, path: string) =>
      foundBy(Doors.entranceOf(path, { method: "GET", headers: { host } }, hosts))
    assert.strictEqual(at("Mail.acme.test:443", "/domains"), "resend /domains")
    assert.isUndefined(at("acme.test", "/domains"))
    // The addresses of files lead to the host that was asked.
    assert.isUndefined(at("mail.acme.test", "/attachments/x"))
  }),
)

const hosts = new Map([["mail.acme.test", "resend"]] as const)

it.effect("paths and parameters that only one client writes are known", () =>
  Effect.sync(() => {
    const refused = (method: string, path: string) =>
      Result.getOrThrow(Result.flip(ResendDoor.door.find(method, path))).message
    for (const [method, path] of [
      ["POST", "/domains/claims"],
      ["GET", "/domains/x/claims"],
      ["POST", "/domains/x/claims/verify"],
    ] as const)
      assert.match(refused(method, path), /no claims of domains/u)
    const { route } = Result.getOrThrow(PostmarkDoor.door.find("GET", "/stats/outbound/clicks/location"))
    assert.include(route.query ?? [], "type")
  }),
)

layer(HttpWorld.layer({ doorHosts: hosts }), { excludeTestServices: true, timeout: "60 seconds" })("a door", (it) => {
  it.effect("stands at the root, with its own answers, and at a host name", function* () {
    const world = yield* HttpWorld
    const { secret: key } = yield* world.key(yield* world.account())
    yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
    const resend = new Resend(key, { baseUrl: world.url })
    const email = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "Hello" }
    const sent = yield* Effect.promise(() => resend.emails.send(email))
    assert.isString(sent.data?.id, JSON.stringify(sent))
    const list = yield* Effect.promise(() => resend.emails.list())
    assert.lengthOf(list.data?.data ?? [], 1)
    const refused = yield* world.request("POST", "/emails", { body: email })
    assert.deepStrictEqual([refused.status, refused.json.name], [401, "missing_api_key"])
    const token = { "x-postmark-server-token": key }
    const body = { From: "hi@acme.test", To: "ana@example.org", TextBody: "Hello" }
    const posted = yield* world.request("POST", "/email", { headers: token, body })
    assert.deepStrictEqual([posted.status, posted.json.ErrorCode], [200, 0], posted.text)
    const nothing = yield* world.request("GET", "/bounces/none", { headers: token })
    assert.strictEqual(nothing.json.ErrorCode, 407, nothing.text)
    const once = { ...email, subject: "once" }
    const again = { "idempotency-key": "one" }
    const first = yield* world.request("POST", "/compat/resend/emails", { key, body: once, headers: again })
    const second = yield* world.request("POST", "/emails/", { key, body: once, headers: again })
    assert.deepStrictEqual(second.json, first.json)
  })
  it.effect("reads ids in both spellings, as our own API does", function* () {
    const world = yield* HttpWorld
    const { secret: key } = yield* world.key(yield* world.account())
    const { json: domain } = yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
    const body = {
      from: "hi@acme.test",
      to: "ana@example.org",
      subject: "x",
      text: "Hello",
      tags: [{ name: "a", value: "b" }],
    }
    const { json } = yield* world.request("POST", "/emails", { key, body })
    const id = Uuid.idOf("EmailId", json.id) ?? assert.fail(json.id)
    for (const path of [`/emails/${json.id}`, `/emails/${id}`, `/compat/resend/emails/${json.id}`])
      assert.strictEqual((yield* world.request("GET", path, { key })).json.id, json.id, path)
    for (const path of [`/v1/email/logs/${json.id}`, `/v1/email/logs/${id}`])
      assert.strictEqual((yield* world.request("GET", path, { key })).json.id, id, path)
    const ofDomain = yield* world.request("GET", `/compat/resend/domains/${Uuid.of(domain.id)}`, { key })
    assert.strictEqual(ofDomain.json.id, Uuid.of(domain.id))
    const update = { id: Uuid.of(domain.id), tls: "opportunistic", open_tracking: false }
    const updated = yield* world.request("PATCH", `/compat/resend/domains/${Uuid.of(domain.id)}`, { key, body: update })
    assert.strictEqual(updated.status, 200, updated.text)
    const other = yield* world.request("PATCH", `/compat/resend/domains/${domain.id}`, { key, body: { id: json.id } })
    assert.match(other.text, /`id` is an unknown field/u)
    const page = yield* world.request("GET", `/emails?limit=1&after=${json.id}`, { key })
    assert.deepStrictEqual([page.status, page.json.data], [200, []], page.text)
    const { secret: stranger } = yield* world.key(yield* world.account())
    for (const [method, path] of [
      ["GET", ""],
      ["PATCH", ""],
      ["POST", "/cancel"],
      ["GET", "/attachments"],
    ] as const) {
      const sent = method === "PATCH" ? { body: { scheduled_at: "in 1 hour" } } : {}
      const foreign = yield* world.request(method, `/emails/${json.id}${path}`, { key: stranger, ...sent })
      assert.strictEqual(foreign.status, 404, `${method} ${path}: ${foreign.text}`)
    }
    const none = yield* world.request("GET", "/emails/00000000-0000-7000-8000-000000000000", { key })
    assert.strictEqual(none.status, 404, none.text)
  })
})
