import { Effect, Schedule } from "effect"
import * as CellSchema from "../cells/CellSchema.ts"
import * as CellDatabase from "../database/CellDatabase.ts"
import * as NodeCell from "../cells/NodeCell.ts"
import { type CellName, FIRST, nodeUrlOf } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import { inCell } from "../routing/CurrentCell.ts"
import { Sql } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"

/** Address of a server of a Citus cluster. */
export type Address = Pick<NodeCell.Node, "host" | "port">

/** Bytes that a move of cells has copied so far. */
export interface Progress {
  readonly copied_bytes: number
  readonly total_bytes: number
  readonly status: string
}

export type Report = (progress: Progress) => Effect.Effect<void>

const LOOK_EVERY = "1 second"
/**
 * Times that a move is tried again after a deadlock, or because Citus has not removed yet what an earlier one has left, or does
 * so now: it does every 15 seconds.
 */
const MAX_TRIES = 20
const isPassing = (error: unknown): boolean =>
  error instanceof CellSchema.CellRefused &&
  /orphaned shard|deadlock detected|could not acquire the lock/u.test(error.message)

export const textOf = ({ host, port }: Address): string => `${host}:${port}`

/** Returns the node of each cell on Citus; empty on plain Postgres. Cells that are not named lie on the coordinator. */
export const ofCells = Effect.fn("CellNodes.ofCells")(function* () {
  const sql = yield* Sql
  if (!(yield* CellSchema.isCitus(sql))) return new Map<CellName, string>()
  const coordinator = yield* sql<Address>`
    SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid = 0`
  return new Map(
    [...coordinator.map((node) => [FIRST, node] as const), ...(yield* NodeCell.holders(sql))].map(
      ([cell, node]) => [cell, textOf(node)] as const,
    ),
  )
})

/** Fails unless cells can lie on this node. */
export const requireNode = Effect.fn("CellNodes.requireNode")(function* (node: Address) {
  const sql = yield* Sql
  yield* requireCitus(sql)
  const nodes = yield* sql<Address>`
    SELECT nodename AS host, nodeport AS port FROM pg_dist_node
    WHERE isactive AND shouldhaveshards AND noderole = 'primary' ORDER BY 1, 2`
  if (nodes.some((each) => textOf(each) === textOf(node))) return
  const names = nodes.length === 0 ? "none takes cells" : `those that take cells are ${nodes.map(textOf).join(", ")}`
  return yield* new CellSchema.CellRefused({
    message: `${textOf(node)} is not a node of this cluster that takes cells; ${names}. Add it with \`SELECT citus_add_node('${node.host}', ${node.port})\`.`,
  })
})

/** Moves a cell to another node while it is in use. Returns false if it lies there already. */
export const move = Effect.fn("CellNodes.move")(
  function* (cell: CellName, node: Address, report: Report) {
    const sql = yield* Sql
    yield* requireNode(node)
    if (cell === FIRST)
      return yield* new CellSchema.CellRefused({
        message: `the cell ${FIRST} stays on the coordinator, because its schema also has the tables that belong to no account; move its accounts to another cell`,
      })
    const moving = sql.driver`
      SELECT citus_schema_move(${cell}::regnamespace, ${node.host}, ${node.port}::int, 'auto') IS NULL AS done`.pipe(
      Effect.catchIf(
        (error) => !SqlErrors.isConnectionLost(error),
        ({ message, reason: { cause } }) =>
          new CellSchema.CellRefused({
            message: `Citus did not move the cell ${cell}: ${cause instanceof Error ? cause.message : message}`,
          }),
      ),
      SqlErrors.orUnavailable,
    )
    yield* Effect.forkScoped(Effect.repeat(reportProgress(sql, report), Schedule.spaced(LOOK_EVERY)))
    const isThere = (yield* ofCells()).get(cell) === textOf(node)
    if (!isThere)
      yield* Effect.retry(withoutTimeout(sql, moving), {
        while: isPassing,
        schedule: Schedule.spaced(LOOK_EVERY),
        times: MAX_TRIES,
      })
    // Also after a move that was stopped, or one that Citus made by itself.
    return (yield* follow(sql, cell)) || !isThere
  },
  Effect.scoped,
  (work) => inCell(FIRST, work),
)

