import { PgTypes } from "@effect/sql-pg"
import * as Arrays from "../postgres/Arrays.ts"
import * as IdKey from "../postgres/IdKey.ts"
import type { StreamRef, ChangedStream } from "../log/StreamRef.ts"
import type { Client, Statement } from "../postgres/Sql.ts"

/** Stream that a row is derived from, and the number of its events. */
export interface StreamVersion extends StreamRef {
  readonly version: number
}

export interface Description<Row, State> {
  /** Name of the table. */
  readonly name: string
  /** Kind of stream that the model folds. */
  readonly stream: string
  readonly key: ReadonlyArray<keyof Row & string>
  /** Columns that later events change. If there are none, only the first commit of a stream writes rows. */
  readonly changes: ReadonlyArray<keyof Row & string>
  /** Number of events for which a state knows rows that it forgets later, so that its size stays bounded. */
  readonly rememberedEvents?: number
  /** Types of all columns, for large tables: their rows are then sent as arrays, not as JSON. */
  readonly types?: { readonly [Column in keyof Row & string]: ColumnType }
  /** Returns the rows of one stream, with ids as text. Must be pure: commits and rebuilds call it. */
  readonly rows: (stream: StreamVersion, state: State) => ReadonlyArray<Row>
  /** Returns the key and the changes of the same rows, for large tables. */
  readonly changed?: (stream: StreamVersion, state: State) => ReadonlyArray<Partial<Row>>
}

/** Type of a column in SQL, or the name of the ids of which it holds the keys. */
export type ColumnType = "text" | "int" | "smallint" | "bigint" | "timestamptz" | IdName
type IdName = "AccountId" | "EmailId"

const ID_NAMES: ReadonlyArray<ColumnType> = ["AccountId", "EmailId"]
const isIdName = (type: ColumnType): type is IdName => ID_NAMES.includes(type)

