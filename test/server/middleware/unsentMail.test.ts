import * as Account from "@waybill/domain/account/Account"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { Address } from "@waybill/domain/values/Address"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as CanceledContent from "@waybill/store/content/CanceledContent"
import { Clock, Effect, Layer } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { hoursAfterMiddle, layerFromMiddle, withWallClockShifted } from "../../support/WallClock.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

const World = HttpWorld.layer().pipe(Layer.provideMerge(layerFromMiddle))

const KIB = 1024
/** A body of so many KiB that no other message has. */
const bodyOf = (kib: number, name: string) => ({
  text: name.repeat(Math.ceil((kib * KIB) / name.length)).slice(0, kib * KIB),
})

/** Removes what is due after some minutes. */
const removedAfter = (minutes: number) =>
  CanceledContent.remove().pipe(withWallClockShifted(minutes * Timestamp.MINUTE))

/** An account that may store 100 KiB for scheduled mail. */
const customer = Effect.fnUntraced(function* (limits: Partial<Account.Limits> = { scheduled_bytes: 100 * KIB }) {
  const signedUp = yield* signUp({ domains: ["acme.test"], plan: "free" })
  const { account, call } = signedUp
  const { commit } = yield* EventStore
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const changed = Account.changeLimits(now, { ...Account.NONE_GRANTED, ...limits })
  yield* Effect.orDie(commit(Account, { account_id: account, stream_id: account }, changed))
  const post = (message: object) =>
    call("POST", "/v1/email/send", { from: "hi@acme.test", to: "ana@example.org", subject: "Hi", ...message })
  return {
    ...signedUp,
    post,
    schedule: (message: object) => post({ scheduled_at: hoursAfterMiddle(1), ...message }),
    cancel: (id: string) => call("POST", `/v1/email/${id}/cancel`),
    usage: Effect.map(call("GET", "/v1/account"), ({ json }) => json.usage),
    stored: (account_id: string) =>
      Effect.map(
        Effect.orDie(signedUp.world.sql`SELECT 1 AS row FROM content WHERE account_id = ${account_id}`),
        (rows) => rows.length,
      ),
  }
})

const delivered = Effect.fnUntraced(function* (account_id: AccountId, id: string) {
  const { commit } = yield* EventStore
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const words = {
    attempt: 1,
    code: 250,
    enhanced_code: null,
    response: null,
    mx: null,
    tls: null,
    duration_ms: 1,
    category: null,
  }
  const decide = EmailReport.recordDelivered(now, "ana@example.org" as Address, words)
  yield* Effect.orDie(commit(Email, { account_id, stream_id: id as EmailId }, decide))
})

