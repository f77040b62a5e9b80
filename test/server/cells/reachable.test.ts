import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as Reachable from "@waybill/store/routing/Reachable"
import type * as Users from "@waybill/store/users/Users"
import { Effect, Exit, Scope } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import { BO, CELLS, LEFT_OUT, TIMEOUT, lockTables, memberOf, run, senderIn, suppress } from "./support.ts"

const together = <const Work extends ReadonlyArray<ReturnType<typeof run>>>(...work: Work) =>
  Effect.all(work, { concurrency: "unbounded" })

layer(World.layer, { excludeTestServices: true })("commands beside a cell that does not answer", (it) => {
  it.effect(
    "work on the others, name it, and fail",
    function* () {
      yield* CellSchema.make("cell_b")
      yield* CellSchema.make("cell_c")
      const senders = yield* Effect.forEach(CELLS, (cell) => senderIn(cell))
      for (const sender of senders) {
        yield* World.send(sender)
        yield* suppress(sender.account_id)
      }
      const lock = yield* Scope.fork(yield* Effect.scope)
      yield* Scope.provide(lockTables("cell_b", "events", "outbox", "domains", "email_log"), lock)
      // Each waits for the cell, so they wait at the same time.
      const [audited, doctor, status, verified, named] = yield* together(
        run("audit", "emails", "--json"),
        run("doctor"),
        run("projections", "status", "--json"),
        run("projections", "verify", "suppressions", "--json"),
        run("projections", "status", "--cell", "cell_b"),
      )
      assert.strictEqual(audited.code, 1, audited.output)
      assert.include(audited.errors, LEFT_OUT)
      const balances = JSON.parse(audited.output) as ReadonlyArray<{ readonly account_id: string }>
      assert.sameMembers(
        balances.map(({ account_id }) => account_id),
        senders.flatMap(({ account_id }, nth) => (CELLS[nth] === "cell_b" ? [] : [account_id])),
      )

      assert.strictEqual(doctor.code, 3, doctor.output)
      assert.match(doctor.output, /^broken +cells +cell_b does not answer/mu)
      assert.match(doctor.output, /^ok +clock/mu)

      for (const { code, errors, output } of [status, verified]) {
        assert.strictEqual(code, 1, output)
        assert.include(errors, LEFT_OUT)
        assert.include(output, "cell_c")
      }
      assert.strictEqual(named.code, 1)
      assert.include(named.errors, LEFT_OUT)

      const erased = yield* run("erase", BO, "--yes")
      assert.strictEqual(erased.code, 1, erased.output)
      assert.include(erased.errors, LEFT_OUT)
      assert.include(erased.output, "2 histories")

      yield* Scope.close(lock, Exit.void)
      const again = yield* run("erase", BO, "--yes")
      assert.strictEqual(again.code, 0, again.errors)
      assert.include(again.output, "1 history")
      assert.strictEqual((yield* run("audit", "work")).code, 0)
    },
    TIMEOUT,
  )

  it.effect(
    "list what the others have, name it, and fail",
    function* () {
      const senders = yield* Effect.forEach(CELLS, (cell) => senderIn(cell))
      const [here, hung, beside] = yield* Effect.forEach(senders, (sender) =>
        Effect.map(World.send(sender), ({ stream_id }) => ({ ...sender, stream_id })),
      )
      assert(here !== undefined && hung !== undefined && beside !== undefined)
      const user_id = yield* memberOf(hung.account_id, "ana@acme.test")
      const besideId = yield* memberOf(beside.account_id, "bo@acme.test")
      yield* lockTables("cell_b", "accounts", "events", "members", "unread_reports")

      const [accounts, users, stream, unknown, allReports, reportsOf] = yield* together(
        run("accounts", "list", "--json"),
        run("users", "list", "--json"),
        run("events", "stream", beside.stream_id, "--json"),
        run("events", "stream", hung.stream_id),
        run("reports", "list", "--json"),
        run("reports", "list", hung.account_id, "--json"),
      )
      assert.deepStrictEqual([accounts.code, accounts.errors.includes(LEFT_OUT)], [1, true], accounts.errors)
      const ids = (JSON.parse(accounts.output) as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
      assert.includeMembers(ids, [here.account_id, beside.account_id])
      assert.notInclude(ids, hung.account_id)

      assert.deepStrictEqual([users.code, users.errors.includes(LEFT_OUT)], [1, true], users.errors)
      const rows = JSON.parse(users.output) as ReadonlyArray<Users.UserOfAccount>
      const found = (id: string) => rows.find((row) => row.id === id)
      assert.deepInclude(found(user_id), { account_id: hung.account_id, role: null, status: null })
      assert.deepInclude(found(besideId), { account_id: beside.account_id, role: "owner", status: "active" })

      assert.deepStrictEqual([stream.code, stream.errors.includes(LEFT_OUT)], [1, true], stream.errors)
      assert.include(stream.output, beside.account_id)
      assert.strictEqual(unknown.code, 1)
      assert.include(unknown.errors, `No history found for ${hung.stream_id}. ${LEFT_OUT}`)

      for (const reports of [allReports, reportsOf]) {
        assert.deepStrictEqual([reports.code, reports.output], [1, "[]"], reports.errors)
        assert.include(reports.errors, LEFT_OUT)
      }
      const besides = yield* run("reports", "list", beside.account_id, "--json")
      assert.strictEqual(besides.code, 0, besides.errors)
    },
    TIMEOUT,
  )

  it.effect("name a cell that is lost in the middle of their work", function* () {
    const sql = yield* Sql
    yield* CellSchema.make("cell_d")
    yield* lockTables("cell_d", "webhooks")
    const { results, unreachable } = yield* Reachable.each(
      sql.withTransaction(Effect.andThen(sql`SET LOCAL lock_timeout = '100ms'`, sql`SELECT FROM webhooks`)),
    )
    assert.deepStrictEqual(unreachable, ["cell_d"])
    assert.include(
      results.map(([cell]) => cell),
      "public",
    )
  })
})
