import type { Decide } from "@waybill/domain/values/Aggregate"
import type { Address } from "@waybill/domain/values/Address"
import * as Domain from "@waybill/domain/domain/Domain"
import type * as DomainState from "@waybill/domain/domain/DomainState"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Team from "@waybill/domain/account/Team"
import { EventStore, makeDeps } from "@waybill/store/commit/EventStore"
import * as GroupCommit from "@waybill/store/commit/GroupCommit"
import { MAX_STREAM_EVENTS_IN_BATCH } from "@waybill/store/streams/StreamStateCache"
import { BatchRows } from "@waybill/store/log/BatchTable"
import type { LogStorage, LogTransaction, Write } from "@waybill/store/commit/LogStorage"
import { OutcomeUnknown } from "@waybill/store/postgres/StorageError"
import { readLongStream } from "@waybill/store/commit/readLongStream"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import type { Stored } from "@waybill/store/log/RecordedEvents"
import { answerOf, LeaseLost, type Commit } from "@waybill/store/commit/Commit"
import { Effect, Exit, Fiber, Latch, Layer, Result } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { dkimKey, domainName, NOW } from "../../domain/values/examples.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { logStorage } from "../../support/logStorage.ts"
import { id } from "../../support/history.ts"
import { replayUrls } from "../../support/cells/testCell.ts"
import { send } from "../commit/commits.ts"

const EVENTS = 5_000
const FORMER_MEMBERS = 20_000

const added = (domain_id: DomainState.Domain["domain_id"]): Domain.Event => ({
  _tag: "DomainAdded",
  domain_id,
  name: domainName("acme.test"),
  dkim: dkimKey(),
  transport: null,
  next_check_at: NOW,
  at: NOW,
})
const switched = (nth: number): Domain.Event => ({
  _tag: "DomainTrackingChanged",
  opens: nth % 2 === 0,
  clicks: false,
  at: NOW,
})

/** A new domain with this many events. */
const grown = (account_id: AccountId, events: number) => {
  const domain_id = id("DomainId")
  const history = [added(domain_id), ...Array.from({ length: events - 1 }, (_, nth) => switched(nth))]
  const commit: Commit<typeof domain_id, never> = {
    account_id,
    streams: [{ aggregate: Domain, id: domain_id, isNew: true }],
    decide: () =>
      Result.succeed({ append: [{ aggregate: Domain, id: domain_id, events: history }], answer: domain_id }),
  }
  return commit
}

/** One more change of a domain; answers with the new version and the state before. */
const change = (account_id: AccountId, domain_id: string): Commit<readonly [number, Domain.State], never> => ({
  account_id,
  streams: [{ aggregate: Domain, id: domain_id }],
  decide: (view) => {
    const before = view.state<Domain.State>(Domain, domain_id)
    const version = view.version(domain_id) + 1
    return Result.succeed({
      append: [{ aggregate: Domain, id: domain_id, events: [switched(version)] }],
      answer: [version, before],
    })
  },
})

/** Wraps a log; counts the rows of each read of streams, in batches and outside. */
const counted = (storage: LogStorage) => {
  const inBatches: Array<number> = []
  const outside: Array<number> = []
  const counting =
    (rows: Array<number>, readStreams: LogTransaction["readStreams"]): LogTransaction["readStreams"] =>
    (ranges) =>
      Effect.tap(readStreams(ranges), (found) =>
        Effect.sync(() => rows.push([...found.values()].reduce((sum, each) => sum + each.length, 0))),
      )
  const counts: LogStorage = {
    ...storage,
    readStreams: counting(outside, storage.readStreams),
    transaction: (scope, body, onWritten) =>
      storage.transaction(
        scope,
        (transaction) => body({ ...transaction, readStreams: counting(inBatches, transaction.readStreams) }),
        onWritten,
      ),
  }
  return { storage: counts, inBatches, outside }
}

layer(Database.layerFresh, { excludeTestServices: true })("a stream of thousands of events", (it) => {
  it.effect("is read once, outside the batches; a change reads only the events since the previous one", () =>
    Effect.gen(function* () {
      const { inBatches, outside, storage } = counted(yield* logStorage)
      const deps = makeDeps()
      const group = yield* GroupCommit.make({ storage, ...deps })
      const account_id = id("AccountId")
      const domain_id = yield* answerOf(group.submit(grown(account_id, EVENTS)))
      yield* group.submit(change(account_id, domain_id))
      assert.isAtMost(Math.max(...inBatches), MAX_STREAM_EVENTS_IN_BATCH + 1)
      assert.isAtLeast(
        outside.reduce((sum, rows) => sum + rows, 0),
        EVENTS,
      )

      inBatches.length = 0
      outside.length = 0
      for (const nth of [2, 3, 4]) {
        const answer = yield* answerOf(group.submit(change(account_id, domain_id)))
        assert.strictEqual(answer[0], EVENTS + nth)
      }
      // The last known event, and the one that this process has added.
      assert.deepStrictEqual([inBatches, outside], [[2, 2, 2], []])

      // A read of its state reads only the last known event.
      const wanted = { account_id, stream_id: domain_id, aggregate: Domain }
      assert.strictEqual((yield* readLongStream(deps, storage.readStreams, wanted)).version, EVENTS + 4)
      assert.deepStrictEqual(outside, [2])
    }).pipe(Effect.scoped),
  )
})