layer(World, { excludeTestServices: true, timeout: "60 seconds" })("content of unsent mail", (it) => {
  it.effect("leaves within an hour after the mail was canceled, as the log and a copy then say", function* () {
    const { account, call, cancel, log, schedule, stored } = yield* customer()
    const { json } = yield* schedule(bodyOf(10, "canceled "))
    yield* cancel(json.id)
    assert.strictEqual(yield* removedAfter(30), 0)
    assert.strictEqual((yield* log(json.id)).content.text.length, 10 * KIB)
    assert.strictEqual(yield* removedAfter(46), 1)
    assert.isNull((yield* log(json.id)).content)
    assert.strictEqual(yield* stored(account), 0)
    const copy = yield* call("POST", `/v1/email/${json.id}/resend`)
    assert.deepStrictEqual(reasonOf(copy), [422, "content_expired"])
  })

  it.effect("stays for a copy that was sent before, and for other mail with the same content", function* () {
    const { account, call, cancel, log, post, schedule, stored } = yield* customer()
    const attachments = [{ filename: "terms.txt", content: Buffer.from("terms").toString("base64") }]
    const same = { ...bodyOf(5, "same "), attachments }
    const first = (yield* schedule(same)).json.id
    const second = (yield* post(same)).json.id
    const third = (yield* schedule(same)).json.id
    yield* cancel(first)
    const copy = (yield* call("POST", `/v1/email/${first}/resend`)).json.id
    yield* cancel(third)
    assert.strictEqual(yield* removedAfter(46), 2)
    for (const id of [second, copy]) assert.strictEqual((yield* log(id)).content.attachments.length, 1)
    yield* cancel(second)
    yield* removedAfter(46)
    assert.strictEqual((yield* log(copy)).content.text.length, 5 * KIB)
    yield* cancel(copy)
    yield* removedAfter(46)
    assert.strictEqual(yield* stored(account), 0)
  })

  it.effect("is bounded for scheduled mail, and canceled mail counts until it is removed", function* () {
    const { account, cancel, post, schedule, stored, usage } = yield* customer()
    const scheduled = [(yield* schedule(bodyOf(40, "a"))).json.id, (yield* schedule(bodyOf(40, "b"))).json.id]
    for (const id of scheduled) yield* cancel(id)
    for (const name of ["c", "d", "e"]) {
      const refused = yield* schedule(bodyOf(40, name))
      assert.deepStrictEqual(reasonOf(refused), [422, "scheduled_size_exceeded"])
    }
    assert.strictEqual(yield* stored(account), 2)
    const { emails, scheduled_bytes } = yield* usage
    assert.strictEqual(emails, 0)
    assert.isAbove(scheduled_bytes, 80 * KIB)
    // Mail that is sent at once needs no place.
    assert.strictEqual((yield* post(bodyOf(40, "f"))).status, 200)
    yield* removedAfter(46)
    assert.deepStrictEqual([(yield* usage).scheduled_bytes, yield* stored(account)], [0, 1])
    assert.strictEqual((yield* schedule(bodyOf(40, "g"))).status, 200)
  })

  it.effect("is bounded within a batch, and for mail that is rescheduled", function* () {
    const { call, schedule, usage } = yield* customer()
    const message = (name: string) => ({
      from: "hi@acme.test",
      to: "ana@example.org",
      subject: "Hi",
      scheduled_at: hoursAfterMiddle(1),
      ...bodyOf(40, name),
    })
    const emails = ["a", "b", "c"].map(message)
    const strict = yield* call("POST", "/v1/email/send/batch", { emails })
    assert.deepStrictEqual(reasonOf(strict), [422, "scheduled_size_exceeded"])
    const { json } = yield* call("POST", "/v1/email/send/batch", { emails, mode: "permissive" })
    assert.deepStrictEqual(
      json.data.map((each: { error: { reason: string } | null }) => each.error?.reason ?? null),
      [null, null, "scheduled_size_exceeded"],
    )
    assert.strictEqual(
      (yield* call("PATCH", `/v1/email/${json.data[0].id}`, { scheduled_at: hoursAfterMiddle(2) })).status,
      200,
    )
    assert.deepStrictEqual(reasonOf(yield* schedule(bodyOf(40, "d"))), [422, "scheduled_size_exceeded"])
    assert.isBelow((yield* usage).scheduled_bytes, 100 * KIB)
  })

  it.effect("no longer counts once scheduled mail is sent", function* () {
    const { account, schedule, usage } = yield* customer()
    const { json } = yield* schedule(bodyOf(80, "sent "))
    assert.isAbove((yield* usage).scheduled_bytes, 80 * KIB - 1)
    yield* delivered(account, json.id)
    assert.strictEqual((yield* usage).scheduled_bytes, 0)
    assert.strictEqual((yield* schedule(bodyOf(80, "next "))).status, 200)
  })

  it.effect("of canceled mail that was not scheduled counts too", function* () {
    const { cancel, post, schedule, usage } = yield* customer()
    const sent = [yield* post(bodyOf(60, "a")), yield* post(bodyOf(60, "b"))]
    assert.strictEqual((yield* usage).scheduled_bytes, 0)
    for (const { json } of sent) yield* cancel(json.id)
    assert.isAbove((yield* usage).scheduled_bytes, 120 * KIB - 1)
    assert.deepStrictEqual(reasonOf(yield* schedule(bodyOf(1, "c"))), [422, "scheduled_size_exceeded"])
    assert.strictEqual((yield* post(bodyOf(60, "d"))).status, 200)
  })

  it.effect("is bounded exactly for requests at the same time", function* () {
    const { account, schedule, stored } = yield* customer()
    const names = Array.from({ length: 12 }, (_, nth) => `${nth} `)
    const answers = yield* Effect.all(
      names.map((name) => schedule(bodyOf(30, name))),
      { concurrency: "unbounded" },
    )
    assert.strictEqual(answers.filter(({ status }) => status === 200).length, 3)
    assert.strictEqual(yield* stored(account), 3)
  })
})

layer(World, { excludeTestServices: true, timeout: "60 seconds" })("the volume of canceled mail", (it) => {
  it.effect("is given back as often as the month has volume, and not more", function* () {
    const { call, cancel, schedule, usage } = yield* customer({ monthly_emails: 3 })
    const used: Array<number> = []
    for (let nth = 0; nth < 6; nth++) {
      const { json } = yield* schedule(bodyOf(1, `${nth} `))
      yield* cancel(json.id)
      used.push((yield* usage).emails)
    }
    assert.deepStrictEqual(used, [0, 0, 0, 1, 2, 3])
    const refused = yield* schedule(bodyOf(1, "last "))
    assert.deepStrictEqual(reasonOf(refused), [429, "monthly_quota"])
    assert.strictEqual((yield* call("POST", "/v1/email/msg_7zzzzzzzzzzzzzzzzzzzzzzzzz/cancel")).status, 404)
  })
})
