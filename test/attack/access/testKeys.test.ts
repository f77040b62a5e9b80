import * as Livemode from "@waybill/domain/account/Livemode"
import type { EmailId } from "@waybill/domain/values/Id"
import type { Transport } from "@waybill/mail/transport/Transport"
import { Clock, Effect, Layer } from "effect"
import * as Transports from "../../../apps/server/src/worker/delivery/Transports.ts"
import * as Worker from "../../../apps/server/src/boot/service/Worker.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"
import { directTransport, pair } from "../../mail/smtp/mxPair.ts"
import * as Smtp from "../../server/smtp/support.ts"

/** From a domain that the account does not have. */
const EMAIL = { from: "Shop <hi@shop.example>", to: "ana@example.org", subject: "Your receipt", text: "Thank you." }

/** An account with a verified domain, and its live and its test key. */
const customer = Effect.gen(function* () {
  const { account, call, keyWith, log, world } = yield* signUp()
  yield* World.verifiedDomain("acme.test", account)
  const test = yield* keyWith({ mode: "test", scopes: ["email:send", "email:logs:read"] })
  const callTest = (method: string, path: string, body?: unknown, headers = {}) =>
    world.request(method, path, { key: test, body, headers })
  return { account, call, callTest, log, test, world, testAccount: Livemode.testAccountOf(account) }
})

/** A worker with one transport, which leads to a server; ends with its scope. */
const worker = Effect.fnUntraced(function* (kind: "relay" | "direct", transport: Layer.Layer<Transport>) {
  const { url } = yield* Database.Fresh
  yield* Layer.build(
    Worker.layer({ url, delivery: { returnPath: World.RETURN_PATH, nextAttempt: World.retrySoon } }).pipe(
      Layer.provide([Transports.Transports.layer<never, never>(kind, { [kind]: transport }), World.delivering]),
    ),
  )
})

/** Sends a message through every way in, to a recipient, and returns how many were accepted and the id of the first. */
const sendByEveryDoor = Effect.fnUntraced(function* (
  { callTest, test, world }: Pick<Effect.Success<typeof customer>, "callTest" | "test" | "world">,
  recipient: string,
) {
  const port = yield* Smtp.submission()
  const email = { ...EMAIL, to: recipient }
  const sent = yield* callTest("POST", "/v1/email/send", { ...EMAIL, to: recipient.replace("ana@", "bounced@") })
  yield* World.until(callTest("GET", `/v1/email/logs/${sent.json.id}`), ({ json }) => json.status === "bounced")
  const soon = new Date((yield* Clock.currentTimeMillis) + 400).toISOString()
  const answers = [
    sent,
    yield* callTest("POST", "/v1/email/send/batch", { emails: [email, email] }),
    yield* callTest("POST", "/v1/email/send", { ...email, scheduled_at: soon }),
    yield* callTest("POST", `/v1/email/${sent.json.id}/resend`),
    yield* callTest("POST", "/compat/resend/emails", email),
    yield* callTest("POST", "/compat/resend/emails/batch", [email]),
    yield* world.request("POST", "/compat/postmark/email", {
      body: { From: EMAIL.from, To: recipient, Subject: "Hi", TextBody: "Hi" },
      headers: { "x-postmark-server-token": test },
    }),
    yield* world.request("POST", "/compat/sendgrid/v3/mail/send", {
      body: {
        personalizations: [{ to: [{ email: recipient }] }],
        from: { email: "hi@shop.example" },
        subject: "Hi",
        content: [{ type: "text/plain", value: "Hi" }],
      },
      headers: { authorization: `Bearer ${test}` },
    }),
  ]
  for (const { status, text } of answers) assert.include([200, 202], status, text)
  assert.match(yield* Smtp.send(port, test, { ...email, from: "hi@shop.example" }), /^250 /u)
  const list = yield* World.until(callTest("GET", "/v1/email/logs?limit=100"), ({ json }) =>
    json.data.every(({ status }: { status: string }) => status === "delivered" || status === "bounced"),
  )
  assert.strictEqual(list.json.data.length, SENT)
  assert.deepStrictEqual([...new Set(list.json.data.map((each: { livemode: boolean }) => each.livemode))], [false])
  return sent.json.id as EmailId
})
/** Messages of `sendByEveryDoor`; two of them bounce. */
const SENT = 10

const layers = HttpWorld.layer({ transport: "relay" })