const Rebuilding = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)

layer(Rebuilding, { excludeTestServices: true })("a team with very many former members", (it) => {
  it.effect("is changed by reading its new events and writing the rows of the members that changed", () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      const { inBatches, outside, storage } = counted(yield* logStorage)
      const { submit } = yield* GroupCommit.make({ storage, ...makeDeps() })
      const account_id = id("AccountId")
      const append = (decide: Decide<Team.State, Team.Event, unknown>) =>
        submit({
          account_id,
          streams: [{ aggregate: Team, id: Team.STREAM_ID }],
          decide: (view) =>
            Result.map(decide(view.state<Team.State>(Team, Team.STREAM_ID)), (events) => ({
              append: [{ aggregate: Team, id: Team.STREAM_ID, events }],
              answer: undefined,
            })),
        })
      const former = Array.from({ length: FORMER_MEMBERS }, () => id("UserId"))
      const [one, other] = former
      assert(one !== undefined && other !== undefined)
      const events = former.flatMap((user_id): ReadonlyArray<Team.Event> => {
        const email = `${user_id}@example.org` as Address
        return [
          { _tag: "MemberInvited", user_id, email, name: "", role: "viewer", at: NOW },
          { _tag: "MemberRemoved", user_id, at: NOW },
        ]
      })
      for (let from = 0; from < events.length; from += Team.REMEMBERED_EVENTS)
        yield* append(() => Result.succeed(events.slice(from, from + Team.REMEMBERED_EVENTS) as [Team.Event]))
      const rows = Effect.map(
        sql<{ readonly user_id: string; readonly xmin: string }>`
          SELECT user_id, xmin::text AS xmin FROM members WHERE account_id = ${account_id} ORDER BY 1`,
        (found) => new Map(found.map(({ user_id, xmin }) => [user_id, xmin])),
      )
      const before = yield* rows
      assert.strictEqual(before.size, former.length)
      for (const user_id of [one, other]) {
        const invitation = { user_id, email: `${user_id}@acme.test` as Address, name: "", role: "owner" as const }
        yield* append(Team.invite(NOW, invitation))
      }
      inBatches.length = 0
      outside.length = 0
      yield* append(Team.makeLink(NOW, one))
      // The last known event and the invitation before.
      assert.deepStrictEqual([inBatches, outside], [[2], []])
      const after = yield* rows
      assert.deepStrictEqual(
        former.filter((user_id) => before.get(user_id) !== after.get(user_id)),
        [one, other],
      )
      assert.deepStrictEqual((yield* Rebuild.verify("members", { release: "test" })).differences, [])
    }).pipe(Effect.scoped, Effect.orDie),
  )

  it.effect("refuses a commit that removes more members than its state remembers", function* () {
    const { commit } = yield* EventStore
    const events = Array.from({ length: Team.REMEMBERED_EVENTS + 1 }, (): Team.Event => ({
      _tag: "MemberInvited",
      user_id: id("UserId"),
      email: "ana@example.org" as Address,
      name: "",
      role: "viewer",
      at: NOW,
    }))
    const ref = { account_id: id("AccountId"), stream_id: Team.STREAM_ID }
    const exit = yield* Effect.exit(commit(Team, ref, () => Result.succeed(events as [Team.Event])))
    assert.include(String(Exit.isFailure(exit) && exit.cause), "at most 256 events to a stream of members")
    // The commits of one batch append one or two events each.
    assert.isAtLeast(Team.REMEMBERED_EVENTS, 2 * GroupCommit.MAX_COMMITS_PER_BATCH)
  })
})

/** A group commit where a test can hold up the reads of long streams. */
const held = (over: (storage: LogStorage) => Partial<LogStorage> = () => ({})) =>
  Effect.gen(function* () {
    const log = yield* logStorage
    const mayRead = yield* Latch.make(true)
    const reading = yield* Latch.make()
    const storage: LogStorage = {
      ...log,
      readStreams: (ranges) => Effect.andThen(reading.open, mayRead.whenOpen(log.readStreams(ranges))),
    }
    const group = yield* GroupCommit.make({ ...makeDeps(), storage: { ...storage, ...over(storage) } })
    const account_id = id("AccountId")
    const domain_id = yield* answerOf(group.submit(grown(account_id, MAX_STREAM_EVENTS_IN_BATCH + 1)))
    return { account_id, reading, change: change(account_id, domain_id), domain_id, group, mayRead, log }
  })

/** A write of more events to the stream of an event, without a decision. */
const appended = ({ version, ...last }: Stored, count: number): Write => ({
  changedStreams: [],
  events: Array.from({ length: count }, (_, nth) => ({
    ...last,
    event_id: id("EventId"),
    version: version + nth + 1,
  })),
  rows: new BatchRows(),
  now: NOW,
})

