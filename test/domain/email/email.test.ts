import type * as Acceptance from "@waybill/domain/email/Acceptance"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import * as EmailState from "@waybill/domain/email/EmailState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type * as Tracking from "@waybill/domain/domain/Tracking"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import {
  after,
  ana,
  command,
  deferral,
  facts,
  HASH,
  id,
  mailbox,
  NOW,
  outcome,
  queued,
  sending,
  suppression,
  toThree,
  words,
} from "../values/examples.ts"

const { SECOND, DAY } = Timestamp
const givenRequest = (over: Partial<Acceptance.Context>, wanted: Partial<Acceptance.Command> = {}) =>
  given(Email).when(sending(facts(over), command(wanted)))
const messageOf = (...history: ReadonlyArray<Email.Event>) => {
  const { state } = given(Email, ...history)
  assert(state._tag === "Message")
  return state
}
const many = (count: number, from = 0) => Array.from({ length: count }, (_, i) => mailbox(`r${from + i}@example.org`))

describe("accepting an email", () => {
  it("the event holds everything but the body", () => {
    givenRequest({}).appends({
      _tag: "EmailQueued",
      email_id: id("EmailId"),
      message_id: `<${id("EmailId")}@acme.test>`,
      from: mailbox("Acme <hi@acme.test>"),
      to: [mailbox("ana@example.org")],
      cc: [],
      bcc: [],
      reply_to: [],
      subject: "Your receipt",
      headers: { "X-Order": "17" },
      tags: ["receipt"],
      scheduled_at: null,
      domain: "acme.test" as never,
      domain_id: id("DomainId"),
      api_key_id: id("ApiKeyId"),
      content: { sha256: HASH, has_html: true, has_text: true, attachments: [] },
      size_bytes: 1234,
      resend_of: null,
      list_unsubscribe: false,
      created_at: NOW,
    })
  })

  const tracked = { opens: true, clicks: false }
  const ofTracking = { id: id("DomainId"), status: "verified", tracking: tracked } as const

  it("the domain's tracking applies unless the message sets its own, and untracked mail has no such field", () => {
    const trackingOf = (over: Parameters<typeof facts>[0], wish?: Tracking.Change) => {
      const { accepted } = messageOf(...happened(Email, [], sending(facts(over), command({ tracking: wish }))))
      return "tracking" in accepted ? accepted.tracking : "no trace"
    }
    const off = { opens: false, clicks: null }
    const both = { opens: null, clicks: true }
    assert.strictEqual(trackingOf({}), "no trace")
    assert.strictEqual(trackingOf({}, off), "no trace")
    assert.deepStrictEqual(trackingOf({}, both), { opens: false, clicks: true })
    assert.deepStrictEqual(trackingOf({ domain: ofTracking }), tracked)
    assert.deepStrictEqual(trackingOf({ domain: ofTracking }, both), { opens: true, clicks: true })
    assert.strictEqual(trackingOf({ domain: ofTracking }, off), "no trace")
    assert.strictEqual(trackingOf({ domain: ofTracking, tracks: false }), "no trace")
  })

  it("tracking is refused on an instance without a public address, except in a resend", () => {
    const refusal = { status: 422, reason: "tracking_unavailable" } as const
    givenRequest({ tracks: false }, { tracking: { opens: true, clicks: null } }).refuses(refusal)
    givenRequest({ tracks: false }, { tracking: { opens: null, clicks: true } }).refuses(refusal)
    givenRequest({ tracks: false }, { tracking: { opens: false, clicks: null } }).appendsOnly("EmailQueued")
    const before = happened(Email, [], sending(facts({ domain: ofTracking }), command()))
    const history = happened(Email, before, outcome(after(1), "Failed"))
    const again = Email.resendCommand(messageOf(...history))
    assert.deepStrictEqual(again.tracking, tracked)
    givenRequest({ tracks: false }, again).appendsOnly("EmailQueued")
    const failed = happened(Email, [queued()], outcome(after(1), "Failed"))
    const untracked = Email.resendCommand(messageOf(...failed))
    givenRequest({ domain: ofTracking }, untracked).leads((email) => {
      assert(email._tag === "Message" && !("tracking" in email.accepted))
    })
  })

  it("the key is null when a dashboard session sends", () => {
    givenRequest({ key: null }).leads((email) => {
      assert(email._tag === "Message")
      assert.isNull(email.accepted.api_key_id)
    })
  })

  it("each recipient is named once, in the first of to, cc and bcc", () => {
    const wanted = {
      to: [mailbox("Ana <Ana@Example.org>"), mailbox("ana@example.org")],
      cc: [mailbox("ANA@example.org"), mailbox("bob@example.org")],
      bcc: [mailbox("bob@EXAMPLE.ORG"), mailbox("cyd@example.net")],
    }
    givenRequest({}, wanted).leads((email) => {
      assert(email._tag === "Message")
      assert.deepStrictEqual(
        email.recipients.map(({ address, kind }) => [address, kind]),
        [
          ["Ana@example.org", "to"],
          ["bob@example.org", "cc"],
          ["cyd@example.net", "bcc"],
        ],
      )
    })
  })

  it("suppressed recipients are recorded with their reason", () => {
    const wanted = { cc: [mailbox("Bob@example.org")] }
    const result = givenRequest({ suppressed: new Map([["bob@example.org", "complaint"]]) }, wanted)
    result.appendsOnly("EmailQueued", "EmailSuppressed")
    result.leads((email) => {
      assert(email._tag === "Message")
      assert.deepStrictEqual(
        email.recipients.map(({ status, suppression }) => [status, suppression]),
        [
          ["queued", null],
          ["suppressed", "complaint"],
        ],
      )
      assert.strictEqual(EmailState.status(email), "queued")
    })
  })

  it("duplicate tags are removed", () => {
    givenRequest({}, { tags: ["a", "b", "a"] }).leads((email) => {
      assert(email._tag === "Message")
      assert.deepStrictEqual(email.accepted.tags, ["a", "b"])
    })
  })
})

