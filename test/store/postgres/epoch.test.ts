import { PgClient } from "@effect/sql-pg"
import type { Address } from "@waybill/domain/values/Address"
import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as StoreDatabase from "@waybill/store/database/Database"
import * as Epoch from "@waybill/store/postgres/Epoch"
import * as Erase from "@waybill/store/erasure/Erase"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Feed from "@waybill/store/feed/Feed"
import * as Mask from "@waybill/store/erasure/Mask"
import * as Migrations from "@waybill/store/database/Migrations"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Status from "@waybill/store/rebuild/Status"
import * as Swap from "@waybill/store/rebuild/Swap"
import { Context, Effect, Exit, Layer, type Redacted, Scope } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as DocCommands from "../../support/process/DocCommands.ts"
import { id } from "../../support/history.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import { replayUrls } from "../../support/cells/testCell.ts"
import { send } from "../commit/commits.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(Database.layerFresh),
)

/** A new node, without a commit on its connection. */
const node = (url: Redacted.Redacted) =>
  Effect.map(
    Layer.build(
      EventStore.layer().pipe(
        Layer.provide(Database.alone),
        Layer.provideMerge(StoreDatabase.layer({ url, connections: 2 })),
      ),
    ),
    (services) => Context.get(services, EventStore),
  )
const fresh = Effect.flatMap(Database.Fresh, ({ url }) => node(url))
const mail = (store: EventStore["Service"]) => Effect.andThen(store.transact(send(id("AccountId"))), Effect.void)

const epochs = (sql: Sql) =>
  sql<{ epoch: number; last: bigint; after: bigint }>`
    SELECT epoch, last_position AS last, after_position AS after FROM log_epochs ORDER BY epoch`
const end = Effect.flatMap(PgClient.PgClient, Feed.watermark)
/** The command of backup.md to run before a server starts on copied files. */
const [command = ""] = DocCommands.lines("docs/operating/backup.md", 'psql "$DATABASE_URL" --command="UPDATE')
const asCopy = /--command="(UPDATE log_epochs [^"]+)"$/u.exec(command)?.[1] ?? assert.fail(command)
/** Makes the database look as if it came from another server. */
const move = Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(asCopy))

