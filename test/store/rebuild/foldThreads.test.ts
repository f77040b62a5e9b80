import * as Reachable from "@waybill/store/routing/Reachable"
import { EventStore } from "@waybill/store/commit/EventStore"
import type { ReadModel } from "@waybill/store/readmodels/ReadModel"
import * as ReadModels from "@waybill/store/commit/ReadModels"
import * as Connection from "@waybill/store/rebuild/versions/Connection"
import * as Fill from "@waybill/store/rebuild/fill/Fill"
import * as FoldThread from "@waybill/store/rebuild/fill/FoldThread"
import { SliceFold } from "@waybill/store/rebuild/fill/SliceFold"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Tables from "@waybill/store/rebuild/versions/Tables"
import * as Versions from "@waybill/store/rebuild/versions/Versions"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import { replayUrls } from "../../support/cells/testCell.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { openedMail } from "../commit/commits.ts"
import * as Histories from "./randomHistories.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)
const TIMEOUT = { timeout: 120_000 }
const WHOLE_LOG = { after: ["", ""], upto: null } as const
const LANES = 3
const OPTIONS = { release: "test", lanes: LANES }

/** Slices of few events, so that a short log has enough of them for threads. */
const inSmallSlices = Effect.provideService(Fill.SliceEvents, 50)

const started = Effect.fnUntraced(function* (model: Pick<ReadModel, "name">) {
  const { sql, url } = yield* Replay
  const columns = yield* Effect.orDie(Tables.columns(sql, "email_log"))
  const thread = yield* FoldThread.start({ url, model: model.name, columns })
  yield* Effect.promise(() => thread.started)
  return thread
})

/** Sessions that read the log, of this thread and of others. */
const readers = Effect.flatMap(Replay, ({ sql }) =>
  Effect.map(
    Effect.orDie(sql<{ readonly pid: number }>`
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'waybill fold'`),
    (rows) => rows.map(({ pid }) => pid),
  ),
)

const EmailLog = { name: "email_log" }

layer(Store, { excludeTestServices: true })("a thread that folds", (it) => {
  it.effect(
    "makes the same rows as this thread, in every read model, and in a buffer that it gets again",
    function* () {
      yield* Histories.write(4, 40)
      const { sql, url } = yield* Replay
      for (const model of ReadModels.readModels) {
        const columns = yield* Effect.orDie(Tables.columns(sql, model.name))
        const client = yield* Effect.acquireRelease(
          Effect.promise(() => Connection.open(Redacted.value(url))),
          (client) => Effect.promise(() => client.end()),
        )
        const here = yield* Effect.promise(() => new SliceFold(client, model, columns).fold(WHOLE_LOG))
        const thread = yield* FoldThread.start({ url, model: model.name, columns })
        const first = yield* Effect.promise(() => thread.fold(WHOLE_LOG))
        assert.deepStrictEqual([first.events, Buffer.from(first.rows)], [here.events, Buffer.from(here.rows)])
        const second = yield* Effect.promise(() => thread.fold(WHOLE_LOG, first.rows.buffer))
        assert.deepStrictEqual(Buffer.from(second.rows), Buffer.from(here.rows))
        assert.strictEqual(first.rows.byteLength, 0)
      }
    },
    TIMEOUT,
  )

  it.effect("closes its connection at its end, idle or not", function* () {
    for (const isIdle of [true, false]) {
      const exit = yield* Effect.scoped(
        Effect.gen(function* () {
          const thread = yield* started(EmailLog)
          assert.lengthOf(yield* readers, 1)
          const folding = yield* Effect.forkChild(Effect.promise(() => thread.fold(WHOLE_LOG)))
          if (isIdle) yield* Fiber.join(folding)
          return folding
        }),
      )
      yield* World.until(readers, (pids) => pids.length === 0)
      assert.strictEqual(Exit.isSuccess(yield* Fiber.await(exit)), isIdle)
    }
  })

  it.effect("says what is wrong: without its read model, its connection, or itself", function* () {
    const says = (work: Promise<unknown>) =>
      Effect.promise(() =>
        work.then(
          () => "nothing",
          (cause: unknown) => String(cause),
        ),
      )
    const { sql, url } = yield* Replay
    const unknown = yield* FoldThread.start({ url, model: "mails", columns: [] })
    assert.include(yield* says(unknown.started), "there is no read model mails")
    assert.include(yield* says(unknown.fold(WHOLE_LOG)), "there is no read model mails")

    const cut = yield* started(EmailLog)
    yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY(${yield* readers}::int[])`
    yield* World.until(readers, (pids) => pids.length === 0)
    assert.include(yield* says(cut.fold(WHOLE_LOG)), "a thread could not fold events")

    const ended = yield* started(EmailLog)
    yield* Effect.promise(() => ended.end())
    assert.include(yield* says(ended.fold(WHOLE_LOG)), "a thread that folds events ended")
  })

  it.effect("tells by the code of the error that its cell was lost", function* () {
    const { sql } = yield* Replay
    const locked = yield* started(EmailLog)
    const exit = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`
        const folding = yield* Effect.forkChild(Connection.run(() => locked.fold(WHOLE_LOG)))
        const cancel = sql<{ readonly canceled: boolean }>`
          SELECT pg_cancel_backend(pid) AS canceled FROM pg_stat_activity
          WHERE pid = ANY(${yield* readers}::int[]) AND wait_event_type = 'Lock'`
        yield* World.until(Effect.orDie(cancel), (rows) => rows.length > 0)
        return yield* Fiber.await(folding)
      }),
    )
    assert.isTrue(Exit.isFailure(exit) && Reachable.isLost(exit.cause))
  })
})

