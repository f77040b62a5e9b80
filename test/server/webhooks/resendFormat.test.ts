import * as Email from "@waybill/domain/email/Email"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import type { Address } from "@waybill/domain/values/Address"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect, Layer, Schema } from "effect"
import { Resend, type WebhookEventPayload } from "resend"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"

const working = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  yield* Layer.build(Webhooks.worker(url))
})

const { webhooks } = new Resend("re_123")

/** Verifies the headers of one prefix as a program of that library does; throws if the signature is wrong. */
const verifyAsResend = ({ body, headers }: Receiver.Received, webhookSecret: string): WebhookEventPayload =>
  webhooks.verify({
    payload: body,
    headers: {
      id: headers["svix-id"] ?? "",
      timestamp: headers["svix-timestamp"] ?? "",
      signature: headers["svix-signature"] ?? "",
    },
    webhookSecret,
  })

const only = ({ headers }: Receiver.Received, prefix: string) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix)))

const verifyAll = (call: Receiver.Received, secret: string): WebhookEventPayload => {
  new SvixWebhook(secret).verify(call.body, only(call, "svix-"))
  new StandardWebhook(secret).verify(call.body, only(call, "webhook-"))
  return verifyAsResend(call, secret)
}

const decode = Schema.decodeUnknownSync(Email.Event)
const words = {
  code: 550,
  enhanced_code: "5.1.1",
  response: "No such user",
  mx: "mx.example.org",
  tls: null,
  duration_ms: 12,
  category: "invalid_recipient",
  attempt: 1,
}
const recipient = "ana@example.org"
const TAGS = ["plan:pro", "urgent"]
/** An email that is not scheduled, without recipients, so that the worker has nothing to deliver. */
const NOW = { scheduled_at: null, to: [] }

