import { Effect } from "effect"
import { Statement } from "effect/sql"
import type { Sql } from "@waybill/store/postgres/Sql"

interface Node {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Shared Hit Blocks"?: number
  readonly "Shared Read Blocks"?: number
  readonly Plans?: ReadonlyArray<Node>
}

export interface Plan {
  readonly text: string
  /** Names of the plan's steps: "Index Scan events_pkey", "Seq Scan outbox", "Sort", … */
  readonly steps: ReadonlyArray<string>
  /** Number of 8 KB pages read, a cost that does not depend on the machine. */
  readonly pages: number
}

/** Returns the plan of every statement that an effect runs; each is executed once more and rolled back. */
export const plansOf = <A, E, R>(sql: Sql, effect: Effect.Effect<A, E, R>): Effect.Effect<ReadonlyArray<Plan>, E, R> =>
  Effect.gen(function* () {
    const seen: Array<readonly [string, ReadonlyArray<unknown>]> = []
    yield* Effect.provideService(effect, Statement.CurrentTransformer, (statement) => {
      seen.push(statement.compile())
      return Effect.succeed(statement)
    })
    return yield* Effect.forEach(seen, ([text, values]) => explain(sql, text.trim(), values))
  })

const explain = (sql: Sql, text: string, values: ReadonlyArray<unknown>): Effect.Effect<Plan> =>
  sql.unsafe<Record<string, unknown>>(`EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${text}`, values).pipe(
    Effect.flatMap(([row]) => Effect.fail(row?.["QUERY PLAN"] as ReadonlyArray<{ readonly Plan: Node }>)),
    sql.withTransaction,
    Effect.flip,
    Effect.flatMap((explained) =>
      Array.isArray(explained)
        ? Effect.succeed(explained as ReadonlyArray<{ readonly Plan: Node }>)
        : Effect.die(explained),
    ),
    Effect.map(([top]) => ({
      text,
      steps: top === undefined ? [] : stepsOf(top.Plan),
      pages: (top?.Plan["Shared Hit Blocks"] ?? 0) + (top?.Plan["Shared Read Blocks"] ?? 0),
    })),
  )

const stepsOf = (node: Node): ReadonlyArray<string> => [
  [node["Node Type"], node["Index Name"] ?? node["Relation Name"]].filter((part) => part !== undefined).join(" "),
  ...(node.Plans ?? []).flatMap(stepsOf),
]
