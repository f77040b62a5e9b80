import { Effect, type Redacted } from "effect"
import type pg from "pg"
import * as CellDatabase from "../database/CellDatabase.ts"
import * as Migrations from "../database/Migrations.ts"
import * as NodeMigrations from "../database/NodeMigrations.ts"
import { type CellName, hereOf } from "../routing/CellName.ts"
import type { Client } from "../postgres/Sql.ts"
import * as PositionNumbers from "./PositionNumbers.ts"

/** The node of a Citus cluster that holds a cell. */
export interface Node {
  readonly group: number
  readonly host: string
  readonly port: number
}

/** Returns the nodes that hold the tables of cells, by the name of the cell. */
export const holders = <E>(sql: Client<E>) =>
  Effect.map(
    sql<Node & { readonly cell: CellName }>`
      SELECT DISTINCT ns.nspname AS cell, n.groupid AS "group", n.nodename AS host, n.nodeport AS port
      FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
      JOIN pg_dist_shard s USING (shardid) JOIN pg_class c ON c.oid = s.logicalrelid
      JOIN pg_namespace ns ON ns.oid = c.relnamespace WHERE ns.nspname <> 'public'`,
    (rows) => new Map(rows.map(({ cell, ...node }) => [cell, node])),
  )

/** Positions and windows of a cell, which its node alone has, and which it takes along when it moves. */
interface Here {
  readonly step: bigint
  readonly start: bigint
  /** Position that comes next. */
  readonly next: bigint
  /** Rows of the windows. */
  readonly windows: ReadonlyArray<object>
}

/** Numbers that a cell of this number begins with, after the positions that were given without one. */
export const first = ({ after, number }: PositionNumbers.Numbers): Here => {
  const step = BigInt(PositionNumbers.STEP)
  return { step, start: step + BigInt(number), next: (after / step + 1n) * step + BigInt(number), windows: [] }
}

const OFF = "SET LOCAL citus.enable_ddl_propagation = off"

const make = async (client: pg.Client, cell: CellName, here: Here) => {
  await client.query("BEGIN")
  await client.query(OFF)
  await client.query(`DROP SCHEMA IF EXISTS ${hereOf(cell)} CASCADE`)
  await client.query(`CREATE SCHEMA ${hereOf(cell)}`)
  await client.query(`SET LOCAL search_path = ${hereOf(cell)}`)
  await client.query(Migrations.TABLE)
  await NodeMigrations.apply(client, cell, await NodeMigrations.filesOf())
  await client.query(
    `CREATE SEQUENCE event_position AS bigint INCREMENT BY ${here.step} MINVALUE 1 START WITH ${here.start}`,
  )
  await client.query(`ALTER SEQUENCE event_position RESTART WITH ${here.next}`)
  await client.query("INSERT INTO rate_windows SELECT * FROM json_populate_recordset(NULL::rate_windows, $1::json)", [
    JSON.stringify(here.windows),
  ])
  await client.query("COMMIT")
}

/** Lets a node take the writers of a cell. */
export const begin = Effect.fnUntraced(function* (url: Redacted.Redacted, cell: CellName, here: Here) {
  yield* CellDatabase.onClient(url, async (client) => {
    const { rows } = await client.query("SELECT to_regclass('graphile_worker.migrations') IS NULL AS is_absent")
    if ((rows[0] as { readonly is_absent: boolean } | undefined)?.is_absent === true)
      await Migrations.migrateGraphile(url)
    await make(client, cell, here)
  })
})

/**
 * Takes the writers of a cell from the node that it has left to the one that holds it now. Every transaction that writes there
 * has announced itself by the positions, so that this waits for it; later ones find no positions and are refused. If it is killed
 * before the end, the former node still has them, and the next run makes those of the other one anew.
 */
export const handOver = Effect.fnUntraced(function* (from: Redacted.Redacted, to: Redacted.Redacted, cell: CellName) {
  const context = yield* Effect.context<never>()
  yield* CellDatabase.onClient(from, async (client) => {
    const { rows } = await client.query("SELECT to_regnamespace($1) IS NOT NULL AS is_here", [hereOf(cell)])
    // An earlier run has got as far as this.
    if ((rows[0] as { readonly is_here: boolean } | undefined)?.is_here !== true) return
    // The other node gets the tables of this release.
    await NodeMigrations.migrate(client, cell)
    await client.query("BEGIN")
    await client.query(OFF)
    await client.query(`SET LOCAL search_path = ${hereOf(cell)}`)
    await client.query("ALTER SEQUENCE event_position RENAME TO former_position")
    await client.query("LOCK TABLE rate_windows IN ACCESS EXCLUSIVE MODE")
    const { rows: found } = await client.query<Record<"step" | "start" | "last", string>>(
      `SELECT seqincrement::text AS step, seqstart::text AS start, last_value::text AS last
        FROM former_position, pg_sequence WHERE seqrelid = 'former_position'::regclass`,
    )
    const { rows: windows } = await client.query<{ readonly row: object }>(
      "SELECT to_json(w) AS row FROM rate_windows AS w",
    )
    const { last = "0", start = "0", step = "1" } = found[0] ?? {}
    const here = {
      step: BigInt(step),
      start: BigInt(start),
      next: BigInt(last) + BigInt(step),
      windows: windows.map(({ row }) => row),
    }
    await Effect.runPromiseWith(context)(begin(to, cell, here))
    await client.query(`DROP SCHEMA ${hereOf(cell)} CASCADE`)
    await client.query("COMMIT")
  })
})
