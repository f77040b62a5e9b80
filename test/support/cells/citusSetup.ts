import * as CellSchema from "@waybill/store/cells/CellSchema"
import { Cells } from "@waybill/store/routing/Cells"
import * as StoreDatabase from "@waybill/store/database/Database"
import { Effect, Redacted } from "effect"
import type { TestProject } from "vitest/node"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Citus from "./citusDatabase.ts"
import { prepareTemplate } from "../postgres/prepareTemplate.ts"

/** Makes the cell of all accounts, and tells the tests its node. The first cell takes no new ones, and the other one does at once. */
const makeCell = Effect.fnUntraced(function* (cell: string) {
  const sql = yield* Sql
  yield* CellSchema.make(cell)
  yield* sql`UPDATE cells SET state = CASE WHEN name = ${cell} THEN 'open' ELSE 'full' END, made_at = made_at - interval '1 hour'`
  const server = yield* (yield* Cells).serverOf(cell)
  const { hostname, port } = new URL(Redacted.value(server?.url ?? Redacted.make("")))
  process.env["WAYBILL_TEST_NODE"] = `${hostname} ${port}`
})

/** Makes a template on every node of a Citus cluster, with the cell of all accounts on one of them, if there is one. */
const prepare = async (database: Citus.CitusDatabase, cell: string | undefined): Promise<void> => {
  const url = Redacted.make(database.url)
  await prepareTemplate(url)
  if (cell !== undefined) await Effect.runPromise(Effect.provide(makeCell(cell), StoreDatabase.layer({ url })))
  await Citus.closeToSessions(database)
}

/** Puts the databases of a project's tests on a Citus cluster, each a copy of one template. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const coordinator = Citus.CITUS_URL ?? ""
  const database = await Citus.citusDatabase(coordinator)
  const problem = await prepare(database, project.config.env["WAYBILL_TEST_CELL"]).then(
    () => "",
    (cause) => String(cause),
  )
  project.provide("postgresUrl", coordinator)
  project.provide("postgresAdminUrl", coordinator)
  project.provide("postgresNodes", database.servers.slice(1))
  project.provide("templateDatabase", database.name)
  project.provide("templateProblem", problem)
  return database.drop
}
