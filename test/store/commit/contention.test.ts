import { PgClient } from "@effect/sql-pg"
import * as Email from "@waybill/domain/email/Email"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Effect, Exit, Fiber, Layer, type Redacted, Result } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id, opened } from "../../support/history.ts"
import { otherClient, takeVersion, blockedBackend } from "../../support/postgres/otherClient.ts"
import { open, send } from "./commits.ts"

/** A store with connections of its own, as another node has, with these session settings. */
const node = (url: Redacted.Redacted, startupParameters: Readonly<Record<string, string>> = {}) =>
  Layer.build(EventStore.layer().pipe(Layer.provide(PgClient.layer({ url, startupParameters })))).pipe(
    Effect.map((services) => Context.get(services, EventStore)),
  )

const setUp = Effect.fnUntraced(function* (startupParameters: Readonly<Record<string, string>> = {}) {
  const { adminUrl, url } = yield* Database.Fresh
  const store = yield* node(url, startupParameters)
  const account_id = id("AccountId")
  const fresh = Effect.suspend(() => store.transact(send(account_id)))
  const ref = { account_id, stream_id: yield* fresh }
  let decided = 0
  const openCounted = () => {
    decided++
    return open()
  }
  return { adminUrl, url, store, ref, fresh, openCounted, decided: () => decided, other: yield* otherClient(url) }
})

layer(Database.layerFresh, { excludeTestServices: true })("commits that meet others", (it) => {
  it.effect("lose nothing when two stores append to one stream", function* () {
    const { ref, store, url } = yield* setUp()
    const stores = [store, yield* node(url)]
    yield* Effect.forEach(
      Array.from({ length: 40 }, (_, n) => n),
      (n) => stores[n % 2]?.commit(Email, ref, open) ?? Effect.void,
      { concurrency: "unbounded" },
    )
    const { state, version } = yield* store.load(Email, ref)
    assert.deepStrictEqual([version, state._tag === "Message" && state.opens], [41, 40])
  })

  it.effect("are decided again on fresh history when somebody else was first", function* () {
    const { decided, openCounted, other, ref, store, url } = yield* setUp()
    yield* takeVersion(other, ref, 2)
    const commit = yield* Effect.forkChild(store.commit(Email, ref, openCounted))
    yield* blockedBackend(yield* otherClient(url))
    assert.strictEqual(decided(), 1)
    yield* other.query("COMMIT")
    yield* Fiber.join(commit)
    const { history } = yield* store.load(Email, ref)
    assert.deepStrictEqual([decided(), history.length, history[1]?.event_id], [2, 3, "evt_rival_2"])
  })

  it.effect("stand as first decided when somebody else rolls back", function* () {
    const { decided, openCounted, other, ref, store, url } = yield* setUp()
    yield* takeVersion(other, ref, 2)
    const commit = yield* Effect.forkChild(store.commit(Email, ref, openCounted))
    yield* blockedBackend(yield* otherClient(url))
    yield* other.query("ROLLBACK")
    yield* Fiber.join(commit)
    assert.deepStrictEqual([decided(), (yield* store.load(Email, ref)).version], [1, 2])
  })

  it.effect("give up on a stream that somebody else always wins, and say so", function* () {
    const { decided, openCounted, ref, store } = yield* setUp()
    // A decision that was taken on version 1 for ever: nothing is loaded, and version 1 is taken.
    const stale = store.transact({
      account_id: ref.account_id,
      streams: [{ aggregate: Email, id: ref.stream_id, isNew: true }],
      decide: () =>
        Result.map(openCounted(), (events) => ({
          append: [{ aggregate: Email, id: ref.stream_id, events }],
          answer: 0,
        })),
    })
    assert.isTrue(Exit.hasDies(yield* Effect.exit(stale)))
    assert.strictEqual(decided(), 8)
    assert.strictEqual((yield* store.load(Email, ref)).version, 1)
  })

  it.effect("are decided again after a deadlock", function* () {
    const { adminUrl, decided, fresh, openCounted, ref, store, url } = yield* setUp()
    const second = yield* fresh
    // The rival never looks for deadlocks itself, so the store is the one that Postgres breaks off.
    const other = yield* otherClient(adminUrl)
    yield* other.query("SET deadlock_timeout = '1h'")
    yield* other.query("BEGIN")
    const lock = (stream: string) => other.query("SELECT FROM email_log WHERE id = id_key($1) FOR UPDATE", [stream])
    yield* lock(second)
    const both = yield* Effect.forkChild(
      store.transact({
        account_id: ref.account_id,
        streams: [ref.stream_id, second].map((stream) => ({ aggregate: Email, id: stream })),
        decide: () => {
          openCounted()
          const append = [ref.stream_id, second].map((stream) => ({
            aggregate: Email,
            id: stream,
            events: [opened()],
          }))
          return Result.succeed({ append, answer: 0 })
        },
      }),
    )
    yield* blockedBackend(yield* otherClient(url))
    yield* lock(ref.stream_id)
    yield* other.query("COMMIT")
    yield* Fiber.join(both)
    // More often when the second try has the row before the rival wakes up for it, and both meet once more.
    assert.isAtLeast(decided(), 2)
    for (const stream_id of [ref.stream_id, second]) {
      assert.strictEqual((yield* store.load(Email, { ...ref, stream_id })).version, 2)
    }
  })

  it.effect("are decided again after a serialization failure", function* () {
    const { decided, openCounted, other, ref, store, url } = yield* setUp({
      default_transaction_isolation: "repeatable read",
    })
    yield* other.query("BEGIN")
    yield* other.query("UPDATE email_log SET subject_key = 0 WHERE id = id_key($1)", [ref.stream_id])
    const commit = yield* Effect.forkChild(store.commit(Email, ref, openCounted))
    yield* blockedBackend(yield* otherClient(url))
    yield* other.query("COMMIT")
    yield* Fiber.join(commit)
    assert.deepStrictEqual([decided(), (yield* store.load(Email, ref)).version], [2, 2])
  })

  it.effect("are tried again when a lock does not come in time", function* () {
    const { decided, openCounted, other, ref, store } = yield* setUp({ lock_timeout: "50ms" })
    yield* other.query("BEGIN")
    yield* other.query("SELECT FROM email_log WHERE id = id_key($1) FOR UPDATE", [ref.stream_id])
    const commit = yield* Effect.forkChild(store.commit(Email, ref, openCounted))
    yield* other.query("SELECT 1").pipe(Effect.repeat({ until: () => decided() >= 3 }))
    yield* other.query("COMMIT")
    yield* Fiber.join(commit)
    assert.strictEqual((yield* store.load(Email, ref)).version, 2)
  })
})
