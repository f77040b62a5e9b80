import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import * as WebhookState from "@waybill/domain/webhook/WebhookState"
import * as WebhookRetry from "@waybill/domain/webhook/WebhookRetry"
import * as WebhookUrl from "@waybill/domain/webhook/WebhookUrl"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { after, id, NOW } from "../values/examples.ts"

const { SECOND, MINUTE, HOUR, DAY } = Timestamp
const NOTHING_NEW = { status: 422, reason: "nothing_new" } as const
const url = Result.getOrThrow(WebhookUrl.parse("https://example.org/hook"))
const inward = Result.getOrThrow(WebhookUrl.parse("https://10.0.0.1/hook"))
const creation: Webhook.Creation = {
  now: NOW,
  webhookId: id("WebhookId"),
  secretRef: "webhook/1",
  allowedNetworks: [],
  others: 0,
}
const settings: Webhook.NewWebhook = {
  url,
  events: ["email.delivered", "email.bounced", "email.delivered"],
  description: null,
}

const created = (enabled = true) => happened(Webhook, [], Webhook.create(creation, settings, enabled))
const folded = (history: ReadonlyArray<Webhook.Event>): WebhookState.Webhook => {
  const { state } = given(Webhook, ...history)
  assert(state._tag === "Webhook")
  return state
}
const called = (sinceCreation: number, where: string = url) => ({ url: where, at: after(sinceCreation) })
const disabled = (cause: WebhookState.DisabledReason, at: Timestamp.Timestamp): Webhook.Event => ({
  _tag: "WebhookDisabled",
  webhook_id: id("WebhookId"),
  url,
  cause,
  at,
})

describe("webhook", () => {
  it("a webhook is created with each type once and without its secret", () => {
    given(Webhook)
      .when(Webhook.create(creation, settings, true))
      .appends({
        _tag: "WebhookCreated",
        webhook_id: id("WebhookId"),
        url,
        events: ["email.delivered", "email.bounced"],
        description: null,
        format: "waybill",
        svix_headers: false,
        enabled: true,
        secret_ref: "webhook/1",
        at: NOW,
      })
  })
  it("an account has at most 20 webhooks", () => {
    const createWith = (others: number) => given(Webhook).when(Webhook.create({ ...creation, others }, settings, true))
    createWith(19).leads(() => undefined)
    createWith(20).refuses({ status: 422, reason: "too_many_webhooks" })
  })
  it("a webhook for a private address is refused", () => {
    given(Webhook)
      .when(Webhook.create(creation, { ...settings, url: inward }, true))
      .refuses({ status: 422, reason: "url_not_allowed" })
  })
  it("a webhook is created once", () => {
    given(Webhook, ...created())
      .when(Webhook.create(creation, settings, true))
      .refuses(NOTHING_NEW)
  })
  it("a webhook can be created disabled", () => {
    assert.deepStrictEqual([folded(created(false)).enabled, folded(created(false)).disabled_reason], [false, "manual"])
  })
})

describe("changing a webhook", () => {
  it("a change keeps fields that the request leaves out", () => {
    given(Webhook, ...created())
      .when(Webhook.update(after(1), { events: ["*", "email.sent"] }, []))
      .appends({
        _tag: "WebhookUpdated",
        url,
        events: ["*"],
        description: null,
        format: "waybill",
        svix_headers: false,
        at: after(1),
      })
    given(Webhook, ...created())
      .when(Webhook.update(after(1), { description: "ours" }, []))
      .appends({
        _tag: "WebhookUpdated",
        url,
        events: ["email.delivered", "email.bounced"],
        description: "ours",
        format: "waybill",
        svix_headers: false,
        at: after(1),
      })
    const other = Result.getOrThrow(WebhookUrl.parse("https://example.org/other"))
    given(Webhook, ...created())
      .when(Webhook.update(after(1), { url: other }, []))
      .appends({
        _tag: "WebhookUpdated",
        url: other,
        events: ["email.delivered", "email.bounced"],
        description: null,
        format: "waybill",
        svix_headers: false,
        at: after(1),
      })
  })
  it("a webhook is disabled and enabled again", () => {
    given(Webhook, ...created())
      .when(Webhook.update(after(1), { enabled: false }, []))
      .appends(disabled("manual", after(1)))
    const off = happened(Webhook, created(), Webhook.update(after(1), { enabled: false }, []))
    given(Webhook, ...off)
      .when(Webhook.update(after(2), { enabled: true }, []))
      .appends({ _tag: "WebhookEnabled", at: after(2) })
  })
  it("one request can change settings and disable the webhook", () => {
    given(Webhook, ...created())
      .when(Webhook.update(after(1), { description: "x", enabled: false }, []))
      .appendsOnly("WebhookUpdated", "WebhookDisabled")
  })
  it("a change to the same values appends nothing", () => {
    given(Webhook, ...created())
      .when(Webhook.update(after(1), { url, enabled: true }, []))
      .refuses(NOTHING_NEW)
  })
  it("a change to a private address is refused, whatever else it changes", () => {
    given(Webhook, ...created())
      .when(Webhook.update(after(1), { url: inward, description: "x" }, []))
      .refuses({ status: 422, reason: "url_not_allowed" })
  })
  it("a deleted webhook cannot be changed", () => {
    const gone = happened(Webhook, created(), Webhook.remove(after(1)))
    for (const decide of [
      Webhook.update(after(2), {}, []),
      Webhook.remove(after(2)),
      Webhook.rotateSecret(after(2), "webhook/2"),
      Webhook.disableGone(after(2), called(1)),
    ]) {
      given(Webhook, ...gone)
        .when(decide)
        .refuses({ status: 404, reason: "webhook_not_found" })
      given(Webhook).when(decide).refuses({ status: 404, reason: "webhook_not_found" })
    }
  })
})

