import type { PgClient } from "@effect/sql-pg"
import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as StoreDatabase from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Migrations from "@waybill/store/database/Migrations"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Projections from "@waybill/store/rebuild/versions/Projections"
import { Duration, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Storm from "../../chaos/storm.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import * as Standby from "../../support/postgres/Standby.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import { alone } from "../../support/postgres/Database.ts"

const HANGS = Duration.seconds(120)
const MAILS = 30

/** Two nodes, a primary behind an address that can be moved, and a replica that can be cut off. */
const installation = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await fs.mkdtemp(join(tmpdir(), "waybill-failover-"))
      await fs.chmod(folder, 0o711)
      return folder
    }),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
  )
  const scope = yield* Scope.make()
  const primary = yield* Scope.provide(EmbeddedPostgres.start({ dataDir, scratch: true }), scope)
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  yield* Migrations.migrate(primary.url)
  const supply = yield* faultProxy(primary.adminUrl)
  const standby = yield* Standby.follow(primary, dataDir, supply.url)
  const address = yield* faultProxy(primary.url)
  const settings = { WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" }
  const node = ServiceProcess.start(address.url, settings)
  const nodes = yield* Effect.all([node, node], { concurrency: "unbounded" })
  const asked = (url: Redacted.Redacted, statement: string) =>
    Effect.promise(async () => {
      const client = new pg.Client({ connectionString: Redacted.value(url) })
      await client.connect()
      const { rows } = await client.query<Record<string, unknown>>(statement)
      await client.end()
      return rows[0] ?? {}
    })
  const administer = (statement: string) => asked(primary.adminUrl, statement)
  return {
    address,
    nodes,
    supply,
    synchronous: Effect.gen(function* () {
      yield* administer("ALTER SYSTEM SET synchronous_standby_names = '*'")
      yield* administer("SELECT pg_reload_conf()")
      // Processes are notified one after the other.
      const state = administer("SELECT sync_state FROM pg_stat_replication")
      yield* World.until(state, ({ sync_state }) => sync_state === "sync", HANGS)
    }),
    /** Waits until the replica has everything that the primary had. */
    suppliedSoFar: Effect.gen(function* () {
      const { lsn } = yield* administer("SELECT pg_current_wal_lsn()::text AS lsn")
      const received = asked(standby.adminUrl, `SELECT pg_last_wal_receive_lsn() >= '${String(lsn)}' AS has`)
      yield* World.until(received, ({ has }) => has === true, HANGS)
    }),
    /** Kills the primary and promotes the replica. */
    failOver: Effect.gen(function* () {
      process.kill(primary.pid, "SIGKILL")
      yield* standby.promote
      address.lead(standby.url)
    }),
    /** Kills the primary, and moves the address before it promotes the replica. */
    failOverTooEarly: Effect.gen(function* () {
      process.kill(primary.pid, "SIGKILL")
      address.lead(standby.url)
      const problems = Effect.promise(async () => {
        const answer = await nodes[0].request("GET", "/readyz", { key: "" }).catch(() => undefined)
        return String(answer?.json.problems)
      })
      yield* World.until(problems, (found) => found.includes("a read-only replica"), HANGS)
      yield* standby.promote
    }),
    services: EventStore.layer().pipe(
      Layer.provideMerge(alone),
      Layer.provideMerge(StoreDatabase.layer({ url: address.url, connections: 3 })),
      Layer.merge(Replay.layer(standby.url)),
    ),
  }
})

interface Heard {
  readonly id: string
  readonly position: number | string
}

const idOf = ({ id }: Heard) => id

/** A consumer that follows the event feed from its last cursor, whatever happens to the nodes. */
const follower = (nodes: ReadonlyArray<ServiceProcess.ServiceProcess>, key: string) => {
  const heard: Array<Heard> = []
  const refused: Array<number> = []
  let at = "0"
  let turn = 0
  const look = Effect.promise(async () => {
    try {
      const answer = await nodes[turn++ % nodes.length]?.request("GET", `/v1/events?limit=50&after_position=${at}`, {
        key,
      })
      if (answer?.status === 200) {
        heard.push(...answer.json.data.map(({ id, position }: Heard) => ({ id, position })))
        at = answer.json.next_position
      } else if (answer !== undefined && answer.status < 500) refused.push(answer.status)
    } catch {
      // No node answers.
    }
  }).pipe(Effect.andThen(Effect.sleep("50 millis")))
  return { heard, refused, look, follow: Effect.forever(look) }
}