layer(Store, { excludeTestServices: true })("a rebuild in threads", (it) => {
  /** Holds the fill, from its first slice on, until its threads have started. */
  const withThreads = () => Effect.asVoid(World.until(readers, (pids) => pids.length === LANES - 1))

  const filled = Effect.fnUntraced(function* (model: ReadModel, report: () => Effect.Effect<void>) {
    const { sql } = yield* Replay
    const version = Versions.newest(yield* Versions.list(sql, model.name), "ready") ?? assert.fail("none is ready")
    yield* Effect.orDie(sql`TRUNCATE projection_slices, ${sql(Versions.tableOf(version))}`)
    return yield* inSmallSlices(Fill.fill(model, version, { lanes: LANES }, report))
  })

  it.effect(
    "equals the live table, is written in order, and leaves no session",
    function* () {
      yield* openedMail(1_000)
      const { sql } = yield* Replay
      const replay = yield* Replay
      for (const model of ReadModels.readModels.filter(({ stream }) => stream === "email")) {
        yield* Rebuild.rebuild(model.name, OPTIONS)
        const report = () => Effect.provideService(withThreads(), Replay, replay)
        yield* filled(model, once(report))
        assert.deepStrictEqual(yield* readers, [])
        const table = (yield* Versions.list(sql, model.name)).find(({ state }) => state === "ready")
        const name = table === undefined ? "" : Versions.tableOf(table)
        const [row] = yield* Effect.orDie(sql<{ readonly differing: bigint; readonly out_of_order: bigint }>`
          SELECT (SELECT count(*) FROM ((TABLE ${sql(name)} EXCEPT ALL TABLE ${sql(model.name)})
              UNION ALL (TABLE ${sql(model.name)} EXCEPT ALL TABLE ${sql(name)})) AS rows) AS differing,
            (SELECT count(*) FROM (
              SELECT ${sql.literal(`(${model.key.join(", ")})`)} < lag(${sql.literal(`(${model.key.join(", ")})`)})
                OVER (ORDER BY ctid) AS is_lower FROM ${sql(name)}) AS rows WHERE is_lower) AS out_of_order`)
        assert.strictEqual(row?.differing, 0n, model.name)
        if (model.name === "email_log") assert.strictEqual(row?.out_of_order, 0n)
      }
    },
    TIMEOUT,
  )

  it.effect(
    "is interrupted with its threads, and continues with the slices that are not written",
    function* () {
      const { sql } = yield* Replay
      const replay = yield* Replay
      const slices = sql<{ readonly done: boolean }>`SELECT done FROM projection_slices WHERE name = 'email_log'`
      const before = yield* Rebuild.rebuild("email_log", OPTIONS)
      yield* Rebuild.drop("email_log", before.version)
      const report = () => Effect.andThen(Effect.provideService(withThreads(), Replay, replay), Effect.never)
      const version = yield* Effect.orDie(sql.withTransaction(Versions.begin(sql, "email_log", 0n, "test")))
      const table = Versions.tableOf({ name: "email_log", version, state: "building" })
      yield* Effect.orDie(Tables.createLike(sql, "email_log", table))
      const building = (yield* Versions.list(sql, "email_log")).find(({ state }) => state === "building")
      const model = ReadModels.readModels.find(({ name }) => name === "email_log")
      if (building === undefined || model === undefined) return assert.fail("nothing is building")
      const filling = yield* Effect.forkChild(inSmallSlices(Fill.fill(model, building, { lanes: LANES }, report)))
      yield* World.until(readers, (pids) => pids.length === LANES - 1)
      yield* Fiber.interrupt(filling)
      yield* World.until(readers, (pids) => pids.length === 0)
      assert.isAbove((yield* slices).filter(({ done }) => !done).length, 0)
      const rebuilt = yield* inSmallSlices(Rebuild.rebuild("email_log", OPTIONS))
      assert.deepInclude(rebuilt, { version, events: before.events })
      assert.isTrue((yield* slices).every(({ done }) => done))
    },
    TIMEOUT,
  )

  it.effect(
    "ends with the error of an event that cannot be folded, and its threads with it",
    function* () {
      const sql = yield* Sql
      yield* Effect.orDie(sql`
        UPDATE events SET packed = chr(92) || '{' || packed WHERE (account_id, stream_id) IN (
          SELECT account_id, stream_id FROM events WHERE stream = 'email' ORDER BY 1 DESC, 2 DESC LIMIT 1)`)
      const exit = yield* Effect.exit(inSmallSlices(Rebuild.rebuild("email_log", OPTIONS)))
      assert.isTrue(Exit.isFailure(exit))
      yield* World.until(readers, (pids) => pids.length === 0)
    },
    TIMEOUT,
  )
})

/** Runs a report the first time only. */
const once = (report: () => Effect.Effect<void>) => {
  let isFirst = true
  return () => {
    const run = isFirst ? report() : Effect.void
    isFirst = false
    return run
  }
}
