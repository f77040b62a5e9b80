import * as Email from "@waybill/domain/email/Email"
import * as CellNodes from "@waybill/store/operations/CellNodes"
import { FIRST } from "@waybill/store/routing/CellName"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as StoreDatabase from "@waybill/store/database/Database"
import * as Migrations from "@waybill/store/database/Migrations"
import * as TableSizes from "@waybill/store/rebuild/versions/TableSizes"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as LogTree from "@waybill/store/transparency/LogTree"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import * as TreeAudit from "@waybill/store/transparency/TreeAudit"
import { Context, Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import * as Citus from "../../support/cells/citusDatabase.ts"
import { open, send } from "../commit/commits.ts"
import { conformance } from "../commit/eventStore.suite.ts"
import { inTheCell } from "./inTheCell.ts"

const { CITUS_URL } = Citus

const database = Effect.acquireRelease(
  Effect.promise(() => Citus.citusDatabase(CITUS_URL ?? "")),
  ({ drop }) => Effect.promise(drop),
)

const cluster = Layer.effect(
  Database.Fresh,
  Effect.gen(function* () {
    const url = Redacted.make((yield* database).url)
    yield* Migrations.migrate(url)
    return { name: "", url, adminUrl: url }
  }),
)

const onNode = EventStore.layer().pipe(
  Layer.provideMerge(inTheCell),
  Layer.provideMerge(Layer.unwrap(Effect.map(Database.Fresh, Database.layerOf))),
  Layer.provideMerge(cluster),
)

/** A database on all nodes that belongs to a role with no other rights. */
const ownedBy = Effect.fnUntraced(function* (role: string) {
  const superuser = yield* otherClient(Redacted.make(CITUS_URL ?? ""))
  yield* Effect.acquireRelease(superuser.query(`CREATE ROLE ${role} LOGIN`), () => superuser.query(`DROP ROLE ${role}`))
  const { nodes, url } = yield* database
  const as = (user: string, host: string, port: string) =>
    Object.assign(new URL(url), { username: user, password: "", hostname: host, port }).href
  const { hostname, pathname, port, username } = new URL(url)
  for (const server of [{ host: hostname, port }, ...nodes]) {
    const owner = yield* otherClient(Redacted.make(as(username, server.host, String(server.port))))
    yield* owner.query("SET citus.enable_ddl_propagation = off")
    yield* owner.query(`ALTER DATABASE ${pathname.slice(1)} OWNER TO ${role}`)
  }
  return Redacted.make(as(role, hostname, port))
})

/** The node of the cell, and another one. */
const places = Effect.gen(function* () {
  const sql = yield* Sql
  const nodes = yield* inCell(
    FIRST,
    sql<CellNodes.Address>`SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid > 0 ORDER BY 2`,
  )
  const at = (yield* CellNodes.ofCells()).get("cell_b")
  const [there, back] = [
    nodes.find((node) => CellNodes.textOf(node) !== at),
    nodes.find((node) => CellNodes.textOf(node) === at),
  ]
  assert(there !== undefined && back !== undefined)
  return { back, there }
})

describe.skipIf(CITUS_URL === undefined)("on a node of Citus", () => {
  it.live(
    "a role that only owns the database can make cells",
    () =>
      Effect.gen(function* () {
        const url = yield* ownedBy(`waybill_${randomBytes(6).toString("hex")}`)
        yield* Migrations.migrate(url)
        const nodes = Effect.gen(function* () {
          const sql = yield* Sql
          for (const cell of ["cell_c", "cell_d"]) yield* CellSchema.make(cell)
          return yield* sql<{ readonly cell: string }>`SELECT schema_name::text AS cell FROM citus_schemas ORDER BY 1`
        })
        assert.deepStrictEqual(yield* Effect.provide(nodes, StoreDatabase.layer({ url })), [
          { cell: "cell_c" },
          { cell: "cell_d" },
        ])
      }).pipe(Effect.scoped),
    60_000,
  )

  layer(onNode, { excludeTestServices: true, timeout: "60 seconds" })("the event store", (it) => {
    conformance(it)

    it.effect("loses nothing when two processes append to one stream", function* () {
      const store = yield* EventStore
      const another = yield* Effect.map(Layer.build(Layer.fresh(EventStore.layer())), Context.get(EventStore))
      const account_id = id("AccountId")
      const stream_id = yield* store.transact(send(account_id))
      const ref = { account_id, stream_id }
      yield* Effect.forEach(
        Array.from({ length: 40 }, (_, nth) => nth),
        (nth) => (nth % 2 === 0 ? store : another).commit(Email, ref, open),
        { concurrency: "unbounded" },
      )
      const { state, version } = yield* store.load(Email, ref)
      assert.deepStrictEqual([version, state._tag === "Message" && state.opens], [41, 40])
    })

    it.effect("goes on behind its last position at another node, also when Citus has moved it by itself", function* () {
      const store = yield* EventStore
      const sql = yield* Sql
      const account_id = id("AccountId")
      const stream_id = yield* store.transact(send(account_id))
      const ref = { account_id, stream_id }
      const { upTo: before } = yield* store.feed({ after: 0n })
      const { back, there } = yield* places
      yield* inCell(
        FIRST,
        sql`SELECT citus_schema_move('cell_b'::regnamespace, ${there.host}, ${there.port}::int, 'force_logical') IS NULL AS done`,
      )
      // By the former node, which still gives the positions.
      yield* store.commit(Email, ref, open)
      const report = () => Effect.void
      assert.isTrue(yield* CellNodes.move("cell_b", there, report))
      yield* store.commit(Email, ref, open)
      assert.isFalse(yield* CellNodes.move("cell_b", there, report))
      assert.isTrue(yield* CellNodes.move("cell_b", back, report))
      yield* store.commit(Email, ref, open)
      const { events } = yield* store.feed({ after: before })
      assert.deepStrictEqual(
        events.map(({ version }) => version),
        [2, 3, 4],
      )
    })

    it.effect("has a signed log that goes on under a new name at another node", function* () {
      const store = yield* EventStore
      const account_id = id("AccountId")
      const grow = Effect.gen(function* () {
        yield* store.transact(send(account_id))
        yield* Effect.repeat(LogTree.step, { until: ({ events, isFull }) => !isFull && events === 0 })
        yield* Checkpoints.sign("a.test/log", (origin) => [SignedNote.signer(origin, Buffer.alloc(32, 1))])
        return yield* Checkpoints.trees(yield* Sql)
      })
      const [first] = yield* grow
      const { back, there } = yield* places
      const report = () => Effect.void
      assert.isTrue(yield* CellNodes.move("cell_b", there, report))
      const [second, former] = yield* grow
      // An epoch of the former node may have the number of one here.
      assert.match(second?.origin ?? "", /^a\.test\/log\/~[0-9a-f]{8}$/u)
      assert.deepStrictEqual([former?.note, second?.origin === first?.origin], [first?.note, false])
      assert.isAbove(second?.size ?? 0, first?.size ?? 0)
      assert.deepStrictEqual((yield* TreeAudit.audit()).differences, [])
      assert.isTrue(yield* CellNodes.move("cell_b", back, report))
    })

    it.effect("is measured where its tables are", function* () {
      const { transact } = yield* EventStore
      const sql = yield* Sql
      const account_id = id("AccountId")
      for (let nth = 0; nth < 20; nth++) yield* transact(send(account_id))
      yield* sql`ANALYZE events`
      const [events] = yield* sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM events`
      const sizes = yield* TableSizes.read(sql, ["events", "email_stats", "no_table"])
      const sizeOf = (table: string) => sizes.find(({ name }) => name === table)
      assert.deepStrictEqual(sizeOf("events")?.rows, events?.count)
      assert.isAbove(Number(sizeOf("email_stats")?.bytes), 0)
      assert.isUndefined(sizeOf("no_table"))
      assert.isAtLeast(yield* TableSizes.planned(sql, sql`SELECT FROM events WHERE stream IN ('email')`), 20)
    })
  })
})
