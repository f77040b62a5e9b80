import { Data, Effect, Result } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as Migrations from "../database/Migrations.ts"
import * as CellName from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as HomeTables from "../database/HomeTables.ts"
import { Sql } from "../postgres/Sql.ts"

/** A request of the operator about cells that cannot be fulfilled, with the reason in words. */
export class CellRefused extends Data.TaggedError("CellRefused")<{ readonly message: string }> {}

const FILE = join(Migrations.FOLDER, "..", "schema.sql")
/** The table of a statement that makes or changes a table, or makes an index. */
const TABLE_OF =
  /^(?:CREATE (?:UNLOGGED )?TABLE|ALTER TABLE(?: ONLY)?|CREATE (?:UNIQUE )?INDEX \w+ ON(?: ONLY)?) (\w+)/u

/** Returns the statements that make the tables of a cell in the schema that comes first in the search path. */
export const statements = (schema: string): ReadonlyArray<string> =>
  schema
    .split(/;\n\n?/u)
    .filter((statement) => {
      const table = TABLE_OF.exec(statement)?.[1]
      return table !== undefined && !HomeTables.HOME_TABLES.has(table)
    })
    // A table that refers to another one comes after it: before, the name would mean the table of the first cell.
    .toSorted((a, b) => orderOf(a) - orderOf(b))

const orderOf = (statement: string): number => {
  if (!/^CREATE (?:UNLOGGED )?TABLE/u.test(statement)) return 2
  return statement.includes("FOREIGN KEY") ? 1 : 0
}

/** Refuses what cannot be the name of a new cell. */
export const parseName = (name: string): Effect.Effect<CellName.CellName, CellRefused> =>
  Effect.fromResult(
    Result.mapError(
      CellName.parse(name),
      (problem) => new CellRefused({ message: `the name of a cell, here "${name}", ${problem}` }),
    ),
  )

/** Makes a cell: a schema with all tables of accounts. With Citus it lies on one node, and can be moved to another one. */
export const make = Effect.fn("CellSchema.make")(function* (name: string) {
  const sql = yield* Sql
  const { refresh } = yield* Cells
  const cell = yield* parseName(name)
  const schema = yield* Effect.promise(() => readFile(FILE, "utf8"))
  const onNode = yield* isCitus(sql)
  if (onNode) {
    yield* inCell(CellName.FIRST, spreadPositions(sql, `${cell}_positions`))
    yield* inCell(CellName.FIRST, spreadFunctions(sql))
  }
  const making = Effect.gen(function* () {
    // One cell at a time, and no migration meanwhile.
    yield* sql`LOCK TABLE cells, schema_migrations IN SHARE ROW EXCLUSIVE MODE`
    const [taken] = yield* sql`SELECT FROM pg_namespace WHERE nspname = ${cell}`
    yield* refusePending(sql)
    if (taken !== undefined) return yield* new CellRefused({ message: `there is a schema ${cell} already` })
    yield* sql`CREATE SCHEMA ${sql(cell)}`
    yield* sql`SET LOCAL search_path = ${sql(cell)}, ${sql(CellName.FIRST)}`
    for (const statement of statements(schema)) yield* sql.unsafe(statement)
    // The sequence shows its first position also while no event has it.
    yield* sql`
      INSERT INTO followers (name, position)
      SELECT name, (SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM event_position)
      FROM ${sql(CellName.FIRST)}.followers`
    if (onNode) yield* distribute(sql, cell)
    yield* sql`INSERT INTO cells (name, state) VALUES (${cell}, 'open')`
    yield* noteChange(sql)
  })
  yield* inCell(CellName.FIRST, sql.withTransaction(making))
  yield* refresh
  return cell
})

const distribute = (sql: Sql, schema: string) =>
  sql`SELECT citus_schema_distribute(${schema}::regnamespace) IS NULL AS done`

/**
 * Makes the sequence of positions known to the nodes of Citus, by a schema that exists for a moment. The transaction that
 * makes a cell could do that only as a superuser.
 */
const spreadPositions = Effect.fnUntraced(function* (sql: Sql, schema: string) {
  const known = yield* sql`SELECT FROM pg_dist_object WHERE objid = 'event_position'::regclass`
  if (known.length > 0) return
  const making = Effect.andThen(
    sql`CREATE TABLE ${sql(schema)}.positions (position bigint PRIMARY KEY DEFAULT nextval('event_position'))`,
    distribute(sql, schema),
  )
  yield* sql`CREATE SCHEMA ${sql(schema)}`
  yield* Effect.onExit(making, () => Effect.asVoid(sql`DROP SCHEMA ${sql(schema)} CASCADE`))
})

/**
 * Makes the functions of statements known to the nodes of Citus. Those that were made before the database had Citus are not:
 * made again, each is passed on.
 */
const spreadFunctions = Effect.fnUntraced(function* (sql: Sql) {
  const functions = yield* sql<{ readonly definition: string }>`
    SELECT pg_get_functiondef(p.oid) AS definition FROM pg_proc p
    WHERE p.pronamespace = ${CellName.FIRST}::regnamespace
      AND NOT EXISTS (SELECT FROM pg_dist_object o WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)
      AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
    ORDER BY p.oid`
  for (const { definition } of functions) yield* sql.unsafe(definition)
})

/** Refuses a cell on an older schema, because it would have the tables of this release and miss the pending migrations. */
export const refusePending = Effect.fnUntraced(function* (sql: Sql) {
  const applied = yield* sql<{ readonly name: string }>`SELECT name FROM schema_migrations ORDER BY name`
  const status = Migrations.statusOf(
    applied.map(({ name }) => name),
    yield* Effect.promise(() => Migrations.filesOf(Migrations.FOLDER)),
  )
  yield* Migrations.refusePending(yield* Effect.fromResult(status))
})

/** Whether the database has Citus, so that cells can lie on several nodes. */
export const isCitus = (sql: Sql) =>
  Effect.map(sql`SELECT FROM pg_extension WHERE extname = 'citus'`, ({ length }) => length > 0)

/** Makes every process read the directory of cells again, once it is committed. */
export const noteChange = (sql: Sql) => sql`SELECT nextval('cell_change') AS change`
