import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import type { Address } from "@waybill/domain/values/Address"
import * as Domain from "@waybill/domain/domain/Domain"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Team from "@waybill/domain/account/Team"
import { live } from "@waybill/store/commit/Consequences"
import { EventStore, rules } from "@waybill/store/commit/EventStore"
import { MAX_TIMES_ASIDE } from "@waybill/store/commit/CommitBatch"
import * as GroupCommit from "@waybill/store/commit/GroupCommit"
import { MAX_HISTORY_IN_FLIGHT } from "@waybill/store/streams/StreamStateCache"
import { type Ledger, OutcomeUnknown, type Page, type Write } from "@waybill/store/commit/LogStorage"
import * as PipelinedConnection from "@waybill/store/postgres/PipelinedConnection"
import * as LongStreams from "@waybill/store/streams/LongStreams"
import * as MemoryLogStorage from "@waybill/store/commit/MemoryLogStorage"
import * as PostgresLogStorage from "@waybill/store/commit/PostgresLogStorage"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/Replay"
import { readModels } from "@waybill/store/readmodels/ReadModels"
import type { Stored } from "@waybill/store/commit/RecordedEvents"
import { LeaseLost, type Unit } from "@waybill/store/commit/Commit"
import { Effect, Exit, Fiber, Latch, Layer, Result } from "effect"
import { describe } from "vitest"
import { dkimKey, domainName, NOW } from "../../domain/examples.ts"
import * as Database from "../../support/postgres/database.ts"
import { id } from "../../support/history.ts"
import { committed, send } from "../commit/units.ts"

const EVENTS = 5_000

const born = (domain_id: Domain.Domain["domain_id"]): Domain.Event => ({
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

/** A domain whose owner has changed it so often. */
const grown = (account_id: AccountId, events: number) => {
  const domain_id = id("DomainId")
  const history = [born(domain_id), ...Array.from({ length: events - 1 }, (_, nth) => switched(nth))]
  const unit: Unit<typeof domain_id, never> = {
    account_id,
    streams: [{ aggregate: Domain, id: domain_id, fresh: true }],
    decide: () =>
      Result.succeed({ append: [{ aggregate: Domain, id: domain_id, events: history }], answer: domain_id }),
  }
  return unit
}

/** One more change of it; answers with how many there are then, and with what it was before. */
const change = (account_id: AccountId, domain_id: string): Unit<readonly [number, Domain.State], never> => ({
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

/** The same log, and how many rows each question about streams was answered with. */
const counted = (ledger: Ledger) => {
  const inFlights: Array<number> = []
  const beside: Array<number> = []
  const counting =
    (rows: Array<number>, streams: Page["streams"]): Page["streams"] =>
    (stretches) =>
      Effect.tap(streams(stretches), (found) =>
        Effect.sync(() => rows.push([...found.values()].reduce((sum, each) => sum + each.length, 0))),
      )
  const counts: Ledger = {
    ...ledger,
    streams: counting(beside, ledger.streams),
    transaction: (scope, body, written) =>
      ledger.transaction(scope, (page) => body({ ...page, streams: counting(inFlights, page.streams) }), written),
  }
  return { ledger: counts, inFlights, beside }
}

layer(Database.layerFresh, { excludeTestServices: true })("a stream of thousands of events", (it) => {
  it.effect("is read once, beside the flights; a change of it reads what has happened since the one before", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { inFlights, beside, ledger } = counted(
        PostgresLogStorage.make(sql, yield* PipelinedConnection.make(sql), readModels),
      )
      const own = rules(live)
      const group = yield* GroupCommit.make({ ledger, ...own })
      const account_id = id("AccountId")
      const { answer: domain_id } = yield* committed(group.submit(grown(account_id, EVENTS)))
      yield* group.submit(change(account_id, domain_id))
      assert.isAtMost(Math.max(...inFlights), MAX_HISTORY_IN_FLIGHT + 1)
      assert.isAtLeast(
        beside.reduce((sum, rows) => sum + rows, 0),
        EVENTS,
      )

      inFlights.length = 0
      beside.length = 0
      for (const nth of [2, 3, 4]) {
        const { answer } = yield* committed(group.submit(change(account_id, domain_id)))
        assert.strictEqual(answer[0], EVENTS + nth)
      }
      // The last one that is known, and the one that this process has added.
      assert.deepStrictEqual([inFlights, beside], [[2, 2, 2], []])

      // Nor is it read again to be looked at.
      const wanted = { account_id, stream_id: domain_id, aggregate: Domain }
      assert.strictEqual((yield* LongStreams.read(own, ledger.streams, wanted)).version, EVENTS + 4)
      assert.deepStrictEqual(beside, [2])
    }).pipe(Effect.scoped),
  )
})

const Rebuilding = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(url))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)