describe("refusing an email", () => {
  const suppressed = new Map([["ana@example.org", "hard_bounce" as const]])
  const limited = { id: id("ApiKeyId"), domain: "other.test" as never }

  it.for<[string, Partial<Acceptance.Context>, Partial<Acceptance.Command>, string, string]>([
    [
      "unknown domain",
      { domain: undefined },
      {},
      "422 domain_not_verified",
      "The domain acme.test is not a domain of this account. Add it with POST /v1/domains and publish its DKIM record.",
    ],
    [
      "pending domain",
      { domain: { id: id("DomainId"), status: "pending" } },
      {},
      "422 domain_not_verified",
      "The domain acme.test is not verified yet. Publish its DKIM record, then verify it with POST /v1/domains/acme.test/verify.",
    ],
    [
      "failed domain",
      { domain: { id: id("DomainId"), status: "failed" } },
      {},
      "422 domain_not_verified",
      "The verification of the domain acme.test has failed: its DKIM record was not found. Publish the record, then verify the domain with POST /v1/domains/acme.test/verify.",
    ],
    [
      "domain that the key is not bound to",
      { key: limited },
      {},
      "403 domain_not_allowed",
      "This API key can send from other.test only, not from acme.test.",
    ],
    [
      "more recipients than the plan allows",
      { plan: { name: "Free", max_recipients: 10 } },
      { to: many(5), cc: many(3, 5), bcc: many(3, 8) },
      "422 recipient_limit_exceeded",
      "The Free plan allows 10 recipients per request across to, cc and bcc; 11 were given.",
    ],
    [
      "scheduled more than a minute ago",
      {},
      { scheduled_at: after(-60 * SECOND - 1) },
      "422 scheduled_at_out_of_range",
      "Mail can be scheduled from 2026-11-21T08:59:00.000Z to 2026-12-21T09:00:00.000Z; " +
        "this is for 2026-11-21T08:58:59.999Z.",
    ],
    [
      "scheduled more than 30 days ahead",
      {},
      { scheduled_at: after(30 * DAY + 1) },
      "422 scheduled_at_out_of_range",
      "Mail can be scheduled from 2026-11-21T08:59:00.000Z to 2026-12-21T09:00:00.000Z; " +
        "this is for 2026-12-21T09:00:00.001Z.",
    ],
    [
      "only suppressed recipients",
      { suppressed },
      {},
      "422 all_recipients_suppressed",
      "The only recipient, ana@example.org, is suppressed (hard_bounce). Look it up at /v1/suppressions, and remove it there if mail is wanted again.",
    ],
    [
      "over the monthly quota",
      { quota: { used: 3000, limit: 3000 } },
      {},
      "429 monthly_quota",
      "3000 of 3000 emails of this month are used; 1 more would exceed the quota. It resets at 2026-12-01T00:00:00.000Z.",
    ],
  ])("an email is refused: %s", ([, known, wanted, error, message]) => {
    const [status, reason] = error.split(" ")
    givenRequest(known, wanted).refuses({ status: Number(status), reason, message } as never)
  })

  it("an exhausted quota tells when it resets", () => {
    const refusal = givenRequest({ quota: { used: 3000, limit: 3000 } }).refuses({
      status: 429,
      reason: "monthly_quota",
    })
    assert(refusal._tag === "MonthlyQuotaExceeded")
    assert.strictEqual(refusal.retry_after_s, 9 * 86_400 + 15 * 3600)
  })

  it("of all that is wrong the first is told, in the contract's order", () => {
    const clock = { id: id("TestClockId"), now: NOW }
    const original = { recipients: 1, in_progress: 0, content_kept: false }
    const known: Partial<Acceptance.Context> = {
      clock,
      key: limited,
      original,
      domain: undefined,
      tracks: false,
      quota: { used: 1, limit: 1 },
      plan: { name: "Free", max_recipients: 0 },
      unsent: { bytes: 1, limit: 1 },
    }
    const wanted: Partial<Acceptance.Command> = {
      script: "deliver",
      headers: { "X-SMTPAPI": "{}" },
      scheduled_at: after(31 * DAY),
      tracking: { opens: true, clicks: null },
    }
    const fixes: ReadonlyArray<readonly [status: number, reason: string, typeof known, typeof wanted?]> = [
      [400, "test_clock_of_live_mail", { clock: undefined }],
      [429, "monthly_quota", { quota: { used: 0, limit: null } }],
      [403, "domain_not_allowed", { key: null }],
      [400, "script_of_live_mail", {}, { script: undefined }],
      [400, "header_not_allowed", {}, { headers: {} }],
      [422, "content_expired", { original: undefined }],
      [422, "domain_not_verified", { domain: { id: id("DomainId"), status: "verified" } }],
      [422, "recipient_limit_exceeded", { plan: { name: "Free", max_recipients: 1 } }],
      [422, "scheduled_at_out_of_range", {}, { scheduled_at: after(DAY) }],
      [422, "scheduled_size_exceeded", { unsent: { bytes: 0, limit: 1_000_000 }, suppressed }],
      [422, "tracking_unavailable", { tracks: true }],
      [422, "all_recipients_suppressed", { suppressed: new Map() }],
    ]
    for (const [status, reason, fixed, rewritten] of fixes) {
      givenRequest(known, wanted).refuses({ status: status as 422, reason })
      Object.assign(known, fixed)
      Object.assign(wanted, rewritten)
    }
    givenRequest(known, wanted).appendsOnly("EmailQueued")
  })
})