layer(layers, { excludeTestServices: true })("test mail", (it) => {
  // threat: test-mail
  it.effect("never leaves, whichever door it comes through, while live mail does", function* () {
    const server = yield* SmtpServer.listen()
    yield* worker("relay", World.relay(server))
    const { account, call, callTest, test, world } = yield* customer
    const id = yield* sendByEveryDoor({ callTest, test, world }, EMAIL.to)
    const live = yield* call("POST", "/v1/email/send", { ...EMAIL, from: "hi@acme.test" })
    yield* World.settled({ account_id: account, stream_id: live.json.id as EmailId })
    assert.deepStrictEqual(
      server.mails.map(({ to }) => to),
      [["ana@example.org"]],
    )
    assert.strictEqual(server.connections().opened, 1)
    // Each mode sees its own mail only.
    const own = yield* call("GET", "/v1/email/logs")
    assert.deepStrictEqual(
      own.json.data.map(({ id, livemode }: { id: string; livemode: boolean }) => [id, livemode]),
      [[live.json.id, true]],
    )
    assert.strictEqual((yield* callTest("GET", `/v1/email/logs/${live.json.id}`)).status, 404)
    assert.strictEqual((yield* call("GET", `/v1/email/logs/${id}`)).status, 404)
    const inbox = yield* callTest("GET", "/v1/sandbox/messages?limit=100")
    assert.strictEqual(inbox.json.data.length, SENT - 2)
    assert.deepStrictEqual(reasonOf(yield* call("GET", "/v1/sandbox/messages")), [404, "route_not_found"])
  })

  // threat: test-mail
  it.effect("never leaves by direct delivery, whichever door it comes through, while live mail does", function* () {
    const servers = yield* pair({})
    yield* worker("direct", directTransport(servers))
    const { account, call, callTest, test, world } = yield* customer
    yield* sendByEveryDoor({ callTest, test, world }, "ana@acme.test")
    assert.deepStrictEqual(servers.dns.queries, [])
    const live = yield* call("POST", "/v1/email/send", { ...EMAIL, from: "hi@acme.test", to: "bo@acme.test" })
    yield* World.settled({ account_id: account, stream_id: live.json.id as EmailId })
    assert.deepStrictEqual(
      servers.mx1?.mails.map(({ to }) => to),
      [["bo@acme.test"]],
    )
    assert.strictEqual(servers.mx1?.connections().opened, 1)
    assert.strictEqual(servers.mx2.connections().opened, 0)
  })

  it.effect("never leaves after a restart with another transport", function* () {
    const server = yield* SmtpServer.listen()
    const { callTest, testAccount } = yield* customer
    // Accepted while no worker runs, and taken over by one that delivers directly.
    const { json } = yield* callTest("POST", "/v1/email/send", EMAIL)
    yield* worker("direct", World.relay(server))
    const { state } = yield* World.settled({ account_id: testAccount, stream_id: json.id })
    assert.deepStrictEqual(state._tag === "Message" ? state.recipients.map(({ status }) => status) : [], ["delivered"])
    assert.strictEqual(server.connections().opened, 0)
  })

  it.effect("does not change the account, and is not counted in it", function* () {
    const { account, call, callTest, testAccount, world } = yield* customer
    yield* callTest("POST", "/v1/email/send", EMAIL)
    const accounts = yield* Effect.forEach([call, callTest], (ask) => ask("GET", "/v1/account"))
    assert.deepStrictEqual(
      accounts.map(({ json }) => [json.id, json.livemode, json.usage.emails, json.limits.monthly_emails]),
      [
        [account, true, 0, null],
        [account, false, 1, 100_000],
      ],
    )
    for (const path of ["/v1/domains", "/v1/webhooks", "/v1/api-keys", "/v1/members", "/v1/audit"]) {
      const admin = yield* world.key(account, { mode: "test", scopes: ["admin"] })
      const answer = yield* world.request("GET", path, { key: admin.secret })
      assert.deepStrictEqual(reasonOf(answer), [403, "live_only"], path)
    }
    assert.deepStrictEqual(reasonOf(yield* call("GET", "/v1/email/logs?livemode=false")), [403, "other_mode"])
    assert.deepStrictEqual(reasonOf(yield* callTest("GET", "/v1/email/logs?livemode=true")), [403, "other_mode"])
    yield* Effect.orDie(world.sql`UPDATE monthly_usage SET accepted = 100000 WHERE account_id = ${testAccount}`)
    const refused = yield* callTest("POST", "/v1/email/send", EMAIL)
    assert.deepStrictEqual(reasonOf(refused), [429, "monthly_quota"])
    assert.include(refused.json.error.message, "100000 of 100000 test emails")
  })
})
