import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { SqlError } from "effect/sql"
import * as DirectoryPart from "./DirectoryPart.ts"
import { FIRST } from "../routing/CellName.ts"
import * as CanceledContent from "../content/CanceledContent.ts"
import * as InboundContent from "../content/InboundContent.ts"
import * as StoredContent from "../content/StoredContent.ts"
import * as Feed from "../feed/Feed.ts"
import * as StoredAnswers from "../idempotency/StoredAnswers.ts"
import * as Outbox from "../outbox/Outbox.ts"
import * as WakeUps from "../outbox/WakeUps.ts"
import * as Arrays from "../postgres/Arrays.ts"
import type * as PipelinedConnection from "../routing/PipelinedConnection.ts"
import type { Client, Sql, Statement } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import { type ReadModel, rowsOf } from "../readmodels/ReadModel.ts"
import * as WebhookDeliveries from "../webhooks/WebhookDeliveries.ts"
import * as AccountLocks from "../locks/AccountLocks.ts"
import * as UsageRows from "../facts/UsageRows.ts"
import * as UnsentRows from "../facts/UnsentRows.ts"
import * as FactReads from "../facts/FactReads.ts"
import type { LogStorage, LogTransaction, Write } from "./LogStorage.ts"
import type { ChangedStream } from "../log/StreamRef.ts"
import type { OutboxRow } from "../outbox/OutboxRow.ts"
import * as LogReads from "../feed/LogReads.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"

/** Where the tables of a cell are. */
export interface Place {
  readonly schema: string
  /** Whether they are on a node of Citus. */
  readonly isOnNode: boolean
}

export interface Options {
  readonly sql: Sql
  readonly connection: PipelinedConnection.PipelinedConnection
  readonly readModels: ReadonlyArray<ReadModel>
  /** Runs after each commit, before its callers are answered. */
  readonly onCommitted?: (accounts: ReadonlyArray<string>) => Effect.Effect<void>
  readonly directory?: DirectoryPart.DirectoryPart
  readonly place?: Place
}

