import * as Databases from "@waybill/store/routing/Databases"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as DomainReports from "@waybill/store/domainreports/DomainReports"
import * as Leases from "@waybill/store/outbox/Leases"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import * as Visits from "../../../apps/server/src/links/Visits.ts"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import { dmarcHeading } from "../../support/mail/aggregateMail.ts"
import { WAITING_SESSIONS } from "../../support/cells/testCell.ts"
import * as World from "../../support/world/World.ts"
import { countIn, lockTables, senderIn } from "./support.ts"

/** Locks tables of a cell until the returned effect runs. */
const lockUntil = Effect.fnUntraced(function* (cell: string, ...tables: ReadonlyArray<string>) {
  const lock = yield* Scope.fork(yield* Effect.scope)
  yield* Scope.provide(lockTables(cell, ...tables), lock)
  return Scope.close(lock, Exit.void)
})

layer(World.layer, { excludeTestServices: true })("a cell that hangs", (it) => {
  it.effect("keeps nobody from taking over the work of a dead process in other cells", function* () {
    const sql = yield* Sql
    yield* CellSchema.make("cell_b")
    const [dead] = yield* sql<Leases.Registration>`
      INSERT INTO processes (id, number, worker_ids) VALUES ('prc_dead', nextval('process_number')::int, '{}') RETURNING id, number`
    assert(dead !== undefined)
    for (const cell of ["public", "cell_b"]) {
      // A node of Citus has the registrations of its cell.
      yield* inCell(
        cell,
        sql`INSERT INTO processes (id, number, worker_ids) VALUES (${dead.id}, ${dead.number}::int, '{}') ON CONFLICT DO NOTHING`,
      )
      yield* World.send(yield* senderIn(cell))
      yield* inCell(
        cell,
        sql`UPDATE outbox SET lease_token = 'token', lease_until = now() + interval '1 hour', lease_owner = 'prc_dead'
          WHERE kind = 'delivery'`,
      )
    }
    const unlock = yield* lockUntil("cell_b", "outbox")
    const hanging = yield* Effect.forkChild(inCell("cell_b", Leases.takeOverFrom(dead)))
    yield* World.until(inCell("cell_b", sql.unsafe(WAITING_SESSIONS)), (sessions) => sessions.length > 0)
    assert.lengthOf(yield* inCell("public", Leases.takeOverFrom(dead)), 1)
    assert.isUndefined(hanging.pollUnsafe())
    yield* unlock
    assert.lengthOf(yield* Fiber.join(hanging), 1)
  })

  it.effect("delays domain reports of its own accounts only", function* () {
    const sql = yield* Sql
    yield* CellSchema.make("cell_c")
    for (const cell of ["public", "cell_c"]) {
      yield* senderIn(cell, "reports.test")
      yield* inCell(cell, sql`UPDATE domains SET status = 'verified'`)
    }
    const { found, missing } = yield* DomainReports.targets(["reports.test"])
    assert.deepStrictEqual([found.length, missing], [2, []])
    const unlock = yield* lockUntil("cell_c", "domain_reports", "domains")
    const beside = yield* DomainReports.targets(["reports.test"])
    assert.deepStrictEqual([beside.found.length, beside.missing], [1, ["cell_c"]])
    const recording = yield* Effect.forkChild(
      Effect.exit(DomainReports.record(dmarcHeading("acme.test"), found, () => Effect.void)),
    )
    yield* World.until(countIn("public", "domain_reports"), (count) => count === 1)
    assert.isUndefined(recording.pollUnsafe())
    yield* unlock
    yield* Fiber.join(recording)
    // The reporter sends it again if it was not recorded everywhere.
    yield* DomainReports.record(dmarcHeading("acme.test"), found, () => Effect.void)
    for (const cell of ["public", "cell_c"]) assert.strictEqual(yield* countIn(cell, "domain_reports"), 1)
  })

  it.effect("is not asked for the cell of a tracked link, which says whose it is", function* () {
    yield* CellSchema.make("cell_e")
    yield* CellSchema.make("cell_f")
    const ref = yield* World.send(yield* senderIn("cell_e"))
    // Home is asked for no more than its directory.
    for (const cell of ["public", "cell_f"]) yield* lockUntil(cell, "events", "accounts", "domains")
    const at = yield* NewIds.now
    const visits = Context.get(yield* Layer.build(Visits.layer), Visits.Visits)
    const mail = { account_id: ref.account_id, email_id: ref.stream_id }
    visits.note({ mail, url: null, user_agent: "Mail/1.0", ip: "203.0.113.9", at })
    yield* World.until(World.timeline(ref), (events) => events.includes("EmailOpened"))
  })

  it.effect("is left out of rows that others have too", function* () {
    yield* CellSchema.make("cell_d")
    yield* senderIn("cell_d")
    const sql = yield* Sql
    yield* lockUntil("cell_d", "accounts")
    const { missing, rows } = yield* Databases.rowsInTime(sql`SELECT FROM accounts`)
    assert.deepStrictEqual(missing, ["cell_d"])
    assert.isAbove(rows.length, 0)
  })
})
