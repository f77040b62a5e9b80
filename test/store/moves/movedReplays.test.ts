import * as Suppression from "@waybill/domain/suppression/Suppression"
import type { Address } from "@waybill/domain/values/Address"
import type { AccountId } from "@waybill/domain/values/Id"
import * as RoutedClient from "@waybill/store/routing/RoutedClient"
import * as Cells from "@waybill/store/routing/Cells"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as LogExport from "@waybill/store/exports/LogExport"
import { Cause, Duration, Effect, Exit, Runtime } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Sql } from "@waybill/store/postgres/Sql"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as World from "../../support/world/World.ts"

const TIMEOUT = { timeout: 120_000 }
const ALONE = { noticedAfter: Duration.millis(100) }

const run = (...args: ReadonlyArray<string>) =>
  Effect.map(CommandLine.type(...args), ({ errors, exit, output }) => ({
    output,
    errors,
    code: Exit.isSuccess(exit) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause)),
  }))

const file = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-moved-"))),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true })),
  ),
  (folder) => join(folder, "log.jsonl"),
)

/** Moves an account to a cell, until the move dies at one of the lines that it reports. */
const moveUntil = Effect.fnUntraced(function* (account_id: AccountId, cell: string, dies: number) {
  let line = 0
  const report = () => Effect.suspend(() => (++line === dies ? Effect.die("killed") : Effect.void))
  yield* Effect.exit(AccountMove.move(account_id, cell, { ...ALONE, report }))
  yield* (yield* Cells.Cells).refresh
})

const suppress = Effect.fnUntraced(function* (account_id: AccountId, address: string) {
  const { commit } = yield* EventStore
  const id = yield* NewIds.newId("SuppressionId")
  const add = Suppression.add(yield* NewIds.now, id, address as Address, "manual", null)
  const ref = { account_id, stream_id: Suppression.streamId(address as Address) }
  yield* Effect.orDie(commit(Suppression, ref, add))
})

/** Ids of the events in an exported file. */
const idsIn = (name: string) =>
  Effect.promise(async () =>
    [...(await fs.readFile(name, "utf8")).matchAll(/"event_id":"(\w+)"/gu)].map(([, id]) => id),
  )

layer(World.layer, { excludeTestServices: true })("an unfinished move", (it) => {
  it.effect(
    "lets read models be verified and the log be exported, with the account's events once",
    function* () {
      const sql = yield* Sql
      yield* CellSchema.make("cell_b")
      const { account_id } = yield* World.verifiedDomain("acme.test", yield* World.account())
      yield* suppress(account_id, "bo@example.org")
      const [count] = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM events`
      for (const [dies, stray] of [
        [3, "cell_b"],
        [4, "public"],
      ] as const) {
        yield* moveUntil(account_id, "cell_b", dies)
        // As if the copies were incomplete, or partly deleted.
        yield* inCell(stray, sql`DELETE FROM suppressions`)
        const verified = yield* run("projections", "verify", "suppressions")
        assert.strictEqual(verified.code, 0, verified.errors)
        assert.include(verified.output, `Accounts that move to another cell were left out: ${account_id}.`)
        const name = yield* file
        assert.strictEqual((yield* run("events", "export", name)).code, 0)
        const ids = yield* idsIn(name)
        assert.deepStrictEqual([ids.length, new Set(ids).size], [count?.n, count?.n])
      }
      yield* AccountMove.move(account_id, "cell_b", ALONE)
      const verified = yield* run("projections", "verify", "suppressions")
      assert.strictEqual(verified.code, 0, verified.errors)
      assert.notInclude(verified.output, "left out")
    },
    TIMEOUT,
  )

  it.effect(
    "that ends during an export makes it fail",
    function* () {
      const sql = yield* Sql
      yield* CellSchema.make("cell_c")
      const account_id = yield* World.account()
      const logs = yield* Effect.forEach(["public", "cell_c"], (cell) =>
        Effect.map(inCell(cell, RoutedClient.here(sql)), (sql) => ({ cell, sql, log: sql, isApart: false })),
      )
      const { whole } = yield* LogExport.moves(logs)
      yield* World.accountIn("cell_c")
      yield* whole
      yield* moveUntil(account_id, "cell_c", 2)
      yield* whole
      yield* AccountMove.move(account_id, "cell_c", ALONE)
      assert.include((yield* Effect.flip(whole)).message, `${account_id} moved to another cell during the export`)
    },
    TIMEOUT,
  )
})

layer(World.layer, { excludeTestServices: true })("a version of a read model", (it) => {
  it.effect(
    "that was begun before an account moved is not made live in either cell",
    function* () {
      yield* CellSchema.make("cell_b")
      const account_id = yield* World.account()
      yield* suppress(account_id, "bo@example.org")
      yield* suppress(yield* World.accountIn("cell_b"), "bo@example.org")
      assert.strictEqual((yield* run("projections", "rebuild", "suppressions")).code, 0)
      yield* suppress(yield* World.accountIn("cell_b"), "ed@example.org")
      yield* AccountMove.move(account_id, "cell_b", ALONE)
      const swapped = yield* run("projections", "swap", "suppressions")
      assert.strictEqual(swapped.code, 1)
      assert.include(swapped.errors, `was begun before accounts moved here or left (${account_id})`)
      assert.include(swapped.errors, "cell_b: suppressions_v2")
      for (const cell of ["public", "cell_b"])
        assert.strictEqual((yield* run("projections", "drop", "suppressions", "2", "--cell", cell)).code, 0)
      for (const command of ["rebuild", "swap", "verify"]) {
        const { code, errors } = yield* run("projections", command, "suppressions")
        assert.strictEqual(code, 0, errors)
      }
    },
    TIMEOUT,
  )
})
