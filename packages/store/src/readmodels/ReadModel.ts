import { PgTypes } from "@effect/sql-pg"
import * as Arrays from "../postgres/Arrays.ts"
import * as IdKey from "../postgres/IdKey.ts"
import { type BatchTable, ifAny } from "../log/BatchTable.ts"
import { begins, type ChangedStream, type StreamRef } from "../log/StreamRef.ts"
import type { Client, Statement } from "../postgres/Sql.ts"

/** Stream that a row is derived from, and the number of its events. */
export interface StreamVersion extends StreamRef {
  readonly version: number
}

/** A row of a read model. Its version, if it can change, is that of the event that changed it last. */
export interface ModelRow {
  readonly account_id: string
  readonly version?: number
}

interface Model<Row, State> {
  /** Name of the table. */
  readonly name: string
  /** Kind of stream that the model folds. */
  readonly stream: string
  readonly key: ReadonlyArray<string>
  /** Columns that later events change. If there are none, only the first commit of a stream writes rows. */
  readonly changes: ReadonlyArray<string>
  /** Whether several streams yield the same row, which has no changes. */
  readonly isShared?: boolean
  /** Number of events for which a state knows rows that it forgets later, so that its size stays bounded. */
  readonly rememberedEvents?: number
  /** Types of all columns, for large tables: their rows are then sent as arrays, not as JSON. */
  readonly types?: Types
  /** Returns the rows of one stream, with ids as text. Must be pure: commits and rebuilds call it. */
  rows(stream: StreamVersion, state: State): ReadonlyArray<Row>
}

export interface Description<Row, State> extends Model<Row, State> {
  readonly key: ReadonlyArray<keyof Row & string>
  readonly changes: ReadonlyArray<keyof Row & string>
  readonly types?: { readonly [Column in keyof NoInfer<Row> & string]: ColumnType }
  /** Returns the key and the changes of the same rows, for large tables. */
  changed?(stream: StreamVersion, state: State): ReadonlyArray<Partial<Row>>
}

/** A table whose every row is folded from one stream. */
export interface ReadModel<Row extends ModelRow = ModelRow, State = unknown> extends Model<Row, State>, BatchTable {
  /** Writes all rows in one statement, into the live table or into one that a rebuild fills. */
  upsert<E>(sql: Client<E>, rows: ReadonlyArray<Row>, table?: string): Statement<object, E>
}

/** Type of a column in SQL, or the name of the ids of which it holds the keys. */
export type ColumnType = "text" | "int" | "smallint" | "bigint" | "timestamptz" | IdName
type IdName = "AccountId" | "EmailId"
type Types = Readonly<Record<string, ColumnType>>

const ID_NAMES: ReadonlyArray<ColumnType | undefined> = ["AccountId", "EmailId"]
const isIdName = (type: ColumnType | undefined): type is IdName => ID_NAMES.includes(type)

/**
 * Makes a read model. Fields of a row have the names of the table's columns, so the same statement serves all tables.
 */
export const make = <Row extends ModelRow, State>(description: Description<Row, State>): ReadModel<Row, State> => {
  const { changes, isShared, key, name, types } = description
  const target = key.join(", ")
  // In the order of the key, so that two commits with the same new rows cannot deadlock.
  const order = isShared === true ? ` ORDER BY ${target}` : ""
  const action =
    changes.length === 0
      ? "DO NOTHING"
      : `DO UPDATE SET ${changes.map((column) => `${column} = excluded.${column}`).join(", ")} WHERE t.version < excluded.version`
  const model: ReadModel<Row, State> = {
    ...description,
    upsert: (sql, rows, table = name) => sql`
      INSERT INTO ${sql(table)} AS t ${types === undefined ? records(sql, table, key, rows) : arrays(sql, types, rows)}${sql.literal(order)}
      ON CONFLICT (${sql.literal(target)}) ${sql.literal(action)}`,
    write:
      types === undefined || isShared === true
        ? (sql, { changedStreams }) => ({
            expressions: ifAny(rowsOf(model, changedStreams), (rows) => model.upsert(sql, rows)),
          })
        : writeLarge(description, types),
  }
  return model
}

