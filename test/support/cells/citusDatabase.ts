import * as CellNodes from "@waybill/store/operations/CellNodes"
import { Effect } from "effect"
import pg from "pg"
import { randomBytes } from "node:crypto"
import { onDatabase } from "../postgres/databaseUrl.ts"

/** The coordinator of a Citus cluster for the tests that need one, as a superuser; undefined where there is none. */
export const CITUS_URL: string | undefined = process.env["WAYBILL_TEST_CITUS_URL"]

export interface CitusDatabase {
  readonly name: string
  readonly url: string
  /** The servers of the cluster, the coordinator first. */
  readonly servers: ReadonlyArray<string>
  /** Nodes that can hold cells, without the coordinator. */
  readonly nodes: ReadonlyArray<Node>
  readonly drop: () => Promise<void>
}

export interface Node {
  readonly host: string
  readonly port: number
  /** The process of its server, if it runs on this machine. */
  readonly pid: number
}

/** Runs statements on a connection of their own, and returns the rows of all of them. */
export const query = async (
  url: string,
  ...statements: ReadonlyArray<string>
): Promise<ReadonlyArray<pg.QueryResultRow>> => {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => {})
  await client.connect()
  try {
    const rows: Array<pg.QueryResultRow> = []
    for (const statement of statements) rows.push(...(await client.query(statement)).rows)
    return rows
  } finally {
    await client.end()
  }
}

/** Address of a database on another server of the cluster. */
export const at = (url: string, host: string, port: number): string => {
  const moved = new URL(url)
  moved.hostname = host
  moved.port = String(port)
  return moved.href
}

const PID = "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid"

/** Returns the process of a server on this machine. */
export const postmasterOf = async (url: string): Promise<number> => Number((await query(url, PID))[0]?.["pid"])

/** Returns the nodes of a cluster that can hold cells, without the coordinator. */
export const nodesOf = async (coordinator: string): Promise<ReadonlyArray<Node>> => {
  const workers = await query(
    coordinator,
    "SELECT node_name AS host, node_port::int AS port FROM citus_get_active_worker_nodes() ORDER BY 1, 2",
  )
  const nodes: Array<Node> = []
  for (const { host, port } of workers as ReadonlyArray<Omit<Node, "pid">>)
    nodes.push({ host, port, pid: await postmasterOf(at(coordinator, host, port)) })
  return nodes
}

/** Makes a database on all nodes of a cluster, joined to one. Databases are not known to Citus, so each node gets its own. */
export const citusDatabase = async (coordinator: string): Promise<CitusDatabase> => {
  const name = `waybill_${randomBytes(6).toString("hex")}`
  const { hostname, port } = new URL(coordinator)
  const nodes = await nodesOf(coordinator)
  const servers = [coordinator, ...nodes.map(({ host, port }) => at(coordinator, host, port))]
  for (const server of servers) {
    await query(server, "SET client_min_messages = error", `CREATE DATABASE ${name}`)
    await query(onDatabase(server, name), "CREATE EXTENSION citus")
  }
  const url = onDatabase(coordinator, name)
  await query(
    url,
    `SELECT citus_set_coordinator_host('${hostname}', ${port})`,
    ...nodes.map(({ host, port }) => `SELECT citus_add_node('${host}', ${port})`),
  )
  return {
    name,
    url,
    servers,
    nodes,
    drop: async () => {
      for (const server of servers)
        await query(server, "SET client_min_messages = error", `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/** Ends the sessions of a database and refuses new ones on every node, so that copies of it can be made. */
export const closeToSessions = async ({ name, servers }: CitusDatabase): Promise<void> => {
  for (const server of servers)
    await query(
      server,
      `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`,
    )
}

/** Moves a cell to a node; a cell that lies there already is left where it is. */
export const moveCell = (cell: string, node: Pick<Node, "host" | "port">) =>
  Effect.orDie(CellNodes.move(cell, node, () => Effect.void))