layer(World.layer, { excludeTestServices: true })("a webhook of the format resend", (it) => {
  it.effect(
    "gets each event as the package resend types it, with signatures that three libraries verify",
    function* () {
      yield* working
      const receiver = yield* Receiver.listen()
      const endpoint = yield* Webhooks.create(receiver.url, { format: "resend", svix_headers: true })
      const { account_id } = endpoint
      const email_id = yield* Webhooks.acceptEmail(account_id, {
        tags: TAGS,
        metadata: { category: "welcome" },
        to: [{ address: recipient, name: "Ana" }],
        headers: { "X-Order": "7041" },
      })
      const append = (event: object) =>
        Webhooks.append(account_id, email_id, (at) => decode({ recipient, ...event, at }))
      yield* append({ _tag: "EmailSent", ...words })
      yield* append({ _tag: "EmailDelivered", ...words })
      yield* append({ _tag: "EmailDeferred", ...words, next_attempt_at: "2030-01-01T00:00:00.000Z" })
      yield* append({ _tag: "EmailBounced", bounce_type: "hard", ...words })
      yield* append({ _tag: "EmailFailed", ...words, response: null, category: "throttled" })
      yield* append({ _tag: "EmailSuppressed", reason: "complaint" })
      yield* append({ _tag: "EmailComplained", feedback_type: "abuse" })
      yield* append({ _tag: "EmailOpened", recipient: null, user_agent: "Mail/1", ip: "192.0.2.7" })
      const clicked_at = yield* append({
        _tag: "EmailClicked",
        url: "https://acme.test/a",
        user_agent: "Mail/1",
        ip: "192.0.2.7",
      })
      yield* append({ _tag: "EmailCanceled" })
      const unscheduled = yield* Webhooks.acceptEmail(account_id, NOW)
      yield* Webhooks.settledAll(endpoint, 10)
      const events = new Map<string, Receiver.Received>(
        receiver.calls.map((call) => [verifyAll(call, endpoint.secret).type, call]),
      )
      const got = (type: string) => {
        const call = events.get(type) ?? assert.fail(`no ${type} came`)
        return JSON.parse(call.body) as { created_at: string; data: { created_at: string } }
      }
      const scheduled = got("email.scheduled")
      assert.match(scheduled.created_at, /^\d{4}-\d\d-\d\dT.*Z$/u)
      const base = {
        created_at: scheduled.data.created_at,
        email_id: Uuid.of(email_id),
        message_id: `<${email_id}@acme.test>`,
        from: "Acme <hi@acme.test>",
        to: ["Ana <ana@example.org>"],
        subject: "Your receipt",
        tags: { category: "welcome", plan: "pro", urgent: "" },
        headers: [{ name: "X-Order", value: "7041" }],
      }
      assert.deepStrictEqual<unknown>(scheduled, {
        type: "email.scheduled",
        created_at: scheduled.created_at,
        data: base,
      })
      const one = { ...base, to: [recipient] }
      const suppressed = "The recipient is on the suppression list of the account (complaint)."
      const expected: Readonly<Record<string, unknown>> = {
        "email.scheduled": base,
        "email.sent": {},
        "email.delivered": one,
        "email.delivery_delayed": one,
        "email.bounced": {
          ...one,
          bounce: {
            message: "No such user",
            subType: "General",
            type: "Permanent",
            diagnosticCode: ["smtp; 550 5.1.1 No such user"],
          },
        },
        "email.failed": { ...one, failed: { reason: "throttled" } },
        "email.suppressed": { ...one, suppressed: { message: suppressed, type: "OnAccountSuppressionList" } },
        "email.complained": one,
        "email.opened": base,
        "email.clicked": {
          ...one,
          click: {
            ipAddress: "192.0.2.7",
            link: "https://acme.test/a",
            timestamp: clicked_at,
            userAgent: "Mail/1",
          },
        },
      }
      assert.deepStrictEqual([...events.keys()].toSorted(), Object.keys(expected).toSorted())
      for (const [type, data] of Object.entries(expected))
        if (type === "email.sent") assert.propertyVal(got(type).data, "email_id", Uuid.of(unscheduled))
        else assert.deepStrictEqual<unknown>(got(type).data, data, type)
      const [call] = receiver.calls
      assert.deepStrictEqual(
        ["id", "timestamp", "signature"].map((name) => call?.headers[`svix-${name}`]),
        ["id", "timestamp", "signature"].map((name) => call?.headers[`webhook-${name}`]),
      )
      const forged = { ...(call as Receiver.Received), body: "{}" }
      assert.throws(() => verifyAsResend(forged, endpoint.secret), /signature/iu)
      const { history } = (yield* Webhooks.deliveries(endpoint))[0] ?? assert.fail("no delivery")
      assert.property(history[0]?.request_headers, "svix-signature")
    },
  )

  it.effect("gets suppressions, and a removal with the facts of what it removes", function* () {
    yield* working
    const receiver = yield* Receiver.listen()
    const account_id = id("AccountId")
    const endpoint = yield* Webhooks.create(receiver.url, { account_id, format: "resend", svix_headers: true })
    const { commit } = yield* EventStore
    const email_id = id("EmailId")
    const expected: Array<unknown> = []
    for (const [nth, [reason, origin]] of (
      [
        ["hard_bounce", "bounce"],
        ["complaint", "complaint"],
        ["unsubscribe", "manual"],
      ] as const
    ).entries()) {
      const email = `r${nth}@example.org` as Address
      const suppression = id("SuppressionId")
      const stream = { account_id, stream_id: Suppression.streamId(email) }
      const at = yield* Webhooks.now
      yield* commit(Suppression, stream, Suppression.add(at, suppression, email, reason, email_id))
      yield* commit(Suppression, stream, Suppression.remove(yield* Webhooks.now))
      const data = { id: Uuid.of(suppression), email, origin, source_id: Uuid.of(email_id), created_at: at }
      expected.push(["suppression.added", data], ["suppression.removed", data])
    }
    yield* Webhooks.settledAll(endpoint, 6)
    const got = receiver.calls.map((call) => verifyAll(call, endpoint.secret)).map(({ data, type }) => [type, data])
    const order = (events: ReadonlyArray<unknown>) => events.map((each) => JSON.stringify(each)).toSorted()
    assert.deepStrictEqual(order(got), order(expected))
  })

  it.effect("gets nothing that Resend has not, in replays and audits either", function* () {
    yield* working
    const receiver = yield* Receiver.listen()
    const account_id = id("AccountId")
    const endpoint = yield* Webhooks.create(receiver.url, {
      account_id,
      events: ["email.queued", "email.opened"],
      format: "resend",
      svix_headers: true,
    })
    const witness = yield* Webhooks.create(`${receiver.url}/own`, { account_id, svix_headers: true })
    const email_id = yield* Webhooks.acceptEmail(account_id, NOW)
    yield* Webhooks.append(account_id, email_id, (at) => decode({ _tag: "EmailCanceled", at }))
    yield* Webhooks.appendOpened(account_id, email_id)
    yield* Webhooks.settledAll(witness, 3)
    const record = yield* Webhooks.settledOne(endpoint)
    assert.strictEqual(record.event_type, "email.opened")
    const own = receiver.calls.filter(({ path }) => path.endsWith("/own"))
    assert.deepStrictEqual(
      own.map((call) => verifyAll(call, witness.secret)).map((event) => "api_version" in event),
      [true, true, true],
    )
    const balances = yield* Conservation.webhooks()
    const { deliveries, events, mismatched, missing } =
      balances.find(({ webhook_id }) => webhook_id === endpoint.webhook_id) ?? assert.fail("no balance")
    assert.deepStrictEqual([events, deliveries, missing, mismatched], [1, 1, [], []])
  })

  it.effect("gets the payload of the format that it has when it is called", function* () {
    const receiver = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["*"] })
    const email_id = yield* Webhooks.acceptEmail(endpoint.account_id)
    yield* Webhooks.append(endpoint.account_id, email_id, (at) => decode({ _tag: "EmailCanceled", at }))
    yield* Webhooks.change(endpoint, (now) => Webhook.update(now, { format: "resend" }, []))
    yield* working
    const settled = yield* Webhooks.settledAll(endpoint, 2)
    assert.deepStrictEqual(
      settled
        .map(({ attempts, event_type, history, status }) => [event_type, status, attempts, history[0]?.error])
        .toSorted(),
      [
        ["email.canceled", "failed", 0, "the webhook's format resend has no email.canceled"],
        ["email.queued", "delivered", 1, null],
      ],
    )
    const events = receiver.calls.map((call) => verifyAll(call, endpoint.secret).type)
    assert.deepStrictEqual(events, ["email.scheduled"])

    yield* Webhooks.change(endpoint, (now) => Webhook.update(now, { format: "waybill", svix_headers: false }, []))
    const delivered = settled.find(({ status }) => status === "delivered")?.id ?? ""
    yield* WebhookDeliveries.replay(endpoint.account_id, endpoint.webhook_id, delivered, yield* Webhooks.now)
    yield* World.until(
      Effect.sync(() => receiver.calls.length),
      (calls) => calls === 2,
    )
    const again = receiver.calls[1] ?? assert.fail("nothing came")
    new StandardWebhook(endpoint.secret).verify(again.body, again.headers)
    assert.deepStrictEqual(only(again, "svix-"), {})
    assert.deepInclude(JSON.parse(again.body), { type: "email.queued", api_version: "v1" })
  })
})
