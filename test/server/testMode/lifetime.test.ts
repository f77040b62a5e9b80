import * as Livemode from "@waybill/domain/account/Livemode"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Address } from "@waybill/domain/values/Address"
import type { EmailId } from "@waybill/domain/values/Id"
import * as Erase from "@waybill/store/erasure/Erase"
import * as Mask from "@waybill/store/erasure/Mask"
import * as Retention from "@waybill/store/erasure/Retention"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as LogTree from "@waybill/store/transparency/LogTree"
import * as EmailWords from "@waybill/store/search/EmailWords"
import * as Follower from "@waybill/store/feed/Follower"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import { EMAIL, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"
import { replayUrls } from "../../support/cells/testCell.ts"

const HERS = "eva@example.org" as Address
const MODELS = ["email_log", "email_log_terms", "email_subjects", "suppressions", "monthly_usage", "email_stats"]

/** An account with a webhook, a live message, a test message that bounced and one that was delivered to the sandbox. */
const furnished = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  yield* Layer.build(Webhooks.worker(url, { nextAt: Webhooks.never }))
  const { account, call, keyWith, send, world } = yield* signUp({ domains: ["acme.test"] })
  yield* call("POST", "/v1/webhooks", { url: "https://hooks.example/x", events: ["*"], enabled: true })
  const key = yield* keyWith({ mode: "test" })
  const test = Livemode.testAccountOf(account)
  const sendTest = Effect.fnUntraced(function* (change: object) {
    const { json } = yield* world.request("POST", "/v1/email/send", { key, body: { ...EMAIL, to: HERS, ...change } })
    yield* World.settled({ account_id: test, stream_id: json.id as EmailId })
    return json.id as string
  })
  const delivered = yield* sendTest({})
  const bounced = yield* sendTest({ headers: { "X-Waybill-Script": "bounce+suppress" } })
  const live = yield* send({ scheduled_at: new Date((yield* Clock.currentTimeMillis) + Timestamp.HOUR).toISOString() })
  while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
  const rows = (table: string) =>
    Effect.map(
      Effect.orDie(world.sql`
        SELECT 1 FROM ${world.sql(table)} WHERE account_id::text IN (${test}, id_key(${test})::text)`),
      (found) => found.length,
    )
  return { account, bounced, delivered, live, rows, sql: world.sql, test }
})

const replay = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url))))
const layers = replay.pipe(Layer.provideMerge(HttpWorld.layer()))

layer(layers, { excludeTestServices: true, timeout: "90 seconds" })("test mail in the database", (it) => {
  it.effect("is conserved, and verified by its events", function* () {
    yield* furnished
    for (const { mismatched, missing } of yield* Conservation.webhooks())
      assert.deepStrictEqual([missing, mismatched], [[], []])
    for (const { accepted, final, in_flight, mismatched } of yield* Conservation.emails())
      assert.deepStrictEqual([final + in_flight, mismatched], [accepted, 0])
    for (const { missing, unexpected } of yield* Conservation.work())
      assert.deepStrictEqual([missing, unexpected], [[], []])
    for (const name of MODELS) {
      const found = yield* Rebuild.verify(name, { release: "test" })
      assert.deepStrictEqual([name, found.differences], [name, []])
    }
  })

  it.effect("is erased with the address that it names", function* () {
    const { rows, sql, test } = yield* furnished
    assert.strictEqual(yield* rows("sandbox_messages"), 1)
    const { accounts, remaining } = yield* Erase.erase(HERS, Mask.replacement(Uint8Array.of(1)))
    assert.isAbove(accounts.get(test)?.streams ?? 0, 2)
    assert.deepStrictEqual(remaining, [])
    for (const table of ["events", "email_log", "suppressions", "idempotency_keys", "request_log"]) {
      const left = sql`
        SELECT 1 FROM ${sql(table)} AS t
        WHERE account_id::text IN (${test}, id_key(${test})::text)
          AND (strpos(t::text, 'eva@') > 0 OR strpos(t::text, term_key('to:' || ${HERS})::text) > 0)`
      assert.deepStrictEqual([table, (yield* Effect.orDie(left)).length], [table, 0])
    }
    assert.strictEqual(yield* rows("sandbox_messages"), 0)
    assert.strictEqual(yield* rows("content"), 0)
  })

  it.effect("expires 30 days after its last event, while live mail stays", function* () {
    const { live, rows, sql } = yield* furnished
    // A webhook call that waits keeps its event.
    const waiting = Effect.orDie(sql`SELECT 1 FROM webhook_deliveries WHERE status = 'pending'`)
    yield* World.until(waiting, (rows) => rows.length === 0)
    const now = yield* Clock.currentTimeMillis
    const expireAfter = (days: number) =>
      Effect.andThen(TestClock.setTime(now + days * Timestamp.DAY), Retention.expire()).pipe(
        Effect.provide(TestClock.layer()),
      )
    yield* expireAfter(29)
    assert.strictEqual(yield* rows("email_log"), 2)
    // An event that a follower has not read yet is kept.
    const expired = Effect.gen(function* () {
      yield* Follower.step(EmailStatsFollower.follower)
      yield* Follower.step(EmailWords.follower)
      yield* LogTree.step
      yield* expireAfter(31)
      return yield* rows("email_log")
    })
    yield* World.until(Effect.orDie(expired), (left) => left === 0)
    assert.strictEqual((yield* Effect.orDie(sql`SELECT 1 FROM email_log WHERE id = id_key(${live})`)).length, 1)
  })
})
