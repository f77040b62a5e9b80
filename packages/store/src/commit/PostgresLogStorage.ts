import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { SqlError } from "effect/sql"
import * as AccountNames from "./AccountNames.ts"
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

export const make = (
  { driver: sql }: Sql,
  connection: PipelinedConnection.PipelinedConnection,
  readModels: ReadonlyArray<ReadModel>,
  /** Runs after each commit, before its callers are answered. */
  onCommitted: (accounts: ReadonlyArray<string>) => Effect.Effect<void> = () => Effect.void,
  names: AccountNames.AccountNames = AccountNames.none,
  place: Place = { schema: FIRST, isOnNode: false },
): LogStorage => {
  const transactionOn = (send: PipelinedConnection.Send): LogTransaction => ({
    readStreams: (ranges) => SqlErrors.asStorageErrors(LogReads.readStreams(sql, ranges)),
    readFacts: (needs, now) => SqlErrors.asStorageErrors(FactReads.readFacts(sql, needs, now, place.isOnNode)),
    findAnswers: (claims, now) => SqlErrors.asStorageErrors(StoredAnswers.find(sql, claims, now)),
    insertAnswers: (answers, now) => SqlErrors.asStorageErrors(StoredAnswers.insert(sql, answers, now)),
    write: (write) =>
      Effect.andThen(
        names.write(write),
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
              Effect.andThen(SqlErrors.asStorageErrors(names.check(scope.accounts)), body(transactionOn(send))),
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
 * row is armed again. On a node of Citus, parts that cost less alone are statements of their own: Citus copies plain inserts,
 * and keeps the plans of simple changes, but writes the rows of an insert that is a part into a file first.
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
  const alone: Array<Fragment> = []
  const parts: Array<Fragment> = []
  const simple = isOnNode ? alone : parts
  for (const model of readModels) {
    const { begun, other } = modelParts(sql, model, write.changedStreams, isOnNode)
    simple.push(...begun)
    parts.push(...other)
  }
  if (write.content.length > 0) simple.push(StoredContent.insert(sql, write.content, isOnNode))
  if (write.inbound.length > 0) parts.push(...InboundContent.inserts(sql, write.inbound))
  if (write.unsent.length > 0) parts.push(UnsentRows.add(sql, write.unsent))
  if (write.canceled.length > 0) parts.push(CanceledContent.insert(sql, write.canceled, write.now))
  if (write.deliveries.length > 0) parts.push(WebhookDeliveries.insert(sql, write.deliveries))
  const isNew = isOnNode ? isBegun(write.changedStreams) : () => false
  simple.push(
    ...partOf(
      arm.filter((row) => isNew(row)),
      (rows) => Outbox.arm(sql, { rows, now: write.now, isNew: true }),
    ),
  )
  parts.push(
    ...partOf(
      arm.filter((row) => !isNew(row)),
      (rows) => Outbox.arm(sql, { rows, now: write.now }),
    ),
  )
  if (write.usage.length > 0) simple.push(UsageRows.add(sql, write.usage))
  if (settle.length > 0) simple.push(Outbox.settle(sql, settle))
  // Elsewhere than on a node, the events are the first part. There they follow all tables, which are locked before positions are taken.
  if (isOnNode) alone.push(events(sql, write))
  else parts.unshift(events(sql, write))
  return [
    ...(released.length > 0 ? [Outbox.release(sql, released)] : []),
    ...withWakeUps(sql, parts, WakeUps.due(arm, write.now), schema),
    ...alone.map((query) => sql`${query}`),
  ]
}

/** Returns which outbox rows cannot be there yet: those of streams that begin, and of calls. */
const isBegun = (changedStreams: ReadonlyArray<ChangedStream>) => {
  const begun = new Set(changedStreams.filter(begins).map(({ stream_id }) => stream_id))
  return ({ id, kind }: OutboxRow) => kind === "webhook" || begun.has(id)
}

const begins = ({ added, version }: ChangedStream): boolean => version === added.length

/** Returns the parts that write the rows of a read model. Those of streams that begin cannot be there yet, the others are. */
const modelParts = (
  sql: Client<SqlError.SqlError>,
  model: ReadModel,
  changedStreams: ReadonlyArray<ChangedStream>,
  isOnNode: boolean,
): { readonly begun: ReadonlyArray<Fragment>; readonly other: ReadonlyArray<Fragment> } => {
  const { changed, insert, update, values, write } = model
  if (isOnNode && values !== undefined)
    return { begun: partOf(rowsOf(model, changedStreams), (rows) => values(sql, rows)), other: [] }
  if (insert === undefined)
    return { begun: [], other: partOf(rowsOf(model, changedStreams), (rows) => write(sql, rows)) }
  const begun = changedStreams.filter(begins)
  const continued = begun.length === changedStreams.length ? [] : changedStreams.filter((stream) => !begins(stream))
  return {
    begun: partOf(rowsOf(model, begun), (rows) => insert(sql, rows)),
    other: partOf(rowsOf(model, continued, changed), (rows) => (update ?? write)(sql, rows)),
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
  // Most batches have only packed events.
  const isPacked = columns.every(({ packed }) => packed !== null)
  const json = isPacked
    ? sql``
    : sql`, ${Arrays.jsonbs(columns.map(({ data }) => data))}, ${Arrays.jsonbs(columns.map(({ meta }) => meta))}`
  return sql`
  INSERT INTO events (position, recorded_at, account_id, stream_id, version, stream, type, event_id, packed${sql.literal(isPacked ? "" : ", data, meta")})
  SELECT nextval('event_position'), ${now}::timestamptz, * FROM unnest(${Arrays.texts(rows.map((row) => row.account_id))},
    ${Arrays.texts(rows.map((row) => row.stream_id))}, ${Arrays.ints(rows.map((row) => row.version))},
    ${Arrays.texts(rows.map((row) => row.stream))}, ${Arrays.texts(rows.map((row) => row.type))},
    ${Arrays.texts(rows.map((row) => row.event_id))}, ${Arrays.texts(columns.map(({ packed }) => packed))}${json})`
}
