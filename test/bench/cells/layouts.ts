import type { PgClient } from "@effect/sql-pg"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as Database from "@waybill/store/database/Database"
import * as Migrations from "@waybill/store/database/Migrations"
import * as RequestLogDays from "@waybill/store/requests/RequestLogDays"
import type * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Effect, Redacted } from "effect"
import * as Citus from "../../support/cells/citusDatabase.ts"
import * as Cpu from "../accept/Cpu.ts"
import { cellKeys } from "../accept/tenant.ts"
import * as Held from "../report/Held.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"

const REQUEST_LOG_DAYS = 7
const CELLS = ["cell_1", "cell_2", "cell_3", "cell_4"]
const SERVER_SETTINGS = { max_connections: "400", shared_buffers: "256MB" }

/** A database with its cells. */
export interface Installation {
  readonly url: string
  /** Database of each cell, and its schema there. */
  readonly tables: ReadonlyArray<{ readonly url: string; readonly schema: string }>
}

/** Servers with cells: a Postgres, several, or a Citus cluster on this machine. */
export interface Layout {
  readonly name: string
  readonly cells: ReadonlyArray<string>
  /** Makes a migrated database with the cells. */
  readonly install: () => Promise<Installation>
  /** Processor time of the servers that have the cells. */
  readonly servers: () => number
  /** The same of the first server, if it has no cell; always 0 where it has one. */
  readonly home: () => number
}

/** Makes cells, and the tables in them that a worker makes every hour. */
const make = (url: Redacted.Redacted, cells: ReadonlyArray<Effect.Effect<string, unknown, PgClient.PgClient>>) =>
  Effect.forEach(
    cells,
    (making) => Effect.flatMap(making, (cell) => inCell(cell, RequestLogDays.keep(REQUEST_LOG_DAYS))),
    { discard: true },
  ).pipe(
    Effect.provide(Database.layer({ url, connections: 2 })),
    Effect.provide(cellKeys),
    Effect.orDie,
    Effect.runPromise,
  )

const server = () => Held.held(TemporaryServer.temporaryServer(SERVER_SETTINGS))

const onePostgres = async (name: string, cells: ReadonlyArray<string>): Promise<Layout> => {
  const { pid, url: serverUrl } = await server()
  return {
    name,
    cells,
    install: async () => {
      const database = await TemporaryServer.freshDatabase({ url: serverUrl })
      if (cells.length > 1) await make(database, cells.map(CellSchema.make))
      const url = Redacted.value(database)
      return { url, tables: cells.map((schema) => ({ url, schema })) }
    },
    servers: () => Cpu.ofTree(pid),
    home: () => 0,
  }
}

const ownServers = async (name: string): Promise<Layout> => {
  const home = await server()
  const servers: Array<EmbeddedPostgres.Running> = []
  for (const _ of CELLS) servers.push(await server())
  return {
    name,
    cells: CELLS,
    install: async () => {
      const database = await TemporaryServer.freshDatabase(home)
      const urls: Array<Redacted.Redacted> = []
      for (const each of servers) urls.push(await TemporaryServer.emptyDatabase(each))
      await make(
        database,
        CELLS.map((cell, nth) => ServerCell.make(cell, urls[nth] ?? database)),
      )
      return {
        url: Redacted.value(database),
        tables: urls.map((url) => ({ url: Redacted.value(url), schema: "public" })),
      }
    },
    servers: () => servers.reduce((sum, { pid }) => sum + Cpu.ofTree(pid), 0),
    home: () => Cpu.ofTree(home.pid),
  }
}

const onCitus = async (name: string, coordinator: string): Promise<Layout> => {
  const postmaster = await Citus.postmasterOf(coordinator)
  const nodes = await Citus.nodesOf(coordinator)
  return {
    name,
    cells: CELLS,
    install: async () => {
      const made = await Held.acquire(
        () => Citus.citusDatabase(coordinator),
        ({ drop }) => drop(),
      )
      const url = Redacted.make(made.url)
      await Effect.runPromise(Migrations.migrate(url))
      await make(
        url,
        CELLS.map((cell, nth) =>
          Effect.tap(CellSchema.make(cell), () => {
            const node = made.nodes[nth % made.nodes.length]
            return node === undefined ? Effect.void : Citus.moveCell(cell, node)
          }),
        ),
      )
      const urlOf = ({ host, port }: Citus.Node) => Citus.at(made.url, host, port)
      return {
        url: made.url,
        tables: CELLS.map((schema, nth) => {
          const node = made.nodes[nth % made.nodes.length]
          return { url: node === undefined ? made.url : urlOf(node), schema }
        }),
      }
    },
    servers: () => nodes.reduce((sum, { pid }) => sum + Cpu.ofTree(pid), 0),
    home: () => Cpu.ofTree(postmaster),
  }
}

export const ONE = "one cell"
/** The one cell with so few messages a second as each of four has. */
export const ONE_OF_FOUR = "one cell, a quarter of the rate"
export const SCHEMAS = "four cells of one Postgres"
export const SERVERS = "four cells on four servers"
export const NODES = "four cells on two nodes of Citus"

/** All layouts; the last one only on the cluster of WAYBILL_TEST_CITUS_URL. */
export const layouts = async (): Promise<ReadonlyArray<Layout>> => [
  await onePostgres(ONE, ["public"]),
  await onePostgres(SCHEMAS, CELLS),
  await ownServers(SERVERS),
  ...(Citus.CITUS_URL === undefined ? [] : [await onCitus(NODES, Citus.CITUS_URL)]),
]
