import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import * as RetentionCutoff from "../feed/RetentionCutoff.ts"
import type { Projection } from "../readmodels/Projections.ts"

/** Checksums that two tables are compared by; only those that differ are looked into. */
export const BUCKETS = 64
/** Rows that differ and are named; one is enough to be wrong. */
export const MAX_NAMED = 100

export interface Difference {
  readonly key: Readonly<Record<string, unknown>>
  /** As the live table has it; null where it has no such row. */
  readonly live: Readonly<Record<string, unknown>> | null
  /** As the events fold to it; null where they fold to no such row. */
  readonly folded: Readonly<Record<string, unknown>> | null
}

export interface Comparison {
  readonly rows: number
  /** Of these, what tells of times that the log does not hold in full any more: nothing can prove it. */
  readonly unproved_rows: number
  readonly buckets: number
  readonly differing_buckets: number
  /** All that differ, of which the first are named. */
  readonly differing_rows: number
  readonly differences: ReadonlyArray<Difference>
}

/** Every byte of every row, as text: in a transaction that sees both tables at one moment. */
export const compare = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  model: Projection,
  folded: string,
): Effect.fn.Return<Comparison, SqlError.SqlError> {
  const key = sql.literal(model.key.map((column) => `t.${column}`).join(", "))
  const bucket = sql`(hashtextextended(ROW(${key})::text, 0) & ${BUCKETS - 1}::bigint)::int`
  const sums = (table: string, side: string) => sql`
    SELECT ${bucket} AS bucket, ${side} AS side, count(*) AS n, sum(hashtextextended(t::text, 0)::numeric)::text AS sum
    FROM ${sql(table)} t GROUP BY 1`
  const found = yield* sql<{
    readonly bucket: number
    readonly rows: bigint
    readonly differs: boolean
  }>`
    SELECT bucket, max(n) FILTER (WHERE side = 'live') AS rows, count(DISTINCT (n, sum)) > 1 OR count(*) = 1 AS differs
    FROM (${sums(model.name, "live")} UNION ALL ${sums(folded, "folded")}) AS sums GROUP BY bucket`
  const differing = found.flatMap((each) => (each.differs ? [each.bucket] : []))
  const rows = found.reduce((sum, each) => sum + Number(each.rows ?? 0n), 0)
  const unproved_rows = "count" in model ? yield* model.beyond(sql, yield* RetentionCutoff.all(sql)) : 0
  const base = { rows, unproved_rows, buckets: BUCKETS, differing_buckets: differing.length }
  if (differing.length === 0) return { ...base, differing_rows: 0, differences: [] }

  const side = (table: string) => sql`
    SELECT ${key}, t::text AS text, to_jsonb(t) AS row FROM ${sql(table)} t WHERE ${bucket} = ANY(${differing}::int[])`
  const using = sql.literal(model.key.join(", "))
  const strays = yield* sql<Difference & { readonly n: bigint }>`
    SELECT to_jsonb(k) AS key, strays.live, strays.folded, strays.n FROM (
      SELECT ${using}, l.row AS live, f.row AS folded, count(*) OVER () AS n
      FROM (${side(model.name)}) AS l FULL JOIN (${side(folded)}) AS f USING (${using})
      WHERE l.text IS DISTINCT FROM f.text
      ORDER BY ${using} LIMIT ${MAX_NAMED}::int
    ) AS strays CROSS JOIN LATERAL (SELECT ${sql.literal(model.key.map((c) => `strays.${c}`).join(", "))}) AS k`
  return {
    ...base,
    differing_rows: Number(strays[0]?.n ?? 0n),
    differences: strays.map(({ folded, key, live }) => ({ key, live, folded })),
  }
})
