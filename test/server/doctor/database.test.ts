import { PgClient } from "@effect/sql-pg"
import * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import * as Migrations from "@waybill/store/database/Migrations"
import { Effect, Redacted } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { Sql } from "@waybill/store/postgres/Sql"
import * as checks from "../../../apps/server/src/operate/doctor/DatabaseChecks.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as Database from "../../support/postgres/Database.ts"
import { onDatabase } from "../../support/postgres/databaseUrl.ts"
import * as World from "../../support/world/World.ts"

const MINUTE = 60_000
const NOW = Date.UTC(2026, 10, 21)

const well: DatabaseExamination.DatabaseFindings = {
  version: 180_004,
  schema: { applied: ["0001_waybill.sql"], pending: [] },
  readOnly: false,
  nodes: [],
  unsafeSettings: [],
  missingExtensions: [],
  skew_ms: 0,
  skew_within_ms: 1,
  newest_fact_ms: NOW,
  transports: [],
  tracked: 0,
  tracking_domains: 0,
  keys: [],
  cells: [{ name: "public", pending: [], lag_s: 0, overdue: 0 }],
  unreachable_cells: [],
}

describe("findings about a database", () => {
  it("versions that are too old or not tested", () => {
    const of = (version: number) => checks.server({ ...well, version }).status
    assert.deepStrictEqual([140_012, 150_000, 180_004, 190_000].map(of), ["broken", "ok", "ok", "warning"])
  })

  it("a standby is broken, and settings that lose mail are a warning", () => {
    assert.strictEqual(checks.server({ ...well, readOnly: true }).status, "broken")
    const forgetful = checks.server({ ...well, unsafeSettings: ["fsync"] })
    assert.deepStrictEqual([forgetful.status, forgetful.fix], ["warning", "Turn fsync on in postgresql.conf."])
  })

  it("missing extensions are named, which are those of the migrations", () => {
    const finding = checks.server({ ...well, missingExtensions: ["pg_trgm"] })
    assert.deepStrictEqual([finding.status, finding.result], ["broken", "PostgreSQL 18.4 without pg_trgm"])
    assert.include(finding.fix ?? "", "postgresql-contrib")
    const created = readdirSync("db/migrations").flatMap((name) =>
      [...readFileSync(`db/migrations/${name}`, "utf8").matchAll(/^CREATE EXTENSION IF NOT EXISTS (\w+)/gmu)].map(
        ([, extension = ""]) => extension,
      ),
    )
    assert.sameMembers(created, DatabaseExamination.EXTENSIONS)
  })

  it("an empty database differs from one with pending migrations", () => {
    const of = (applied: ReadonlyArray<string>, pending: ReadonlyArray<string>) =>
      checks.schema({ ...well, schema: { applied, pending } }).status
    assert.deepStrictEqual([of(["a"], []), of([], ["a", "b"]), of(["a"], ["b"])], ["ok", "warning", "broken"])
  })

  it("nodes of an older release, for which new events wait", () => {
    const one = { id: "node_1", release: "0.1.0", lacks: [] }
    const of = (nodes: DatabaseExamination.DatabaseFindings["nodes"]) => checks.nodes({ ...well, nodes })
    assert.deepStrictEqual(of([one, { ...one, id: "node_2" }]).result, "2 running (release 0.1.0)")
    const upgrading = of([one, { id: "node_2", release: "0.0.9", lacks: ["EmailSnoozed/1"] }])
    assert.strictEqual(upgrading.status, "warning")
    assert.include(upgrading.result, "node_2 (release 0.0.9) cannot read EmailSnoozed/1")
  })

  it("cells that are behind in migrations, late, or away", () => {
    const cell = { name: "public", pending: [], lag_s: 0, overdue: 0 }
    const of = (
      other: Partial<DatabaseExamination.DatabaseFindings["cells"][number]>,
      unreachable_cells: DatabaseExamination.DatabaseFindings["unreachable_cells"] = [],
    ) => checks.cells({ ...well, cells: [cell, { ...cell, name: "cell_b", ...other }], unreachable_cells }, [])
    assert.strictEqual(of({}).result, "2, all answer")
    const behind = of({ pending: ["0002_next.sql"] })
    assert.deepStrictEqual(
      [behind.status, behind.result],
      ["broken", "cell_b lacks migrations (0002_next.sql), so it is not served"],
    )
    const late = of({ lag_s: 301, overdue: 7 })
    assert.strictEqual(late.status, "warning")
    assert.strictEqual(late.result, "cell_b: 7 rows of its outbox are overdue and its statistics are 301 s behind")
    assert.strictEqual(of({ lag_s: 299 }).status, "ok")
    assert.strictEqual(of({}, [{ name: "cell_c", message: "no" }]).status, "broken")
    const none = { count: 0, named: [] }
    const differing = { cell: "cell_b", noted: 9n, isHomeOlder: false, misplaced: none, doubled: none, unnamed: 0 }
    const differs = checks.cells(well, [{ ...differing, missing: { count: 4, named: ["acc_1", "acc_2", "acc_3"] } }])
    assert.deepStrictEqual(
      [differs.status, differs.result],
      ["broken", "cell_b: 4 accounts (acc_1, acc_2, acc_3, …) are here by home's directory, but not found here"],
    )
  })

  it("the difference of the clocks, within its uncertainty", () => {
    const of = (skew_ms: number, skew_within_ms = 1) =>
      checks.clock({ ...well, skew_ms, skew_within_ms, newest_fact_ms: null }, NOW).status
    assert.deepStrictEqual(
      [of(500), of(-2_000), of(2_000), of(2_000, 1_500), of(-2 * MINUTE)],
      ["ok", "warning", "warning", "ok", "broken"],
    )
  })

  it("a clock that was set back, by events in the future", () => {
    const finding = checks.clock({ ...well, newest_fact_ms: NOW + MINUTE }, NOW)
    assert.deepStrictEqual(finding.status, "broken")
    assert.include(finding.result, "60 s in the future")
  })
})

