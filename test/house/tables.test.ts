import { assert, it } from "../support/effectTest.ts"
import { paths, read } from "./source.ts"

it("every table stands in docs/operating/replay.md, with how it is proved or that nothing proves it", () => {
  const tables = [...read("db/schema.sql").text.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gmu)].map(
    ([, name]) => name,
  )
  const rows = read("docs/operating/replay.md")
    .text.split("\n")
    .filter((line) => line.startsWith("| `"))
  const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/gu)].map(([, name]) => name))
  assert.deepStrictEqual(named.toSorted(), tables.toSorted())
})

const sources = paths.filter((path) => /^(?:packages|apps|scripts)\/.*\.m?ts$/u.test(path)).map(read)

const WRITE = /\b(?:INSERT INTO|UPDATE|DELETE FROM|MERGE INTO|TRUNCATE(?: TABLE)?|COPY)\s+(?:ONLY\s+)?/giu

/** Files with statements that write a table, each with the function that has the statement. */
const writers = (table: RegExp): ReadonlyArray<string> => {
  const statement = new RegExp(WRITE.source + table.source, "giu")
  const found = sources.flatMap(({ path, text }) =>
    [...text.matchAll(statement)].map(({ index }) => {
      const before = [...text.slice(0, index).matchAll(/^(?:export )?(?:const|class) \w+/gmu)].at(-1)?.[0] ?? ""
      return `${path}: ${before}`
    }),
  )
  return [...new Set(found)].toSorted()
}

it("the outbox has five verbs, and nothing else writes its rows", () => {
  assert.deepStrictEqual(
    writers(/["\w.]*\boutbox\b/u),
    ["arm", "claim", "release", "renew", "settle"].map(
      (verb) => `packages/store/src/outbox/Outbox.ts: export const ${verb}`,
    ),
  )
})

/** Files with statements on tables of a computed name, which is that of a read model, of statistics or of the log, or of any table. */
const COMPUTED: ReadonlyArray<string> = [
  // Restores all tables into an empty database.
  "packages/store/src/backup/SchemaStatements.ts",
  "packages/store/src/domainreports/DomainReports.ts",
  "packages/store/src/erasure/EraseStats.ts",
  "packages/store/src/erasure/StreamRemoval.ts",
  "packages/store/src/exports/LogImport.ts",
  // Marks an account as one that has left a cell.
  "packages/store/src/moves/MoveSteps.ts",
  // Copies all rows of an account to another cell as they are, also those of its outbox, and then deletes the old ones.
  "packages/store/src/moves/MovedRows.ts",
  // Brings rows of an account to another server.
  "packages/store/src/moves/StagedRows.ts",
  "packages/store/src/readmodels/ReadModel.ts",
  "packages/store/src/rebuild/fill/Fill.ts",
  "packages/store/src/statistics/EmailStatsFollower.ts",
  "packages/store/src/statistics/EmailStatsMonths.ts",
  "packages/store/src/statistics/MonthlyUsage.ts",
]

it("of the statements on tables of a computed name, only the move of an account and a restore write rows of the outbox", () => {
  const files = writers(/(?:\$\{|"\$)/u).map((each) => each.split(":")[0] ?? "")
  assert.deepStrictEqual([...new Set(files)], COMPUTED)
})

it("graphile-worker is used by its functions, views and module, not by its private tables", () => {
  const names = sources.filter(({ text }) => /graphile_worker\W+_private/u.test(text)).map(({ path }) => path)
  assert.deepStrictEqual(names, [])
})

/** Casts to a branded type of the domain, which a row should have beside its SQL. May only fall. */
const CASTS = 17
const CAST = /\bas (?:\w+\.)?(?:Address|DomainName|Status|Timestamp|\w+Id)\b(?! from)/gu

it("rows have the types of the domain beside their SQL, and are not cast afterwards", () => {
  const casts = sources
    .filter(({ path }) => /^(?:packages\/store|apps\/server)\/src\//u.test(path))
    .flatMap(({ path, text }) =>
      [...text.replaceAll(/^import .*$/gmu, "").matchAll(CAST)].map(([cast]) => `${path}: ${cast}`),
    )
  assert.isAtMost(casts.length, CASTS, casts.join("\n"))
})