export const make = ({
  connection,
  directory = DirectoryPart.none,
  onCommitted = () => Effect.void,
  place = { schema: FIRST, isOnNode: false },
  readModels,
  sql: { driver: sql },
}: Options): LogStorage => {
  const transactionOn = (send: PipelinedConnection.Send): LogTransaction => ({
    readStreams: (ranges) => SqlErrors.asStorageErrors(LogReads.readStreams(sql, ranges)),
    readFacts: (needs, now) => SqlErrors.asStorageErrors(FactReads.readFacts(sql, needs, now, place.isOnNode)),
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
 * write as well. Postgres does only one of two writes to the same row in one statement, so a lease is released before its
 * row is armed again. On a node of Citus, writes that need no others are statements of their own: Citus copies plain inserts, and keeps
 * the plans of simple changes, but writes the rows of an insert that is a part into a file first.
 */
const writeStatements = (
  sql: Client<SqlError.SqlError>,
  readModels: ReadonlyArray<ReadModel>,
  write: Write,
  { isOnNode, schema }: Place,
): ReadonlyArray<Statement<object, SqlError.SqlError>> => {
  const { arm, settle, release } = write.outbox
  const settled = new Set(settle)
  const released = release.filter((id) => !settled.has(id))
  /** Writes that are statements of their own on a node of Citus. */
  const separable: Array<Fragment> = []
  /** Writes that are parts of the one statement there as well. */
  const joint: Array<Fragment> = []
  for (const model of readModels) {
    const writes = modelWrites(sql, model, write.changedStreams, isOnNode)
    separable.push(...writes.separable)
    joint.push(...writes.joint)
  }
  if (write.answers.length > 0) separable.push(StoredAnswers.insert(sql, write.answers))
  if (write.content.length > 0) separable.push(StoredContent.insert(sql, write.content, isOnNode))
  if (write.inbound.length > 0) joint.push(...InboundContent.inserts(sql, write.inbound))
  if (write.unsent.length > 0) joint.push(UnsentRows.add(sql, write.unsent))
  if (write.canceled.length > 0) joint.push(CanceledContent.insert(sql, write.canceled, write.now))
  if (write.deliveries.length > 0) joint.push(WebhookDeliveries.insert(sql, write.deliveries))
  const [newRows, rows] = isOnNode ? splitArmed(arm, write.changedStreams) : [[], arm]
  if (newRows.length > 0) separable.push(Outbox.arm(sql, { rows: newRows, now: write.now, isNew: true }))
  if (rows.length > 0) joint.push(Outbox.arm(sql, { rows, now: write.now }))
  if (write.usage.length > 0) separable.push(UsageRows.add(sql, write.usage))
  if (settle.length > 0) separable.push(Outbox.settle(sql, settle))
  // Events follow all tables on a node, because these are locked before positions are taken.
  const [parts, apart] = isOnNode
    ? [joint, [...separable, events(sql, write)]]
    : [[events(sql, write), ...separable, ...joint], []]
  return [
    ...(released.length > 0 ? [Outbox.release(sql, released)] : []),
    ...withWakeUps(sql, parts, WakeUps.due(arm, write.now), schema),
    ...apart.map((query) => sql`${query}`),
  ]
}

/** Separates outbox rows that cannot be there yet, those of streams that begin and of calls, from the others. */
const splitArmed = (
  rows: ReadonlyArray<OutboxRow>,
  changedStreams: ReadonlyArray<ChangedStream>,
): [newRows: ReadonlyArray<OutboxRow>, others: ReadonlyArray<OutboxRow>] => {
  const begun = new Set(changedStreams.filter(begins).map(({ stream_id }) => stream_id))
  const isNew = ({ id, kind }: OutboxRow) => kind === "webhook" || begun.has(id)
  return [rows.filter(isNew), rows.filter((row) => !isNew(row))]
}

const begins = ({ added, version }: ChangedStream): boolean => version === added.length

/** Returns the writes of a read model. Rows of streams that begin cannot be there yet, the others are. */
const modelWrites = (
  sql: Client<SqlError.SqlError>,
  model: ReadModel,
  changedStreams: ReadonlyArray<ChangedStream>,
  isOnNode: boolean,
): { readonly separable: ReadonlyArray<Fragment>; readonly joint: ReadonlyArray<Fragment> } => {
  const { changed, insert, insertOnNode, update, write } = model
  if (isOnNode && insertOnNode !== undefined)
    return { separable: partOf(rowsOf(model, changedStreams), (rows) => insertOnNode(sql, rows)), joint: [] }
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

/** The wake-ups of the first cell are the answer of its statement. Citus adds no jobs beside the tables of another cell. */
const withWakeUps = (
  sql: Client<SqlError.SqlError>,
  parts: ReadonlyArray<Fragment>,
  kinds: ReadonlyArray<OutboxRow["kind"]>,
  schema: string,
): ReadonlyArray<Statement<object, SqlError.SqlError>> => {
  const ctes = parts.map((part, nth) => sql`${sql.literal(`part_${nth}`)} AS (${part})`)
  const wakeUps = WakeUps.jobs(sql, kinds, schema)
  if (schema === FIRST && kinds.length > 0) return [sql`WITH ${sql.csv(ctes)} ${wakeUps}`]
  const written = ctes.length === 0 ? [] : [sql`WITH ${sql.csv(ctes)} SELECT 1 AS written`]
  return kinds.length === 0 ? written : [...written, sql`${wakeUps}`]
}

const events = (sql: Client<SqlError.SqlError>, { events: rows, now }: Write) => {
  const columns = rows.map(PackedEvent.columnsOf)
  return sql`
  INSERT INTO events (position, recorded_at, account_id, stream_id, version, stream, type, event_id, packed, data, meta)
  SELECT nextval('event_position'), ${now}::timestamptz, * FROM unnest(${Arrays.texts(rows.map((row) => row.account_id))},
    ${Arrays.texts(rows.map((row) => row.stream_id))}, ${Arrays.ints(rows.map((row) => row.version))},
    ${Arrays.texts(rows.map((row) => row.stream))}, ${Arrays.texts(rows.map((row) => row.type))},
    ${Arrays.texts(rows.map((row) => row.event_id))}, ${Arrays.texts(columns.map(({ packed }) => packed))},
    ${Arrays.jsonbs(columns.map(({ data }) => data))}, ${Arrays.jsonbs(columns.map(({ meta }) => meta))})`
}
