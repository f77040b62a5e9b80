import type { PgClient } from "@effect/sql-pg"
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import type { Statement } from "effect/sql/Statement"
import type { StreamRef, Touched } from "../commit/LogStorage.ts"

/** All that a row may be made of beside the state: whose stream it is of, and how many facts that has. */
export interface Place extends StreamRef {
  readonly version: number
}

export interface Description<Row, State> {
  /** The table, named by what it answers. */
  readonly name: string
  /** The kind of stream it folds. */
  readonly stream: string
  readonly key: ReadonlyArray<keyof Row & string>
  /** What later events change. Without any, only the stream's first commit writes rows. */
  readonly changes: ReadonlyArray<keyof Row & string>
  /** For a table that grows by the thousand: the types of all its columns, by which its rows need not travel as JSON. */
  readonly types?: { readonly [Column in keyof Row & string]: ColumnType }
  /** The rows of one stream: a pure fold, the same for the commit that appends and for the operator who rebuilds. */
  readonly rows: (place: Place, state: State) => ReadonlyArray<Row>
}

export type ColumnType = "text" | "int" | "json"

/** A table whose every row is a fold of one stream. */
export interface ReadModel {
  readonly name: string
  readonly stream: string
  readonly key: ReadonlyArray<string>
  readonly isStatic: boolean
  /** Its rows belong to several streams at once, all of which say the same. */
  readonly isShared?: boolean
  readonly rows: (place: Place, state: unknown) => ReadonlyArray<object>
  /** One statement for all rows, into the live table or into one that a rebuild fills. */
  readonly write: (sql: PgClient.PgClient, rows: ReadonlyArray<object>, table?: string) => Statement<object>
}

/** A row's fields bear the names of the table's columns, so one statement serves every table. */
export const make = <Row extends object, State>(description: Description<Row, State>): ReadModel => {
  const { changes, key, name, types } = description
  const target = key.join(", ")
  const action =
    changes.length === 0
      ? "DO NOTHING"
      : `DO UPDATE SET ${changes.map((column) => `${column} = excluded.${column}`).join(", ")} WHERE t.version < excluded.version`
  return {
    name,
    stream: description.stream,
    key,
    isStatic: changes.length === 0,
    rows: (place, state) => description.rows(place, state as State),
    write: (sql, rows, table = name) => sql`
      INSERT INTO ${sql(table)} AS t ${types === undefined ? records(sql, table, key, rows) : arrays(sql, types, rows)}
      ON CONFLICT (${sql.literal(target)}) ${sql.literal(action)}`,
  }
}

const records = (sql: PgClient.PgClient, table: string, key: ReadonlyArray<string>, rows: ReadonlyArray<object>) => sql`
  (${columns(sql, key, rows)})
  SELECT ${columns(sql, key, rows)} FROM jsonb_populate_recordset(NULL::${sql(table)}, ${PgTypes.jsonb(rows)})`

const arrays = (sql: PgClient.PgClient, types: Readonly<Record<string, ColumnType>>, rows: ReadonlyArray<object>) => {
  const names = Object.keys(types)
  const values = names.map((column) => rows.map((row) => (row as Readonly<Record<string, unknown>>)[column]))
  const parameters = names.map((column, nth) =>
    types[column] === "json"
      ? sql`${Result.getOrThrow(PgTypes.array(values[nth] ?? [], PgTypes.OID.json))}`
      : sql`${values[nth]}::${sql.literal(`${types[column]}[]`)}`,
  )
  return sql`(${sql.literal(names.join(", "))}) SELECT * FROM unnest(${sql.csv(parameters)})`
}

/**
 * Named one by one: a newer Waybill may have given the table columns that this one knows nothing of, and theirs is the
 * default then.
 */
export const columns = (sql: PgClient.PgClient, key: ReadonlyArray<string>, rows: ReadonlyArray<object>) => {
  const names = new Set(key)
  for (const row of rows) for (const name in row) names.add(name)
  return sql.literal([...names].join(", "))
}

/** What a commit writes: a row whose version is one of before stands there already. */
export const rowsOf = (model: ReadModel, touched: ReadonlyArray<Touched>): ReadonlyArray<object> =>
  touched.flatMap((stream) => {
    const before = stream.version - stream.added.length
    if (stream.aggregate.stream !== model.stream || (model.isStatic && before > 0)) return []
    const rows = model.rows(stream, stream.state)
    return model.isStatic ? rows : rows.filter((row) => (row as { readonly version: number }).version > before)
  })
