import { EventWebhook, EventWebhookHeader } from "@sendgrid/eventwebhook"
import * as Email from "@waybill/domain/email/Email"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import type * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import type { Address } from "@waybill/domain/values/Address"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as WebhookReplays from "@waybill/store/webhooks/WebhookReplays"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Layer, Schema } from "effect"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"
import * as EventSignature from "../../../apps/server/src/worker/webhooks/EventSignature.ts"

const working = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  yield* Layer.build(Webhooks.worker(url))
})

/** Verifies a call as a program with SendGrid's package does. */
const verify = ({ body, headers }: Receiver.Received, secret: string): boolean => {
  const events = new EventWebhook()
  const key = events.convertPublicKeyToECDSA(EventSignature.publicKeyOf(secret))
  const header = (name: string) => headers[name.toLowerCase()] ?? ""
  return events.verifySignature(
    key,
    body,
    header(EventWebhookHeader.SIGNATURE()),
    header(EventWebhookHeader.TIMESTAMP()),
  )
}

const decode = Schema.decodeUnknownSync(Email.Event)
const answer = {
  code: 550,
  enhanced_code: "5.1.1",
  response: "No such user",
  mx: "mx.example.org",
  tls: "TLSv1.3",
  duration_ms: 12,
  category: "invalid_recipient",
  attempt: 1,
}
const recipient = "ana@example.org" as Address
const unsubscriber = "bo@example.org" as Address

type Json = Readonly<Record<string, unknown>>

