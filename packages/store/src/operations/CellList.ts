import { Effect, Exit } from "effect"
import { type CellName, FIRST } from "../routing/CellName.ts"
import * as CellSchema from "../cells/CellSchema.ts"
import * as DatabaseUrl from "../postgres/DatabaseUrl.ts"
import { Cells, schemaOf } from "../routing/Cells.ts"
import * as Databases from "../routing/Databases.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as StrayAccounts from "../routing/StrayAccounts.ts"
import * as Feed from "../feed/Feed.ts"
import * as Epoch from "../postgres/Epoch.ts"
import * as Iso from "../postgres/Iso.ts"
import * as InstanceStats from "../statistics/InstanceStats.ts"
import * as CellNodes from "./CellNodes.ts"
import { Sql } from "../postgres/Sql.ts"

const CONCURRENT_CELLS = 8

interface CellRow {
  readonly name: CellName
  readonly state: "open" | "full" | "draining"
  readonly made_at: string
}

/** Lists all cells, the first one first. What only a cell itself knows is `null` if it does not answer. */
export const list = Effect.fn("CellList.list")(
  function* () {
    const sql = yield* Sql
    const cells = yield* sql<CellRow>`
    SELECT name, state, ${Iso.iso(sql, "made_at")} AS made_at FROM cells ORDER BY name <> ${FIRST}, name`
    const nodes = yield* CellNodes.ofCells()
    const strays = yield* (yield* Cells).strays
    const hasCitus = yield* CellSchema.isCitus(sql)
    return yield* Effect.forEach(
      cells,
      (cell) =>
        Effect.gen(function* () {
          const counting = inCell(
            cell.name,
            Effect.flatMap(schemaOf(cell.name), (schema) => known(sql, schema, hasCitus)),
          ).pipe(Effect.provideService(StrayAccounts.StrayAccounts, strays.get(cell.name) ?? StrayAccounts.NONE))
          const exit = yield* Effect.exit(Effect.timeout(counting, Databases.ANSWER_WITHIN))
          const node = nodes.get(cell.name) ?? (yield* serverOf(cell.name)) ?? null
          return { ...cell, node, ...(Exit.isSuccess(exit) ? exit.value : UNKNOWN) }
        }),
      { concurrency: CONCURRENT_CELLS },
    )
  },
  (work) => inCell(FIRST, work),
)

const UNKNOWN = { accounts: null, emails: null, bytes: null, lag: null, per_second: null, waiting: null }

/** Host and port of a cell's own server. */
const serverOf = Effect.fnUntraced(function* (cell: CellName) {
  const server = yield* (yield* Cells).serverOf(cell)
  return server === undefined ? undefined : DatabaseUrl.serverOf(server.url)
})

const known = Effect.fnUntraced(function* (sql: Sql, schema: string, hasCitus: boolean) {
  const isOwn = yield* StrayAccounts.isOwn(sql, "account_id")
  const [counts] = yield* sql<{ readonly accounts: number; readonly emails: number; readonly after: bigint | null }>`
    SELECT (SELECT count(*) FROM accounts WHERE ${isOwn})::float8 AS accounts, (SELECT min(position) FROM followers) AS after,
      (SELECT coalesce(sum(accepted), 0) FROM monthly_usage WHERE ${isOwn})::float8 AS emails`
  const [size] = yield* hasCitus && schema !== FIRST ? citusBytes(sql, schema) : bytes(sql, schema)
  const end = yield* Feed.watermark(sql)
  const lag = Epoch.distance(yield* Epoch.gaps(sql), counts?.after ?? end, end)
  const { per_second, waiting } = yield* InstanceStats.loadHere
  return {
    accounts: counts?.accounts ?? 0,
    emails: counts?.emails ?? 0,
    bytes: size?.bytes ?? 0,
    lag: Number(lag),
    per_second: Math.round(10 * per_second) / 10,
    waiting,
  }
})

const bytes = (sql: Sql, schema: string) => sql<{ readonly bytes: number }>`
  SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::float8 AS bytes FROM pg_class
  WHERE relnamespace = ${schema}::regnamespace AND relkind = 'r'`

const citusBytes = (sql: Sql, schema: string) => sql<{ readonly bytes: number }>`
  SELECT coalesce(sum(s.shard_size), 0)::float8 AS bytes FROM citus_shards s JOIN pg_class c ON c.oid = s.table_name
  WHERE c.relnamespace = ${schema}::regnamespace`
