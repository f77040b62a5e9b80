import { PgClient } from "@effect/sql-pg"
import * as Cells from "@waybill/store/routing/Cells"
import * as Databases from "@waybill/store/routing/Databases"
import * as Reachable from "@waybill/store/routing/Reachable"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Effect, Exit } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as World from "../../support/world/World.ts"

const TIMEOUT = { timeout: 300_000 }

/** Runs a command in this process, and returns what it printed and whether it succeeded. */
const runOn = (database: Database.Database, ...args: ReadonlyArray<string>) =>
  Effect.map(CommandLine.typeOn(database, ...args), ({ exit, output }) => ({ isGood: Exit.isSuccess(exit), output }))
const run = (...args: ReadonlyArray<string>) => Effect.flatMap(Database.Fresh, (database) => runOn(database, ...args))

const lastLine = (output: string) => JSON.parse(output.trim().split("\n").at(-1) ?? "") as Record<string, unknown>

const cellsNow = Effect.flatMap(Cells.Cells, ({ names, refresh }) => Effect.andThen(refresh, names))

/** A message and a key in each of two cells, in turns. */
const mail = Effect.gen(function* () {
  if (!(yield* cellsNow).includes("cell_b")) yield* CellSchema.make("cell_b")
  for (const cell of ["public", "cell_b", "public"]) {
    const account_id = yield* World.accountIn(cell)
    const domain = yield* Databases.ofAccount(account_id, World.verifiedDomain("acme.test", account_id))
    yield* World.send(domain)
    yield* World.key(account_id)
  }
})

const fileIn = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-cells-"))),
  (folder) => Effect.promise(() => fs.rm(folder, { recursive: true })),
).pipe(Effect.map((folder) => path.join(folder, "log.jsonl")))

layer(World.layer, { excludeTestServices: true })("replays over cells", (it) => {
  it.effect(
    "verify, rebuild and swap every cell, or one",
    function* () {
      const sql = yield* Sql
      yield* mail
      const verified = yield* run("projections", "verify", "email_log", "--json")
      assert.isTrue(verified.isGood, verified.output)
      assert.deepInclude(lastLine(verified.output), { rows: 3, differing_rows: 0 })

      yield* inCell("cell_b", sql`UPDATE email_log SET facets = facets + 1`)
      const differs = yield* run("projections", "verify", "email_log")
      assert.isFalse(differs.isGood)
      assert.include(differs.output, "email_log matches the log: 2 rows")
      assert.include(differs.output, "cell_b: 1 rows differ")

      const rebuilt = yield* run("projections", "rebuild", "email_log", "--json", "--cell", "cell_b")
      assert.deepInclude(lastLine(rebuilt.output), { name: "email_log", version: 2 })
      const swapped = yield* run("projections", "swap", "email_log")
      assert.isFalse(swapped.isGood)
      assert.include(swapped.output, "cell_b: Version 2 of email_log is live")
      assert.isTrue((yield* run("projections", "verify", "email_log")).isGood)

      const status = yield* run("projections", "status", "--json")
      const versions = JSON.parse(status.output) as ReadonlyArray<Record<string, unknown>>
      const live = versions.filter(({ name, state }) => name === "email_log" && state === "live")
      assert.deepStrictEqual(
        live.map(({ cell, version }) => [cell, version]),
        [
          ["public", 1],
          ["cell_b", 2],
        ],
      )
      const refused = yield* run("projections", "drop", "email_log", "1")
      assert.isFalse(refused.isGood)
      assert.isTrue((yield* run("projections", "drop", "email_log", "1", "--cell", "cell_b")).isGood)
      assert.isFalse((yield* run("projections", "status", "--cell", "cell_x")).isGood)
    },
    TIMEOUT,
  )

  it.effect(
    "export one log in the order of positions, and import it into cells",
    function* () {
      yield* mail
      const file = yield* fileIn
      const exported = yield* run("events", "export", file, "--json")
      assert.isTrue(exported.isGood, exported.output)
      const lines = (yield* Effect.promise(() => fs.readFile(file, "utf8"))).trim().split("\n").slice(1, -1)
      const entries = lines.map((line) => JSON.parse(line) as { event: { position: number; account_id: string } })
      const positions = entries.map(({ event }) => event.position)
      assert.deepStrictEqual(
        positions,
        positions.toSorted((a, b) => a - b),
      )
      const accounts = new Set(entries.map(({ event }) => event.account_id))
      assert.isAbove(accounts.size, 2)
      assert.strictEqual(lastLine(exported.output)["events"], entries.length)
      assert.strictEqual(lastLine((yield* run("events", "export", file, "--json")).output)["added"], 0)

      const other = yield* Database.freshDatabase
      assert.isTrue((yield* runOn(other, "cells", "add", "cell_c")).isGood)
      const imported = yield* runOn(other, "events", "import", file, "--json")
      assert.isTrue(imported.isGood, imported.output)
      assert.deepInclude(lastLine(imported.output), { events: entries.length, already_there: 0 })
      assert.deepInclude(lastLine((yield* runOn(other, "events", "import", file, "--json")).output), {
        already_there: entries.length,
      })
      yield* Effect.gen(function* () {
        const sql = yield* Sql
        const { ofKey } = yield* Cells.Cells
        const { results: found } = yield* Reachable.each(sql<{
          readonly account_id: string
          readonly hash: string
        }>`
          SELECT a.account_id, k.hash FROM accounts a JOIN api_keys k USING (account_id)`)
        assert.sameMembers(
          found.flatMap(([, rows]) => rows.map(({ account_id }) => account_id)),
          [...accounts],
        )
        for (const [cell, rows] of found) {
          assert.isAbove(rows.length, 0, cell)
          for (const { hash } of rows) assert.strictEqual(yield* ofKey(hash), cell)
        }
      }).pipe(Effect.provide(Database.layerOf(other)))
      assert.isTrue((yield* runOn(other, "projections", "verify", "email_log")).isGood)
      const again = yield* fileIn
      yield* runOn(other, "events", "export", again)
      assert.strictEqual(
        yield* Effect.promise(() => fs.readFile(again, "utf8")),
        yield* Effect.promise(() => fs.readFile(file, "utf8")),
      )
    },
    TIMEOUT,
  )

  it.effect(
    "import all accounts into a chosen cell",
    function* () {
      yield* mail
      const file = yield* fileIn
      yield* run("events", "export", file)
      const other = yield* Database.freshDatabase
      yield* runOn(other, "cells", "add", "cell_c")
      assert.isTrue((yield* runOn(other, "events", "import", file, "--cell", "cell_c")).isGood)
      const counts = Effect.flatMap(PgClient.PgClient, (sql) => Reachable.each(sql`SELECT FROM accounts`))
      const { results: found } = yield* Effect.provide(counts, Database.layerOf(other))
      assert.deepStrictEqual(
        found.map(([cell, { length }]) => [cell, length > 0]),
        [
          ["public", false],
          ["cell_c", true],
        ],
      )
    },
    TIMEOUT,
  )
})
