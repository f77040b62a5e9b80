import * as StoredContent from "@waybill/store/content/StoredContent"
import { rowsOf } from "@waybill/store/log/BatchTable"
import * as Account from "@waybill/domain/account/Account"
import * as Acceptance from "@waybill/domain/email/Acceptance"
import type { Address } from "@waybill/domain/values/Address"
import { Sha256 } from "@waybill/domain/values/Sha256"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as EmailWords from "@waybill/store/search/EmailWords"
import * as LogTree from "@waybill/store/transparency/LogTree"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Follower from "@waybill/store/feed/Follower"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Swap from "@waybill/store/rebuild/Swap"
import * as Retention from "@waybill/store/erasure/Retention"
import type { Commit, View } from "@waybill/store/commit/Commit"
import { Context, Effect, Exit, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import { id } from "../../support/history.ts"
import { replayUrls } from "../../support/cells/testCell.ts"
import { type RandomNumbers, randomNumbers, pick } from "../rebuild/randomHistories.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)
const TIMEOUT = { timeout: 120_000 }
const OPTIONS = { release: "test" }

const OCTOBER = Timestamp.Timestamp.make("2026-10-31T23:59:59.999Z")
const NOVEMBER = Timestamp.Timestamp.make("2026-11-01T00:00:00.000Z")
const LATER = Timestamp.plus(NOVEMBER, Timestamp.HOUR)
const monthOf = (at: Timestamp.Timestamp) => at.slice(0, "2026-11".length)

const outcome = { code: 250, enhanced_code: null, response: null, mx: null, tls: null, duration_ms: 5, category: null }

const verify = Rebuild.verify("monthly_usage", OPTIONS)
const differing = Effect.map(verify, ({ differences }) =>
  differences.map(({ folded, key, live }) => [key["month"], live?.["accepted"], folded?.["accepted"]]),
)
const mend = Effect.andThen(Rebuild.rebuild("monthly_usage", OPTIONS), Swap.swap("monthly_usage", false))

const account = Effect.fnUntraced(function* (at: Timestamp.Timestamp, keeping?: Account.Keeping) {
  const { commit } = yield* EventStore
  const account_id = id("AccountId")
  const ref = { account_id, stream_id: account_id }
  yield* commit(Account, ref, Account.create(at, account_id, "Acme", "free"))
  if (keeping !== undefined) yield* commit(Account, ref, Account.changeKeeping(at, keeping))
  return account_id
}, Effect.orDie)

interface SendRequest {
  readonly to: ReadonlyArray<string>
  readonly silenced?: ReadonlyArray<string>
  readonly at?: Timestamp.Timestamp
  /** Monthly limit of the account. */
  readonly limit?: number | null
}

const command = ({ at = NOVEMBER, to }: SendRequest): Acceptance.Command => ({
  from: { address: "hi@acme.test" as Address },
  to: to.map((name) => ({ address: `${name}@example.org` as Address })),
  cc: [],
  bcc: [],
  reply_to: [],
  subject: "Your receipt",
  headers: {},
  tags: [],
  scheduled_at: at,
  content: { sha256: Sha256.make("0".repeat(64)), has_html: false, has_text: true, attachments: [] },
  size_bytes: 1_200,
  list_unsubscribe: false,
  resend_of: null,
})

const facts = (
  view: View,
  account_id: AccountId,
  emailId: EmailId,
  { at = NOVEMBER, limit = null, silenced = [] }: SendRequest,
): Acceptance.Context => ({
  now: at,
  emailId,
  messageId: `<${emailId}@acme.test>`,
  mode: "live",
  domain: { id: id("DomainId"), status: "verified" },
  key: null,
  plan: { name: "Free", max_recipients: 10 },
  suppressed: new Map(silenced.map((name) => [`${name}@example.org`, "manual"])),
  unsent: { bytes: 0, limit: Infinity },
  quota: { used: view.facts.acceptedIn(account_id, monthOf(at)), limit },
  tracks: false,
})

/** Messages accepted all or none, as in a batch; a resend repeats `original`. */
const sending = (
  account_id: AccountId,
  requests: ReadonlyArray<SendRequest>,
  original?: EmailId,
): Commit<ReadonlyArray<EmailId>, unknown> => {
  const ids = requests.map(() => id("EmailId"))
  return {
    account_id,
    streams: [
      ...ids.map((email_id) => ({ aggregate: Email, id: email_id, isNew: true })),
      ...(original === undefined ? [] : [{ aggregate: Email, id: original }]),
    ],
    needs: { month: monthOf(requests[0]?.at ?? NOVEMBER) },
    decide: (view) => {
      const state = original === undefined ? Email.initial : view.state<Email.State>(Email, original)
      let before = 0
      const append = Result.all(
        requests.map((each, nth) => {
          const email_id = ids[nth] ?? id("EmailId")
          const wanted = state._tag === "Message" ? Email.resendCommand(state) : command(each)
          const known = facts(view, account_id, email_id, each)
          const quota = { ...known.quota, used: known.quota.used + before }
          return Result.map(Acceptance.accept({ ...known, quota }, wanted), (events) => {
            before += each.to.length
            return { aggregate: Email, id: email_id, events }
          })
        }),
      )
      return Result.map(append, (append) => ({ append, answer: ids }))
    },
  }
}

const send = Effect.fnUntraced(function* (account_id: AccountId, request: SendRequest) {
  const { transact } = yield* EventStore
  const [email_id] = yield* transact(sending(account_id, [request]))
  return email_id ?? (yield* Effect.die("nothing was sent"))
})

const NAMES = ["ana", "bo", "cy", "di"]
const LIMIT = 150

/** Makes random requests and counts, from each response, what it added to which month. */
const customer = (account_id: AccountId, store: EventStore["Service"], roll: RandomNumbers) => {
  const used = new Map<string, number>()
  const sent: Array<{ readonly email_id: EmailId; readonly month: string }> = []
  const add = (month: string, n: number) => void used.set(month, (used.get(month) ?? 0) + n)

  const { transact } = store

  /** Reads the unsuppressed recipients of each accepted message. */
  const learn = Effect.fnUntraced(function* (ids: ReadonlyArray<EmailId>, month: string) {
    for (const email_id of ids) {
      const { history } = yield* store.load(Email, { account_id, stream_id: email_id })
      const [first, ...rest] = history.map(({ event }) => event as Email.Event)
      const silenced = rest.filter((event) => event._tag === "EmailSuppressed" && event.at < LATER).length
      add(month, (first?._tag === "EmailQueued" ? first.to.length : 0) - silenced)
      sent.push({ email_id, month })
    }
  })

  /** Sends one request twice concurrently: one is accepted, and the other gets the same answer. */
  const concurrentDuplicates = (request: SendRequest) => {
    const claim = { account_id, route: "send", key: id("EmailId"), fingerprint: "same" }
    const idempotency = { ...claim, encode: (ids: ReadonlyArray<EmailId>) => new TextEncoder().encode(ids.join(" ")) }
    const duplicate = () =>
      Effect.map(store.transact({ ...sending(account_id, [request]), idempotency }), (done) =>
        done._tag === "Committed" ? done.answer : [],
      )
    return Effect.map(Effect.all([duplicate(), duplicate()], { concurrency: 2 }), (answers) => answers.flat())
  }

  /** The database refuses a row of one of two requests, so their batch is split. */
  const refusedByDatabase = (request: SendRequest) => {
    const unit = sending(account_id, [request])
    const row = { account_id: "\u0000" as AccountId, sha256: "", bytes: new Uint8Array(), expires_on: "2026-12-01" }
    const rows = [rowsOf(StoredContent.table, [row])]
    const decide = (view: View) => Result.map(unit.decide(view), (decision) => ({ ...decision, rows }))
    const spoilt = Effect.exit(transact({ ...unit, decide }))
    const both = Effect.all([spoilt, transact(sending(account_id, [request]))], { concurrency: 2 })
    return Effect.map(both, ([, ids]) => ids)
  }

  const accept = Effect.fnUntraced(function* (original?: EmailId) {
    const at = roll() < 0.3 ? OCTOBER : NOVEMBER
    const randomRequest = (): SendRequest => {
      const to = NAMES.filter(() => roll() < 0.6)
      return { at, to: to.length === 0 ? ["eve"] : to, silenced: roll() < 0.3 ? ["ana", "bo"] : [], limit: LIMIT }
    }
    const single = () => transact(sending(account_id, [randomRequest()], original))
    const batch = () => transact(sending(account_id, [randomRequest(), randomRequest(), randomRequest()]))
    const ways =
      original === undefined
        ? [single, batch, () => concurrentDuplicates(randomRequest()), () => refusedByDatabase(randomRequest())]
        : [single]
    yield* learn(yield* pick(ways, roll)(), monthOf(at))
  })

  const step = Effect.fnUntraced(function* () {
    if (sent.length === 0 || roll() < 0.5) return yield* accept()
    const { email_id, month } = pick(sent, roll)
    const ref = { account_id, stream_id: email_id }
    const recipient = `${pick(NAMES, roll)}@example.org` as Address
    switch (Math.floor(roll() * 6)) {
      case 0:
        return yield* accept(email_id)
      case 1:
        return void (yield* store.commit(Email, ref, Email.reschedule(NOVEMBER, LATER)))
      case 2: {
        const delivered = EmailReport.recordDelivered(LATER, recipient, { ...outcome, attempt: 1 })
        return void (yield* store.commit(Email, ref, delivered))
      }
      // Suppressed before the delivery: it was accepted and stays counted.
      case 3: {
        const suppressed = EmailReport.record(LATER, [{ _tag: "Suppressed", recipient, reason: "manual" }])
        return void (yield* store.commit(Email, ref, suppressed))
      }
      default: {
        const state = yield* store.commit(Email, ref, Email.cancel(LATER))
        const canceled =
          state._tag === "Message" ? state.recipients.filter(({ status }) => status === "canceled").length : 0
        return add(month, -canceled)
      }
    }
  })
  return { account_id, used, step: Effect.suspend(step) }
}

layer(Database.layerFresh, { excludeTestServices: true })("monthly usage under random requests", (it) => {
  it.effect(
    "equals the accepted recipients less the canceled ones, whatever happens to commit batches",
    () =>
      Effect.gen(function* () {
        const fresh = yield* Database.Fresh
        const proxy = yield* faultProxy(fresh.url)
        const services = yield* Layer.build(
          EventStore.layer().pipe(Layer.provide(Database.layerOf({ ...fresh, url: proxy.url }))),
        )
        const store = Context.get(services, EventStore)
        const roll = randomNumbers(1)
        const customers = yield* Effect.forEach([1, 2, 3], () =>
          Effect.map(account(OCTOBER), (account_id) => customer(account_id, store, roll)),
        ).pipe(Effect.provideService(EventStore, store))
        let done = 0
        // The random numbers depend on the order of requests, so failures are placed at fixed steps.
        const step = (nth: number) =>
          Effect.suspend(() => {
            if (nth % 20 === 10) proxy.inject(roll() < 0.5 ? "before" : "after")
            return pick(customers, roll).step
          }).pipe(
            Effect.exit,
            Effect.map((exit) => void (done += Exit.isSuccess(exit) ? 1 : 0)),
          )
        yield* Effect.forEach(
          Array.from({ length: 200 }, (_, nth) => nth),
          step,
          { concurrency: 12 },
        )
        assert.isAbove(proxy.struck(), 5)
        assert.isAbove(done, 100)
        for (const { account_id, used } of customers)
          for (const month of [monthOf(OCTOBER), monthOf(NOVEMBER)]) {
            const shown = yield* Accounts.usedRecipients(account_id, month)
            assert.strictEqual(shown, used.get(month) ?? 0)
            assert.isAtMost(shown, LIMIT)
          }
        const replay = yield* Layer.build(Replay.layer(...replayUrls(fresh.url)))
        assert.deepStrictEqual(yield* Effect.provide(differing, replay), [])
      }).pipe(Effect.scoped),
    TIMEOUT,
  )
})

layer(Store, { excludeTestServices: true })("monthly usage that differs from the log", (it) => {
  it.effect(
    "is found and repaired while mail is accepted and canceled, without losing any",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const { commit } = yield* EventStore
        const account_id = yield* account(NOVEMBER)
        const described = sql`
          SELECT reloptions, (SELECT array_agg(conname || ' ' || pg_get_constraintdef(oid) ORDER BY 1)
            FROM pg_constraint WHERE conrelid = c.oid AND contype <> 'n') AS constraints
          FROM pg_class c WHERE oid = 'monthly_usage'::regclass`
        const shape = yield* described
        let expected = 0
        let isOver = false
        const traffic = Effect.gen(function* () {
          while (!isOver) {
            yield* send(account_id, { to: ["ana", "bo"] })
            const canceled = yield* send(account_id, { to: ["ana"] })
            yield* commit(Email, { account_id, stream_id: canceled }, Email.cancel(LATER))
            expected += 2
            yield* Effect.sleep("10 millis")
          }
        })
        const fibers = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(traffic))
        assert.deepStrictEqual(yield* differing, [])
        yield* sql`UPDATE monthly_usage SET accepted = accepted + 5 WHERE account_id = ${account_id}`
        const [found] = (yield* verify).differences
        assert.deepStrictEqual(found?.key, { account_id, month: "2026-11" })
        assert.strictEqual(Number(found?.live?.["accepted"]), Number(found?.folded?.["accepted"]) + 5)

        const before = expected
        yield* Rebuild.rebuild("monthly_usage", OPTIONS)
        yield* Swap.swap("monthly_usage", false)
        assert.deepStrictEqual(yield* differing, [])
        // The previous version continues to be counted, and comes back with its wrong row.
        yield* Swap.swap("monthly_usage", true)
        const [again] = (yield* verify).differences
        assert.strictEqual(Number(again?.live?.["accepted"]), Number(again?.folded?.["accepted"]) + 5)
        yield* Swap.swap("monthly_usage", true)
        isOver = true
        yield* Effect.forEach(fibers, Fiber.join)
        assert.isAbove(expected, before)
        assert.deepStrictEqual(yield* differing, [])
        assert.strictEqual(yield* Accounts.usedRecipients(account_id, "2026-11"), expected)
        assert.deepStrictEqual(yield* described, shape)
      }).pipe(Effect.orDie),
    TIMEOUT,
  )

  it.effect("is not reported for a row of zero in place of no row, or the reverse", () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      const { commit } = yield* EventStore
      const account_id = yield* account(NOVEMBER)
      yield* Effect.exit(send(account_id, { to: ["ana"], limit: 0 }))
      const stream_id = yield* send(account_id, { to: ["ana"], at: OCTOBER })
      yield* commit(Email, { account_id, stream_id }, Email.cancel(LATER))
      const rows = sql`SELECT month, accepted::int FROM monthly_usage WHERE account_id = ${account_id} ORDER BY month`
      assert.deepStrictEqual(yield* rows, [
        { month: "2026-10", accepted: 0 },
        { month: "2026-11", accepted: 0 },
      ])
      assert.deepStrictEqual(yield* differing, [])
      yield* sql`DELETE FROM monthly_usage WHERE account_id = ${account_id}`
      assert.deepStrictEqual(yield* differing, [])
      yield* sql`INSERT INTO monthly_usage (account_id, month, accepted) VALUES (${account_id}, '2026-13', 1)`
      assert.deepStrictEqual(yield* differing, [["2026-13", 1, undefined]])
      yield* mend
      assert.deepStrictEqual(yield* rows, [])
    }).pipe(Effect.orDie),
  )

  it.effect(
    "stays unchanged where retention removed events, except for events still in the log",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const { commit } = yield* EventStore
        const [short, forEver] = [yield* account(NOVEMBER, { log_days: 7, delivery_days: 7 }), yield* account(NOVEMBER)]
        const at = <A, E, R>(moment: Timestamp.Timestamp, look: Effect.Effect<A, E, R>) =>
          Effect.andThen(TestClock.setTime(Timestamp.toMillis(moment)), look).pipe(Effect.provide(TestClock.layer()))
        // Ids contain their time: the last days of May.
        const MAY = Timestamp.Timestamp.make("2026-05-30T09:00:00.000Z")
        const over = yield* send(short, { to: ["ana", "bo"], at: MAY })
        for (const name of ["ana", "bo"])
          yield* commit(
            Email,
            { account_id: short, stream_id: over },
            EmailReport.recordDelivered(MAY, `${name}@example.org` as Address, { ...outcome, attempt: 1 }),
          )
        yield* send(short, { to: ["ana"], at: MAY })
        yield* send(forEver, { to: ["ana"], at: MAY })
        for (const follower of [EmailStatsFollower.follower, EmailWords.follower, LogTree.follower])
          while ((yield* Follower.step(follower)).events > 0);
        const june = Timestamp.plus(NOVEMBER, 8 * Timestamp.DAY)
        assert.strictEqual((yield* at(june, Retention.expire())).messages, 1)

        const looked = at(june, verify)
        const is = (account_id: AccountId, accepted: number) => sql`
          UPDATE monthly_usage SET accepted = ${accepted}::int WHERE account_id = ${account_id} AND month = '2026-05'`
        const used = Effect.all([
          Accounts.usedRecipients(short, "2026-05"),
          Accounts.usedRecipients(forEver, "2026-05"),
        ])
        assert.deepInclude(yield* looked, { differing_rows: 0, unproved_rows: 1 })
        yield* is(short, 7)
        assert.deepInclude(yield* looked, { differing_rows: 0, unproved_rows: 1 })
        yield* is(forEver, 7)
        assert.deepInclude(yield* looked, { differing_rows: 1, unproved_rows: 1 })
        yield* at(june, mend)
        assert.deepStrictEqual(yield* used, [7, 1])
        yield* is(short, 0)
        assert.deepInclude(yield* looked, { differing_rows: 1, unproved_rows: 1 })
        yield* at(june, mend)
        assert.deepStrictEqual(yield* used, [1, 1])
      }).pipe(Effect.orDie),
    TIMEOUT,
  )
})
