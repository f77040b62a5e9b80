import { Effect } from "effect"
import { onDatabase } from "../postgres/databaseUrl.ts"
import { type CitusDatabase, query } from "./citusDatabase.ts"
import type { OwnServer } from "./OwnServer.ts"

/** A server of the test as a node of the cluster, in one database. */
export interface OwnNode {
  readonly host: string
  readonly port: number
  /** Tells the cluster that the node is another server now, with the command of the operators' documents. */
  readonly moveTo: (server: OwnServer) => Effect.Effect<void>
}

const CELLS = `SELECT DISTINCT schema_name::text AS cell FROM citus_schemas
  JOIN citus_tables USING (colocation_id) JOIN citus_shards USING (table_name)
  JOIN pg_dist_node USING (nodename, nodeport) WHERE nodeid = `

/** Makes a server a node of a database's cluster. With the scope, its cells are dropped, and the node is removed. */
export const join = Effect.fnUntraced(function* ({ name, url }: CitusDatabase, server: OwnServer) {
  let current = server
  const run = (...statements: ReadonlyArray<string>) =>
    Effect.promise(() => query(url, "SET statement_timeout = '60s'", ...statements))
  yield* Effect.promise(async () => {
    await query(server.url, "SET client_min_messages = error", `CREATE DATABASE ${name}`)
    await query(onDatabase(server.url, name), "CREATE EXTENSION citus")
  })
  const nodeid = yield* Effect.acquireRelease(
    Effect.map(run(`SELECT citus_add_node('${server.host}', ${server.port}) AS id`), (rows) =>
      Number(rows.at(-1)?.["id"]),
    ),
    (nodeid) =>
      Effect.gen(function* () {
        // Tables are dropped on their node, so that it has to run.
        yield* current.start
        const cells = yield* run(`${CELLS}${nodeid}`)
        yield* run(...cells.map(({ cell }) => `DROP SCHEMA "${cell}" CASCADE`))
        yield* run(`SELECT citus_remove_node(nodename, nodeport) FROM pg_dist_node WHERE nodeid = ${nodeid}`)
      }),
  )
  return {
    host: server.host,
    port: server.port,
    moveTo: (other) =>
      Effect.map(run(`SELECT citus_update_node(${nodeid}, '${other.host}', ${other.port})`), () => {
        current = other
      }),
  } satisfies OwnNode
})
