import { Data, Effect, Result } from "effect"
import * as Database from "../database/Database.ts"
import * as MigrationFiles from "../database/MigrationFiles.ts"
import * as Migrations from "../database/Migrations.ts"
import type { Fragment } from "effect/sql/Statement"
import * as CellName from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import { inCell } from "../routing/CurrentCell.ts"
import { Sql } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import * as NodeCell from "./NodeCell.ts"
import * as PositionNumbers from "./PositionNumbers.ts"

/** A request of the operator about cells that cannot be fulfilled, with the reason in words. */
export class CellRefused extends Data.TaggedError("CellRefused")<{ readonly message: string }> {}

/** Refuses what cannot be the name of a new cell. */
export const parseName = (name: string): Effect.Effect<CellName.CellName, CellRefused> =>
  Effect.fromResult(
    Result.mapError(
      CellName.parse(name),
      (problem) => new CellRefused({ message: `the name of a cell, here "${name}", ${problem}` }),
    ),
  )

/** Comment on a schema that is no cell: of one that is not made to the end, or is about to be dropped. */
export const REMOVED = "removed cell"

export const markRemoved = (sql: Sql, cell: CellName.CellName) =>
  sql`COMMENT ON SCHEMA ${sql(cell)} IS ${sql.literal(`'${REMOVED}'`)}`

/** Makes a cell: a schema with all tables of accounts. With Citus it lies on a node, and can be moved to another one. */
export const make = Effect.fn("CellSchema.make")(function* (name: string) {
  const sql = yield* Sql
  const { refresh } = yield* Cells
  const cell = yield* parseName(name)
  const making = (yield* inCell(CellName.FIRST, isCitus(sql))) ? inTurn(makeOnNode(sql, cell)) : makeHere(sql, cell)
  yield* inCell(CellName.FIRST, making)
  yield* refresh
  return cell
})

const makeHere = (sql: Sql, cell: CellName.CellName) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* makeTables(sql, cell)
      // The sequence shows its first position also while no event has it.
      yield* placeFollowers(
        sql,
        sql`(SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM event_position)`,
      )
      yield* sql`INSERT INTO cells (name, state) VALUES (${cell}, 'open')`
      yield* noteChange(sql)
    }),
  )

/** The schema is the cell's only once its node has what the cell needs there. */
const makeOnNode = Effect.fnUntraced(function* (sql: Sql, cell: CellName.CellName) {
  yield* refuseUnnumbered(sql)
  yield* spreadFunctions(sql)
  const numbers = yield* PositionNumbers.take(sql)
  const here = NodeCell.first(numbers)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* makeTables(sql, cell)
      // Its positions are at the node, which gives them to each event.
      yield* sql`ALTER TABLE events ALTER COLUMN position DROP DEFAULT`
      yield* placeFollowers(sql, sql`${here.next - 1n}::bigint`)
      yield* sql`SELECT citus_schema_distribute(${cell}::regnamespace) IS NULL AS done`
      yield* markRemoved(sql, cell)
    }),
  )
  const node = (yield* NodeCell.holders(sql)).get(cell)
  const home = sql.driver.config.url
  if (node === undefined || home === undefined) return yield* Effect.die(new Error(`no node of Citus holds ${cell}`))
  const url = CellName.nodeUrlOf(home, cell, node.host, node.port)
  yield* Effect.mapError(NodeCell.begin(url, cell, here), ({ message }) => new CellRefused({ message }))
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`LOCK TABLE cells, schema_migrations IN SHARE ROW EXCLUSIVE MODE`
      yield* refusePending(sql)
      yield* sql`COMMENT ON SCHEMA ${sql(cell)} IS NULL`
      yield* sql`INSERT INTO cells (name, state, node_group) VALUES (${cell}, 'open', ${node.group}::int)`
      yield* noteChange(sql)
    }),
  )
})

/** Makes the tables of a cell in a schema of its own, which then comes first in the search path of the transaction. */
const makeTables = Effect.fnUntraced(function* (sql: Sql, cell: CellName.CellName) {
  // One cell at a time, and no migration meanwhile.
  yield* sql`LOCK TABLE cells, schema_migrations IN SHARE ROW EXCLUSIVE MODE`
  const [taken] = yield* sql`SELECT FROM pg_namespace WHERE nspname = ${cell}`
  yield* refusePending(sql)
  if (taken !== undefined) return yield* new CellRefused({ message: `there is a schema ${cell} already` })
  yield* sql`CREATE SCHEMA ${sql(cell)}`
  yield* sql`SET LOCAL search_path = ${sql(cell)}, ${sql(CellName.FIRST)}`
  for (const file of yield* Effect.promise(() => MigrationFiles.read()))
    for (const statement of MigrationFiles.at(file, "every")) yield* sql.unsafe(statement)
})

/** Advisory lock of the making of a cell that takes a number (`Database.oneProcessAtATime`). */
const MAKING = 2

/** Makes cells one at a time, so that none is begun for which there is no number in the end. */
export const inTurn = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  SqlErrors.orUnavailable(Database.oneProcessAtATime(MAKING)(work))

const placeFollowers = (sql: Sql, position: Fragment) => sql`UPDATE followers SET position = ${position}`

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
    yield* Effect.promise(() => MigrationFiles.namesIn(MigrationFiles.FOLDER)),
  )
  yield* Migrations.refusePending(yield* Effect.fromResult(status))
})

/** Refuses one more server, because its events would have the positions of another one. */
export const refuseUnnumbered = Effect.fnUntraced(function* (sql: Sql) {
  if (yield* PositionNumbers.isLeft(sql)) return
  return yield* new CellRefused({
    message: `${PositionNumbers.MAX_NUMBERED} cells were made on servers or nodes, also counting removed ones, and an installation can have no more`,
  })
})

/** Whether the database has Citus, so that cells can lie on several nodes. */
export const isCitus = (sql: Sql) =>
  Effect.map(sql`SELECT FROM pg_extension WHERE extname = 'citus'`, ({ length }) => length > 0)

/** Makes every process read the directory of cells again, once it is committed. */
export const noteChange = (sql: Sql) => sql`SELECT nextval('cell_change') AS change`