/** A table whose every row is folded from one stream. */
export interface ReadModel {
  readonly name: string
  readonly stream: string
  readonly key: ReadonlyArray<string>
  readonly isStatic: boolean
  /** Whether several streams yield the same row. */
  readonly isShared?: boolean
  /** Number of events after which rows must have been taken from the state; infinite for a state that forgets none. */
  readonly rememberedEvents?: number
  readonly rows: (stream: StreamVersion, state: unknown) => ReadonlyArray<object>
  /** `rows` with ids instead of their keys, which COPY writes from ids without their text. */
  readonly rowsWithIds?: (stream: StreamVersion, state: unknown) => ReadonlyArray<object>
  /** Returns a row of the table as people read it: with ids instead of their keys. */
  readonly readable?: (row: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  /** Writes all rows in one statement, into the live table or into one that a rebuild fills. */
  readonly write: <E>(sql: Client<E>, rows: ReadonlyArray<object>, table?: string) => Statement<object, E>
  /** Writes rows that the live table does not have, of a large table: where statements are apart, a plain insert is copied. */
  readonly insert?: <E>(sql: Client<E>, rows: ReadonlyArray<object>) => Statement<object, E>
  /** Writes few rows by a statement whose plan is kept where statements are apart (`TablePlace`). */
  readonly insertApart?: <E>(sql: Client<E>, rows: ReadonlyArray<object>) => Statement<object, E>
  /** Returns the keys of rows and what events change of them. */
  readonly changed?: ReadModel["rows"]
  /** Writes changes of rows that the live table has. */
  readonly update?: <E>(sql: Client<E>, rows: ReadonlyArray<object>) => Statement<object, E>
}

/**
 * Makes a read model. Fields of a row have the names of the table's columns, so the same statement serves all tables.
 */
export const make = <Row extends object, State>(description: Description<Row, State>): ReadModel => {
  const { changes, key, name, rememberedEvents, types } = description
  const target = key.join(", ")
  const ids = types === undefined ? [] : idColumns(types)
  const action =
    changes.length === 0
      ? "DO NOTHING"
      : `DO UPDATE SET ${changes.map((column) => `${column} = excluded.${column}`).join(", ")} WHERE t.version < excluded.version`
  return {
    name,
    stream: description.stream,
    key,
    isStatic: changes.length === 0,
    ...(rememberedEvents === undefined ? {} : { rememberedEvents }),
    rowsWithIds: (stream, state) => description.rows(stream, state as State),
    rows: (stream, state) => keyed(description.rows(stream, state as State), ids),
    ...(types === undefined ? {} : { readable: (row) => readable(row, types) }),
    write: (sql, rows, table = name) => sql`
      INSERT INTO ${sql(table)} AS t ${types === undefined ? records(sql, table, key, rows) : arrays(sql, types, rows)}
      ON CONFLICT (${sql.literal(target)}) ${sql.literal(action)}`,
    ...(types === undefined
      ? {}
      : { insert: (sql, rows) => sql`INSERT INTO ${sql(name)} ${arrays(sql, types, rows)}` }),
    ...updating(description, ids),
  }
}

const updating = <Row extends object, State>(
  { changed, changes, key, name, types }: Description<Row, State>,
  ids: IdColumns,
): Pick<ReadModel, "changed" | "update"> => {
  if (changed === undefined || types === undefined) return {}
  const columns: ReadonlyArray<string> = [...key, ...changes]
  const own = Object.fromEntries(Object.entries<ColumnType>(types).filter(([column]) => columns.includes(column)))
  const set = changes.map((column) => `${column} = n.${column}`).join(", ")
  const isRow = key.map((column) => `t.${column} = n.${column}`).join(" AND ")
  return {
    changed: (stream, state) => keyed(changed(stream, state as State), ids),
    update: (sql, rows) => sql`
      UPDATE ${sql(name)} AS t SET ${sql.literal(set)} FROM (
        SELECT * FROM unnest(${sql.csv(parameters(sql, own, rows))}) AS n(${sql.literal(Object.keys(own).join(", "))})) AS n
      WHERE ${sql.literal(isRow)} AND t.version < n.version RETURNING 1 AS written`,
  }
}

type Types = Readonly<Record<string, ColumnType>>

const idColumns = (types: Types) =>
  Object.entries(types).flatMap(([column, type]) => (isIdName(type) ? [[column, type] as const] : []))
type IdColumns = ReturnType<typeof idColumns>

/** Replaces the ids of new rows by their keys, in these columns. */
const keyed = <Row extends object>(rows: ReadonlyArray<Row>, ids: IdColumns): ReadonlyArray<Row> => {
  for (const [column] of ids)
    for (const row of rows as ReadonlyArray<Record<string, unknown>>) row[column] = IdKey.of(String(row[column]))
  return rows
}

/** Replaces keys of a row by their ids. */
export const readable = (row: Readonly<Record<string, unknown>>, types: Types): Readonly<Record<string, unknown>> => ({
  ...row,
  ...Object.fromEntries(
    idColumns(types).flatMap(([column, name]) => {
      const key = row[column]
      return typeof key === "string" ? [[column, IdKey.idOf(name, key)]] : []
    }),
  ),
})

const records = (sql: Client<unknown>, table: string, key: ReadonlyArray<string>, rows: ReadonlyArray<object>) => sql`
  (${columns(sql, key, rows)})
  SELECT ${columns(sql, key, rows)} FROM jsonb_populate_recordset(NULL::${sql(table)}, ${PgTypes.jsonb(rows)})`

/** Types whose values are sent as such, and not as text. */
const OIDS: { readonly [T in ColumnType]?: number } = {
  int: PgTypes.OID.int4,
  smallint: PgTypes.OID.int4,
  bigint: PgTypes.OID.int8,
}

const arrays = (sql: Client<unknown>, types: Types, rows: ReadonlyArray<object>) => sql`
  (${sql.literal(Object.keys(types).join(", "))}) SELECT * FROM unnest(${sql.csv(parameters(sql, types, rows))})`

const parameters = (sql: Client<unknown>, types: Types, rows: ReadonlyArray<object>) =>
  Object.keys(types).map((column) => {
    const values = rows.map((row) => (row as Readonly<Record<string, unknown>>)[column])
    const type = types[column] ?? "text"
    return sql`${Arrays.of(OIDS[type] ?? PgTypes.OID.text, values)}::${sql.literal(isIdName(type) ? "uuid[]" : `${type}[]`)}`
  })

/**
 * Lists column names explicitly, because a newer release may have added columns that this one leaves at their defaults.
 */
export const columns = (sql: Client<unknown>, key: ReadonlyArray<string>, rows: ReadonlyArray<object>) => {
  const names = new Set(key)
  for (const row of rows) for (const name in row) names.add(name)
  return sql.literal([...names].join(", "))
}

/** Returns the rows that a commit writes. Rows whose version is not newer than before the commit already exist. */
export const rowsOf = (
  model: ReadModel,
  touched: ReadonlyArray<ChangedStream>,
  of: ReadModel["rows"] = model.rows,
): ReadonlyArray<object> => {
  const { isStatic, rememberedEvents = Infinity } = model
  const written: Array<object> = []
  for (const stream of touched) {
    const before = stream.version - stream.added.length
    if (stream.aggregate.stream !== model.stream || (isStatic && before > 0)) continue
    if (stream.added.length > rememberedEvents)
      throw new Error(`a commit appends at most ${rememberedEvents} events to a stream of ${model.name}`)
    for (const row of of(stream, stream.state))
      if (isStatic || (row as { readonly version: number }).version > before) written.push(row)
  }
  return written
}
