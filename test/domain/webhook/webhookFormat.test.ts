import * as WebhookType from "@waybill/domain/webhook/WebhookType"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import * as WebhookUrl from "@waybill/domain/webhook/WebhookUrl"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import * as WebhookFormats from "../../../apps/dashboard/src/webhooks/WebhookFormats.ts"
import { after, id, NOW } from "../values/examples.ts"

const creation: Webhook.Creation = {
  now: NOW,
  webhookId: id("WebhookId"),
  secretRef: "webhook/1",
  allowedNetworks: [],
  others: 0,
}
const url = Result.getOrThrow(WebhookUrl.parse("https://example.org/hook"))
const settings: Webhook.NewWebhook = { url, events: ["email.sent"], description: null }
const created = (over: Partial<Webhook.NewWebhook> = {}) =>
  happened(Webhook, [], Webhook.create(creation, { ...settings, ...over }, true))
const formatOf = (history: ReadonlyArray<Webhook.Event>) => {
  const { state } = given(Webhook, ...history)
  assert(state._tag === "Webhook")
  return [state.format, state.svix_headers]
}
const changed = (history: ReadonlyArray<Webhook.Event>, change: Webhook.Change) =>
  formatOf(happened(Webhook, history, Webhook.update(after(1), change, [])))

describe("the format of a webhook", () => {
  it("is Waybill's own, without svix headers, unless the request says otherwise", () => {
    assert.deepStrictEqual(formatOf(created()), ["waybill", false])
    assert.deepStrictEqual(formatOf(created({ format: null, svix_headers: null })), ["waybill", false])
    assert.deepStrictEqual(formatOf(created({ svix_headers: true })), ["waybill", true])
    assert.deepStrictEqual(formatOf(created({ format: "resend" })), ["resend", true])
    assert.deepStrictEqual(formatOf(created({ format: "resend", svix_headers: false })), ["resend", false])
  })
  it("changes with the headers that belong to it, unless the request names the headers", () => {
    assert.deepStrictEqual(changed(created(), { format: "resend" }), ["resend", true])
    assert.deepStrictEqual(changed(created(), { format: "resend", svix_headers: false }), ["resend", false])
    assert.deepStrictEqual(changed(created({ format: "resend" }), { format: "waybill" }), ["waybill", true])
    assert.deepStrictEqual(changed(created(), { svix_headers: true }), ["waybill", true])
    assert.deepStrictEqual(
      changed(created({ format: "resend", svix_headers: false }), { format: "resend", description: "ours" }),
      ["resend", false],
    )
  })
  it("is not changed by a request that repeats it", () => {
    given(Webhook, ...created({ format: "resend" }))
      .when(Webhook.update(after(1), { format: "resend", svix_headers: true }, []))
      .refuses({ status: 422, reason: "nothing_new" })
  })
  it("is refused with event types that it has not", () => {
    const refusal = { status: 422, reason: "events_not_in_format" } as const
    given(Webhook)
      .when(Webhook.create(creation, { ...settings, events: ["email.canceled"], format: "resend" }, true))
      .refuses(refusal)
    given(Webhook, ...created({ events: ["email.sent", "api_key.created"] }))
      .when(Webhook.update(after(1), { format: "resend" }, []))
      .refuses(refusal)
    given(Webhook, ...created({ format: "resend" }))
      .when(Webhook.update(after(1), { events: ["api_key.created"] }, []))
      .refuses(refusal)
  })
})

