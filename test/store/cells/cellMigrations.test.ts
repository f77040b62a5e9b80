import * as CellDatabase from "@waybill/store/database/CellDatabase"
import * as MigrationFiles from "@waybill/store/database/MigrationFiles"
import * as NodeCell from "@waybill/store/cells/NodeCell"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { splitStatements } from "@waybill/store/database/splitStatements"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Migrations from "@waybill/store/database/Migrations"
import { Effect, Layer } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it as test, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))

/** Folder with the migrations of this release and one more. */
const folderWith = (name: string, text: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-cell-migrations-"))
      await fs.cp(MigrationFiles.FOLDER, folder, { recursive: true })
      await fs.writeFile(path.join(folder, name), text)
      return folder
    }),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true })),
  )

/** Schemas whose table has a column, in alphabetical order. */
const schemasWith = Effect.fnUntraced(function* (table: string, column: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly table_schema: string }>`
    SELECT table_schema FROM information_schema.columns WHERE table_name = ${table} AND column_name = ${column} ORDER BY 1`
  return rows.map(({ table_schema }) => table_schema)
})

layer(Store, { excludeTestServices: true })("migrations of cells", (it) => {
  it.effect("are applied in every cell, or in none", function* () {
    const sql = yield* Sql
    const { url } = yield* Database.Fresh
    yield* CellSchema.make("cell_b")
    yield* CellSchema.make("cell_c")
    const text = `-- cells: every
ALTER TABLE events ADD COLUMN first_new text;
ALTER TABLE outbox ADD COLUMN second_new text DEFAULT ';'; -- nothing; follows
UPDATE cells SET made_at = made_at;`
    const folder = yield* folderWith("9001_columns.sql", text)
    yield* sql`ALTER TABLE cell_c.outbox ADD COLUMN second_new text`
    const failed = yield* Effect.flip(Migrations.migrate(url, folder))
    assert.strictEqual(
      failed.message,
      'migration 9001_columns.sql failed in the cell cell_c: column "second_new" of relation "outbox" already exists',
    )
    assert.deepStrictEqual(yield* schemasWith("events", "first_new"), [])
    assert.deepStrictEqual((yield* Migrations.check(url, folder)).pending, ["9001_columns.sql"])

    yield* sql`ALTER TABLE cell_c.outbox DROP COLUMN second_new`
    assert.deepStrictEqual((yield* Migrations.migrate(url, folder)).pending, [])
    for (const [table, column] of [
      ["events", "first_new"],
      ["outbox", "second_new"],
    ] as const)
      assert.deepStrictEqual(yield* schemasWith(table, column), ["cell_b", "cell_c", "public"])
  })

  it.effect("of the tables that each server has for itself reach those of a cell on a node, also late", function* () {
    const sql = yield* Sql
    const { url } = yield* Database.Fresh
    yield* sql`DELETE FROM schema_migrations WHERE name >= '9001'`
    // A plain server stands for the node.
    const server = { identity: "1", url, schema: "cell_n", isNode: true }
    yield* NodeCell.begin(url, "cell_n", NodeCell.first({ number: 3, after: 7n }))
    const folder = yield* folderWith(
      "9003_windows.sql",
      `-- cells: server
ALTER TABLE rate_windows ADD COLUMN note text NOT NULL DEFAULT 'new';
ALTER TABLE processes ADD COLUMN note text;
CREATE TABLE beside_epochs (epoch integer);`,
    )
    yield* Migrations.migrate(url, folder)
    assert.deepStrictEqual(yield* schemasWith("rate_windows", "note"), ["public"])
    assert.deepStrictEqual(yield* CellDatabase.pendingOf(server, folder), ["9003_windows.sql"])
    yield* sql`INSERT INTO here_cell_n.rate_windows (bucket, window_start, count) VALUES ('key', now(), 5)`
    yield* sql`ALTER TABLE here_cell_n.processes ADD COLUMN note text`
    const { message } = yield* Effect.flip(CellDatabase.bringUpToDate(server, folder))
    assert.include(message, "migration 9003_windows.sql failed in the cell cell_n")
    assert.deepStrictEqual(yield* schemasWith("rate_windows", "note"), ["public"])
    yield* sql`ALTER TABLE here_cell_n.processes DROP COLUMN note`
    yield* Effect.forEach([1, 2, 3], () => CellDatabase.bringUpToDate(server, folder), { concurrency: "unbounded" })
    for (const [table, column] of [
      ["rate_windows", "note"],
      ["processes", "note"],
      ["beside_epochs", "epoch"],
    ] as const)
      assert.deepStrictEqual(yield* schemasWith(table, column), ["here_cell_n", "public"])
    assert.deepStrictEqual(yield* sql`SELECT count, note FROM here_cell_n.rate_windows`, [{ count: 5, note: "new" }])
    assert.deepStrictEqual(yield* CellDatabase.pendingOf(server, folder), [])
  })

  it.effect("of home tables are applied once", function* () {
    const sql = yield* Sql
    const { url } = yield* Database.Fresh
    yield* sql`DELETE FROM schema_migrations WHERE name >= '9001'`
    yield* CellSchema.make("cell_d")
    const folder = yield* folderWith("9002_home.sql", "-- cells: home\nCREATE TABLE at_home (only_here int);")
    yield* Migrations.migrate(url, folder)
    assert.deepStrictEqual(yield* schemasWith("at_home", "only_here"), ["public"])
  })
})