layer(Database.layerFresh, { excludeTestServices: true })("while a long stream is read", (it) => {
  // threat: long-histories
  it.effect("only commits that need it wait", () =>
    Effect.gen(function* () {
      const { account_id, reading, change, group, mayRead } = yield* held()
      yield* mayRead.close
      const waiting = yield* Effect.forkChild(group.submit(change))
      yield* reading.await
      for (const _ of [1, 2, 3]) yield* group.submit(send(account_id))
      assert.isUndefined(waiting.pollUnsafe())
      yield* mayRead.open
      const done = yield* answerOf(Fiber.join(waiting))
      assert.strictEqual(done[0], MAX_STREAM_EVENTS_IN_BATCH + 2)
    }).pipe(Effect.scoped),
  )

  it.effect("concurrent duplicates still get one answer", () =>
    Effect.gen(function* () {
      const { account_id, change, group, log } = yield* held()
      const idempotency = {
        account_id,
        route: "PATCH",
        key: "k",
        fingerprint: "same",
        encode: ([version]: readonly [number, unknown]) => Uint8Array.of(version),
      }
      const answers = yield* Effect.forEach([1, 2, 3], () => group.submit({ ...change, idempotency }), {
        concurrency: "unbounded",
      })
      assert.deepStrictEqual(answers.map(({ _tag }) => _tag).toSorted(), ["Committed", "Replayed", "Replayed"])
      assert.lengthOf((yield* log.feed({ after: 0n, account_id })).events, MAX_STREAM_EVENTS_IN_BATCH + 2)
      // A stored answer is found without reading the stream.
      const other = yield* Effect.flip(group.submit({ ...change, idempotency: { ...idempotency, fingerprint: "x" } }))
      assert.strictEqual(other._tag, "IdempotencyKeyReused")
    }).pipe(Effect.scoped),
  )

  it.effect("a lost lease is refused", () =>
    Effect.gen(function* () {
      const { change, group } = yield* held()
      const lost = yield* Effect.flip(
        group.submit<readonly [number, Domain.State], LeaseLost>({ ...change, leases: [{ id: "row", token: "t" }] }),
      )
      assert.deepStrictEqual(lost, new LeaseLost({ id: "row" }))
    }).pipe(Effect.scoped),
  )

  it.effect("the end of the store fails the waiting commits", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.scoped(
        Effect.gen(function* () {
          const { reading, change, group, mayRead } = yield* held()
          yield* mayRead.close
          const callers = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkDetach(group.submit(change)))
          yield* reading.await
          return callers
        }),
      )
      for (const caller of waiting) {
        const exit = yield* Fiber.await(caller)
        assert.include(String(Exit.isFailure(exit) && exit.cause), "the event store is closed")
      }
    }).pipe(Effect.scoped),
  )

  it.effect("an error of the read is left to the batch", () =>
    Effect.gen(function* () {
      let failed = 0
      const { change, group } = yield* held(({ readStreams }) => ({
        readStreams: (ranges) =>
          ++failed === 1 ? Effect.fail(new OutcomeUnknown({ cause: "away" })) : readStreams(ranges),
      }))
      assert.strictEqual((yield* answerOf(group.submit(change)))[0], MAX_STREAM_EVENTS_IN_BATCH + 2)
      assert.strictEqual(failed, 1)
    }).pipe(Effect.scoped),
  )

  it.effect("and rewritten meanwhile, it is read outside once more", () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      let reads = 0
      const { change, group } = yield* held(({ readStreams }) => ({
        readStreams: (ranges) =>
          Effect.tap(readStreams(ranges), () =>
            ++reads === 1
              ? Effect.orDie(sql`UPDATE events SET data = data WHERE stream_id = ${ranges[0]?.stream_id ?? ""}`)
              : Effect.void,
          ),
      }))
      assert.strictEqual((yield* answerOf(group.submit(change)))[0], MAX_STREAM_EVENTS_IN_BATCH + 2)
      assert.strictEqual(reads, 2)
    }).pipe(Effect.scoped),
  )

  it.effect("and grows too long again meanwhile, a batch reads what is new", () =>
    Effect.gen(function* () {
      let outgrown = 0
      const { change, group } = yield* held(({ readStreams, transaction }) => ({
        readStreams: (ranges) =>
          Effect.tap(readStreams(ranges), (found) => {
            const last = [...found.values()][0]?.at(-1)
            if (last === undefined) return Effect.void
            outgrown++
            const more = appended(last, MAX_STREAM_EVENTS_IN_BATCH + 1)
            return transaction({ accounts: [], isExclusive: false }, (page) => page.write(more))
          }),
      }))
      const answer = yield* answerOf(group.submit(change))
      assert.strictEqual(outgrown, 1)
      assert.strictEqual(answer[0], 2 * (MAX_STREAM_EVENTS_IN_BATCH + 1) + 1)
    }).pipe(Effect.scoped),
  )
})