describe("a subscription", () => {
  const matches = (events: ReadonlyArray<string>, type: string, isScheduled = false) =>
    WebhookFormat.matches(WebhookFormat.received("waybill", events), type, { isScheduled, isUnsubscribe: false })
  it("matches its types only, and * all webhook types", () => {
    assert.isTrue(matches(["email.sent", "email.bounced"], "email.bounced"))
    assert.isFalse(matches(["email.sent"], "email.bounced"))
    for (const type of WebhookType.WebhookType.literals) assert.isTrue(matches(["*"], type))
  })
  it("never matches timeline types", () => {
    for (const type of ["email.attempt_lost", "email.rescheduled", "webhook.created"] as const) {
      assert.isFalse(matches(["*"], type))
      assert.isFalse(matches([type], type))
    }
  })
  it("of Resend's format matches only what Resend has, with names of its own for accepted emails", () => {
    const received = WebhookFormat.received("resend", ["*"])
    const types = (isScheduled: boolean) =>
      WebhookType.WebhookType.literals
        .filter((type) => WebhookFormat.matches(received, type, { isScheduled, isUnsubscribe: false }))
        .map((type) => WebhookFormat.resendEventType(type, isScheduled))
        .toSorted()
    const always = [
      "domain.created",
      "domain.deleted",
      "domain.updated",
      "domain.updated",
      "domain.updated",
      "email.bounced",
      "email.clicked",
      "email.complained",
      "email.delivered",
      "email.delivery_delayed",
      "email.failed",
      "email.opened",
      "email.received",
      "email.suppressed",
      "suppression.added",
      "suppression.removed",
    ]
    assert.deepStrictEqual(types(false), [...always, "email.sent"].toSorted())
    assert.deepStrictEqual(types(true), [...always, "email.scheduled"].toSorted())
    const some = WebhookFormat.received("resend", ["email.sent", "email.canceled"])
    assert.deepStrictEqual(
      [false, true].map((isScheduled) =>
        WebhookFormat.matches(some, "email.queued", { isScheduled, isUnsubscribe: false }),
      ),
      [true, false],
    )
    assert.isFalse(WebhookFormat.matches(some, "email.sent", { isScheduled: false, isUnsubscribe: false }))
  })
  it("of Postmark's format matches only what Postmark has", () => {
    const received = WebhookFormat.received("postmark", ["*"])
    const types = WebhookType.WebhookType.literals.filter((type) =>
      WebhookFormat.matches(received, type, { isScheduled: false, isUnsubscribe: false }),
    )
    assert.deepStrictEqual(
      types.map((type) => `${type} ${WebhookFormat.postmarkType(type)}`),
      [
        "email.delivered Delivery",
        "email.bounced Bounce",
        "email.complained SpamComplaint",
        "email.failed Bounce",
        "email.opened Open",
        "email.clicked Click",
        "suppression.added SubscriptionChange",
        "suppression.removed SubscriptionChange",
      ],
    )
    assert.deepStrictEqual(WebhookFormat.received("postmark", ["email.sent", "email.bounced"]), ["email.bounced"])
  })
  it("has received mail in other formats, but not by `*` where the service has another address for it", () => {
    const has = (format: WebhookFormat.Format, event: string) =>
      WebhookFormat.received(format, [event]).includes("email.received")
    assert.deepStrictEqual(
      (["resend", "postmark", "sendgrid"] as const).map((format) => [has(format, "email.received"), has(format, "*")]),
      [
        [true, true],
        [true, false],
        [true, false],
      ],
    )
  })
  it("of SendGrid's format matches only what SendGrid has, of suppressions those by recipients", () => {
    const received = WebhookFormat.received("sendgrid", ["*"])
    const types = (isUnsubscribe: boolean) =>
      WebhookType.WebhookType.literals
        .filter((type) => WebhookFormat.matches(received, type, { isScheduled: false, isUnsubscribe }))
        .map((type) => `${type} ${WebhookFormat.sendGridType(type, { isScheduled: false, isUnsubscribe })}`)
    const always = [
      "email.queued processed",
      "email.delivered delivered",
      "email.delivery_delayed deferred",
      "email.bounced bounce",
      "email.complained spamreport",
      "email.failed bounce",
      "email.suppressed dropped",
      "email.opened open",
      "email.clicked click",
    ]
    assert.deepStrictEqual(types(false), always)
    assert.deepStrictEqual(types(true), [...always, "suppression.added unsubscribe"])
    const { scheduled, unsubscribes } = WebhookFormat.select(received)
    assert.deepStrictEqual([scheduled, unsubscribes], [null, true])
    const all = WebhookFormat.select(WebhookFormat.received("waybill", ["*"]))
    assert.deepStrictEqual([all.scheduled, all.unsubscribes], [null, false])
  })
  it("is offered by the dashboard for the types that the format has", () => {
    assert.deepStrictEqual(
      WebhookFormats.NAMES.map(([format]) => format),
      [...WebhookFormat.Format.literals],
    )
    for (const format of WebhookFormat.Format.literals)
      for (const type of [...WebhookType.WebhookType.literals, "*"])
        assert.strictEqual(WebhookFormats.has(format, type), WebhookFormat.has(format, type), `${format} ${type}`)
  })
  it("has a name at Resend and back", () => {
    for (const type of WebhookFormat.RESEND_SUBSCRIPTIONS)
      assert.include(WebhookFormat.typesOfResend(WebhookFormat.resendTypeOf(type) ?? ""), type)
    assert.deepStrictEqual(WebhookFormat.typesOfResend("domain.updated"), [
      "domain.verified",
      "domain.degraded",
      "domain.failed",
    ])
    assert.deepStrictEqual(WebhookFormat.typesOfResend("email.queued"), [])
    assert.deepStrictEqual(WebhookFormat.typesOfResend("contact.created"), [])
  })
})
