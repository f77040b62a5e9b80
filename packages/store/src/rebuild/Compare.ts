import { Effect } from "effect"
import * as RetentionCutoff from "../feed/RetentionCutoff.ts"
import * as MovedSince from "../moves/MovedSince.ts"
import * as ReadModel from "../readmodels/ReadModel.ts"
import type { Projection } from "./versions/Projections.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Number of buckets whose checksums are compared. Rows are compared only in buckets that differ. */
export const BUCKETS = 64
/** Maximum number of differing rows that are reported by key. */
export const MAX_NAMED = 100

type Row = Readonly<Record<string, unknown>>

export interface Difference {
  readonly key: Row
  /** Row of the live table; null if it has none. */
  readonly live: Row | null
  /** Row folded from the events; null if they yield none. */
  readonly folded: Row | null
}

export interface Comparison {
  readonly rows: number
  /** Live rows about periods that the log no longer holds completely, so that they cannot be verified. */
  readonly unproved_rows: number
  readonly buckets: number
  readonly differing_buckets: number
  /** Number of all differing rows; `differences` holds the first of them. */
  readonly differing_rows: number
  readonly differences: ReadonlyArray<Difference>
  /** Accounts that move or have moved meanwhile, whose rows were not compared. */
  readonly moved?: ReadonlyArray<string>
}

/**
 * Compares a folded table with the live one, every row as text, without those of accounts that move. Needs a transaction that
 * sees both at the same moment.
 */
export const compare = Effect.fnUntraced(function* (sql: Sql, model: Projection, folded: string, begun: string) {
  const key = sql.literal(model.key.map((column) => `t.${column}`).join(", "))
  const bucket = sql`(hashtextextended(ROW(${key})::text, 0) & ${BUCKETS - 1}::bigint)::int`
  const strays = yield* MovedSince.strays(sql)
  const moved = [...new Set([...strays, ...(yield* MovedSince.find(sql, { table: folded, begun }))])]
  const isCompared = yield* MovedSince.notOf(sql, model.name, moved)
  const sums = (table: string, side: string) => sql`
    SELECT ${bucket} AS bucket, ${side} AS side, count(*) AS n, sum(hashtextextended(t::text, 0)::numeric)::text AS sum
    FROM ${sql(table)} t WHERE ${isCompared} GROUP BY 1`
  const buckets = yield* sql<{
    readonly bucket: number
    readonly rows: bigint
    readonly differs: boolean
  }>`
    SELECT bucket, max(n) FILTER (WHERE side = 'live') AS rows, count(DISTINCT (n, sum)) > 1 OR count(*) = 1 AS differs
    FROM (${sums(model.name, "live")} UNION ALL ${sums(folded, "folded")}) AS sums GROUP BY bucket`
  const differing = buckets.flatMap((each) => (each.differs ? [each.bucket] : []))
  const rows = buckets.reduce((sum, each) => sum + Number(each.rows ?? 0n), 0)
  const unproved_rows = "count" in model ? yield* model.unverifiable(sql, yield* RetentionCutoff.all(sql)) : 0
  const base = {
    rows,
    unproved_rows,
    buckets: BUCKETS,
    differing_buckets: differing.length,
    ...(moved.length === 0 ? {} : { moved }),
  }
  if (differing.length === 0) return { ...base, differing_rows: 0, differences: [] }

  const side = (table: string) => sql`
    SELECT ${key}, t::text AS text, to_jsonb(t) AS row FROM ${sql(table)} t
    WHERE ${bucket} = ANY(${differing}::int[]) AND ${isCompared}`
  const using = sql.literal(model.key.join(", "))
  const readable = (row: Row) => ("count" in model ? row : ReadModel.readable(model, row))
  const mismatches = yield* sql<Difference & { readonly n: bigint }>`
    SELECT to_jsonb(k) AS key, mismatches.live, mismatches.folded, mismatches.n FROM (
      SELECT ${using}, l.row AS live, f.row AS folded, count(*) OVER () AS n
      FROM (${side(model.name)}) AS l FULL JOIN (${side(folded)}) AS f USING (${using})
      WHERE l.text IS DISTINCT FROM f.text
      ORDER BY ${using} LIMIT ${MAX_NAMED}::int
    ) AS mismatches CROSS JOIN LATERAL (SELECT ${sql.literal(model.key.map((c) => `mismatches.${c}`).join(", "))}) AS k`
  return {
    ...base,
    differing_rows: Number(mismatches[0]?.n ?? 0n),
    differences: mismatches.map(({ folded, key, live }) => ({
      key: readable(key),
      live: live === null ? null : readable(live),
      folded: folded === null ? null : readable(folded),
    })),
  }
})