describe("statements of a migration", () => {
  const cases: ReadonlyArray<readonly [of: string, text: string, statements: ReadonlyArray<string>]> = [
    ["one without a semicolon", "SELECT 1", ["SELECT 1"]],
    ["two, with empty ones beside them", ";SELECT 1;\n\n;  SELECT 2; ", ["SELECT 1", "SELECT 2"]],
    ["a quoted text", "SELECT 'a;''b;';SELECT 2", ["SELECT 'a;''b;'", "SELECT 2"]],
    [
      "a text with backslashes",
      "SELECT E'a\\';b';SELECT '\\';SELECT 2",
      ["SELECT E'a\\';b'", "SELECT '\\'", "SELECT 2"],
    ],
    ["a quoted name", 'SELECT "a;""b;";SELECT 2', ['SELECT "a;""b;"', "SELECT 2"]],
    ["a dollar-quoted body", "DO $$ BEGIN; 'it' END $$;SELECT 2", ["DO $$ BEGIN; 'it' END $$", "SELECT 2"]],
    ["nested dollar quotes", "DO $a$ $$;$$ $b$;$a$;SELECT 2", ["DO $a$ $$;$$ $b$;$a$", "SELECT 2"]],
    ["a dollar inside a name", "SELECT a$b$;SELECT c$b$", ["SELECT a$b$", "SELECT c$b$"]],
    ["parameters", "SELECT $1;SELECT $2", ["SELECT $1", "SELECT $2"]],
    [
      "comments",
      "-- it's; one\nSELECT 1; -- it's two;\nSELECT 2; -- end;",
      ["-- it's; one\nSELECT 1", "-- it's two;\nSELECT 2"],
    ],
    ["nested comments", "/* a; /* it's; */ b; */SELECT 1;/* ; */", ["/* a; /* it's; */ b; */SELECT 1"]],
    ["an operator like a comment", "SELECT 1 - -1;SELECT 2 / 2", ["SELECT 1 - -1", "SELECT 2 / 2"]],
    ["nothing but comments", "-- one;\n/* two; */", []],
  ]
  for (const [of, text, statements] of cases)
    test(of, () => {
      assert.deepStrictEqual(splitStatements(text), statements)
    })

  test("run at the place that the line above them names", () => {
    const text =
      "-- cells: home\nSELECT 1;\n\n-- cells: every\n-- Why; here.\nSELECT 2; SELECT 3;\n-- cells: server\nSELECT 4"
    const file = MigrationFiles.parse("9004_places.sql", text)
    assert.deepStrictEqual(MigrationFiles.at(file, "home"), ["SELECT 1"])
    assert.deepStrictEqual(MigrationFiles.at(file, "every"), ["-- Why; here.\nSELECT 2", "SELECT 3"])
    assert.deepStrictEqual(MigrationFiles.at(file, "server", "database"), ["SELECT 4"])
  })

  test("are at the place of the table that they change, in our own files", async () => {
    const places = new Map<string, string>()
    for (const { name, statements } of await MigrationFiles.read()) {
      assert.isAbove(statements.length, 0, name)
      for (const { place, sql } of statements) {
        const statement = sql.replaceAll(/^(?:--[^\n]*\n|\s)+/gu, "")
        assert.match(statement, /^[A-Z]{2,}\s/u, name)
        const made = /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)/u.exec(statement)?.[1]
        if (made !== undefined) places.set(made, place)
        const changed = /^(?:ALTER TABLE|INSERT INTO|UPDATE|DELETE FROM|CREATE (?:UNIQUE )?INDEX \w+ ON) (\w+)/u.exec(
          statement,
        )
        if (changed !== null) assert.strictEqual(place, places.get(changed[1] ?? ""), `${name}: ${changed[0]}`)
      }
    }
    assert.deepStrictEqual(
      ["events", "processes", "cells"].map((table) => places.get(table)),
      ["every", "server", "home"],
    )
  })
})
