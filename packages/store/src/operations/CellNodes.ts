import { Effect, Schedule } from "effect"
import * as CellSchema from "../cells/CellSchema.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import { inCell } from "../routing/CurrentCell.ts"
import { Sql } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"

/** A server of a Citus cluster. */
export interface Node {
  readonly host: string
  readonly port: number
}

/** Bytes that a move of cells has copied so far. */
export interface Progress {
  readonly copied_bytes: number
  readonly total_bytes: number
  readonly status: string
}

export type Report = (progress: Progress) => Effect.Effect<void>

const LOOK_EVERY = "1 second"

export const textOf = ({ host, port }: Node): string => `${host}:${port}`

/** Returns the node of each cell on Citus; empty on plain Postgres. Cells that are not named lie on the coordinator. */
export const ofCells = Effect.fn("CellNodes.ofCells")(function* () {
  const sql = yield* Sql
  if (!(yield* CellSchema.isCitus(sql))) return new Map<CellName, string>()
  const rows = yield* sql<Node & { readonly cell: string }>`
    SELECT DISTINCT ns.nspname AS cell, n.nodename AS host, n.nodeport AS port
    FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
    JOIN pg_dist_shard s USING (shardid) JOIN pg_class c ON c.oid = s.logicalrelid
    JOIN pg_namespace ns ON ns.oid = c.relnamespace WHERE ns.nspname <> ${FIRST}`
  const coordinator = yield* sql<Node>`
    SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid = 0`
  return new Map(
    [...coordinator.map((node) => ({ cell: FIRST, ...node })), ...rows].map((row) => [row.cell, textOf(row)]),
  )
})

/** Fails unless cells can lie on this node. */
export const requireNode = Effect.fn("CellNodes.requireNode")(function* (node: Node) {
  const sql = yield* Sql
  yield* requireCitus(sql)
  const nodes = yield* sql<Node>`
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
  function* (cell: CellName, node: Node, report: Report) {
    const sql = yield* Sql
    yield* requireNode(node)
    if (cell === FIRST)
      return yield* new CellSchema.CellRefused({
        message: `the cell ${FIRST} stays on the coordinator, because its schema also has the tables that belong to no account; move its accounts to another cell`,
      })
    if ((yield* ofCells()).get(cell) === textOf(node)) return false
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
    yield* withoutTimeout(sql, moving)
    return true
  },
  Effect.scoped,
  (work) => inCell(FIRST, work),
)

export interface PlannedMove {
  readonly cell: CellName
  readonly from: string
  readonly to: string
}

/** Returns the moves that Citus would make to spread the cells over the nodes. */
export const plan = Effect.fn("CellNodes.plan")(
  function* () {
    const sql = yield* Sql
    return yield* sql<PlannedMove>`
      SELECT DISTINCT ns.nspname AS cell, sourcename || ':' || sourceport AS "from", targetname || ':' || targetport AS "to"
      FROM get_rebalance_table_shards_plan() AS p JOIN pg_class c ON c.oid = p.table_name
      JOIN pg_namespace ns ON ns.oid = c.relnamespace ORDER BY 1`
  },
  (work) => inCell(FIRST, work),
)

/** Spreads the cells over the nodes by their size, while they are in use. Follows a run that is under way. */
export const balance = Effect.fn("CellNodes.balance")(
  function* (report: Report) {
    const sql = yield* Sql
    yield* requireCitus(sql)
    const running = yield* jobs(sql)
    if (!running.some(({ state }) => UNFINISHED.includes(state))) {
      const [started] = yield* sql<{ readonly job: bigint | null }>`SELECT citus_rebalance_start() AS job`
      if ((started?.job ?? null) === null) return false
    }
    const isRunning = Effect.map(jobs(sql), ([job]) => job !== undefined && UNFINISHED.includes(job.state))
    yield* Effect.repeat(Effect.andThen(reportProgress(sql, report), isRunning), {
      schedule: Schedule.spaced(LOOK_EVERY),
      while: (runs) => runs,
    })
    const [job] = yield* jobs(sql)
    if (job?.state !== "finished")
      return yield* new CellSchema.CellRefused({
        message: `Citus ended the balancing as ${job?.state ?? "unknown"}: ${job?.details ?? "no details"}`,
      })
    return true
  },
  (work) => inCell(FIRST, work),
)

const UNFINISHED: ReadonlyArray<string> = ["scheduled", "running", "cancelling", "failing"]

const jobs = (sql: Sql) => sql<{ readonly state: string; readonly details: string | null }>`
  SELECT state::text AS state, details::text AS details FROM citus_rebalance_status()`

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
