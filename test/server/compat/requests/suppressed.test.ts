import sendgrid from "@sendgrid/mail"
import { Effect } from "effect"
import { ServerClient } from "postmark"
import { Resend } from "resend"
import { assert, layer } from "../../../support/effectTest.ts"
import { HttpWorld } from "../../../support/world/HttpWorld.ts"
import { good } from "../resendClient.ts"
import type { MailService } from "../sendgridCalls.ts"

const { MailService: MailServices } = sendgrid as unknown as { readonly MailService: new () => MailService }

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const account = yield* world.account()
  const { secret: key } = yield* world.key(account)
  yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
  for (const email of ["bo@example.org", "cy@example.org"])
    yield* world.request("POST", "/v1/suppressions", { key, body: { email } })
  const get = (path: string) => Effect.map(world.request("GET", path, { key }), ({ json }) => json)
  const statusesIn = Effect.map(get("/v1/email/logs"), ({ data }) =>
    (data as ReadonlyArray<{ readonly to: ReadonlyArray<string>; readonly status: string }>)
      .map(({ status, to }) => `${to.join()} ${status}`)
      .toSorted(),
  )
  return { world, key, get, statusesIn }
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })(
  "mail to suppressed recipients",
  (it) => {
    it.effect("stops no other mail of SendGrid's sendMultiple, and is accepted as suppressed", function* () {
      const { get, key, statusesIn, world } = yield* setUp
      const mail = new MailServices()
      mail.setApiKey(key)
      mail.client.setDefaultRequest("baseUrl", `${world.url}/compat/sendgrid`)
      const email = { from: "hi@acme.test", subject: "x", text: "x" }
      const [many] = yield* Effect.promise(() =>
        mail.sendMultiple({ ...email, to: ["ana@example.org", "bo@example.org", "di@example.org"] }),
      )
      assert.strictEqual(many.statusCode, 202)
      assert.lengthOf(String(many.headers["x-message-ids"]).split(","), 3)
      assert.deepStrictEqual(yield* statusesIn, [
        "ana@example.org queued",
        "bo@example.org suppressed",
        "di@example.org queued",
      ])
      const [one] = yield* Effect.promise(() => mail.send({ ...email, to: ["bo@example.org", "cy@example.org"] }))
      assert.strictEqual(one.statusCode, 202)
      const id = String(one.headers["x-message-id"])
      const { data } = yield* get(`/v1/email/logs/${id}/events`)
      assert.deepStrictEqual((data as ReadonlyArray<{ readonly type: string }>).map(({ type }) => type).toSorted(), [
        "email.queued",
        "email.suppressed",
        "email.suppressed",
      ])
      // A message that reaches nobody counts as one recipient.
      assert.strictEqual((yield* get("/v1/account")).usage.emails, 2 + 1 + 1)
    })

    it.effect("stops no other mail of Resend's batch, and is accepted once", function* () {
      const { get, key, statusesIn, world } = yield* setUp
      const resend = new Resend(key, { baseUrl: `${world.url}/compat/resend` })
      const email = { from: "hi@acme.test", subject: "x", text: "x" }
      const both = [
        { ...email, to: "ana@example.org" },
        { ...email, to: "bo@example.org" },
      ]
      const { data } = yield* good(() => resend.batch.send(both))
      assert.deepStrictEqual(yield* statusesIn, ["ana@example.org queued", "bo@example.org suppressed"])
      assert.strictEqual((yield* good(() => resend.emails.get(data[1]?.id ?? ""))).last_event, "suppressed")
      const once = () => resend.emails.send({ ...email, to: "cy@example.org" }, { idempotencyKey: "a" })
      assert.strictEqual((yield* good(once)).id, (yield* good(once)).id)
      assert.lengthOf(yield* statusesIn, 3)
      assert.strictEqual((yield* get("/v1/account")).usage.emails, 1 + 1 + 1)
    })

    it.effect("is refused by Postmark's, and by our own API unless it is asked to accept it", function* () {
      const { key, statusesIn, world } = yield* setUp
      const native = { from: "hi@acme.test", to: "bo@example.org", subject: "x", text: "x" }
      const { json, status } = yield* world.request("POST", "/v1/email/send", { key, body: native })
      assert.deepStrictEqual([status, json.error.reason], [422, "all_recipients_suppressed"])
      const accepted = yield* world.request("POST", "/v1/email/send", {
        key,
        body: { ...native, accept_suppressed: true },
      })
      assert.strictEqual(accepted.status, 200)
      assert.deepStrictEqual(yield* statusesIn, ["bo@example.org suppressed"])
      const answer = yield* world.request("POST", "/compat/postmark/email", {
        headers: { "x-postmark-server-token": key },
        body: { From: "hi@acme.test", To: "bo@example.org", Subject: "x", TextBody: "x" },
      })
      assert.deepStrictEqual([answer.status, answer.json.ErrorCode], [422, 406])
    })

    it.effect("is named in Postmark's refusals, and each message of a batch has its own cause", function* () {
      const { key, world } = yield* setUp
      const send = (path: string, body: object) =>
        Effect.map(
          world.request("POST", `/compat/postmark${path}`, { headers: { "x-postmark-server-token": key }, body }),
          ({ json }) => json,
        )
      yield* world.request("POST", "/v1/domains", { key, body: { name: "real-domain.com" } })
      const email = { From: "hi@acme.test", To: "bo@example.org", Subject: "x", TextBody: "x" }
      const inactive =
        "You tried to send to recipients that have been marked as inactive. Found inactive addresses: bo@example.org. "
      assert.isTrue((yield* send("/email", email)).Message.startsWith(inactive))
      const others = ["hi@real-domain.com", "hi@unknown-domain.com"].map((From) => ({
        ...email,
        From,
        To: "ana@example.org",
      }))
      const results = yield* send("/email/batch", [email, ...others])
      assert.isTrue(results[0].Message.startsWith(inactive))
      assert.deepStrictEqual(
        results.map(({ ErrorCode }: { readonly ErrorCode: number }) => ErrorCode),
        [406, 401, 400],
      )
    })

    it.effect("is named in Postmark's answer for the others", function* () {
      const { key, world } = yield* setUp
      const client = new ServerClient(key, {
        requestHost: `${world.url.replace("http://", "")}/compat/postmark`,
        useHttps: false,
      })
      const email = { From: "hi@acme.test", To: "ana@example.org", Subject: "x", TextBody: "x" }
      const mixed = { ...email, Cc: "bo@example.org", Bcc: "cy@example.org" }
      const one = yield* Effect.promise(() => client.sendEmail(mixed))
      const many = yield* Effect.promise(() => client.sendEmailBatch([email, mixed]))
      const message =
        "Message OK, but will not deliver to these inactive addresses: bo@example.org, cy@example.org. " +
        "Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression."
      assert.deepStrictEqual(
        [one, ...many].map(({ ErrorCode, Message }) => [ErrorCode, Message]),
        [
          [0, message],
          [0, "OK"],
          [0, message],
        ],
      )
    })
  },
)
