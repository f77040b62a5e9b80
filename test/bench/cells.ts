// POST /v1/email/send from 64 connections, in turns on one cell, on four cells of one Postgres, and, where
// WAYBILL_TEST_CITUS_URL names a Citus cluster, on four cells of its nodes. Mail is accepted and not delivered.
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as Database from "@waybill/store/postgres/Database"
import * as Migrations from "@waybill/store/postgres/Migrations"
import { Effect, Redacted } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Citus from "../support/cells/citusDatabase.ts"
import * as Cpu from "./accept/Cpu.ts"
import * as Processes from "./accept/Processes.ts"
import { tenant } from "./accept/tenant.ts"
import * as Waybill from "./accept/Waybill.ts"
import * as Held from "./report/Held.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const CONNECTIONS = 64
const ROUNDS = 8
const ROUND_MILLIS = 2_000
const WARM_UP_REQUESTS = 12_000
const WARM_UP_AT_MOST_MILLIS = 20_000
const CELLS = ["cell_1", "cell_2", "cell_3", "cell_4"]

interface Spent {
  requests: number
  server: number
  coordinator: number
  nodes: number
}

/** Makes the cells, one after the other on the nodes, if there are any. */
const makeCells = (url: Redacted.Redacted, nodes: ReadonlyArray<Citus.Node>) =>
  Effect.forEach(
    CELLS,
    Effect.fnUntraced(function* (name, nth) {
      const cell = yield* CellSchema.make(name)
      const node = nodes[nth % nodes.length]
      if (node !== undefined) yield* Citus.moveCell(cell, node)
    }),
    { discard: true },
  ).pipe(Effect.provide(Database.layer({ url, connections: 2 })), Effect.runPromise)

try {
  const postgres = await Held.held(TemporaryServer.temporaryServer())
  const home = await Held.acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), "waybill-cells-")),
    (folder) => fs.rm(folder, { recursive: true, force: true }),
  )
  const load = await Held.acquire(
    async () => Processes.load(),
    ({ stop }) => stop(),
  )
  const spent = new Map<string, Spent>()

  const contender = async (
    name: string,
    url: Redacted.Redacted,
    cells: ReadonlyArray<string>,
    coordinator: number,
    nodes: ReadonlyArray<Citus.Node> = [],
  ): Promise<Measure.Contender> => {
    if (cells.length > 1) await makeCells(url, nodes)
    const keys: Array<string> = []
    for (const cell of cells) keys.push(...(await tenant(url, CONNECTIONS / cells.length, cell)))
    const server = await Held.acquire(
      () => Waybill.start(Redacted.value(url), home),
      ({ stop }) => stop(),
    )
    for (let nth = 0; nth < keys.length; nth += CONNECTIONS / cells.length)
      await Waybill.addDomain(server, keys[nth] ?? "")
    const times = () => ({
      server: Cpu.ofProcess(server.pid),
      coordinator: Cpu.ofTree(coordinator),
      nodes: nodes.reduce((sum, { pid }) => sum + Cpu.ofTree(pid), 0),
    })
    const run = async (millis: number) => {
      const before = times()
      const report = await load.run({ port: server.port, keys, millis, door: "native" })
      const after = times()
      const total = spent.get(name) ?? { requests: 0, server: 0, coordinator: 0, nodes: 0 }
      spent.set(name, {
        requests: total.requests + report.done,
        server: total.server + after.server - before.server,
        coordinator: total.coordinator + after.coordinator - before.coordinator,
        nodes: total.nodes + after.nodes - before.nodes,
      })
      return report
    }
    return { name, run }
  }

  const ONE = "one cell"
  const FOUR = "four cells"
  const contenders = [
    await contender(ONE, await TemporaryServer.freshDatabase(postgres), ["public"], postgres.pid),
    await contender(FOUR, await TemporaryServer.freshDatabase(postgres), CELLS, postgres.pid),
  ]
  if (Citus.CITUS_URL !== undefined) {
    const { CITUS_URL } = Citus
    const database = await Held.acquire(
      () => Citus.citusDatabase(CITUS_URL),
      ({ drop }) => drop(),
    )
    const url = Redacted.make(database.url)
    await Effect.runPromise(Migrations.migrate(url))
    const name = `four cells on ${database.nodes.length} nodes of Citus`
    contenders.push(await contender(name, url, CELLS, await Citus.postmasterOf(CITUS_URL), database.nodes))
  }
  const environment = await TemporaryServer.environment(postgres)
  for (const { run } of contenders) {
    let requests = 0
    for (let millis = 0; requests < WARM_UP_REQUESTS && millis < WARM_UP_AT_MOST_MILLIS; millis += ROUND_MILLIS)
      requests += (await run(ROUND_MILLIS)).done
  }
  spent.clear()
  const results = await Measure.rounds(contenders, { rounds: ROUNDS, millis: ROUND_MILLIS, warmUpMillis: 1 })
  const micros = (name: string, of: "server" | "coordinator" | "nodes") => {
    const { requests, [of]: millis } = spent.get(name) ?? { requests: 1, server: 0, coordinator: 0, nodes: 0 }
    return String(Math.round((millis * 1000) / requests))
  }
  Measure.answer(
    { connections: CONNECTIONS, rounds: ROUNDS, environment, results },
    [
      `POST /v1/email/send, ${CONNECTIONS} connections with a key each, ${ROUNDS} rounds of ${ROUND_MILLIS / 1000} s.`,
      TemporaryServer.describe(environment),
      "",
      Measure.table(
        ["", "a second", "least", "most", "p50 ms", "p99 ms", "CPU µs/request", "of Postgres", "of other nodes"],
        results.map(({ name, p50Millis, p99Millis, perSecond }) => [
          name,
          ...[perSecond.median, perSecond.least, perSecond.most].map(Measure.rate),
          Measure.millis(p50Millis),
          Measure.millis(p99Millis),
          micros(name, "server"),
          micros(name, "coordinator"),
          micros(name, "nodes"),
        ]),
      ),
    ].join("\n"),
    [{ what: "four cells against one", measured: Measure.ratio(results, FOUR, ONE), unit: "times", atLeast: 0.5 }],
  )
} finally {
  await Held.releaseAll()
}