describe("limits of acceptance", () => {
  it("a degraded domain can send", () => {
    givenRequest({ domain: { id: id("DomainId"), status: "degraded" } }).appendsOnly("EmailQueued")
  })
  it("a bound key can send from its domain", () => {
    givenRequest({ key: { id: id("ApiKeyId"), domain: "acme.test" as never } }).appendsOnly("EmailQueued")
  })
  it("exactly the plan's number of recipients is accepted, after de-duplication", () => {
    const wanted = { to: [...many(10), ...many(10)] }
    givenRequest({ plan: { name: "Free", max_recipients: 10 } }, wanted).appendsOnly("EmailQueued")
  })
  it("exactly 60 seconds ago and exactly 30 days ahead are accepted", () => {
    givenRequest({}, { scheduled_at: after(-60 * SECOND) }).appendsOnly("EmailQueued")
    givenRequest({}, { scheduled_at: after(30 * DAY) }).appendsOnly("EmailQueued")
  })
  it("the last email of the quota is accepted and not one more", () => {
    givenRequest({ quota: { used: 2998, limit: 3000 } }, { to: many(2) }).appendsOnly("EmailQueued")
    givenRequest({ quota: { used: 2999, limit: 3000 } }, { to: many(2) }).refuses({
      status: 429,
      reason: "monthly_quota",
    })
  })
  it("an exhausted quota does not refuse a message without recipients to count", () => {
    const suppressed = new Map([["r0@example.org", "manual" as const]])
    const over = { suppressed, quota: { used: 3001, limit: 3000 } }
    givenRequest(over, { to: many(1) }).refuses({ status: 422, reason: "all_recipients_suppressed" })
  })
  it("suppressed recipients do not count", () => {
    const suppressed = new Map([["r0@example.org", "manual" as const]])
    givenRequest({ quota: { used: 2999, limit: 3000 }, suppressed }, { to: many(2) }).appendsOnly(
      "EmailQueued",
      "EmailSuppressed",
    )
  })
  it("an unlimited plan has no quota", () => {
    givenRequest({ quota: { used: 10_000_000, limit: null } }).appendsOnly("EmailQueued")
  })
})