describe("a real database", () => {
  it.live("is examined without being changed", () =>
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const relayed = yield* World.verifiedDomain("relayed.test", yield* World.account())
      yield* World.verifiedDomain("as-the-instance.test")
      yield* World.send(relayed)
      const sql = yield* Sql
      yield* CommandLine.typed("domains", "transport", "--account", relayed.account_id, relayed.name, "relay")
      const examined = yield* DatabaseExamination.examine(url)
      assert.isAtLeast(examined.version, 150_000)
      assert.deepStrictEqual([examined.schema.pending, examined.missingExtensions], [[], []])
      assert.deepStrictEqual([examined.readOnly, examined.transports], [false, ["relay"]])
      // On one machine only the uncertainty of the comparison remains.
      assert.isAtMost(Math.abs(examined.skew_ms), examined.skew_within_ms + 1)
      // The exact time of the newest event, which the service shows nowhere else.
      const [{ newest } = { newest: 0 }] = yield* sql<{ readonly newest: number }>`
        SELECT max(extract(epoch FROM recorded_at))::float8 * 1000 AS newest FROM events`
      assert.strictEqual(examined.newest_fact_ms, newest)
    }).pipe(Effect.provide(World.layer)),
  )

  it.live("that is empty is reported and stays empty", () =>
    Effect.gen(function* () {
      const { adminUrl } = yield* Database.Fresh
      const administer = PgClient.PgClient.use((sql) =>
        Effect.andThen(sql`DROP SCHEMA public CASCADE`, sql`CREATE SCHEMA public`),
      )
      yield* Effect.provide(administer, PgClient.layer({ url: adminUrl }))
      const { newest_fact_ms, schema, transports } = yield* DatabaseExamination.examine(adminUrl)
      assert.deepStrictEqual([schema.applied, newest_fact_ms, transports], [[], null, []])
      assert.deepStrictEqual((yield* Migrations.check(adminUrl)).applied, [])
    }).pipe(Effect.provide(World.layer)),
  )

  it.live("that cannot be reached has a reason", () =>
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const missing = yield* Effect.flip(
        DatabaseExamination.examine(Redacted.make(onDatabase(Redacted.value(url), "no_such_database"))),
      )
      const shut = yield* Effect.flip(
        DatabaseExamination.examine(Redacted.make("postgres://nobody:hidden@127.0.0.1:1/waybill")),
      )
      for (const [failure, fix] of [
        [missing, "Create the database"],
        [shut, "Nothing listens there"],
      ] as const) {
        if (failure._tag !== "Unreachable") return assert.fail(failure._tag)
        const finding = checks.unreachable(failure)
        assert.strictEqual(finding.status, "broken")
        assert.include(finding.fix ?? "", fix)
        assert.notInclude(finding.result, "hidden")
      }
    }).pipe(Effect.provide(World.layer)),
  )
})
