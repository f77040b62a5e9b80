import { PgClient } from "@effect/sql-pg"
import * as Email from "@waybill/domain/email/Email"
import * as StoreDatabase from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Effect, Layer } from "effect"
import { randomInt } from "node:crypto"
import { Sql, of } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import { announce, open, send } from "../commit/commits.ts"

/** Duration; for longer: `WAYBILL_SOAK_SECONDS=600 npm test -- test/store/feed/feedSoak.test.ts`. */
const SECONDS = Number(process.env["WAYBILL_SOAK_SECONDS"] ?? 10)
const STORES = 3
const FIBERS_PER_STORE = 6
const RAW_WRITERS = 6
const KILL_EVERY = "150 millis"

/** A node with few connections, so that the server is not the bottleneck. */
const node = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const services = yield* Layer.build(
    EventStore.layer().pipe(Layer.provideMerge(StoreDatabase.layer({ url, connections: 3, applicationName: "soak" }))),
  )
  return { store: Context.get(services, EventStore), sql: of(Context.get(services, PgClient.PgClient)) }
})
type Node = Effect.Success<typeof node>

/** Sends emails, and opens older ones to which other nodes append as well. */
const commits = ({ store }: Node, account_id: ReturnType<typeof id<"AccountId">>, streams: Array<string>) =>
  Effect.gen(function* () {
    const known = streams[randomInt(Math.max(1, streams.length))]
    if (known === undefined || randomInt(3) === 0) {
      streams.push(yield* store.transact(send(account_id)))
    } else yield* store.commit(Email, { account_id, stream_id: known }, open)
  })

/** A transaction of random length with a random end, like an import; it keeps the one rule, the announcement. */
const importEvents = ({ sql }: Node) =>
  Effect.gen(function* () {
    yield* announce(sql)
    for (let n = randomInt(1, 4); n > 0; n--) {
      yield* sql`
        INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
        VALUES (nextval('event_position'), 'acc', gen_random_uuid(), 1, 'email', 'EmailOpened', gen_random_uuid(), '{}', '{}', now())`
      yield* sql`SELECT 1 AS slept FROM pg_sleep(${randomInt(20) / 1000}::float8)`
    }
    if (randomInt(5) === 0) yield* Effect.fail("changed its mind")
  }).pipe(sql.withTransaction, Effect.exit)

const kill = `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'soak' AND state <> 'idle' ORDER BY random() LIMIT 1) AS one`

/** A reader that takes the order of positions for the order of commits. */
const plainPage = (sql: Sql, after: bigint) =>
  sql<{ readonly position: bigint }>`
    SELECT position FROM events WHERE position > ${after}::bigint ORDER BY position LIMIT 1000`

layer(Database.layerFresh, { excludeTestServices: true })("the feed under concurrent writes", (it) => {
  it.effect(
    `neither skips nor repeats nor inverts for ${SECONDS} s of reverse commits, rollbacks and kills`,
    function* () {
      const sql = yield* Sql
      const { adminUrl } = yield* Database.Fresh
      const killer = yield* otherClient(adminUrl)
      const nodes = yield* Effect.forEach(Array.from({ length: STORES }), () => node)
      const reader = yield* node
      const account_id = id("AccountId")
      const streams: Array<string> = []
      const fed: Array<{ readonly position: bigint; readonly stream_id: string; readonly version: number }> = []
      const plain: Array<bigint> = []
      let upTo = 0n
      let kills = 0

      const read = Effect.gen(function* () {
        const page = yield* reader.store.feed({ after: upTo })
        fed.push(...page.events)
        upTo = page.upTo
        return page
      })
      const readPlain = Effect.gen(function* () {
        for (const { position } of yield* plainPage(sql, plain.at(-1) ?? 0n)) plain.push(position)
      })
      const end = performance.now() + SECONDS * 1000
      // Runs for the duration, and longer on a slow machine until enough has happened.
      const goesOn = () => performance.now() < end || kills <= SECONDS || fed.length <= 20 * SECONDS
      const meanwhile = <A, E>(effect: Effect.Effect<A, E>) => Effect.repeat(effect, { while: goesOn })

      yield* Effect.all(
        [
          ...nodes.flatMap((each) =>
            Array.from({ length: FIBERS_PER_STORE }, () => meanwhile(commits(each, account_id, streams))),
          ),
          ...Array.from({ length: RAW_WRITERS }, (_, n) => meanwhile(importEvents(nodes[n % STORES] ?? reader))),
          meanwhile(Effect.andThen(read, Effect.sleep("2 millis"))),
          meanwhile(Effect.andThen(readPlain, Effect.sleep("2 millis"))),
          meanwhile(
            Effect.andThen(
              Effect.map(killer.query(kill), (killed) => void (kills += killed.length)),
              Effect.sleep(KILL_EVERY),
            ),
          ),
        ],
        { concurrency: "unbounded", discard: true },
      )
      yield* read.pipe(Effect.repeat({ until: ({ events }) => events.length === 0 }))
      yield* readPlain

      const log = (yield* sql<{ readonly position: bigint }>`SELECT position FROM events ORDER BY position`).map(
        ({ position }) => position,
      )
      assert.isAbove(log.length, 20 * SECONDS)
      assert.isAbove(kills, SECONDS)
      assert.deepStrictEqual(
        fed.map(({ position }) => position),
        log,
      )
      const versions = new Map<string, number>()
      for (const { stream_id, version } of fed) {
        assert.strictEqual(version, (versions.get(stream_id) ?? 0) + 1)
        versions.set(stream_id, version)
      }
      // The events that the plain reader missed show that the run could have missed some.
      const seen = new Set(plain)
      const lost = log.filter((position) => !seen.has(position)).length
      assert.isAbove(lost, 0)
      yield* Effect.log(`${log.length} events, ${kills} kills; a plain reader lost ${lost}`)
    },
    (SECONDS + 60) * 1000,
  )
})