layer(Rebuilding, { excludeTestServices: true })("a team that very many have left", (it) => {
  it.effect("is changed without a word about them", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { commit } = yield* EventStore
      const account_id = id("AccountId")
      const ref = { account_id, stream_id: Team.STREAM_ID }
      const everybody = Array.from({ length: 500 }, () => id("UserId"))
      const [one, other] = everybody
      assert(one !== undefined && other !== undefined)
      const events = everybody.flatMap((user_id): ReadonlyArray<Team.Event> => {
        const email = `${user_id}@example.org` as Address
        return [
          { _tag: "MemberInvited", user_id, email, name: "", role: "viewer", at: NOW },
          { _tag: "MemberRemoved", user_id, at: NOW },
        ]
      })
      yield* commit(Team, ref, () => Result.succeed(events as [Team.Event]))
      const rows = Effect.map(
        sql<{ readonly user_id: string; readonly xmin: string }>`
          SELECT user_id, xmin::text AS xmin FROM members WHERE account_id = ${account_id} ORDER BY 1`,
        (found) => new Map(found.map(({ user_id, xmin }) => [user_id, xmin])),
      )
      const before = yield* rows
      assert.strictEqual(before.size, everybody.length)
      for (const user_id of [one, other]) {
        const invitation = { user_id, email: `${user_id}@acme.test` as Address, name: "", role: "owner" as const }
        yield* commit(Team, ref, Team.invite(NOW, invitation))
      }
      yield* commit(Team, ref, Team.makeLink(NOW, one))
      const after = yield* rows
      assert.deepStrictEqual(
        everybody.filter((user_id) => before.get(user_id) !== after.get(user_id)),
        [one, other],
      )
      assert.deepStrictEqual((yield* Rebuild.verify("members", { release: "test" })).differences, [])
    }).pipe(Effect.orDie),
  )
})

/** A group on a log in memory that goes on only as far as it is told to, where long streams are read. */
const held = (over: (ledger: Ledger) => Partial<Ledger> = () => ({})) =>
  Effect.gen(function* () {
    const memory = MemoryLogStorage.make(readModels)
    const mayRead = yield* Latch.make(true)
    const asked = yield* Latch.make()
    const ledger: Ledger = {
      ...memory,
      streams: (stretches) => Effect.andThen(asked.open, mayRead.whenOpen(memory.streams(stretches))),
    }
    const group = yield* GroupCommit.make({ ...rules(live), ledger: { ...ledger, ...over(ledger) } })
    const account_id = id("AccountId")
    const { answer: domain_id } = yield* committed(group.submit(grown(account_id, MAX_HISTORY_IN_FLIGHT + 1)))
    return { account_id, asked, change: change(account_id, domain_id), domain_id, group, mayRead, memory }
  })

/** So many more events of the stream that this one is of, by somebody who asks nobody. */
const appended = ({ version, ...last }: Stored, count: number): Write => ({
  touched: [],
  events: Array.from({ length: count }, (_, nth) => ({
    ...last,
    event_id: id("EventId"),
    version: version + nth + 1,
  })),
  content: [],
  usage: [],
  outbox: { arm: [], disarm: [], release: [] },
  deliveries: [],
  now: NOW,
})