const furnish = (
  services: Layer.Layer<EventStore | PgClient.PgClient | Replay, unknown>,
  node: ServiceProcess.ServiceProcess | undefined,
) =>
  Effect.gen(function* () {
    const { account_id, secret } = yield* Effect.gen(function* () {
      const account_id = yield* World.account({ limits: { send: 1_000_000, other: 1_000_000 } })
      return { account_id, ...(yield* World.key(account_id)) }
    }).pipe(Effect.provide(services), Effect.orDie)
    const added = yield* Effect.promise(
      async () => (await node?.request("POST", "/v1/domains", { key: secret, body: { name: "acme.test" } }))?.status,
    )
    assert.strictEqual(added, 201)
    return { account_id, secret }
  })

const events = (account_id: string) =>
  Effect.gen(function* () {
    const sql = yield* Sql
    const rows = yield* Effect.orDie(sql<{ id: string; position: number }>`
      SELECT event_id AS id, position::float8 AS position FROM events WHERE account_id = ${account_id} ORDER BY position`)
    return rows.map((row): Heard => ({ ...row }))
  })

/** Waits until no row is due soon, and the followers have reached the end of the log. */
const settled = Effect.gen(function* () {
  const sql = yield* Sql
  const waiting = sql<{ n: number }>`
    SELECT count(*)::int AS n FROM outbox
    WHERE kind = 'delivery' AND (lease_token IS NOT NULL OR available_at < now() + interval '10 seconds')`
  yield* World.until(Effect.orDie(waiting), ([row]) => row?.n === 0, HANGS)
  const behind = sql<{ n: number }>`
    SELECT count(*)::int AS n FROM events WHERE position > (SELECT min(position) FROM followers)`
  yield* World.until(Effect.orDie(behind), ([row]) => row?.n === 0, HANGS)
})

/** Returns the final log, once the consumer has reached its end. */
const heardOut = Effect.fnUntraced(function* (account_id: string, reader: ReturnType<typeof follower>) {
  yield* settled
  const log = yield* events(account_id)
  yield* World.until(
    Effect.sync(() => reader.heard.some(({ id }) => id === log.at(-1)?.id)),
    (isThere) => isThere,
    HANGS,
  )
  return log
})

/** Checks every guarantee of the service on the remaining server. */
const balanced = (account_id: string) =>
  Effect.gen(function* () {
    const sql = yield* Sql
    for (const { accepted, mismatched, final, in_flight } of yield* Conservation.emails())
      assert.deepStrictEqual([final + in_flight, mismatched], [accepted, 0])
    for (const { missing, unexpected } of yield* Conservation.work())
      assert.deepStrictEqual([missing, unexpected], [[], []])
    for (const { name } of Projections.inCommits) {
      const { differences } = yield* Rebuild.verify(name, { release: "failover" })
      assert.deepStrictEqual(differences, [], name)
    }
    const counted = yield* Effect.orDie(sql<{ measure: string; n: number }>`
      SELECT measure, sum(count)::int AS n FROM email_stats
      WHERE account_id = ${account_id} AND tag = '' AND bucket = 0 AND measure IN ('accepted', 'delivered')
      GROUP BY measure ORDER BY measure`)
    const happened = yield* Effect.orDie(sql<{ measure: string; n: number }>`
      SELECT CASE type WHEN 'EmailQueued' THEN 'accepted' ELSE 'delivered' END AS measure, count(*)::int AS n
      FROM events WHERE account_id = ${account_id} AND type IN ('EmailQueued', 'EmailDelivered')
      GROUP BY 1 ORDER BY 1`)
    assert.deepStrictEqual(
      counted.map((row) => ({ ...row })),
      happened.map((row) => ({ ...row })),
    )
  })

