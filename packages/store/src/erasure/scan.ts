import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Maximum number of rows, and approximate bytes, that one statement of the search reads. */
export const SCAN_ROWS = 1_000
export const SCAN_BYTES = 16 * 1024 * 1024

export interface Table {
  readonly name: string
  readonly key?: ReadonlyArray<string>
  /** A key lower than all, if its columns are not all text. */
  readonly first?: ReadonlyArray<string | Uint8Array>
  /** Column that is searched, returned as `bytes`. */
  readonly bytes?: string
  /** Further columns. */
  readonly others?: ReadonlyArray<string>
}

export interface ScannedRow<Bytes = Uint8Array> {
  readonly account_id: AccountId
  readonly bytes: Bytes
}

/** Passes every row that may match to `take`, in key order, page by page. */
export const scan = Effect.fnUntraced(function* <R extends ScannedRow<Uint8Array | string>>(
  sql: Sql,
  { bytes = "bytes", key = ["account_id", "id"], first = key.map(() => ""), name, others = [] }: Table,
  looksLike: Fragment,
  take: (row: R) => Effect.Effect<unknown, StoreUnavailable>,
) {
  const keys = sql.literal(key.join(", "))
  const columns = sql.literal([...key, ...others].map((column) => `t.${column}`).join(", "))
  let last = first
  while (true) {
    const rows = yield* sql<R>`
      WITH page AS MATERIALIZED (
        SELECT ${keys}, size, sum(size) OVER (ORDER BY ${keys}) AS total FROM (
          SELECT ${keys}, octet_length(${sql.literal(bytes)}) AS size FROM ${sql(name)}
          WHERE (${keys}) > (${sql.csv(last.map((value) => sql`${value}`))}) ORDER BY ${keys} LIMIT ${SCAN_ROWS}::int
        ) AS next
      )
      SELECT ${columns}, CASE WHEN ${looksLike} THEN t.${sql.literal(bytes)} END AS bytes
      FROM page JOIN ${sql(name)} t USING (${keys}) WHERE total - size < ${SCAN_BYTES}::int ORDER BY ${keys}`
    for (const row of rows) if (row.bytes !== null) yield* take(row)
    const end = rows.at(-1)
    if (end === undefined) return
    last = key.map((column) => end[column as keyof R] as string | Uint8Array)
  }
})
