import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import { FIRST } from "../../routing/CellName.ts"
import * as CellSchema from "../../cells/CellSchema.ts"
import { CurrentCell } from "../../routing/CurrentCell.ts"
import type { Sql } from "../../postgres/Sql.ts"

export interface TableSize {
  readonly name: string
  /** Estimated number of rows, as of the last ANALYZE. */
  readonly rows: number
  readonly bytes: bigint
}

/** Run by Citus on the node of a table, whose name there replaces `%s`. */
const ON_NODE =
  "SELECT greatest(0, reltuples) || ' ' || pg_total_relation_size(oid) FROM pg_class WHERE oid = '%s'::regclass"

/** Returns the sizes of those of the tables that exist, with their partitions. */
export const read = Effect.fnUntraced(function* (sql: Sql, tables: ReadonlyArray<string>) {
  const isOnNode = (yield* CurrentCell) !== FIRST && (yield* CellSchema.isCitus(sql))
  return yield* sql<TableSize>`
    SELECT wanted.name, sum(figures.rows)::float8 AS rows, sum(figures.bytes)::bigint AS bytes
    FROM unnest(${tables}::text[]) AS wanted(name)
    CROSS JOIN LATERAL (
      SELECT to_regclass(wanted.name) AS oid
      -- A partitioned table holds no rows itself.
      UNION SELECT relid FROM pg_partition_tree(to_regclass(wanted.name))) AS part
    JOIN pg_class c ON c.oid = part.oid AND c.relkind = 'r'
    CROSS JOIN LATERAL (${isOnNode ? figuresOnNode(sql) : figures(sql)}) AS figures
    GROUP BY wanted.name`
})

const figures = (sql: Sql): Fragment => sql`
  SELECT greatest(0, c.reltuples) AS rows, pg_total_relation_size(c.oid) AS bytes`

/** The coordinator's table is empty. */
const figuresOnNode = (sql: Sql): Fragment => sql`
  SELECT split_part(result, ' ', 1)::float8 AS rows, split_part(result, ' ', 2)::bigint AS bytes
  FROM run_command_on_shards(c.oid, ${ON_NODE})`

/** Plan of a statement, as EXPLAIN returns it. On a coordinator of Citus, the node's plan is inside. */
interface Plan {
  readonly "Plan Rows": number
  readonly "Distributed Query"?: {
    readonly Job: {
      readonly Tasks: ReadonlyArray<{ readonly "Remote Plan": ReadonlyArray<ReadonlyArray<{ readonly Plan: Plan }>> }>
    }
  }
}

/** Estimates the number of rows of a query, whose text has all values, by the planner. */
export const planned = Effect.fnUntraced(function* (sql: Sql, query: Fragment) {
  const [row] = yield* sql<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>`
    EXPLAIN (FORMAT JSON) ${query}`
  const plan = row?.["QUERY PLAN"][0]?.Plan
  const remote = plan?.["Distributed Query"]?.Job.Tasks[0]?.["Remote Plan"][0]?.[0]?.Plan
  return (remote ?? plan)?.["Plan Rows"] ?? 0
})