layer(Store, { excludeTestServices: true })("the log", (it) => {
  it.effect("begins at its first position on the first server", function* () {
    const sql = yield* Sql
    const store = yield* fresh
    yield* mail(store)
    yield* mail(store)
    assert.deepStrictEqual(yield* epochs(sql), [{ epoch: 1, last: 0n, after: 0n }])
    const positions = (yield* store.feed({ after: 0n })).events.map(({ position }) => position)
    assert.deepStrictEqual(positions, [1n, 2n])
  })

  it.effect("continues past all positions of a lost server, once for all nodes", function* () {
    const sql = yield* Sql
    const before = yield* end
    yield* move
    const nodes = yield* Effect.all([fresh, fresh, fresh], { concurrency: "unbounded" })
    yield* Effect.forEach(nodes, mail, { concurrency: "unbounded", discard: true })
    const [, second, ...more] = yield* epochs(sql)
    assert.deepStrictEqual(more, [])
    assert.strictEqual(second?.last, before)
    // A reader of the lost server had read further than this server ever came.
    const ahead = before + 500n
    const [seen] = yield* Effect.forEach(nodes.slice(0, 1), (store) => store.feed({ after: ahead }))
    assert.lengthOf(seen?.events ?? [], 3)
    for (const { position } of seen?.events ?? []) assert.isTrue(position > (second?.after ?? 0n))
    // Far below 2^53, the limit of a JavaScript number, and 2^48, the limit of an announced position.
    assert.isBelow(Number(second?.after), 2 ** 46)
    assert.isAbove(Number(second?.after), Epoch.MIN_GAP)
  })

  it.effect("distinguishes a position never reached from a lost one", function* () {
    const sql = yield* Sql
    const last = yield* end
    assert.isFalse(yield* Epoch.isAhead(sql, last))
    assert.isTrue(yield* Epoch.isAhead(sql, last + 1n))
    yield* move
    // Nothing was committed on this server yet: new positions will be past it.
    assert.isFalse(yield* Epoch.isAhead(sql, last + 1n))
  })

  it.effect("does not count gaps as lag, and updates older versions", function* () {
    const sql = yield* Sql
    yield* Rebuild.rebuild("email_log", { release: "test" })
    yield* Swap.swap("email_log", false)
    const kept = Effect.map(Status.status(), (all) =>
      all.find(({ name, state }) => name === "email_log" && state === "kept"),
    )
    assert.strictEqual((yield* kept)?.behind, 0)
    yield* sql`UPDATE followers SET position = ${yield* end}::bigint`
    yield* move
    const store = yield* fresh
    yield* mail(store)
    yield* mail(store)
    assert.strictEqual((yield* kept)?.behind, 2)
    const { followers } = yield* InstanceStats.read()
    assert.isNotEmpty(followers)
    for (const { behind_events, name } of followers) assert.strictEqual(behind_events, 2, name)
    yield* Swap.swap("email_log", true)
    assert.deepStrictEqual((yield* Rebuild.verify("email_log", { release: "test" })).differences, [])
  })

  it.effect("is searched for an address without scanning the gaps", function* () {
    const sql = yield* Sql
    yield* move
    yield* mail(yield* fresh)
    const [last] = yield* sql<{ readonly position: bigint }>`SELECT max(position) AS position FROM events`
    assert.isAbove(Number(last?.position), 1e12)
    const nobody = "nobody@example.org" as Address
    const { remaining } = yield* Erase.erase(nobody, Mask.replacement(Uint8Array.of(1)))
    assert.deepStrictEqual(remaining, [])
  })

  it.effect("is written and read when the server hides its identity", function* () {
    const sql = yield* Sql
    const { adminUrl } = yield* Database.Fresh
    const admin = yield* otherClient(adminUrl)
    yield* admin.query("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    const known = yield* epochs(sql)
    yield* move
    yield* mail(yield* fresh)
    assert.deepStrictEqual(yield* epochs(sql), known)
    assert.isFalse(yield* Epoch.isAhead(sql, 2n ** 60n))
    yield* admin.query("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")
  })
})

describe("a position of the log", () => {
  it.effect(
    "is allocated once, although a crash forgets uncommitted positions",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* Effect.acquireRelease(
          Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-epoch-"))),
          (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
        )
        // The write-ahead log is flushed by commits, not by time.
        const options = { dataDir, settings: { wal_writer_delay: "10s" } }
        const start = Effect.gen(function* () {
          const scope = yield* Scope.make()
          return { scope, ...(yield* Scope.provide(EmbeddedPostgres.start(options), scope)) }
        })
        const first = yield* start
        yield* Migrations.migrate(first.url)
        const place = yield* Effect.gen(function* () {
          const store = yield* node(first.url)
          yield* mail(store)
          const other = yield* otherClient(first.url)
          yield* other.query("BEGIN")
          yield* other.query("SELECT nextval('event_position') FROM generate_series(1, 100)")
          yield* other.query("ROLLBACK")
          const { upTo } = yield* store.feed({ after: 0n })
          process.kill(first.pid, "SIGKILL")
          return upTo
        }).pipe(Effect.scoped)
        yield* Scope.close(first.scope, Exit.void)
        const second = yield* start
        yield* Effect.gen(function* () {
          const store = yield* node(second.url)
          yield* mail(store)
          assert.lengthOf((yield* store.feed({ after: place })).events, 1)
        }).pipe(Effect.scoped)
        yield* Scope.close(second.scope, Exit.void)
      }).pipe(Effect.scoped),
    60_000,
  )
})