/** Returns how batches write a large table. Rows of streams that begin cannot be there yet, the others are. */
const writeLarge = <Row extends ModelRow, State>(
  description: Description<Row, State>,
  types: Types,
): BatchTable["write"] => {
  const { changed = description.rows, changes, key, name } = description
  const columns: ReadonlyArray<string> = [...key, ...changes]
  const own = Object.fromEntries(Object.entries(types).filter(([column]) => columns.includes(column)))
  const set = changes.map((column) => `${column} = n.${column}`).join(", ")
  const isRow = key.map((column) => `t.${column} = n.${column}`).join(" AND ")
  return (sql, { changedStreams }) => {
    const begun = changedStreams.filter(begins)
    const continued = begun.length === changedStreams.length ? [] : changedStreams.filter((stream) => !begins(stream))
    return {
      simple: ifAny(
        select(description, begun, description.rows),
        (rows) => sql`INSERT INTO ${sql(name)} ${arrays(sql, types, rows)}`,
      ),
      expressions: ifAny(
        select(description, continued, changed),
        (rows) => sql`
      UPDATE ${sql(name)} AS t SET ${sql.literal(set)} FROM (
        SELECT * FROM unnest(${sql.csv(parameters(sql, own, rows))}) AS n(${sql.literal(Object.keys(own).join(", "))})) AS n
      WHERE ${sql.literal(isRow)} AND t.version < n.version RETURNING 1 AS written`,
      ),
    }
  }
}

type Fields = Readonly<Record<string, unknown>>
const field = (row: object, column: string): unknown => (row as Fields)[column]

/** Returns the key of a row as text, because JSON has no large numbers, with the keys of ids. */
export const keyOf = ({ key, types = {} }: Pick<ReadModel, "key" | "types">, row: object) =>
  Object.fromEntries(
    key.map((column) => {
      const value = String(field(row, column))
      return [column, isIdName(types[column]) ? IdKey.of(value) : value]
    }),
  )

/** Returns the key of a row as one text, with ids. */
export const keyText = ({ key }: Pick<ReadModel, "key">, row: object): string =>
  key.map((column) => String(field(row, column))).join(" ")

/** Returns a row of the table as people read it: with ids instead of their keys. */
export const readable = ({ types = {} }: Pick<ReadModel, "types">, row: Fields): Fields => ({
  ...row,
  ...Object.fromEntries(
    Object.entries(types).flatMap(([column, type]) => {
      const key = row[column]
      return isIdName(type) && typeof key === "string" ? [[column, IdKey.idOf(type, key)]] : []
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

const arrays = (sql: Client<unknown>, types: Types, rows: ReadonlyArray<object>) => {
  const names = sql.literal(Object.keys(types).join(", "))
  return sql`(${names}) SELECT * FROM unnest(${sql.csv(parameters(sql, types, rows))}) AS n(${names})`
}

const parameters = (sql: Client<unknown>, types: Types, rows: ReadonlyArray<object>) =>
  Object.entries(types).map(([column, type]) =>
    isIdName(type)
      ? sql`${Arrays.texts(rows.map((row) => IdKey.of(String(field(row, column)))))}::uuid[]`
      : sql`${Arrays.of(
          OIDS[type] ?? PgTypes.OID.text,
          rows.map((row) => field(row, column)),
        )}::${sql.literal(`${type}[]`)}`,
  )

/**
 * Lists column names explicitly, because a newer release may have added columns that this one leaves at their defaults.
 */
const columns = (sql: Client<unknown>, key: ReadonlyArray<string>, rows: ReadonlyArray<object>) => {
  const names = new Set(key)
  for (const row of rows) for (const name in row) names.add(name)
  return sql.literal([...names].join(", "))
}

/** Returns the rows that a commit writes. Rows whose version is not newer than before the commit already exist. */
export const rowsOf = <Row extends ModelRow>(
  model: ReadModel<Row>,
  touched: ReadonlyArray<ChangedStream>,
): ReadonlyArray<Row> => select(model, touched, model.rows)

const select = <Row extends Partial<ModelRow>>(
  { changes, name, rememberedEvents = Infinity, stream: kind }: Omit<Model<unknown, unknown>, "rows">,
  touched: ReadonlyArray<ChangedStream>,
  of: Model<Row, unknown>["rows"],
): ReadonlyArray<Row> => {
  const isStatic = changes.length === 0
  const written: Array<Row> = []
  for (const stream of touched) {
    const before = stream.version - stream.added.length
    if (stream.aggregate.stream !== kind || (isStatic && before > 0)) continue
    if (stream.added.length > rememberedEvents)
      throw new Error(`a commit appends at most ${rememberedEvents} events to a stream of ${name}`)
    for (const row of of(stream, stream.state)) if (isStatic || (row.version ?? 0) > before) written.push(row)
  }
  return written
}