/** Lets the processes write to a cell at the node that holds its tables now. Returns whether they did so elsewhere. */
const follow = Effect.fnUntraced(function* (sql: Sql, cell: CellName) {
  const holder = (yield* NodeCell.holders(sql)).get(cell)
  const home = sql.driver.config.url
  const [former] = yield* sql<NodeCell.Node>`
    SELECT c.node_group AS "group", n.nodename AS host, n.nodeport AS port FROM cells c
    JOIN pg_dist_node n ON n.groupid = c.node_group AND n.noderole = 'primary' WHERE c.name = ${cell}`
  if (holder === undefined || former === undefined || home === undefined)
    return yield* new CellSchema.CellRefused({ message: `the cell ${cell} is on no node of this cluster` })
  if (holder.group === former.group) return false
  const urlOf = ({ host, port }: Address) => nodeUrlOf(home, cell, host, port)
  const there = { identity: String(holder.group), url: urlOf(holder), schema: cell, isNode: true }
  yield* Effect.mapError(
    Effect.andThen(NodeCell.handOver(urlOf(former), there.url, cell), CellDatabase.recognize(there)),
    ({ message }) => new CellSchema.CellRefused({ message: `the cell ${cell} is not at its new node yet: ${message}` }),
  )
  const { refresh } = yield* Cells
  yield* sql.withTransaction(
    Effect.andThen(
      sql`UPDATE cells SET node_group = ${holder.group}::int WHERE name = ${cell}`,
      CellSchema.noteChange(sql),
    ),
  )
  yield* refresh
  return true
})

export interface PlannedMove extends Address {
  readonly cell: CellName
  readonly from: string
}

/** Returns the moves that Citus would make to spread the cells over the nodes. */
export const plan = Effect.fn("CellNodes.plan")(
  function* () {
    const sql = yield* Sql
    yield* requireCitus(sql)
    return yield* sql<PlannedMove>`
      SELECT DISTINCT ns.nspname AS cell, sourcename || ':' || sourceport AS "from", targetname AS host, targetport AS port
      FROM get_rebalance_table_shards_plan() AS p JOIN pg_class c ON c.oid = p.table_name
      JOIN pg_namespace ns ON ns.oid = c.relnamespace ORDER BY 1`
  },
  (work) => inCell(FIRST, work),
)

/** Makes the moves by which Citus would spread the cells over the nodes, while they are in use. Returns whether there were any. */
export const balance = Effect.fn("CellNodes.balance")(function* (report: Report) {
  const planned = yield* plan()
  for (const { cell, host, port } of planned) yield* move(cell, { host, port }, report)
  return planned.length > 0
})

const reportProgress = (sql: Sql, report: Report) =>
  Effect.flatMap(
    sql<Progress & { readonly moves: number }>`
      SELECT count(*)::int AS moves, coalesce(sum(target_shard_size), 0)::float8 AS copied_bytes,
        coalesce(sum(source_shard_size), 0)::float8 AS total_bytes, coalesce(max(status), '') AS status
      FROM get_rebalance_progress() WHERE progress = 1`,
    ([row]) =>
      row === undefined || row.moves === 0
        ? Effect.void
        : report({ copied_bytes: row.copied_bytes, total_bytes: row.total_bytes, status: row.status }),
  )

const requireCitus = Effect.fnUntraced(function* (sql: Sql) {
  if (yield* CellSchema.isCitus(sql)) return
  return yield* new CellSchema.CellRefused({
    message:
      "this database is a single Postgres without Citus: all its cells lie on the same server (docs/operating/cells.md)",
  })
})

/** Runs without the statement timeout, because copying a cell takes as long as it takes. */
const withoutTimeout = <A, E, R>(sql: Sql, work: Effect.Effect<A, E, R>) =>
  sql.withTransaction(Effect.andThen(sql`SET LOCAL statement_timeout = 0`, work))
