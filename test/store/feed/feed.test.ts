import { EventStore } from "@waybill/store/commit/EventStore"
import * as Watermark from "@waybill/store/locks/Watermark"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import { type OtherClient, otherClient } from "../../support/postgres/otherClient.ts"
import { announce, send } from "../commit/commits.ts"

/** Announces like `Watermark.announcement`, on a connection whose transaction the test keeps open. */
const PUBLISH = `SELECT FROM (SELECT pg_advisory_xact_lock_shared((22338::bigint << 48)
  | CASE WHEN is_called THEN last_value ELSE last_value - 1 END) FROM event_position) AS promise`

interface Writer extends OtherClient {
  readonly begin: Effect.Effect<void>
  readonly append: Effect.Effect<bigint>
  readonly commit: Effect.Effect<void>
  readonly rollback: Effect.Effect<void>
}

const writer = Effect.gen(function* () {
  const other = yield* otherClient((yield* Database.Fresh).url)
  const run = (text: string) => Effect.asVoid(other.query(text))
  return {
    ...other,
    begin: Effect.andThen(run("BEGIN"), run(PUBLISH)),
    append: Effect.map(
      other.query(
        `INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
          VALUES ('acc', gen_random_uuid(), 1, 'email', 'EmailOpened', gen_random_uuid(), '{}', '{}', now())
          RETURNING position`,
      ),
      ([row]) => BigInt(String(row?.["position"])),
    ),
    commit: run("COMMIT"),
    rollback: run("ROLLBACK"),
  } satisfies Writer
})

const positions = Effect.fnUntraced(function* (after = 0n) {
  const { events } = yield* (yield* EventStore).feed({ after })
  return events.map(({ position }) => position)
})

const layerStore = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))

layer(layerStore, { excludeTestServices: true })("the feed of an empty log", (it) => {
  it.effect("waits for the first writer, which has not allocated a position yet", function* () {
    const [slow, quick] = [yield* writer, yield* writer]
    yield* slow.begin
    yield* quick.begin
    const first = yield* quick.append
    yield* quick.commit
    assert.deepStrictEqual(yield* positions(), [])
    const second = yield* slow.append
    yield* slow.commit
    assert.deepStrictEqual([first, second], [1n, 2n])
    assert.deepStrictEqual(yield* positions(), [1n, 2n])
  })
})

layer(layerStore, { excludeTestServices: true })("the feed", (it) => {
  it.effect("keeps the order when two writers commit in reverse", function* () {
    const store = yield* EventStore
    const [slow, quick] = [yield* writer, yield* writer]
    const start = (yield* store.feed({ after: 0n })).upTo
    yield* slow.begin
    const low = yield* slow.append
    yield* quick.begin
    const high = yield* quick.append
    yield* quick.commit
    const between = yield* store.feed({ after: start })
    assert.deepStrictEqual(between, { events: [], upTo: start, more: false })
    yield* slow.commit
    assert.deepStrictEqual(yield* positions(start), [low, high])
  })

  for (const [how, end] of [
    ["rolled back", (lost: Writer) => lost.rollback],
    [
      "killed",
      (lost: Writer) =>
        Effect.gen(function* () {
          const [row] = yield* lost.query("SELECT pg_backend_pid() AS pid")
          const killer = yield* otherClient((yield* Database.Fresh).adminUrl)
          yield* killer.query("SELECT pg_terminate_backend($1, 5000)", [row?.["pid"]])
        }),
    ],
  ] as const) {
    it.effect(`continues past a writer that was ${how}`, function* () {
      const store = yield* EventStore
      const [lost, other] = [yield* writer, yield* writer]
      const start = (yield* store.feed({ after: 0n })).upTo
      yield* lost.begin
      yield* lost.append
      yield* other.begin
      const kept = yield* other.append
      yield* other.commit
      assert.deepStrictEqual(yield* positions(start), [])
      yield* end(lost)
      assert.deepStrictEqual(yield* store.feed({ after: start }).pipe(Effect.map(({ upTo }) => upTo)), kept)
      assert.deepStrictEqual(yield* positions(start), [kept])
    })
  }

  it.effect("does not wait for readers or for writers of another database", function* () {
    const store = yield* EventStore
    const elsewhere = yield* Effect.provideService(writer, Database.Fresh, yield* Database.freshDatabase)
    yield* elsewhere.begin
    yield* elsewhere.append
    const reader = yield* otherClient((yield* Database.Fresh).url)
    yield* reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
    yield* reader.query("SELECT count(*) FROM events")
    const account_id = id("AccountId")
    const { upTo } = yield* store.feed({ after: 0n })
    yield* store.transact(send(account_id))
    assert.strictEqual((yield* store.feed({ after: upTo, account_id })).events.length, 1)
  })

  it.effect("returns the next position also when no event matches", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    yield* store.transact(send(account_id))
    const { position } = (yield* store.feed({ after: 0n, account_id })).events[0] ?? { position: 0n }
    yield* store.transact(send(id("AccountId")))
    const page = yield* store.feed({ after: position, account_id })
    assert.deepStrictEqual(page, { events: [], upTo: position + 1n, more: false })
  })

  it.effect("relies on positions that are allocated one by one, only after an announcement", function* () {
    const sql = yield* Sql
    const sequences = yield* sql`SELECT seqcache FROM pg_sequence WHERE seqrelid = 'event_position'::regclass`
    assert.deepStrictEqual(sequences, [{ seqcache: 1n }])
    const root = path.join(import.meta.dirname, "../../..")
    const writers = ["packages", "apps"]
      .flatMap((room) =>
        fs
          .readdirSync(path.join(root, room), { recursive: true, encoding: "utf8" })
          .map((file) => path.join(room, file)),
      )
      .filter((file) => /\.tsx?$/.test(file) && !file.includes("node_modules"))
      .filter((file) =>
        /INSERT INTO (?:\S+\.)?events\b|COPY events\b/.test(fs.readFileSync(path.join(root, file), "utf8")),
      )
    // An import sets positions itself, under a lock that excludes all other writers.
    assert.sameMembers(writers, [
      "packages/store/src/exports/LogImport.ts",
      "packages/store/src/commit/PostgresLogStorage.ts",
    ])
  })

  it.effect("sees an announcement made by hand", function* () {
    const sql = yield* Sql
    const own = yield* sql.withTransaction(Effect.andThen(announce(sql), Watermark.lowest(sql)))
    const other = yield* writer
    yield* other.begin
    assert.deepStrictEqual(yield* Watermark.lowest(sql), own)
    yield* other.rollback
    assert.deepStrictEqual(yield* Watermark.lowest(sql), [{ position: null }])
  })
})
