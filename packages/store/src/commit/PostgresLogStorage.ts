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
import { type ReadModel, rowsOf } from "../readmodels/ReadModel.ts"
import * as AccountLocks from "../locks/AccountLocks.ts"
import * as BatchParts from "./BatchParts.ts"
import { readFacts } from "./readFacts.ts"
import type { Writes } from "../log/BatchPart.ts"
import * as DueWork from "../outbox/DueWork.ts"
import type { LogStorage, LogTransaction, Write } from "./LogStorage.ts"
import { begins, type ChangedStream } from "../log/StreamRef.ts"
import type { OutboxRow } from "../outbox/OutboxRow.ts"
import * as LogReads from "../feed/LogReads.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"

export interface Options {
  readonly sql: Sql
  readonly connection: PipelinedConnection.PipelinedConnection
  readonly readModels: ReadonlyArray<ReadModel>
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
  readModels,
  sql: { driver: sql },
}: Options): LogStorage => {
  const transactionOn = (send: PipelinedConnection.Send): LogTransaction => ({
    readStreams: (ranges) => SqlErrors.asStorageErrors(LogReads.readStreams(sql, ranges)),
    readFacts: (needs, now) => SqlErrors.asStorageErrors(readFacts(sql, needs, now, place.isApart)),
    findAnswers: (refs, now) =>
      Effect.andThen(
        send(StoredAnswers.lock(sql, refs)),
        SqlErrors.asStorageErrors(StoredAnswers.find(sql, refs, now)),
      ),
    write: (write) =>
      Effect.andThen(
        directory.write(write),
        Effect.suspend(() => Effect.forEach(writeStatements(sql, readModels, write, place), send, { discard: true })),
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
 * Returns the writes of a batch: one statement with a part for each table, after the changes of outbox rows that the parts
 * write as well. Where statements are `apart`, writes that need no others are statements of their own, with plain inserts.
 */
const writeStatements = (
  sql: Client<SqlError.SqlError>,
  readModels: ReadonlyArray<ReadModel>,
  { changedStreams, events, now, rows }: Write,
  { isApart, schema }: TablePlace,
): ReadonlyArray<Statement<object, SqlError.SqlError>> => {
  const writes: Array<Writes> = []
  for (const model of readModels) writes.push(modelWrites(sql, model, changedStreams, isApart))
  for (const [, part] of BatchParts.all) {
    const ofPart = rows.of(part)
    if (ofPart.length > 0) writes.push(part.write?.(sql, ofPart, { changedStreams, now, isApart }) ?? {})
  }
  const before = writes.flatMap((each) => each.before ?? [])
  const separable = writes.flatMap((each) => each.separable ?? [])
  const joint = writes.flatMap((each) => each.joint ?? [])
  // Apart, events follow all tables, because these are locked before positions are taken.
  const [parts, apart] = isApart
    ? [joint, [...separable, insertEvents(sql, events, now)]]
    : [[insertEvents(sql, events, now), ...separable, ...joint], []]
  return [
    ...before.map((query) => sql`${query}`),
    ...withWakeUps(sql, parts, WakeUps.due(DueWork.armed(rows), now), schema),
    ...apart.map((query) => sql`${query}`),
  ]
}

/** Returns the writes of a read model. Rows of streams that begin cannot be there yet, the others are. */
const modelWrites = (
  sql: Client<SqlError.SqlError>,
  model: ReadModel,
  changedStreams: ReadonlyArray<ChangedStream>,
  isApart: boolean,
): Writes => {
  const { changed, insert, insertApart, update, write } = model
  if (isApart && insertApart !== undefined)
    return { separable: partOf(rowsOf(model, changedStreams), (rows) => insertApart(sql, rows)), joint: [] }
  if (insert === undefined)
    return { separable: [], joint: partOf(rowsOf(model, changedStreams), (rows) => write(sql, rows)) }
  const begun = changedStreams.filter(begins)
  const continued = begun.length === changedStreams.length ? [] : changedStreams.filter((stream) => !begins(stream))
  return {
    separable: partOf(rowsOf(model, begun), (rows) => insert(sql, rows)),
    joint: partOf(rowsOf(model, continued, changed), (rows) => (update ?? write)(sql, rows)),
  }
}

const partOf = <A>(rows: ReadonlyArray<A>, part: (rows: ReadonlyArray<A>) => Fragment): ReadonlyArray<Fragment> =>
  rows.length === 0 ? [] : [part(rows)]

/** The wake-ups of home are the answer of its statement. Elsewhere jobs may not be added beside the tables. */
const withWakeUps = (
  sql: Client<SqlError.SqlError>,
  parts: ReadonlyArray<Fragment>,
  kinds: ReadonlyArray<OutboxRow["kind"]>,
  schema: string,
): ReadonlyArray<Statement<object, SqlError.SqlError>> => {
  const ctes = parts.map((part, nth) => sql`${sql.literal(`part_${nth}`)} AS (${part})`)
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
