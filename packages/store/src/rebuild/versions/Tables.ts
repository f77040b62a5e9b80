import { Effect } from "effect"
import type { Column } from "../../copy/CopyBinary.ts"
import type { Sql } from "../../postgres/Sql.ts"

/** Creates a table like the live one, without what slows down filling it: indexes and vacuum follow later. */
export const createLike = Effect.fnUntraced(function* (sql: Sql, live: string, table: string) {
  yield* sql`CREATE TABLE ${sql(table)} (LIKE ${sql(live)}
    INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMMENTS)`
  yield* sql`ALTER TABLE ${sql(table)} SET (autovacuum_enabled = false)`
  // LIKE does not copy the statistics targets of columns.
  const analyzed = yield* sql<{ readonly name: string; readonly target: number }>`
    SELECT attname AS name, attstattarget::int AS target FROM pg_attribute
    WHERE attrelid = ${live}::regclass AND attnum > 0 AND NOT attisdropped AND attstattarget >= 0`
  for (const { name, target } of analyzed)
    yield* sql`ALTER TABLE ${sql(table)} ALTER COLUMN ${sql(name)} SET STATISTICS ${sql.literal(String(target))}`
})

export const columns = (sql: Sql, table: string) => sql<Column>`
  SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
  WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`

export interface Index {
  readonly name: string
  readonly definition: string
  /** `PRIMARY KEY` or `UNIQUE` if the index belongs to a constraint. */
  readonly constraint: string | null
}

export const indexes = (sql: Sql, table: string) => sql<Index>`
  SELECT i.relname AS name, pg_get_indexdef(x.indexrelid) AS definition,
    CASE c.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END AS constraint
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
  LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.contype IN ('p', 'u')
  WHERE x.indrelid = ${table}::regclass ORDER BY i.relname`

/**
 * Returns the indexes of a live table in the order in which its version gets them: those that take longest first, so that
 * two builds at a time end together. Those are of all rows, and sort by columns in whose order the rows are not.
 */
export const indexesByWork = (sql: Sql, live: string, table: string) => sql<Index>`
  SELECT index.* FROM (${indexes(sql, live)}) AS index JOIN pg_index x ON x.indexrelid = index.name::regclass
  ORDER BY x.indpred IS NOT NULL, (
    SELECT min(abs(s.correlation)) FROM pg_stats s JOIN pg_attribute a ON a.attname = s.attname
    WHERE s.schemaname = current_schema() AND s.tablename = ${table} AND a.attrelid = x.indrelid
      AND a.attnum = ANY(x.indkey) AND NOT EXISTS (
        SELECT FROM pg_index p WHERE p.indrelid = x.indrelid AND p.indisprimary AND a.attnum = ANY(p.indkey))
  ) NULLS LAST, index.name`

/** Returns the name of an index of a version: that of the live index, followed by the version's number. */
export const indexName = (name: string, live: string, table: string): string => `${name}${table.slice(live.length)}`

const DEFINITION = /^CREATE (UNIQUE )?INDEX \S+ ON (?:ONLY )?\S+ /

/** Returns the statement that creates a live table's index on a version. */
export const indexStatement = ({ definition, name }: Index, live: string, table: string): string =>
  definition.replace(
    DEFINITION,
    (_, unique: string | undefined) =>
      `CREATE ${unique ?? ""}INDEX IF NOT EXISTS "${indexName(name, live, table)}" ON "${table}" `,
  )

/** Adds the live table's constraints and storage options to a version. */
export const finishLike = Effect.fnUntraced(function* (sql: Sql, live: string, table: string) {
  const present = new Set(
    (yield* indexes(sql, table)).filter(({ constraint }) => constraint !== null).map((x) => x.name),
  )
  for (const index of yield* indexes(sql, live)) {
    const name = indexName(index.name, live, table)
    if (index.constraint === null || present.has(name)) continue
    yield* sql`ALTER TABLE ${sql(table)} ADD CONSTRAINT ${sql(name)} ${sql.literal(index.constraint)} USING INDEX ${sql(name)}`
  }
  const options = yield* sql<{ readonly option: string }>`
    SELECT unnest(reloptions) AS option FROM pg_class WHERE oid = ${live}::regclass`
  yield* sql`ALTER TABLE ${sql(table)} RESET (autovacuum_enabled)`
  if (options.length > 0) {
    yield* sql`ALTER TABLE ${sql(table)} SET (${sql.literal(options.map(({ option }) => option).join(", "))})`
  }
})

/** Whether two tables have the same columns of the same types. A migration may have changed the live one. */
export const isAlike = Effect.fnUntraced(function* (sql: Sql, live: string, table: string) {
  const rows = yield* sql<{ readonly exists: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS exists`
  if (rows[0]?.exists !== true) return false
  const shape = (of: ReadonlyArray<Column>) => JSON.stringify(of.map(({ name, type }) => [name, type]))
  return shape(yield* columns(sql, live)) === shape(yield* columns(sql, table))
})

/** Renames a table and its indexes for a swap. Changes only names, because exclusive locks are held. */
export const rename = Effect.fnUntraced(function* (sql: Sql, from: string, to: string, live: string) {
  for (const { name } of yield* indexes(sql, from)) {
    const liveName = from === live ? name : name.slice(0, name.length - (from.length - live.length))
    yield* sql`ALTER INDEX ${sql(name)} RENAME TO ${sql(to === live ? liveName : indexName(liveName, live, to))}`
  }
  yield* sql`ALTER TABLE ${sql(from)} RENAME TO ${sql(to)}`
})

export const drop = (sql: Sql, table: string) => sql`DROP TABLE IF EXISTS ${sql(table)}`
