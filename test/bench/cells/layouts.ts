import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as Database from "@waybill/store/database/Database"
import * as Migrations from "@waybill/store/database/Migrations"
import * as RequestLogDays from "@waybill/store/requests/RequestLogDays"
import { Effect, Redacted } from "effect"
import * as Citus from "../../support/cells/citusDatabase.ts"
import * as Cpu from "../accept/Cpu.ts"
import * as Held from "../report/Held.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"

const REQUEST_LOG_DAYS = 7
const CELLS = ["cell_1", "cell_2", "cell_3", "cell_4"]

/** Servers with cells: a Postgres, or a Citus cluster on this machine. */
export interface Layout {
  readonly name: string
  readonly cells: ReadonlyArray<string>
  /** Makes a migrated database with the cells. */
  readonly database: () => Promise<Redacted.Redacted>
  /** Processor time of the Postgres or the coordinator, and of the other nodes. */
  readonly postgres: () => number
  readonly nodes: () => number
}

/** Makes the cells, one after the other on the nodes, if there are any. */
const makeCells = (url: Redacted.Redacted, nodes: ReadonlyArray<Citus.Node>) =>
  Effect.forEach(
    CELLS,
    Effect.fnUntraced(function* (name, nth) {
      const cell = yield* CellSchema.make(name)
      const node = nodes[nth % nodes.length]
      if (node !== undefined) yield* Citus.moveCell(cell, node)
      // A worker makes these tables every hour, and a process without one cannot on a node.
      yield* inCell(cell, RequestLogDays.keep(REQUEST_LOG_DAYS))
    }),
    { discard: true },
  ).pipe(Effect.provide(Database.layer({ url, connections: 2 })), Effect.runPromise)

const plain = async (name: string, cells: ReadonlyArray<string>): Promise<Layout> => {
  const server = await Held.held(TemporaryServer.temporaryServer({ max_connections: "400" }))
  return {
    name,
    cells,
    database: async () => {
      const url = await TemporaryServer.freshDatabase(server)
      if (cells.length > 1) await makeCells(url, [])
      return url
    },
    postgres: () => Cpu.ofTree(server.pid),
    nodes: () => 0,
  }
}

const onCitus = async (coordinator: string): Promise<Layout> => {
  const postmaster = await Citus.postmasterOf(coordinator)
  const nodes = await Citus.nodesOf(coordinator)
  return {
    name: `four cells on ${nodes.length} nodes of Citus`,
    cells: CELLS,
    database: async () => {
      const made = await Held.acquire(
        () => Citus.citusDatabase(coordinator),
        ({ drop }) => drop(),
      )
      const url = Redacted.make(made.url)
      await Effect.runPromise(Migrations.migrate(url))
      await makeCells(url, made.nodes)
      return url
    },
    postgres: () => Cpu.ofTree(postmaster),
    nodes: () => nodes.reduce((sum, { pid }) => sum + Cpu.ofTree(pid), 0),
  }
}

export const ONE = "one cell"
export const FOUR = "four cells"

/** One and four cells on a Postgres each, and four on the cluster of WAYBILL_TEST_CITUS_URL, if there is one. */
export const layouts = async (): Promise<ReadonlyArray<Layout>> => [
  await plain(ONE, ["public"]),
  await plain(FOUR, CELLS),
  ...(Citus.CITUS_URL === undefined ? [] : [await onCitus(Citus.CITUS_URL)]),
]
