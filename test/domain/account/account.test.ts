import * as Account from "@waybill/domain/account/Account"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import { Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { after, id, NOW } from "../values/examples.ts"

const NOTHING_NEW = { status: 422, reason: "nothing_new" } as const
const created = () => happened(Account, [], Account.create(NOW, id("AccountId"), "Acme", "free"))
const folded = (history: ReadonlyArray<Account.Event>): Account.Account => {
  const { state } = given(Account, ...history)
  assert(state._tag === "Account")
  return state
}

describe("account", () => {
  it("an account starts with the limits of its plan and 30 days of content", () => {
    given(Account)
      .when(Account.create(NOW, id("AccountId"), "Acme", "free"))
      .appends({
        _tag: "AccountCreated",
        account_id: id("AccountId"),
        name: "Acme",
        plan: "free",
        at: NOW,
      })
    assert.deepStrictEqual(Account.limitsOf(folded(created())), {
      monthly_emails: 3_000,
      max_recipients: 10,
      send_per_minute: 1_000,
      logs_per_minute: 60,
      other_per_minute: 120,
    })
    assert.strictEqual(folded(created()).content_days, 30)
  })
  it("an account is created once", () => {
    given(Account, ...created())
      .when(Account.create(NOW, id("AccountId"), "Acme", "free"))
      .refuses(NOTHING_NEW)
  })

  it.for([
    ["free", 3_000, 10],
    ["starter", 50_000, 50],
    ["growth", 500_000, 50],
    ["business", null, 100],
  ] as const)(
    "the %s plan allows %s emails a month and %s recipients a message",
    ([plan, monthly_emails, max_recipients]) => {
      const history = happened(Account, [], Account.create(NOW, id("AccountId"), "Acme", plan))
      const limits = Account.limitsOf(folded(history))
      assert.deepStrictEqual([limits.monthly_emails, limits.max_recipients], [monthly_emails, max_recipients])
    },
  )

  it("creating an account again changes nothing", () => {
    const [other] = happened(Account, [], Account.create(after(1), id("AccountId"), "Other", "growth"))
    assert.strictEqual(folded(other === undefined ? [] : [...created(), other]).created_at, NOW)
  })

  it("retention periods change independently, and an erasure records its pseudonym", () => {
    for (const keeping of [
      { ...Account.DEFAULT_KEEPING, log_days: 30 },
      { ...Account.DEFAULT_KEEPING, delivery_days: 8 },
    ]) {
      given(Account, ...created())
        .when(Account.changeKeeping(after(1), keeping))
        .appends({ _tag: "KeepingChanged", keeping, at: after(1) })
    }
    given(Account, ...created())
      .when(Account.recordErased(after(1), "erased-1", { streams: 2, events: 5 }))
      .appends({ _tag: "AddressErased", erased_as: "erased-1", streams: 2, events: 5, at: after(1) })
  })

  it("plan, granted limits and retention can be changed", () => {
    const granted = { ...Account.NONE_GRANTED, send: 5_000, monthly_emails: 9_000 }
    const history = happened(
      Account,
      created(),
      Account.changePlan(after(1), "growth"),
      Account.changeLimits(after(2), granted),
      Account.changeRetention(after(3), 0),
      Account.changeKeeping(after(3), { log_days: 365, delivery_days: 7 }),
    )
    assert.deepStrictEqual(Account.limitsOf(folded(history)), {
      monthly_emails: 9_000,
      max_recipients: 50,
      send_per_minute: 5_000,
      logs_per_minute: 60,
      other_per_minute: 120,
    })
    assert.strictEqual(folded(history).content_days, 0)
    assert.deepStrictEqual(folded(created()).keeping, { log_days: null, delivery_days: 30 })
    assert.deepStrictEqual(folded(history).keeping, { log_days: 365, delivery_days: 7 })
    for (const same of [
      Account.changePlan(after(4), "growth"),
      Account.changeLimits(after(4), granted),
      Account.changeRetention(after(4), 0),
      Account.changeKeeping(after(4), { log_days: 365, delivery_days: 7 }),
    ]) {
      given(Account, ...history)
        .when(same)
        .refuses(NOTHING_NEW)
      given(Account).when(same).refuses({ status: 404, reason: "account_not_found" })
    }
    given(Account, ...history)
      .when(Account.changeLimits(after(5), Account.NONE_GRANTED))
      .appends({
        _tag: "LimitsChanged",
        limits: Account.NONE_GRANTED,
        at: after(5),
      })
  })
  it("tracked links can be stopped and resumed, with the time of the stop", () => {
    const stopped = happened(Account, created(), Account.changeLinks(after(1), false))
    assert.strictEqual(folded(stopped).links_stopped_at, after(1))
    const again = happened(Account, stopped, Account.changeLinks(after(2), true))
    assert.deepStrictEqual(folded([...stopped, ...again]), folded(created()))
    for (const [history, followed] of [
      [created(), true],
      [stopped, false],
      [[...stopped, ...again], true],
    ] as const)
      given(Account, ...history)
        .when(Account.changeLinks(after(3), followed))
        .refuses(NOTHING_NEW)
    given(Account).when(Account.changeLinks(NOW, false)).refuses({ status: 404, reason: "account_not_found" })
  })
  it("content is kept from 0 to 365 days", () => {
    const accepts = Schema.is(Account.RetentionDays)
    assert.deepStrictEqual(
      [0, 365, -1, 366, 1.5].map((days) => accepts(days)),
      [true, true, false, false, false],
    )
  })
})

describe("a batch of emails", () => {
  const counts = () => true
  const of = (history: ReadonlyArray<Account.Event>, batch: string) => Account.batchStatus(folded(history), batch)
  it("is paused or canceled once, changed, and ended", () => {
    const change = (seconds: number, status: "pause" | "cancel" | null) =>
      Account.changeBatch(after(seconds), "one", status, counts)
    const paused = happened(Account, created(), change(0, "pause"))
    assert.deepStrictEqual([of(paused, "one"), of(paused, "two")], ["pause", undefined])
    given(Account, ...paused)
      .when(change(1, "pause"))
      .refuses(NOTHING_NEW)
    const canceled = happened(Account, paused, change(1, "cancel"))
    assert.strictEqual(of(canceled, "one"), "cancel")
    const ended = happened(Account, canceled, change(2, null))
    assert.isUndefined(of(ended, "one"))
    given(Account, ...ended)
      .when(change(3, null))
      .refuses(NOTHING_NEW)
  })
  it("is refused beyond ten of those that count", () => {
    const ten = Array.from({ length: 10 }, (_, nth): Account.Event => ({
      _tag: "SendBatchChanged",
      batch_id: `${nth}`,
      status: "pause",
      at: NOW,
    }))
    const stop = (counting: (id: string) => boolean) => Account.changeBatch(after(1), "more", "cancel", counting)
    given(Account, ...created(), ...ten)
      .when(stop(counts))
      .refuses({ status: 422, reason: "too_many_batches" })
    given(Account, ...created(), ...ten)
      .when(stop((batch_id) => batch_id !== "0"))
      .appends({ _tag: "SendBatchChanged", batch_id: "more", status: "cancel", at: after(1) })
  })
})

describe("rate window", () => {
  const at = 1_763_715_659_999
  it("a window is aligned to the minute", () => {
    assert.strictEqual(RateLimit.windowStart(at), 1_763_715_600_000)
    assert.strictEqual(RateLimit.windowEnd(at), 1_763_715_660_000)
    assert.strictEqual(RateLimit.windowStart(1_763_715_660_000), 1_763_715_660_000)
  })
  it("a window reports the remaining requests and its end", () => {
    assert.deepStrictEqual(RateLimit.windowState(60, 59, at), { limit: 60, remaining: 1, reset_s: 1_763_715_660 })
    assert.deepStrictEqual(RateLimit.windowState(60, 75, at), { limit: 60, remaining: 0, reset_s: 1_763_715_660 })
  })
  it("the time to wait lasts to the window's end, at least a second", () => {
    assert.strictEqual(RateLimit.retryAfterSeconds(at), 1)
    assert.strictEqual(RateLimit.retryAfterSeconds(1_763_715_600_000), 60)
    assert.strictEqual(RateLimit.retryAfterSeconds(1_763_715_600_001), 60)
  })
  it("an exhausted window is refused with its limit", () => {
    const { status, reason, message } = new RateLimit.RequestRateExceeded({
      bucket: "logs",
      limit: 60,
      retry_after_s: 12,
    })
    assert.deepStrictEqual([status, reason], [429, "request_rate"])
    assert.strictEqual(message, "The limit is 60 requests per minute; retry in 12 s.")
  })
})
