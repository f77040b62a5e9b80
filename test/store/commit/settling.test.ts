import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import * as EmailState from "@waybill/domain/email/EmailState"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import type { Address } from "@waybill/domain/values/Address"
import type { AccountId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { type LeasedCommit, LeaseLost } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Leases from "@waybill/store/outbox/Leases"
import type { Leased } from "@waybill/store/outbox/OutboxRow"
import * as LogReads from "@waybill/store/feed/LogReads"
import { streamKey } from "@waybill/store/log/StreamRef"
import * as StreamState from "@waybill/store/streams/StreamState"
import { Context, Effect, Exit, Fiber, Layer, Result } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import { blockedBackend, otherClient } from "../../support/postgres/otherClient.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import { open, send } from "./commits.ts"

const RECIPIENT = "ana@example.org" as Address
const LATER = "2999-01-01T00:00:00.000Z" as Timestamp.Timestamp
const DELIVERED: DeliveryOutcome.Outcome = {
  _tag: "Delivered",
  recipient: RECIPIENT,
  words: { ...DeliveryOutcome.NO_RESPONSE, attempt: 1 },
}
const DEFERRED: DeliveryOutcome.Outcome = {
  _tag: "Deferred",
  recipient: RECIPIENT,
  words: { ...DeliveryOutcome.NO_RESPONSE, attempt: 1 },
  next_attempt_at: LATER,
}

interface Claimed {
  readonly row: Pick<Leased, "id" | "account_id" | "stream_id" | "token">
  readonly stream: StreamState.StreamState
}

/** The commit of an outcome by a caller that has read the stream, and how often it was decided. */
const settling = ({ row, stream }: Claimed, outcome: DeliveryOutcome.Outcome = DELIVERED) => {
  const seen: Array<Email.State> = []
  const commit: LeasedCommit<number, unknown> = {
    account_id: row.account_id as AccountId,
    streams: [{ aggregate: Email, id: row.stream_id, known: stream }],
    leases: [row],
    decide: (view) => {
      const state = view.state<Email.State>(Email, row.stream_id)
      seen.push(state)
      return Result.map(EmailReport.record(view.now as Timestamp.Timestamp, [outcome])(state), (events) => ({
        append: [{ aggregate: Email, id: row.stream_id, events }],
        answer: view.version(row.stream_id),
      }))
    },
  }
  return { commit, seen }
}

const together = <R>(effects: ReadonlyArray<Effect.Effect<unknown, unknown, R>>) =>
  Effect.forEach(effects, (effect) => Effect.exit(effect), { concurrency: "unbounded" })

const hasLostLease = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && exit.cause.reasons.some((each) => each._tag === "Fail" && each.error instanceof LeaseLost)

/** Accepts that many messages of one account and claims them. */
const claimed = Effect.fnUntraced(function* (count: number) {
  const sql = yield* Sql
  const { transact } = yield* EventStore
  yield* sql`TRUNCATE outbox`
  const account_id = id("AccountId")
  yield* Effect.forEach(Array.from({ length: count }), () => transact(send(account_id)), { concurrency: "unbounded" })
  const { rows } = yield* Leases.claim({
    kind: "delivery",
    owner: "prc_1",
    token: Leases.newToken(),
    limit: count,
    without: new Set(),
    after: "",
  })
  const streams = yield* LogReads.readStreams(
    sql,
    rows.map(({ stream_id }) => ({ account_id, stream_id })),
  )
  return rows.map((row): Claimed => {
    const history = streams.get(streamKey({ account_id, stream_id: row.stream_id })) ?? []
    return { row, stream: StreamState.advance(StreamState.initial(Email), history) }
  })
})

const refOf = ({ row }: Claimed) => ({ account_id: row.account_id as AccountId, stream_id: row.stream_id })
const outboxRows = Effect.flatMap(
  Sql,
  (sql) =>
    sql<{ readonly id: string; readonly lease_token: string | null }>`SELECT id, lease_token FROM outbox ORDER BY id`,
)
const historyOf = (claim: Claimed) =>
  Effect.map(
    Effect.flatMap(EventStore, (store) => store.load(Email, refOf(claim))),
    ({ history }) => history.map(({ event }) => event._tag),
  )

const [QUEUED, OPENED, DONE] = ["EmailQueued", "EmailOpened", "EmailDelivered"]

layer(EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh)), { excludeTestServices: true })(
  "commits that know their streams",
  (it) => {
    it.effect("append to what their callers have read, and end their leases", function* () {
      const { transact } = yield* EventStore
      const claims = yield* claimed(5)
      const settles = claims.map((claim) => settling(claim))
      const done = yield* together(settles.map(({ commit }) => transact(commit)))
      assert.isTrue(done.every(Exit.isSuccess))
      assert.deepStrictEqual(
        settles.map(({ seen }) => seen.length),
        [1, 1, 1, 1, 1],
      )
      for (const claim of claims) assert.deepStrictEqual(yield* historyOf(claim), [QUEUED, DONE])
      assert.deepStrictEqual(yield* outboxRows, [])
    })

    it.effect("release the row of a message that is tried again", function* () {
      const { transact } = yield* EventStore
      const [one, other] = yield* claimed(2)
      if (one === undefined || other === undefined) return assert.fail("nothing claimed")
      const [deferred, delivered] = [settling(one, DEFERRED), settling(other)]
      const done = yield* together([transact(deferred.commit), transact(delivered.commit)])
      assert.isTrue(done.every(Exit.isSuccess))
      assert.deepStrictEqual([deferred.seen.length, delivered.seen.length], [1, 1])
      assert.deepStrictEqual(yield* outboxRows, [{ id: one.row.id, lease_token: null }])
    })

    it.effect("follow what was appended to their streams since", function* () {
      const { commit, transact } = yield* EventStore
      const claims = yield* claimed(6)
      const stale = claims.slice(1, 3)
      for (const claim of stale) yield* commit(Email, refOf(claim), open)
      const settles = claims.map((claim) => settling(claim))
      const done = yield* together(settles.map(({ commit }) => transact(commit)))
      assert.isTrue(done.every(Exit.isSuccess))
      for (const claim of claims)
        assert.deepStrictEqual(yield* historyOf(claim), stale.includes(claim) ? [QUEUED, OPENED, DONE] : [QUEUED, DONE])
      assert.deepStrictEqual(yield* outboxRows, [])
    })

    it.effect("are decided by a history that was rewritten without a new event", function* () {
      const sql = yield* Sql
      const { transact } = yield* EventStore
      const [claim] = yield* claimed(1)
      if (claim === undefined) return assert.fail("nothing claimed")
      yield* sql`UPDATE events SET recorded_at = recorded_at WHERE stream_id = ${claim.row.stream_id}`
      const { commit, seen } = settling(claim)
      yield* transact(commit)
      assert.lengthOf(seen, 1)
      assert.deepStrictEqual(yield* historyOf(claim), [QUEUED, DONE])
    })

    it.effect("give no refusal that is out of date", function* () {
      const { transact } = yield* EventStore
      const [claim] = yield* claimed(1)
      if (claim === undefined) return assert.fail("nothing claimed")
      const state = Email.evolve(claim.stream.state as EmailState.AcceptedEmail, { _tag: "EmailCanceled", at: LATER })
      // As if the last event had been lost with the former server.
      const lost = { ...claim.stream, state, version: 2, last: { event_id: id("EventId"), xmin: "1" } }
      const { commit, seen } = settling({ ...claim, stream: lost })
      yield* transact(commit)
      assert.deepStrictEqual(
        seen.map((each) => each._tag === "Message" && EmailState.status(each)),
        ["queued"],
      )
    })

    it.effect("lose only the lease that another holds", function* () {
      const sql = yield* Sql
      const { transact } = yield* EventStore
      for (const outcome of [DELIVERED, DEFERRED]) {
        const claims = yield* claimed(6)
        const [lost, removed, tried] = claims
        yield* sql`UPDATE outbox SET lease_token = 'successor' WHERE id = ${lost?.row.id ?? ""}`
        yield* sql`DELETE FROM outbox WHERE id = ${removed?.row.id ?? ""}`
        const done = yield* together(
          claims.map((claim) => transact(settling(claim, claim === tried ? outcome : DELIVERED).commit)),
        )
        assert.deepStrictEqual(done.map(hasLostLease), [true, true, false, false, false, false])
        assert.isTrue(done.slice(2).every(Exit.isSuccess))
        for (const claim of claims.slice(0, 2)) assert.deepStrictEqual(yield* historyOf(claim), [QUEUED])
        for (const claim of claims.slice(3)) assert.deepStrictEqual(yield* historyOf(claim), [QUEUED, DONE])
        assert.deepInclude(yield* outboxRows, { id: lost?.row.id ?? "", lease_token: "successor" })
      }
    })

    it.effect("hold their leases beside commits that read facts", function* () {
      const sql = yield* Sql
      const { transact } = yield* EventStore
      const claims = yield* claimed(4)
      const account_id = claims[0]?.row.account_id as AccountId
      const reading = () => transact(send(account_id, { needs: { domains: ["acme.test"], month: "2026-11" } }))
      const settles = claims.slice(0, 2).map((claim) => settling(claim))
      const done = yield* together([...settles.map(({ commit }) => transact(commit)), reading()])
      assert.isTrue(done.every(Exit.isSuccess))
      assert.deepStrictEqual(
        settles.map(({ seen }) => seen.length),
        [1, 1],
      )
      const [lost, held] = claims.slice(2)
      yield* sql`UPDATE outbox SET lease_token = 'successor' WHERE id = ${lost?.row.id ?? ""}`
      const others = [lost, held].map((claim) => transact(settling(claim ?? assert.fail("nothing claimed")).commit))
      const exits = yield* together([...others, reading()])
      assert.deepStrictEqual(exits.map(hasLostLease), [true, false, false])
      assert.isTrue(exits.slice(1).every(Exit.isSuccess))
      const left = (yield* outboxRows).map(({ lease_token }) => lease_token)
      assert.deepStrictEqual(left.toSorted(), [null, null, "successor"])
    })

    it.effect("settle a row once, when two batches or two commits of one do", function* () {
      const { transact } = yield* EventStore
      const second = yield* Effect.map(Layer.build(EventStore.layer()), (services) => Context.get(services, EventStore))
      const claims = yield* claimed(8)
      yield* second.transact(send(claims[0]?.row.account_id as AccountId))
      const done = yield* together(
        claims.flatMap((claim) => [transact, transact, second.transact].map((by) => by(settling(claim).commit))),
      )
      assert.lengthOf(done.filter(Exit.isSuccess), claims.length)
      assert.isFalse(done.some(Exit.hasDies))
      for (const claim of claims) assert.deepStrictEqual(yield* historyOf(claim), [QUEUED, DONE])
    })

    it.effect("reach a webhook that another node has added", function* () {
      const sql = yield* Sql
      const { transact } = yield* EventStore
      const claims = yield* claimed(2)
      const account_id = claims[0]?.row.account_id ?? ""
      yield* sql`
        INSERT INTO webhooks (account_id, id, version, enabled, removed, events)
        VALUES (${account_id}, 'whk_1', 1, true, false, '{"email.delivered"}')`
      const settles = claims.map((claim) => settling(claim))
      yield* together(settles.map(({ commit }) => transact(commit)))
      const [calls] = yield* sql<{ readonly count: number }>`
        SELECT count(*)::int AS count FROM outbox WHERE kind = 'webhook' AND stream_id = 'whk_1'`
      assert.deepStrictEqual(calls, { count: 2 })
    })

    it.effect("lock the rows of their leases in the order of ids, wherever they lie in the table", function* () {
      const sql = yield* Sql
      const { url } = yield* Database.Fresh
      const { transact } = yield* EventStore
      const claims = (yield* claimed(2)).toSorted((one, other) => (one.row.id < other.row.id ? -1 : 1))
      const [low, high] = claims.map(({ row }) => row.id)
      // Its new row lies behind that of the other.
      yield* sql`UPDATE outbox SET lease_until = now() + interval '1 hour' WHERE id = ${low ?? ""}`
      const [holding, watching] = [yield* otherClient(url), yield* otherClient(url)]
      yield* holding.query("BEGIN")
      yield* holding.query("SELECT FROM outbox WHERE id = $1 FOR UPDATE", [low])
      const settles = claims.map((claim) => settling(claim).commit)
      const both: LeasedCommit<number, unknown> = {
        account_id: claims[0]?.row.account_id as AccountId,
        streams: settles.flatMap(({ streams }) => streams),
        leases: settles.flatMap(({ leases }) => leases),
        decide: (view) =>
          Result.map(Result.all(settles.map(({ decide }) => decide(view))), (decisions) => ({
            append: decisions.flatMap(({ append }) => append),
            answer: 0,
          })),
      }
      const settled = yield* Effect.forkChild(transact(both))
      yield* blockedBackend(watching)
      const free = yield* watching.query("SELECT id FROM outbox WHERE id = $1 FOR UPDATE SKIP LOCKED", [high])
      assert.deepStrictEqual(free, [{ id: high }])
      yield* holding.query("COMMIT")
      yield* Fiber.join(settled)
      assert.deepStrictEqual(yield* outboxRows, [])
    })

    it.effect("do not wait for the renewal of their leases with rows locked in another order", function* () {
      const { url } = yield* Database.Fresh
      const { transact } = yield* EventStore
      const claims = yield* claimed(20)
      const renewing = yield* otherClient(url)
      const done = yield* Effect.all(
        [
          together(claims.toReversed().map((claim) => transact(settling(claim).commit))),
          Effect.forEach(Array.from({ length: 5 }), () => Leases.renew(claims.map(({ row }) => row))),
        ],
        { concurrency: "unbounded" },
      )
      assert.isTrue(done[0].every(Exit.isSuccess))
      const [stats] = yield* renewing.query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
      assert.strictEqual(Number(stats?.["deadlocks"]), 0)
    })
  },
)
