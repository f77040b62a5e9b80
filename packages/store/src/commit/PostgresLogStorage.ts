import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { SqlError } from "effect/sql"
import * as DirectoryPart from "./DirectoryPart.ts"
import { HOME, type TablePlace } from "../routing/TablePlace.ts"
import * as Feed from "../feed/Feed.ts"
import * as StoredAnswers from "../idempotency/StoredAnswers.ts"
import * as WakeUps from "../outbox/WakeUps.ts"
import * as Arrays from "../postgres/Arrays.ts"
import type * as PipelinedConnection from "../database/PipelinedConnection.ts"
import type { Client, Sql, Statement } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import * as AccountLocks from "../locks/AccountLocks.ts"
import * as BatchTables from "./BatchTables.ts"
import * as Facts from "./Facts.ts"
import * as DueWork from "../outbox/DueWork.ts"
import type { LogStorage, LogTransaction, Write } from "./LogStorage.ts"
import type { OutboxRow } from "../outbox/OutboxRow.ts"
import * as LogReads from "../feed/LogReads.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"

export interface Options {
  readonly sql: Sql
  readonly connection: PipelinedConnection.PipelinedConnection
  readonly tables?: typeof BatchTables.all
  /** Runs after each commit, before its callers are answered. */
  readonly onCommitted?: (accounts: ReadonlyArray<string>) => Effect.Effect<void>
  readonly directory?: DirectoryPart.DirectoryPart
  readonly place?: TablePlace
}

export const make = ({
  connection,
  directory = DirectoryPart.none,
  onCommitted = () => Effect.void,
  place = HOME,
  sql: { driver: sql },
  tables = BatchTables.all,
}: Options): LogStorage => {
  const transactionOn = (send: PipelinedConnection.Send): LogTransaction => ({
    readStreams: (ranges) => SqlErrors.asStorageErrors(LogReads.readStreams(sql, ranges)),
    readFacts: (needs, now) => SqlErrors.asStorageErrors(Facts.read(sql, needs, now, place.isPerTable)),
    findAnswers: (refs, now) =>
      Effect.andThen(
        send(StoredAnswers.lock(sql, refs)),
        SqlErrors.asStorageErrors(StoredAnswers.find(sql, refs, now)),
      ),
    write: (write) =>
      Effect.andThen(
        directory.write(write),
        Effect.suspend(() => Effect.forEach(writeStatements(sql, tables, write, place), send, { discard: true })),
      ),
  })
  return {
    readStreams: (ranges) => SqlErrors.asStorageErrors(LogReads.readStreams(sql, ranges)),
    feed: (query) => SqlErrors.asStorageErrors(Feed.read(sql, query)),
    transaction: (scope, body, onWritten) =>
      connection
        .transaction(
          (send) =>
            Effect.andThen(
              send(AccountLocks.begin(sql, scope)),
              Effect.andThen(SqlErrors.asStorageErrors(directory.check(scope.accounts)), body(transactionOn(send))),
            ),
          onWritten,
        )
        .pipe(
          SqlErrors.asStorageErrors,
          Effect.tap(() => onCommitted(scope.accounts)),
        ),
    isCommitted: (event, scope) =>
      Effect.tap(SqlErrors.asStorageErrors(LogReads.isInLog(sql, event)), (isCommitted) =>
        isCommitted ? onCommitted(scope.accounts) : Effect.void,
      ),
  }
}

/**
 * Returns the statements that write a batch: one with an expression for each table, after the changes of rows that it writes as
 * well. With a statement per table, simple expressions are statements of their own.
 */
const writeStatements = (
  sql: Client<SqlError.SqlError>,
  tables: typeof BatchTables.all,
  { changedStreams, events, now, rows }: Write,
  { isPerTable, schema }: TablePlace,
): ReadonlyArray<Statement<object, SqlError.SqlError>> => {
  const writes = tables.map((table) => table.write(sql, { changedStreams, rows, now, isPerTable }))
  const first = writes.flatMap((each) => each.first ?? [])
  const simple = writes.flatMap((each) => each.simple ?? [])
  const expressions = writes.flatMap((each) => each.expressions ?? [])
  const log = insertEvents(sql, events, now)
  // The log follows all tables also with a statement per table, because these are locked before positions are taken.
  const [together, separate] = isPerTable ? [expressions, [...simple, log]] : [[log, ...simple, ...expressions], []]
  return [
    ...first.map((query) => sql`${query}`),
    ...withWakeUps(sql, together, WakeUps.due(DueWork.armed(rows), now), schema),
    ...separate.map((query) => sql`${query}`),
  ]
}

/** The wake-ups of home are the answer of its statement. Elsewhere jobs may not be added beside the tables. */
const withWakeUps = (
  sql: Client<SqlError.SqlError>,
  expressions: ReadonlyArray<Fragment>,
  kinds: ReadonlyArray<OutboxRow["kind"]>,
  schema: string,
): ReadonlyArray<Statement<object, SqlError.SqlError>> => {
  const ctes = expressions.map((each, nth) => sql`${sql.literal(`part_${nth}`)} AS (${each})`)
  const wakeUps = WakeUps.jobs(sql, kinds, schema)
  if (schema === HOME.schema && kinds.length > 0) return [sql`WITH ${sql.csv(ctes)} ${wakeUps}`]
  const written = ctes.length === 0 ? [] : [sql`WITH ${sql.csv(ctes)} SELECT 1 AS written`]
  return kinds.length === 0 ? written : [...written, sql`${wakeUps}`]
}

const insertEvents = (sql: Client<SqlError.SqlError>, rows: Write["events"], now: string) => {
  const columns = rows.map(PackedEvent.columnsOf)
  return sql`
  INSERT INTO events (position, recorded_at, account_id, stream_id, version, stream, type, event_id, packed, data, meta)
  SELECT nextval('event_position'), ${now}::timestamptz, * FROM unnest(${Arrays.texts(rows.map((row) => row.account_id))},
    ${Arrays.texts(rows.map((row) => row.stream_id))}, ${Arrays.ints(rows.map((row) => row.version))},
    ${Arrays.texts(rows.map((row) => row.stream))}, ${Arrays.texts(rows.map((row) => row.type))},
    ${Arrays.texts(rows.map((row) => row.event_id))}, ${Arrays.texts(columns.map(({ packed }) => packed))},
    ${Arrays.jsonbs(columns.map(({ data }) => data))}, ${Arrays.jsonbs(columns.map(({ meta }) => meta))})`
}
