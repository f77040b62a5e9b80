import * as Email from "@waybill/domain/email/Email"
import { EventStore, type Options } from "@waybill/store/commit/EventStore"
import { PATIENCE_MS } from "@waybill/store/commit/CommitBatch"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Provenance, system } from "@waybill/store/log/Provenance"
import * as Cursors from "@waybill/store/feed/Cursors"
import * as InstanceKey from "@waybill/store/secrets/InstanceKey"
import * as Lsn from "@waybill/store/feed/Lsn"
import {
  layer as replicaLayer,
  MAX_UNSEEN_BYTES,
  PURPOSE,
  Replica,
  type ReplicaShape,
} from "@waybill/store/feed/Replica"
import * as ReadModel from "@waybill/store/readmodels/ReadModel"
import * as BatchTables from "@waybill/store/commit/BatchTables"
import { Cause, Context, Effect, Exit, Fiber, Layer, Option, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { type Fault, faultProxy } from "../../support/postgres/faultProxy.ts"
import { id, opened } from "../../support/history.ts"
import { otherClient, takeVersion, blockedBackend } from "../../support/postgres/otherClient.ts"
import { open, send } from "./commits.ts"

const storeOn = (database: Database.Database, options: Options = {}) =>
  Layer.build(EventStore.layer(options).pipe(Layer.provide(Database.layerOf(database)))).pipe(
    Effect.map((services) => Context.get(services, EventStore)),
  )

/** A store behind a proxy that can fail, with an email to append to. */
const setUp = Effect.gen(function* () {
  const fresh = yield* Database.Fresh
  const proxy = yield* faultProxy(fresh.url)
  const store = yield* storeOn({ ...fresh, url: proxy.url })
  const account_id = id("AccountId")
  const ref = { account_id, stream_id: yield* store.transact(send(account_id)) }
  let decided = 0
  const openCounted = () => {
    decided++
    return open()
  }
  return { fresh, proxy, store, ref, openCounted, decided: () => decided }
})

const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
const until = (condition: () => boolean) => Effect.repeat(turn, { until: condition })

/** Holds up the next batch by taking the stream's next version, until the scope ends or `ROLLBACK` is sent. */
const holdBatch = Effect.fnUntraced(function* (
  database: Database.Database,
  store: EventStore["Service"],
  ref: { readonly account_id: Parameters<typeof send>[0]; readonly stream_id: string },
) {
  const other = yield* otherClient(database.url)
  yield* takeVersion(other, ref, (yield* store.load(Email, ref)).version + 1)
  const held = yield* Effect.forkChild(store.commit(Email, ref, open))
  const pid = yield* blockedBackend(yield* otherClient(database.url))
  return { held, pid, letGo: other.query("ROLLBACK") }
})

layer(Database.layerFresh, { excludeTestServices: true })("a connection lost during a commit", (it) => {
  const expectOnce = (faults: ReadonlyArray<Fault>, decisions: number) =>
    Effect.gen(function* () {
      const { decided, openCounted, proxy, ref, store } = yield* setUp
      proxy.inject(...faults)
      yield* store.commit(Email, ref, openCounted)
      assert.strictEqual(proxy.struck(), faults.length)
      assert.deepStrictEqual([decided(), (yield* store.load(Email, ref)).version], [decisions, 2])
    })

  it.effect("before the COMMIT arrives: decides again", () => expectOnce(["before"], 2))
  it.effect("after the server has committed: finds its events and does not commit twice", () =>
    expectOnce(["after"], 1),
  )
  it.effect("after the server has committed: a reader of the replica must see the write", function* () {
    const written: Array<string> = []
    const wrote = (accounts: ReadonlyArray<string>) => Effect.sync(() => void written.push(...accounts))
    const replica: ReplicaShape = { noteCommit: wrote, positionOf: () => undefined, read: (_, __, effect) => effect }
    const { proxy, ref, store } = yield* Effect.provideService(setUp, Replica, replica)
    written.length = 0
    proxy.inject("after")
    yield* store.commit(Email, ref, open)
    assert.deepStrictEqual([proxy.struck(), written], [1, [ref.account_id]])
  })
  it.effect("several times: still appends once", () => expectOnce(["before", "before", "after"], 3))

  it.effect("while it opens at the end of the service: commits, and the service ends", function* () {
    const fresh = yield* Database.Fresh
    const proxy = yield* faultProxy(fresh.url)
    const scope = yield* Scope.make()
    const store = yield* Scope.provide(storeOn({ ...fresh, url: proxy.url }), scope)
    const account_id = id("AccountId")
    // Opens the connections of the directory and of reads, so that the one held up is that of commits.
    yield* store.load(Email, { account_id, stream_id: id("EmailId") })
    proxy.holdNew()
    const commit = yield* Effect.forkChild(store.transact(send(account_id)))
    yield* until(() => proxy.heldNew() > 0)
    // Not of this fiber, because without an end it would keep it from ending as well.
    const end = yield* Effect.forkDetach(Scope.close(scope, Exit.void), { startImmediately: true })
    proxy.letIn()
    assert.isTrue(Option.isSome(yield* Effect.timeoutOption(Fiber.join(end), "20 seconds")), "the service did not end")
    assert.isString(yield* Fiber.join(commit))
  })

  it.effect("with the COMMIT still under way: waits for it and does not commit twice", function* () {
    const { decided, fresh, openCounted, proxy, ref, store } = yield* setUp
    const watcher = yield* otherClient(fresh.url)
    proxy.inject("late")
    const commit = yield* Effect.forkChild(store.commit(Email, ref, openCounted))
    // The store looks for its event and must not take it for lost because it is not there yet.
    const asked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND query LIKE '%FROM events WHERE account_id%AND event_id%'`
    yield* watcher.query(asked).pipe(Effect.repeat({ until: (found) => found.length > 0 }))
    assert.isUndefined(commit.pollUnsafe())
    proxy.release()
    yield* Fiber.join(commit)
    assert.deepStrictEqual([decided(), (yield* store.load(Email, ref)).version], [1, 2])
  })

  it.effect("of many batches: gives each caller the true outcome", function* () {
    const { proxy, store } = yield* setUp
    const account_id = id("AccountId")
    proxy.inject("after", "before", "after", "before", "after")
    const commits = yield* Effect.forEach(
      Array.from({ length: 200 }, (_, n) => n),
      (n) =>
        Effect.exit(
          store.transact(
            n % 4 === 0 ? send(account_id, { decide: () => Result.fail("refused" as never) }) : send(account_id),
          ),
        ),
      { concurrency: 50 },
    )
    const sent = commits.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value] : []))
    assert.strictEqual(proxy.struck(), 5)
    assert.strictEqual(commits.filter(Exit.isFailure).length, 50)
    const { events } = yield* store.feed({ after: 0n, account_id })
    assert.deepStrictEqual(events.map((event) => event.stream_id).toSorted(), sent.toSorted())
  })

  it.effect("by pg_terminate_backend: decides again", function* () {
    const { fresh, ref, store } = yield* setUp
    const { held, letGo, pid } = yield* holdBatch(fresh, store, ref)
    const administrator = yield* otherClient(fresh.adminUrl)
    yield* administrator.query("SELECT pg_terminate_backend($1::int)", [pid])
    yield* letGo
    yield* Fiber.join(held)
    assert.strictEqual((yield* store.load(Email, ref)).version, 2)
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("a database that is down", (it) => {
  it.effect("when the position of a commit is queried: an upper bound is used until it answers", function* () {
    const fresh = yield* Database.Fresh
    const proxy = yield* faultProxy(fresh.url)
    const keyring = Result.getOrThrow(InstanceKey.parse(InstanceKey.generate()))
    const services = yield* Layer.build(
      replicaLayer({ url: fresh.url, connections: 1 }).pipe(
        Layer.provide(Database.layerOf({ ...fresh, url: proxy.url })),
        Layer.provide(Layer.succeed(InstanceKey.InstanceKey, keyring)),
      ),
    )
    const { positionOf, noteCommit: wrote } = Context.get(services, Replica)
    const account_id = id("AccountId")
    const cursors = Cursors.make(keyring.derive(PURPOSE))
    const told = (known?: string) => cursors.read(account_id, positionOf(account_id, known) ?? "") ?? Lsn.HIGHEST
    yield* wrote([account_id])
    const before = told()
    // A position that the client names is kept, unless it is made up or of another account.
    assert.strictEqual(told(cursors.ofEvent(account_id, before + 7n)), before + 7n)
    assert.strictEqual(
      told(`${cursors.ofEvent(account_id, before + 7n)}, ${cursors.ofEvent(account_id, 1n)}`),
      before + 7n,
    )
    assert.strictEqual(told(cursors.ofEvent(id("AccountId"), before + 7n)), before)
    assert.strictEqual(told("F/FFFFFFFF"), before)
    proxy.down()
    yield* wrote([account_id])
    assert.isTrue(told() >= before + MAX_UNSEEN_BYTES)
    assert.isTrue(told() < Lsn.HIGHEST)
    proxy.up()
    yield* until(() => told() < before + MAX_UNSEEN_BYTES)
    assert.isTrue(told() >= before)
  })

  it.effect("for a short time: commits wait", function* () {
    const { proxy, ref, store } = yield* setUp
    proxy.down()
    const commits = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 20 }), () => store.commit(Email, ref, open), { concurrency: "unbounded" }),
    )
    yield* until(() => proxy.refused() >= 3)
    proxy.up()
    yield* Fiber.join(commits)
    assert.strictEqual((yield* store.load(Email, ref)).version, 21)
  })

  it.effect("for too long: callers get the error", function* () {
    const { fresh } = yield* setUp
    const proxy = yield* faultProxy(fresh.url)
    // The connections use the real clock, the store a clock that the test moves.
    const services = yield* Layer.build(Database.layerOf({ ...fresh, url: proxy.url }))
    const account_id = id("AccountId")
    yield* Effect.gen(function* () {
      const store = yield* EventStore
      yield* store.transact(send(account_id))
      proxy.down()
      const commit = yield* Effect.forkChild(Effect.exit(store.transact(send(account_id))))
      yield* until(() => proxy.refused() >= 1)
      yield* TestClock.adjust(PATIENCE_MS - 1).pipe(Effect.andThen(turn))
      assert.isUndefined(commit.pollUnsafe())
      yield* TestClock.adjust(1000).pipe(
        Effect.andThen(turn),
        Effect.repeat({ until: () => commit.pollUnsafe() !== undefined }),
      )
      const exit = yield* Fiber.join(commit)
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.isTrue(error instanceof StoreUnavailable && error.why === "lost")
      proxy.up()
      yield* store.transact(send(account_id))
      assert.strictEqual((yield* store.feed({ after: 0n, account_id })).events.length, 2)
    }).pipe(
      Effect.provide(EventStore.layer().pipe(Layer.provide(Layer.succeedContext(services)))),
      Effect.provide(TestClock.layer()),
    )
  })

  it.effect("fails a read only after retries", function* () {
    const { proxy, ref, store } = yield* setUp
    proxy.down()
    const read = yield* Effect.forkChild(store.load(Email, ref))
    yield* until(() => proxy.refused() >= 1)
    proxy.up()
    assert.strictEqual((yield* Fiber.join(read)).version, 1)
  })
})

/** A table that refuses emails with the subject "poison". */
const picky = ReadModel.make<
  { readonly account_id: string; readonly id: string; readonly subject: string },
  Email.State
>({
  name: "picky",
  stream: Email.stream,
  key: ["account_id", "id"],
  changes: [],
  rows: ({ account_id, stream_id }, state) => {
    if (state._tag === "NotCreated") return []
    if (state.accepted.subject === "bug") throw new Error("a bug in a fold")
    return [{ account_id, id: stream_id, subject: state.accepted.subject }]
  },
})

layer(Database.layerFresh, { excludeTestServices: true })("a commit that is refused", (it) => {
  const expectAlone = (name: string, over: { subject?: string; request_id?: string }, message: RegExp) =>
    it.effect(`${name}: fails alone, the rest of its batch is committed`, function* () {
      const fresh = yield* Database.Fresh
      const admin = yield* otherClient(fresh.url)
      yield* admin.query(`CREATE TABLE IF NOT EXISTS picky (account_id text, id text, subject text
          CHECK (subject <> 'poison'), PRIMARY KEY (account_id, id))`)
      const store = yield* storeOn(fresh, { tables: [...BatchTables.all, picky] })
      const account_id = id("AccountId")
      const ref = { account_id, stream_id: yield* store.transact(send(account_id)) }
      const { held, letGo } = yield* holdBatch(fresh, store, ref)
      // All of these wait behind the held batch, so they form one batch.
      const waiting = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, n) => n),
        (n) =>
          store
            .transact(send(account_id, {}, { subject: n === 17 ? (over.subject ?? "s") : "wholesome" }))
            .pipe(
              Effect.provideService(Provenance, n === 17 ? { ...system, request_id: over.request_id ?? null } : system),
              Effect.exit,
              Effect.forkChild({ startImmediately: true }),
            ),
      )
      yield* letGo
      yield* Fiber.join(held)
      const exits = yield* Effect.forEach(waiting, Fiber.join)
      const failures = exits.flatMap((exit, n) => (Exit.isFailure(exit) ? [{ n, cause: exit.cause }] : []))
      assert.deepStrictEqual(
        failures.map(({ n }) => n),
        [17],
      )
      assert.match(failures.map(({ cause }) => Cause.pretty(cause)).join(), message)
      const { events } = yield* store.feed({ after: 0n, account_id, types: ["EmailQueued"] })
      assert.strictEqual(events.filter(({ data }) => data["subject"] === "wholesome").length, 29)
      assert.strictEqual(events.length, 30)
    })

  expectAlone("with a NUL on its way to the log", { request_id: "a\u0000b" }, /unsupported Unicode escape sequence/)
  expectAlone("that fits no schema", { subject: "a\u0000b" }, /must not contain NUL/)
  expectAlone("that a CHECK refuses", { subject: "poison" }, /picky_subject_check/)
  expectAlone("that a fold throws on", { subject: "bug" }, /a bug in a fold/)

  it.effect("at its last event leaves nothing of the first", function* () {
    const fresh = yield* Database.Fresh
    const aggregate = {
      ...Email,
      evolve: (state: Email.State, event: Email.Event) => {
        if (event._tag === "EmailOpened") throw new Error("a bug in a fold")
        return Email.evolve(state, event)
      },
    }
    const store = yield* storeOn(fresh)
    const account_id = id("AccountId")
    const commit = send(account_id)
    const twice = store.transact({
      ...commit,
      decide: (view) =>
        Result.map(commit.decide(view), (decision) => ({
          ...decision,
          append: decision.append.map((append) => ({ ...append, aggregate, events: [...append.events, opened()] })),
        })),
    })
    const exits = yield* Effect.forEach([twice, store.transact(commit)], Effect.exit, { concurrency: "unbounded" })
    assert.deepStrictEqual(exits.map(Exit.isSuccess), [false, true])
    const { events } = yield* store.feed({ after: 0n, account_id })
    assert.deepStrictEqual(
      events.map(({ type, version }) => [type, version]),
      [["EmailQueued", 1]],
    )
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("a closed store", (it) => {
  it.effect("finishes the batch under way and fails the waiting commits", function* () {
    const fresh = yield* Database.Fresh
    const scope = yield* Scope.make()
    const store = yield* Scope.provide(storeOn(fresh), scope)
    const account_id = id("AccountId")
    const ref = { account_id, stream_id: yield* store.transact(send(account_id)) }
    const { held, letGo } = yield* holdBatch(fresh, store, ref)
    const waiting = yield* Effect.forkChild(Effect.exit(store.transact(send(account_id))), { startImmediately: true })
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* letGo
    yield* Fiber.join(closing)
    assert.strictEqual((yield* Fiber.await(held))._tag, "Success")
    assert.isTrue(Exit.hasDies(yield* Fiber.join(waiting)))
    assert.isTrue(Exit.hasDies(yield* Effect.exit(store.transact(send(account_id)))))
  })
})