describe("canceling", () => {
  it("canceling stops all recipients who have not received the mail", () => {
    const history = happened(Email, [toThree()], EmailReport.recordDelivered(after(1), ana, words()))
    const canceled = given(Email, ...history).when(Email.cancel(after(2)))
    canceled.appends({ _tag: "EmailCanceled", at: after(2) })
    canceled.leads((email) => {
      assert(email._tag === "Message")
      assert.deepStrictEqual(
        email.recipients.map(({ status }) => status),
        ["delivered", "canceled", "canceled"],
      )
      assert.strictEqual(EmailState.status(email), "delivered")
    })
  })

  it("canceling a missing email is refused", () => {
    given(Email).when(Email.cancel(NOW)).refuses({ status: 404, reason: "email_not_found" })
  })

  it.for([
    ["delivered", EmailReport.recordDelivered(after(1), ana, words())],
    ["deferred", deferral(after(1))],
    ["bounced", EmailReport.recordBounced(after(1), ana, words())],
    ["failed", outcome(after(1), "Failed")],
    ["suppressed", suppression(after(1))],
    ["sent", outcome(after(1), "Sent")],
    ["canceled", Email.cancel(after(1))],
  ] as const)("canceling is refused for an email that is %s", ([status, decision]) => {
    const history = happened(Email, [queued()], decision)
    for (const late of [Email.cancel(after(3)), Email.reschedule(after(3), after(DAY))])
      given(Email, ...history)
        .when(late)
        .refuses({
          status: 422,
          reason: "not_cancelable",
          message: `Only a queued email can be canceled or rescheduled; this one is ${status}.`,
        })
  })

  it("canceling is refused during a delivery attempt", () => {
    for (const late of [Email.cancel(after(1), "under way"), Email.reschedule(after(1), after(DAY), "under way")])
      given(Email, queued()).when(late).refuses({
        status: 422,
        reason: "not_cancelable",
        message: "This email is being delivered, so it can no longer be canceled or rescheduled.",
      })
  })
})
