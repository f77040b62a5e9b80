import * as Email from "@waybill/domain/email/Email"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import type { Address } from "@waybill/domain/values/Address"
import * as Uuid from "@waybill/domain/values/Uuid"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Layer, Schema } from "effect"
import { Models } from "postmark"
import { Webhook as StandardWebhook } from "standardwebhooks"
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

const decode = Schema.decodeUnknownSync(Email.Event)
const answer = {
  code: 550,
  enhanced_code: "5.1.1",
  response: "No such user",
  mx: "mx.example.org",
  tls: null,
  duration_ms: 12,
  category: "invalid_recipient",
  attempt: 1,
}
const recipient = "ana@example.org" as Address

type Own<P> = Omit<P, "RecordType" | "MessageStream" | "ServerID" | "Tag" | "Metadata" | "MessageID" | "ID">

layer(World.layer, { excludeTestServices: true })("a webhook of the format postmark", (it) => {
  it.effect("gets each event as the package postmark types it, one record a call", function* () {
    yield* working
    const receiver = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(receiver.url, { format: "postmark" })
    const { account_id } = endpoint
    const email_id = yield* Webhooks.acceptEmail(account_id, {
      tags: ["welcome"],
      metadata: { campaign: "spring" },
      to: [
        { address: "bo@example.org", name: "Bo" },
        { address: recipient, name: "Ana" },
      ],
    })
    const append = (event: object) => Webhooks.append(account_id, email_id, (at) => decode({ recipient, ...event, at }))
    yield* append({ _tag: "EmailDelivered", ...answer, code: 250, response: "Ok", category: null })
    yield* append({ _tag: "EmailDeferred", ...answer, next_attempt_at: "2030-01-01T00:00:00.000Z" })
    yield* append({ _tag: "EmailBounced", bounce_type: "hard", ...answer })
    yield* append({ _tag: "EmailFailed", ...answer, code: null, response: null, category: "throttled" })
    yield* append({ _tag: "EmailComplained", feedback_type: "abuse" })
    const reader = { user_agent: "Mail/1", ip: "192.0.2.7" }
    yield* append({ _tag: "EmailOpened", ...reader })
    yield* append({ _tag: "EmailOpened", recipient: null, user_agent: null, ip: null })
    yield* append({ _tag: "EmailClicked", url: "https://acme.test/a", ...reader })
    const { commit } = yield* EventStore
    const stream = { account_id, stream_id: Suppression.streamId(recipient) }
    const at = yield* Webhooks.now
    yield* commit(Suppression, stream, Suppression.add(at, id("SuppressionId"), recipient, "hard_bounce", email_id))
    yield* commit(Suppression, stream, Suppression.remove(at))

    yield* Webhooks.settledAll(endpoint, 9)
    const records = receiver.calls.map((call) => {
      new StandardWebhook(endpoint.secret).verify(call.body, call.headers)
      return JSON.parse(call.body) as Record<string, unknown> & { readonly RecordType: string }
    })
    const labels = { Tag: "welcome", Metadata: { campaign: "spring" } }
    const unlabeled = { Metadata: {} }
    const MessageID = Uuid.of(email_id)
    for (const { RecordType, ...record } of records) {
      assert.deepInclude(record, { MessageStream: "outbound", ServerID: 1 })
      assert.notProperty(record, "livemode")
      assert.deepInclude(record, RecordType === "SubscriptionChange" ? unlabeled : labels)
    }
    /** Returns the fields of its own of each record of a kind, whose times are checked and left out. */
    const own = (kind: string) =>
      records
        .filter(({ RecordType }) => RecordType === kind)
        .map(({ RecordType: _, MessageStream, ServerID, Tag, Metadata, ...rest }) => {
          for (const name of ["DeliveredAt", "BouncedAt", "ReceivedAt", "ChangedAt"])
            if (name in rest) assert.match(String(rest[name]), /^\d{4}-\d\d-\d\dT.*Z$/u)
          return rest
        })
        .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
    const timed = <T extends object>(
      name: string,
      fields: T,
      record: Readonly<Record<string, unknown>> | undefined,
    ) => ({
      ...fields,
      MessageID,
      [name]: record?.[name],
    })
    const [delivery] = own("Delivery")
    const delivered: Omit<Own<Models.DeliveryWebhook>, "DeliveredAt"> = { Recipient: recipient, Details: "250 Ok" }
    assert.deepStrictEqual(delivery, timed("DeliveredAt", delivered, delivery))

    const bounces = own("Bounce")
    const hard: Omit<Own<Models.BounceWebhook>, "BouncedAt"> = {
      Type: "HardBounce",
      TypeCode: 1,
      Name: "Hard bounce",
      Description: "The receiving server refused the message.",
      Details: "550 No such user",
      Email: recipient,
      From: "Acme <hi@acme.test>",
      DumpAvailable: false,
      Inactive: true,
      CanActivate: true,
      Subject: "Your receipt",
    }
    const soft = {
      ...hard,
      Type: "SoftBounce",
      TypeCode: 4096,
      Name: "Soft bounce",
      Description: "The message could not be delivered, and is not tried again.",
      Details: "",
      Inactive: false,
      CanActivate: false,
    }
    const ID = bounces[0]?.["ID"]
    assert.isTrue(Number.isSafeInteger(ID) && (ID as number) % 128 === 1, "the second recipient")
    const kinds = [hard, soft].map((each) => {
      const record = bounces.find(({ Type }) => Type === each.Type)
      assert.deepStrictEqual(record, { ...timed("BouncedAt", each, record), ID })
      return each.Type
    })
    assert.strictEqual(bounces.length, kinds.length)

    const [complaint] = own("SpamComplaint")
    const complained: Omit<Own<Models.SpamComplaintWebhook>, "BouncedAt"> = {
      ...hard,
      Type: "SpamComplaint",
      TypeCode: 100_001,
      Name: "Spam complaint",
      Description: "The recipient reported the message as spam.",
      Details: "",
    }
    assert.deepStrictEqual(complaint, { ...timed("BouncedAt", complained, complaint), ID })

    const unknown = { Name: "", Company: "", Family: "" }
    const program = { UserAgent: "Mail/1", Client: unknown, OS: unknown, Platform: "Unknown", Geo: { IP: "192.0.2.7" } }
    const opened: Omit<Own<Models.OpenWebhook>, "ReceivedAt"> = {
      Recipient: recipient,
      FirstOpen: true,
      ReadSeconds: 0,
      ...program,
    }
    const opens = own("Open")
    const first = opens.find(({ FirstOpen }) => FirstOpen)
    const second = opens.find(({ FirstOpen }) => FirstOpen === false)
    assert.deepStrictEqual(first, timed("ReceivedAt", opened, first))
    assert.deepStrictEqual(
      second,
      timed("ReceivedAt", { ...opened, Recipient: "", FirstOpen: false, UserAgent: "", Geo: {} }, second),
    )

    const [click] = own("Click")
    const clicked: Omit<Own<Models.ClickWebhook>, "ReceivedAt"> = {
      Recipient: recipient,
      OriginalLink: "https://acme.test/a",
      ClickLocation: Models.LinkClickLocation.HTML,
      ...program,
    }
    assert.deepStrictEqual(click, timed("ReceivedAt", clicked, click))

    const changes = own("SubscriptionChange")
    const changed = (SuppressionReason: string | null, SuppressSending: boolean, Origin: string, message: unknown) => {
      const record = changes.find((each) => each["SuppressionReason"] === SuppressionReason)
      const fields = { Recipient: recipient, Origin, SuppressSending, SuppressionReason }
      assert.deepStrictEqual(record, { ...timed("ChangedAt", fields, record), MessageID: message })
    }
    changed("HardBounce", true, "Recipient", MessageID)
    changed(null, false, "Customer", "")
    assert.strictEqual(changes.length, 2)
  })

  it.effect("gets nothing that Postmark has not", function* () {
    yield* working
    const receiver = yield* Receiver.listen()
    const account_id = id("AccountId")
    const endpoint = yield* Webhooks.create(receiver.url, { account_id, format: "postmark" })
    const witness = yield* Webhooks.create(`${receiver.url}/own`, { account_id })
    const email_id = yield* Webhooks.acceptEmail(account_id)
    yield* Webhooks.append(account_id, email_id, (at) => decode({ _tag: "EmailCanceled", at }))
    yield* Webhooks.appendOpened(account_id, email_id)
    yield* Webhooks.settledAll(witness, 3)
    assert.strictEqual((yield* Webhooks.settledOne(endpoint)).event_type, "email.opened")
  })
})
