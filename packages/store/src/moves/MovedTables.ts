import { Effect } from "effect"
import * as IdKey from "../postgres/IdKey.ts"
import * as MigrationFiles from "../database/MigrationFiles.ts"
import type { Sql } from "../postgres/Sql.ts"

/** A table of a cell whose rows belong to accounts. */
export interface MovedTable {
  readonly name: string
  readonly columns: ReadonlyArray<string>
  readonly key: ReadonlyArray<string>
  /** Whether accounts are keyed by the 16 bytes of their id. */
  readonly isByKey: boolean
}

/** Names accounts that a cell has lost, so that it is not theirs. */
const LEFT = "left_accounts"

/** Lists the tables of a cell that have rows of accounts, in the order in which they are copied. */
export const list = Effect.fnUntraced(function* (sql: Sql, schema: string) {
  const others = [...(yield* Effect.promise(() => MigrationFiles.homeTables())), LEFT]
  return yield* sql<MovedTable>`
  SELECT c.relname AS name, bool_or(a.attname = 'account_id' AND a.atttypid = 'uuid'::regtype) AS "isByKey",
    array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '') AS columns,
    (SELECT array_agg(k.attname::text ORDER BY k.attnum) FROM pg_index i
      JOIN pg_attribute k ON k.attrelid = i.indrelid AND k.attnum = ANY(i.indkey)
      WHERE i.indrelid = c.oid AND i.indisprimary) AS key
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relnamespace = ${schema}::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    -- Versions of a rebuild are not moved: the other cell rebuilds its own.
    AND c.relname !~ '_v[0-9]+$' AND c.relname <> ALL(${others}::text[])
  GROUP BY c.oid, c.relname HAVING bool_or(a.attname = 'account_id')
  ORDER BY c.relname`
})

/** Condition on the rows of some accounts. */
export const isOf = (
  sql: Sql,
  { isByKey }: Pick<MovedTable, "isByKey">,
  alias: string,
  accounts: ReadonlyArray<string>,
) =>
  isByKey
    ? sql`${sql.literal(alias)}.account_id = ANY(${accounts.map(IdKey.of)}::uuid[])`
    : sql`${sql.literal(alias)}.account_id = ANY(${accounts}::text[])`

/** `isOf` with values in the text of the statement, as a COPY needs them. */
export const isOfText = ({ isByKey }: Pick<MovedTable, "isByKey">, alias: string, accounts: ReadonlyArray<string>) =>
  isByKey
    ? `${alias}.account_id = ANY('{${accounts.map(IdKey.of).join(",")}}'::uuid[])`
    : `${alias}.account_id = ANY('{${accounts.join(",")}}'::text[])`