describe("while a long stream is read", () => {
  it.effect("nobody waits but who wants it", () =>
    Effect.gen(function* () {
      const { account_id, asked, change, group, mayRead } = yield* held()
      yield* mayRead.close
      const waiting = yield* Effect.forkChild(group.submit(change))
      yield* asked.await
      for (const _ of [1, 2, 3]) yield* group.submit(send(account_id))
      assert.isUndefined(waiting.pollUnsafe())
      yield* mayRead.open
      const done = yield* committed(Fiber.join(waiting))
      assert.strictEqual(done.answer[0], MAX_HISTORY_IN_FLIGHT + 2)
    }).pipe(Effect.scoped),
  )

  it.effect("twins still have one answer", () =>
    Effect.gen(function* () {
      const { account_id, change, group, memory } = yield* held()
      const idempotency = {
        account_id,
        route: "PATCH",
        key: "k",
        fingerprint: "same",
        encode: ([version]: readonly [number, unknown]) => Uint8Array.of(version),
      }
      const twins = yield* Effect.forEach([1, 2, 3], () => group.submit({ ...change, idempotency }), {
        concurrency: "unbounded",
      })
      assert.deepStrictEqual(twins.map(({ _tag }) => _tag).toSorted(), ["Committed", "Replayed", "Replayed"])
      assert.lengthOf((yield* memory.feed({ after: 0n })).events, MAX_HISTORY_IN_FLIGHT + 2)
      // An answer that is kept needs no history.
      const other = yield* Effect.flip(group.submit({ ...change, idempotency: { ...idempotency, fingerprint: "x" } }))
      assert.strictEqual(other._tag, "IdempotencyKeyReused")
    }).pipe(Effect.scoped),
  )

  it.effect("a lease that passes on is lost", () =>
    Effect.gen(function* () {
      const { change, group } = yield* held()
      const lost = yield* Effect.flip(group.submit({ ...change, leases: [{ id: "row", token: "t" }] }))
      assert.deepStrictEqual(lost, new LeaseLost({ id: "row" }))
    }).pipe(Effect.scoped),
  )

  it.effect("the end of the store is told to who waits for it", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.scoped(
        Effect.gen(function* () {
          const { asked, change, group, mayRead } = yield* held()
          yield* mayRead.close
          const callers = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkDetach(group.submit(change)))
          yield* asked.await
          return callers
        }),
      )
      for (const caller of waiting) {
        const exit = yield* Fiber.await(caller)
        assert.include(String(Exit.isFailure(exit) && exit.cause), "the event store is closed")
      }
    }).pipe(Effect.scoped),
  )

  it.effect("trouble with the log is the flights' to deal with", () =>
    Effect.gen(function* () {
      let failed = 0
      const { change, group } = yield* held(({ streams }) => ({
        streams: (stretches) =>
          ++failed === 1 ? Effect.fail(new OutcomeUnknown({ cause: "away" })) : streams(stretches),
      }))
      assert.strictEqual((yield* committed(group.submit(change))).answer[0], MAX_HISTORY_IN_FLIGHT + 2)
      assert.isAbove(failed, 1)
    }).pipe(Effect.scoped),
  )

  it.effect("and it grows too long again each time, it is read in a flight in the end", () =>
    Effect.gen(function* () {
      let outgrown = 0
      const { change, group } = yield* held(({ streams, transaction }) => ({
        streams: (stretches) =>
          Effect.tap(streams(stretches), (found) => {
            const last = [...found.values()][0]?.at(-1)
            if (last === undefined) return Effect.void
            outgrown++
            const more = appended(last, MAX_HISTORY_IN_FLIGHT + 1)
            return transaction({ accounts: [], alone: false }, (page) => page.write(more))
          }),
      }))
      const { answer } = yield* committed(group.submit(change))
      assert.strictEqual(outgrown, MAX_TIMES_ASIDE)
      assert.strictEqual(answer[0], (MAX_TIMES_ASIDE + 1) * (MAX_HISTORY_IN_FLIGHT + 1) + 1)
    }).pipe(Effect.scoped),
  )
})