const logged = (account_id: string) =>
  Effect.gen(function* () {
    const sql = yield* Sql
    const rows = yield* Effect.orDie(sql<{ id: string }>`
      SELECT id_of('msg', id) AS id FROM email_log WHERE account_id = id_key(${account_id})`)
    return rows.map(({ id }) => id)
  })

describe("a failover to a promoted replica, in the middle of writes,", () => {
  it.live(
    "with a synchronous replica loses nothing and repeats no position",
    () =>
      Effect.gen(function* () {
        const { failOverTooEarly, nodes, services, synchronous } = yield* installation
        const { account_id, secret } = yield* furnish(services, nodes[0])
        yield* synchronous
        const reader = follower(nodes, secret)
        const reading = yield* Effect.forkChild(reader.follow)
        const clients = Storm.load(nodes, secret)
        yield* clients.more(MAILS)
        yield* failOverTooEarly
        yield* clients.more(MAILS)
        yield* clients.end
        yield* Effect.gen(function* () {
          const log = yield* heardOut(account_id, reader)
          yield* Fiber.interrupt(reading)
          assert.deepStrictEqual(reader.heard.map(idOf), log.map(idOf))
          assert.deepStrictEqual(reader.refused, [])
          assert.deepStrictEqual([...new Set(clients.sent.map(({ ids }) => ids.size))], [1])
          assert.sameMembers(
            yield* logged(account_id),
            clients.sent.flatMap(({ ids }) => [...ids]),
          )
          yield* balanced(account_id)
        }).pipe(Effect.provide(services))
      }).pipe(Effect.scoped),
    400_000,
  )

  it.live(
    "with an asynchronous replica loses only events not received, and skips and repeats nothing afterwards",
    () =>
      Effect.gen(function* () {
        const { failOver, nodes, services, suppliedSoFar, supply } = yield* installation
        const { account_id, secret } = yield* furnish(services, nodes[0])
        const reader = follower(nodes, secret)
        const clients = Storm.load(nodes, secret)
        yield* clients.more(MAILS)
        const received = clients.sent.length
        yield* suppliedSoFar
        supply.down()
        yield* clients.more(MAILS)
        // The consumer has read events that will be lost, beyond the replica's position.
        const written = yield* Effect.provide(events(account_id), services)
        yield* World.until(
          Effect.map(reader.look, () => reader.heard.length),
          (count) => count >= written.length,
          HANGS,
        )
        yield* failOver
        const lost = yield* Effect.provide(events(account_id), services).pipe(
          Effect.map((left) => reader.heard.filter(({ id }) => !left.some((each) => each.id === id))),
        )
        assert.isAbove(lost.length, MAILS / 2)
        const reading = yield* Effect.forkChild(reader.follow)
        yield* clients.more(2 * MAILS)
        yield* clients.end
        yield* Effect.gen(function* () {
          const log = yield* heardOut(account_id, reader)
          yield* Fiber.interrupt(reading)
          // The consumer has received every remaining event once and in order, besides the lost ones.
          assert.deepStrictEqual(
            reader.heard.map(idOf).filter((id) => lost.every((each) => each.id !== id)),
            log.map(idOf),
          )
          // No position has two events, among those received and those in the log.
          const places = new Map<number | string, string>()
          for (const { id, position } of [...reader.heard, ...log]) {
            assert.strictEqual(places.get(position) ?? id, id)
            places.set(position, id)
          }
          assert.deepStrictEqual(reader.refused, [])
          // Acknowledged messages that are lost were accepted after the replica was cut off.
          const left = new Set(yield* logged(account_id))
          const gone = clients.sent.flatMap(({ ids }, nth) => ([...ids].every((id) => left.has(id)) ? [] : [nth]))
          assert.isAbove(gone.length, 0)
          assert.isAtLeast(Math.min(...gone), received - CLIENTS_AT_ONCE)
          yield* balanced(account_id)
        }).pipe(Effect.provide(services))
      }).pipe(Effect.scoped),
    400_000,
  )
})
/** Events whose responses may be noted in another order than their commits. */
const CLIENTS_AT_ONCE = 6