layer(World.layer, { excludeTestServices: true })("a webhook of the format sendgrid", (it) => {
  it.effect(
    "gets each event as SendGrid sends it, signed as the package @sendgrid/eventwebhook verifies",
    function* () {
      yield* working
      const receiver = yield* Receiver.listen()
      const endpoint = yield* Webhooks.create(receiver.url, { format: "sendgrid" })
      const { account_id } = endpoint
      const scheduled_at = "2030-01-01T00:00:00.000Z"
      const email_id = yield* Webhooks.acceptEmail(account_id, {
        tags: ["welcome"],
        metadata: { campaign: "spring", event: "mine", email: "eve@evil.test" },
        scheduled_at,
        to: [
          { address: recipient, name: "Ana" },
          { address: unsubscriber, name: "Bo" },
        ],
      })
      const append = (event: object) =>
        Webhooks.append(account_id, email_id, (at) => decode({ recipient, ...event, at }))
      const next_attempt_at = "2030-01-01T00:00:00.000Z"
      yield* append({ _tag: "EmailDeferred", ...answer, code: 451, response: "Later", tls: null, next_attempt_at })
      yield* append({ _tag: "EmailDelivered", ...answer, code: 250, response: "Ok", category: null })
      yield* append({ _tag: "EmailBounced", bounce_type: "hard", ...answer })
      yield* append({
        _tag: "EmailFailed",
        ...answer,
        code: null,
        enhanced_code: null,
        response: null,
        category: "throttled",
      })
      yield* append({ _tag: "EmailSuppressed", reason: "complaint" })
      yield* append({ _tag: "EmailComplained", feedback_type: "abuse" })
      yield* append({ _tag: "EmailOpened", user_agent: "Mail/1", ip: "192.0.2.7" })
      yield* append({ _tag: "EmailClicked", recipient: null, url: "https://acme.test/a", user_agent: null, ip: null })
      yield* append({ _tag: "EmailSent", ...answer })
      yield* append({ _tag: "EmailCanceled" })
      const { commit } = yield* EventStore
      const suppress = Effect.fnUntraced(function* (address: Address, reason: SuppressionState.Reason) {
        const stream = { account_id, stream_id: Suppression.streamId(address) }
        const at = yield* Webhooks.now
        yield* commit(Suppression, stream, Suppression.add(at, id("SuppressionId"), address, reason, email_id))
      })
      yield* suppress(recipient, "hard_bounce")
      yield* suppress(unsubscriber, "unsubscribe")

      yield* Webhooks.settledAll(endpoint, 10)
      const calls = receiver.calls.map((call) => {
        assert.isTrue(verify(call, endpoint.secret))
        assert.isFalse(verify({ ...call, body: `${call.body} ` }, endpoint.secret))
        assert.isFalse(verify(call, Webhooks.freshSecret()))
        new StandardWebhook(endpoint.secret).verify(call.body, call.headers)
        return JSON.parse(call.body) as ReadonlyArray<Json>
      })
      const ids = new Set(calls.flat().map(({ sg_event_id }) => sg_event_id))
      assert.strictEqual(ids.size, 11, "one event a call, and one for each recipient of an email that is accepted")
      const message = {
        campaign: "spring",
        category: ["welcome"],
        "smtp-id": `<${email_id}@acme.test>`,
        sg_message_id: email_id,
      }
      const tls = { tls: 1 }
      const expected = [
        { ...message, email: recipient, event: "processed", send_at: Date.parse(scheduled_at) / 1_000 },
        { ...message, email: unsubscriber, event: "processed", send_at: Date.parse(scheduled_at) / 1_000 },
        { ...message, email: recipient, event: "deferred", response: "451 Later", attempt: "1" },
        { ...message, email: recipient, event: "delivered", response: "250 Ok", ...tls },
        {
          ...message,
          email: recipient,
          event: "bounce",
          type: "bounce",
          reason: "550 No such user",
          status: "5.1.1",
          bounce_classification: "Invalid Address",
          ...tls,
        },
        {
          ...message,
          email: recipient,
          event: "bounce",
          type: "blocked",
          reason: "throttled",
          bounce_classification: "Frequency/Volume",
          ...tls,
        },
        { ...message, email: recipient, event: "dropped", reason: "Spam Reporting Address" },
        { ...message, email: recipient, event: "spamreport" },
        { ...message, email: recipient, event: "open", useragent: "Mail/1", ip: "192.0.2.7" },
        { ...message, email: "", event: "click", url: "https://acme.test/a", useragent: "", ip: "" },
        { email: unsubscriber, event: "unsubscribe", sg_message_id: email_id },
      ]
      const keyOf = ({ email, event, type }: Json) => JSON.stringify([event, type, email])
      const order = (events: ReadonlyArray<Json>) => events.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      const got = calls.flat().map(({ sg_event_id, timestamp, ...event }) => {
        assert.isTrue(Number.isInteger(timestamp) && Math.abs(Number(timestamp) - Date.now() / 1_000) < 600)
        assert.match(String(sg_event_id), /^evt_/u)
        return event
      })
      assert.deepStrictEqual<unknown>(order(got), order(expected))
      const processed = calls.find(({ length }) => length === 2)
      assert.deepStrictEqual(
        processed?.map(({ email }) => email),
        [recipient, unsubscriber],
      )
    },
  )

  it.effect("gets of suppressions only those by recipients, in replays and audits too", function* () {
    yield* working
    const receiver = yield* Receiver.listen()
    const account_id = id("AccountId")
    const endpoint = yield* Webhooks.create(receiver.url, {
      account_id,
      format: "sendgrid",
      events: ["suppression.added"],
    })
    const witness = yield* Webhooks.create(`${receiver.url}/own`, { account_id, events: ["suppression.added"] })
    const { commit } = yield* EventStore
    for (const [nth, reason] of (["manual", "unsubscribe", "complaint"] as const).entries()) {
      const address = `r${nth}@example.org` as Address
      const stream = { account_id, stream_id: Suppression.streamId(address) }
      yield* commit(
        Suppression,
        stream,
        Suppression.add(yield* Webhooks.now, id("SuppressionId"), address, reason, null),
      )
    }
    yield* Webhooks.settledAll(witness, 3)
    yield* Webhooks.settledOne(endpoint)
    const balances = yield* Conservation.webhooks()
    const { deliveries, events, mismatched, missing } =
      balances.find(({ webhook_id }) => webhook_id === endpoint.webhook_id) ?? assert.fail("no balance")
    assert.deepStrictEqual([events, deliveries, missing, mismatched], [1, 1, [], []])
    const replayed = yield* WebhookReplays.replay({
      account_id,
      webhook_id: endpoint.webhook_id,
      created_after: "2000-01-01T00:00:00.000Z",
      created_before: "2100-01-01T00:00:00.000Z",
      after_position: 0n,
      types: [{ tag: "SuppressionAdded", type: "suppression.added" }],
      scheduled: null,
      unsubscribes: true,
      ids: [id("WebhookDeliveryId"), id("WebhookDeliveryId")],
      now: yield* Webhooks.now,
    })
    assert.deepStrictEqual(replayed, { queued: 1, next_position: null })
  })

  it.effect("is signed with the new key at once after a rotation, and by Standard Webhooks with both", function* () {
    const receiver = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(receiver.url, { format: "sendgrid" })
    const next = { ...endpoint, secret: Webhooks.freshSecret() }
    yield* Webhooks.seal(next, "signing:2")
    yield* Webhooks.change(endpoint, (now) => Webhook.rotateSecret(now, "signing:2"))
    yield* Webhooks.acceptEmail(endpoint.account_id)
    yield* working
    yield* Webhooks.settledOne(endpoint)
    const [call] = receiver.calls
    assert(call !== undefined)
    assert.deepStrictEqual([verify(call, next.secret), verify(call, endpoint.secret)], [true, false])
    for (const { secret } of [endpoint, next]) new StandardWebhook(secret).verify(call.body, call.headers)
  })
})

describe("the key of SendGrid's signature", () => {
  it("follows from the secret alone", () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
    const key =
      "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEydqwjEcQ/CXV6Hbl+qGIObMjtCUqqlC0L/hivrHqhz9+6lcZ03qroF8DnjURqH2x/scYf3jzIMFM9h8ANEw0QQ=="
    assert.strictEqual(EventSignature.publicKeyOf(secret), key)
  })
})
