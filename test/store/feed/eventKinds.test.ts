import * as Account from "@waybill/domain/account/Account"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type { AccountId } from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as EventKinds from "@waybill/store/feed/EventKinds"
import * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { HomeSql } from "@waybill/store/routing/HomeSql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"

/** The kind that only the new release knows. */
const NEW = DomainEvent.eventKind("LinksChanged")
const OLD_KINDS = DomainEvent.EVENT_KINDS.filter((kind) => kind !== NEW)

/** Starts a node on the database of the test; `stop` ends it in order. */
const startNode = Effect.fnUntraced(function* (kinds: ReadonlyArray<string>, release: string | undefined) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const store = EventStore.layer().pipe(Layer.provideMerge(EventKinds.layer({ kinds, release })))
  const context = yield* Layer.buildWithScope(Layer.fresh(store), scope)
  const { commit } = Context.get(context, EventStore)
  /** Changes the links of an account, which writes the new kind. */
  const change = (account_id: AccountId) =>
    commit(
      Account,
      { account_id, stream_id: account_id },
      Account.changeLinks("2026-01-01T00:00:00.000Z" as never, false),
    )
  return { change, stop: Scope.close(scope, Exit.void) }
})

const clear = Effect.flatMap(HomeSql, (sql) => sql`TRUNCATE nodes, event_kinds`)
const lacking = Effect.gen(function* () {
  const { nodes } = yield* DatabaseExamination.examine((yield* Database.Fresh).url)
  return nodes.map(({ lacks }) => lacks).filter((lacks) => lacks.length > 0)
})

const assertHeld = (exit: Exit.Exit<unknown, unknown>) => {
  assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("An upgrade is in progress"), String(exit))
}

layer(World.layer)("event kinds during an upgrade", (it) => {
  it.effect("a new kind is written once the last node that does not know it has stopped", () =>
    Effect.gen(function* () {
      yield* clear
      const account_id = yield* World.account()
      const old = yield* startNode(OLD_KINDS, "0.9.0")
      const node = yield* startNode(DomainEvent.EVENT_KINDS, "1.0.0")
      assertHeld(yield* Effect.exit(node.change(account_id)))
      assert.deepStrictEqual(yield* lacking, [[NEW]])
      // Everything that both releases know is written.
      yield* World.key(account_id)
      yield* old.stop
      yield* beatUntil(Effect.exit(node.change(account_id)), Exit.isSuccess)
      assert.deepStrictEqual(yield* lacking, [])
    }).pipe(Effect.scoped),
  )

  it.effect("a node that was killed holds it until its heartbeat is too old", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* HomeSql
      const account_id = yield* World.account()
      const insert = (age: number) => sql`
        INSERT INTO nodes (id, release, kinds, beat_at)
        VALUES ('node_killed', '0.9.0', ${OLD_KINDS}::text[], now() - make_interval(secs => ${age}::float8))`
      yield* insert(20)
      const node = yield* startNode(DomainEvent.EVENT_KINDS, "1.0.0")
      assertHeld(yield* Effect.exit(node.change(account_id)))
      yield* sql`UPDATE nodes SET beat_at = beat_at - interval '20 seconds' WHERE id = 'node_killed'`
      yield* beatUntil(Effect.exit(node.change(account_id)), Exit.isSuccess)
      assert.deepStrictEqual((yield* sql`SELECT 1 FROM nodes WHERE id = 'node_killed'`).length, 0)
    }).pipe(Effect.scoped),
  )

  it.effect("a command holds it too, and announces no node", () =>
    Effect.gen(function* () {
      yield* clear
      const account_id = yield* World.account()
      yield* startNode(OLD_KINDS, "0.9.0")
      const command = yield* startNode(DomainEvent.EVENT_KINDS, undefined)
      assertHeld(yield* Effect.exit(command.change(account_id)))
      const sql = yield* HomeSql
      assert.lengthOf(yield* sql`SELECT 1 FROM nodes`, 1)
    }).pipe(Effect.scoped),
  )

  it.effect("a node that does not know an open kind is not started, and leaves nothing behind", () =>
    Effect.gen(function* () {
      yield* clear
      const node = yield* startNode(DomainEvent.EVENT_KINDS, "1.0.0")
      yield* node.stop
      const refused = yield* Effect.flip(Effect.scoped(startNode(OLD_KINDS, "0.9.0")))
      assert.include(refused.message, `events of a newer release of Waybill (${NEW}): upgrade this node first`)
      const sql = yield* HomeSql
      assert.lengthOf(yield* sql`SELECT 1 FROM nodes`, 0)
    }).pipe(Effect.scoped),
  )

  it.effect("an older release that starts while a kind is opened is either seen or refused", () =>
    Effect.gen(function* () {
      for (let round = 0; round < ROUNDS; round++) {
        yield* clear
        const [old, node] = yield* Effect.all(
          [Effect.exit(startNode(OLD_KINDS, "0.9.0")), startNode(DomainEvent.EVENT_KINDS, "1.0.0")],
          { concurrency: "unbounded" },
        )
        const changed = yield* Effect.exit(node.change(yield* World.account()))
        assert.strictEqual(Exit.isSuccess(changed), Exit.isFailure(old))
      }
    }).pipe(Effect.scoped),
  )
})

/** Starts of an old and a new node at the same moment. */
const ROUNDS = 10

/** Lets the nodes send heartbeats until this holds. */
const beatUntil = <A, R>(look: Effect.Effect<A, never, R>, holds: (found: A) => boolean) =>
  TestClock.adjust(EventKinds.NODE_BEAT_EVERY).pipe(Effect.andThen(look), Effect.repeat({ until: holds }))