describe("rotating a webhook secret", () => {
  const rotated = () => happened(Webhook, created(), Webhook.rotateSecret(after(1), "webhook/2"))
  it("the old secret signs createWith the new one for 24 hours", () => {
    given(Webhook, ...created())
      .when(Webhook.rotateSecret(after(1), "webhook/2"))
      .appends({
        _tag: "WebhookSecretRotated",
        secret_ref: "webhook/2",
        previous_ref: "webhook/1",
        previous_until: after(1 + DAY),
        at: after(1),
      })
    assert.deepStrictEqual(Webhook.signingSecrets(folded(created()), NOW), ["webhook/1"])
    assert.deepStrictEqual(Webhook.signingSecrets(folded(rotated()), after(DAY)), ["webhook/2", "webhook/1"])
    assert.deepStrictEqual(Webhook.signingSecrets(folded(rotated()), after(DAY + 1)), ["webhook/2"])
  })
  it("after a second rotation all secrets sign for their remaining time", () => {
    const twice = happened(Webhook, rotated(), Webhook.rotateSecret(after(2), "webhook/3"))
    assert.deepStrictEqual(Webhook.signingSecrets(folded(twice), after(DAY)), ["webhook/3", "webhook/2", "webhook/1"])
    assert.deepStrictEqual(Webhook.signingSecrets(folded(twice), after(DAY + 1)), ["webhook/3", "webhook/2"])
    const later = happened(Webhook, twice, Webhook.rotateSecret(after(DAY + 2), "webhook/4"))
    assert.deepStrictEqual(folded(later).previous, [{ secret_ref: "webhook/3", until: after(2 * DAY + 2) }])
  })
  it("the number of previous secrets that sign is limited", () => {
    let history = created()
    for (let nth = 2; nth <= 9; nth++)
      history = happened(Webhook, history, Webhook.rotateSecret(after(nth), `webhook/${nth}`))
    assert.lengthOf(Webhook.signingSecrets(folded(history), after(10)), 1 + WebhookState.MAX_PREVIOUS)
  })
})

describe("webhook endpoint", () => {
  it("an endpoint that answers 410 is disabled once", () => {
    given(Webhook, ...created())
      .when(Webhook.disableGone(after(1), called(0)))
      .appends(disabled("gone", after(1)))
    const gone = happened(Webhook, created(), Webhook.disableGone(after(1), called(0)))
    given(Webhook, ...gone)
      .when(Webhook.disableGone(after(2), called(1)))
      .refuses(NOTHING_NEW)
  })
  it("a 410 does not count after a change of URL, or from before the webhook was enabled", () => {
    given(Webhook, ...created())
      .when(Webhook.disableGone(after(2), called(1, "https://example.org/old")))
      .refuses(NOTHING_NEW)
    const back = happened(
      Webhook,
      created(),
      Webhook.update(after(2), { enabled: false }, []),
      Webhook.update(after(3), { enabled: true }, []),
    )
    given(Webhook, ...back)
      .when(Webhook.disableGone(after(4), called(2)))
      .refuses(NOTHING_NEW)
    given(Webhook, ...back)
      .when(Webhook.disableGone(after(4), called(3)))
      .appendsOnly("WebhookDisabled")
  })
  it("an endpoint that fails for five days is disabled", () => {
    given(Webhook, ...created())
      .when(Webhook.disableFailing(after(DAY + 5 * DAY), after(DAY)))
      .appends(disabled("failing", after(6 * DAY)))
    given(Webhook, ...created())
      .when(Webhook.disableFailing(after(DAY + 5 * DAY - 1), after(DAY)))
      .refuses(NOTHING_NEW)
    given(Webhook, ...created())
      .when(Webhook.disableFailing(after(99 * DAY), null))
      .refuses(NOTHING_NEW)
  })
  it("enabling a webhook restarts the five days", () => {
    const back = happened(
      Webhook,
      created(),
      Webhook.disableGone(after(1), called(0)),
      Webhook.update(after(9 * DAY), { enabled: true }, []),
    )
    given(Webhook, ...back)
      .when(Webhook.disableFailing(after(10 * DAY), after(DAY)))
      .refuses(NOTHING_NEW)
    given(Webhook, ...back)
      .when(Webhook.disableFailing(after(14 * DAY), after(DAY)))
      .appendsOnly("WebhookDisabled")
  })
})

describe("failed webhook call", () => {
  it("a call is retried after the pauses of the contract, then never", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8].map((attempts) => {
      const next = WebhookRetry.nextAt(NOW, attempts, 0.5)
      return next === null ? null : Timestamp.between(NOW, next)
    })
    assert.deepStrictEqual(pauses, [
      5 * SECOND,
      5 * MINUTE,
      30 * MINUTE,
      2 * HOUR,
      5 * HOUR,
      10 * HOUR,
      10 * HOUR,
      null,
    ])
  })
  it("a pause varies by a tenth", () => {
    assert.strictEqual(WebhookRetry.nextAt(NOW, 2, 0), after(4.5 * MINUTE))
    assert.strictEqual(WebhookRetry.nextAt(NOW, 2, 1), after(5.5 * MINUTE))
  })
})
