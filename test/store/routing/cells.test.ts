import { Admission } from "@waybill/store/admission/Admission"
import { KeyUses } from "@waybill/store/admission/KeyUses"
import * as Cells from "@waybill/store/routing/Cells"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Feed from "@waybill/store/feed/Feed"
import type { ApiKeySecret } from "@waybill/domain/account/ApiKeySecret"
import { Context, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { createHash } from "node:crypto"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { announce, send } from "../commit/commits.ts"

const Store = Admission.layer.pipe(
  Layer.provideMerge(KeyUses.layer),
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)

const hashOf = (secret: ApiKeySecret) => createHash("sha256").update(secret).digest("hex")

const countOf = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* Sql
    const [row] = yield* sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM ${sql(table)}`
    return row?.count ?? 0
  })

layer(Store, { excludeTestServices: true })("cells", (it) => {
  it.effect("follow the log from its first event", function* () {
    const sql = yield* Sql
    yield* CellSchema.make("cell_b")
    const followers = inCell("cell_b", sql<{ readonly position: bigint }>`SELECT DISTINCT position FROM followers`)
    assert.deepStrictEqual(
      (yield* followers).map(({ position }) => Number(position)),
      [0],
    )
  })

  it.effect("hold the rows of their accounts, apart from those of other cells", function* () {
    const before = yield* countOf("events")
    const account_id = yield* World.accountIn("cell_b")
    const key = yield* World.key(account_id)
    assert.strictEqual(yield* countOf("events"), before)
    assert.strictEqual(yield* inCell("cell_b", countOf("events")), 2)
    assert.strictEqual(yield* inCell("cell_b", countOf("api_keys")), 1)
    const verdict = yield* (yield* Admission).admit({
      tokenHash: hashOf(key.secret as ApiKeySecret),
      bucket: "send",
      address: "192.0.2.1",
    })
    assert.strictEqual(verdict._tag === "Admitted" ? verdict.key.account_id : verdict._tag, account_id)
    yield* (yield* KeyUses).flush
    assert.strictEqual(yield* inCell("cell_b", countOf("api_key_uses")), 1)
    assert.strictEqual(yield* (yield* Cells.Cells).of(account_id), "cell_b")
  })

  it.effect("number their events together, and are read apart", function* () {
    yield* CellSchema.make("cell_c")
    yield* World.accountIn("cell_c")
    yield* World.accountIn("public")
    yield* World.accountIn("cell_c")
    const { feed } = yield* EventStore
    const positions = Effect.map(feed({ after: 0n }), ({ events }) => events.map(({ position }) => position))
    const inC = yield* inCell("cell_c", positions)
    const inFirst = yield* positions
    assert.strictEqual(inC.length, 2)
    assert.isTrue((inC[0] ?? 0n) < (inFirst.at(-1) ?? 0n) && (inFirst.at(-1) ?? 0n) < (inC[1] ?? 0n))
  })

  it.effect("do not wait for each other's writers", function* () {
    yield* CellSchema.make("cell_d")
    const sql = yield* Sql
    const begun = yield* Deferred.make<void>()
    const slow = sql.withTransaction(
      announce(sql).pipe(Effect.andThen(Deferred.succeed(begun, undefined)), Effect.andThen(Effect.never)),
    )
    const fiber = yield* Effect.forkChild(inCell("cell_d", slow))
    yield* Deferred.await(begun)
    yield* World.accountIn("public")
    assert.strictEqual(yield* Feed.quiet(sql), yield* Feed.allocated(sql))
    assert.isTrue((yield* inCell("cell_d", Feed.quiet(sql))) < (yield* Feed.allocated(sql)))
    yield* Fiber.interrupt(fiber)
  })

  it.effect("have the tables, constraints and indexes that the first cell has", function* () {
    const sql = yield* Sql
    yield* CellSchema.make("cell_e")
    const columns = sql`
      SELECT c.table_name, c.column_name, c.data_type, c.is_nullable, c.column_default, c.collation_name
      FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE table_schema = current_schema() AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = 'cell_e')
      ORDER BY 1, 2`
    const indexes = sql`
      SELECT indexname, replace(indexdef, current_schema() || '.', '') AS definition FROM pg_indexes
      WHERE schemaname = current_schema() AND tablename IN (SELECT tablename FROM pg_tables WHERE schemaname = 'cell_e')
      ORDER BY 1`
    const constraints = sql`
      SELECT conname, replace(pg_get_constraintdef(oid), ' NOT VALID', '') AS definition FROM pg_constraint
      WHERE connamespace = current_schema()::regnamespace AND contype <> 'n'
        AND conrelid::regclass::text IN (SELECT tablename FROM pg_tables WHERE schemaname = 'cell_e') ORDER BY 1, 2`
    for (const query of [columns, indexes, constraints])
      assert.deepStrictEqual(yield* inCell("cell_e", query), yield* query)
  })

  it.effect("are refused for a name that no schema can have, or that is taken", function* () {
    for (const name of ["", "Cell", "1a", "a-b", "pg_x", "public", "graphile_worker", "a".repeat(41)])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(CellSchema.make(name))), name)
    yield* CellSchema.make("cell_f")
    const again = yield* Effect.flip(CellSchema.make("cell_f"))
    assert.strictEqual((again as CellSchema.CellRefused).message, "there is a schema cell_f already")
  })

  it.effect("are refused while a migration is pending", function* () {
    const sql = yield* Sql
    const newest = sql<{ readonly name: string }>`
      DELETE FROM schema_migrations WHERE name = (SELECT max(name) FROM schema_migrations) RETURNING name`
    const [row] = yield* newest
    const name = row?.name ?? ""
    const refused = yield* Effect.flip(CellSchema.make("cell_h"))
    assert.strictEqual(refused._tag, "SchemaBehind")
    assert.notInclude(yield* (yield* Cells.Cells).names, "cell_h")
    yield* sql`INSERT INTO schema_migrations (name) VALUES (${name})`
  })

  it.effect("take no commit of an account of another cell", function* () {
    yield* CellSchema.make("cell_h")
    const account_id = yield* World.accountIn("cell_h")
    // A process that could not read the directory, and takes the account for one of the first cell.
    const outdated = {
      ...(yield* Cells.Cells),
      isCertainlyAlone: () => false,
      of: () => Effect.succeed("public"),
    }
    const before = yield* countOf("events")
    const { transact } = Context.get(
      yield* Layer.build(Layer.fresh(EventStore.layer())).pipe(Effect.provideService(Cells.Cells, outdated)),
      EventStore,
    )
    const exit = yield* Effect.exit(transact(send(account_id)))
    assert.isTrue(Exit.isFailure(exit))
    assert.strictEqual(yield* countOf("events"), before)
  })

  it.effect("cannot be changed inside a transaction of another cell", function* () {
    yield* CellSchema.make("cell_g")
    const sql = yield* Sql
    const exit = yield* Effect.exit(sql.withTransaction(inCell("cell_g", countOf("events"))))
    assert.isTrue(Exit.isFailure(exit))
  })
})
