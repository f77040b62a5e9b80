import { type PgClient, PgTypes } from "@effect/sql-pg"
import { type Cause, Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import type { Fragment, Statement } from "effect/sql/Statement"
import * as AccountNames from "../cells/AccountNames.ts"
import { type CellName, FIRST } from "../cells/CellName.ts"
import { ContentTemplates } from "../content/ContentTemplates.ts"
import * as StoredContent from "../content/StoredContent.ts"
import * as Feed from "../feed/Feed.ts"
import * as Watermark from "../feed/Watermark.ts"
import * as StoredAnswers from "../idempotency/StoredAnswers.ts"
import * as Outbox from "../outbox/Outbox.ts"
import * as Iso from "../postgres/Iso.ts"
import type * as PipelinedConnection from "../postgres/PipelinedConnection.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import { type ReadModel, rowsOf } from "../readmodels/ReadModel.ts"
import * as WebhookDeliveries from "../webhooks/WebhookDeliveries.ts"
import * as AccountLocks from "./AccountLocks.ts"
import * as BatchReads from "./BatchReads.ts"
import {
  Failed,
  type ChangedStream,
  type LogStorage,
  OutcomeUnknown,
  type OutboxRow,
  type LogTransaction,
  streamKey,
  type RowClaim,
  RowRejected,
  type TransactionScope,
  type StorageError,
  type StreamRange,
  TryAgain,
  type Write,
} from "./LogStorage.ts"
import type { EventRow, Stored } from "./RecordedEvents.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"

export const make = (
  sql: PgClient.PgClient,
  connection: PipelinedConnection.PipelinedConnection,
  readModels: ReadonlyArray<ReadModel>,
  /** Runs after each commit, before its callers are answered. */
  onCommitted: (accounts: ReadonlyArray<string>) => Effect.Effect<void> = () => Effect.void,
  names: AccountNames.AccountNames = AccountNames.none,
  cell: CellName = FIRST,
): LogStorage => {
  const templates = new ContentTemplates()
  const transactionOn = (send: PipelinedConnection.Send): LogTransaction => ({
    readStreams: (ranges) => withStorageErrors(readStreams(sql, ranges)),
    readFacts: (needs, now) => withStorageErrors(BatchReads.readFacts(sql, needs, now)),
    findAnswers: (claims, now) => withStorageErrors(StoredAnswers.find(sql, claims, now)),
    insertAnswers: (answers, now) => withStorageErrors(StoredAnswers.insert(sql, answers, now)),
    write: (write) =>
      Effect.suspend(() =>
        Effect.forEach([...names.writes(write), ...writeStatements(sql, readModels, templates, write, cell)], send, {
          discard: true,
        }),
      ),
  })
  return {
    readStreams: (ranges) => withStorageErrors(readStreams(sql, ranges)),
    feed: (query) => withStorageErrors(Feed.read(sql, query)),
    transaction: (scope, body, onWritten) =>
      connection
        .transaction(
          (send) =>
            send(begin(sql, scope)).pipe(
              Effect.andThen(withStorageErrors(names.check(scope.accounts))),
              Effect.andThen(body(transactionOn(send))),
            ),
          onWritten,
        )
        .pipe(
          withStorageErrors,
          Effect.tap(() => onCommitted(scope.accounts)),
        ),
    isCommitted: (event, scope) =>
      Effect.tap(withStorageErrors(isInLog(sql, event)), (isCommitted) =>
        isCommitted ? onCommitted(scope.accounts) : Effect.void,
      ),
  }
}

/**
 * Returns whether the event of a lost transaction is in the log. The transaction may still be under way: its writes and its
 * COMMIT may not even have arrived. It announced itself to the readers of the feed before the position that is allocated
 * here, so once the log is quiet up to that position, an event that is missing will never be written.
 */
const isInLog = Effect.fnUntraced(function* (sql: PgClient.PgClient, event: Stored) {
  const position = (yield* Watermark.allocate(sql))[0]?.position ?? 0n
  const upTo = yield* Feed.quiet(sql)
  const rows = yield* sql`
    SELECT 1 AS one FROM events WHERE account_id = ${event.account_id} AND stream_id = ${event.stream_id}
      AND version = ${event.version} AND event_id = ${event.event_id}`
  if (rows.length > 0) return true
  if (upTo < position) return yield* new OutcomeUnknown({ cause: "the lost transaction may still be under way" })
  return false
})

/**
 * First statement of each transaction: locks its accounts in the order of the key, then announces its writes to the readers
 * of the feed. No reader goes past an announced transaction, so the announcement must follow all waiting for locks; the
 * condition on `locks`, which always holds, makes Postgres evaluate them in this order.
 */
const begin = (sql: PgClient.PgClient, { accounts, isExclusive }: TransactionScope) => sql`
  WITH locked AS MATERIALIZED (
    SELECT count(taken) AS locks FROM (
      SELECT ${sql.literal(isExclusive ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared")}(${AccountLocks.ACCOUNT_LOCKS}::int, key)::text AS taken
      FROM (
        SELECT DISTINCT hashtext(account_id) AS key FROM unnest(${AccountLocks.locksOf(accounts)}::text[]) AS a(account_id) ORDER BY 1
      ) AS keys
    ) AS taking
  )
  SELECT 1 AS announced FROM locked CROSS JOIN LATERAL (${Watermark.announcement(sql, sql`locked.locks >= 0`)}) AS announcement`

/** Locks accounts exclusively until the end of the transaction: no commit of them is under way then. */
export const lockAccounts = (sql: PgClient.PgClient, accounts: ReadonlyArray<string>) =>
  begin(sql, { accounts, isExclusive: true })

/** Maximum of the type of versions. */
const LAST_VERSION = 2 ** 31 - 1

/** Reads ranges of streams; the events of each stream are in order. */
export const readStreams = Effect.fnUntraced(function* (sql: PgClient.PgClient, ranges: ReadonlyArray<StreamRange>) {
  const rows = yield* sql<PackedEvent.Row<EventRow>>`
    SELECT e.position, e.event_id, e.account_id, e.stream_id, e.stream, e.version, e.type, ${PackedSql.columns(sql, "e")},
      ${Iso.iso(sql, "e.recorded_at")} AS recorded_at, e.xmin::text AS xmin
    FROM unnest(${ranges.map((range) => range.account_id)}::text[], ${ranges.map((range) => range.stream_id)}::text[],
      ${ranges.map(({ from = 1 }) => from)}::int[], ${ranges.map(({ to = LAST_VERSION }) => to)}::int[])
      AS wanted(account_id, stream_id, first, last)
    JOIN events e ON e.account_id = wanted.account_id AND e.stream_id = wanted.stream_id
      AND e.version >= wanted.first AND e.version <= wanted.last
    ORDER BY e.account_id, e.stream_id, e.version`
  const byStream = new Map<string, Array<EventRow>>()
  for (const packed of rows) {
    const row = PackedEvent.open(packed)
    const key = streamKey(row)
    const events = byStream.get(key)
    if (events === undefined) byStream.set(key, [row])
    else events.push(row)
  }
  return byStream
})

const texts = (values: ReadonlyArray<string | null>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))
const jsonb = (values: ReadonlyArray<unknown>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.jsonb))

/**
 * Returns the writes of a batch: one statement with a part for each table, after the changes of outbox rows that the parts
 * write as well. Postgres does only one of two writes to the same row in one statement, so a lease is released before its
 * row is armed again.
 */
const writeStatements = (
  sql: PgClient.PgClient,
  readModels: ReadonlyArray<ReadModel>,
  templates: ContentTemplates,
  write: Write,
  cell: CellName,
): ReadonlyArray<Statement<object>> => {
  const { arm, claim, disarm, release } = write.outbox
  const disarmed = new Set(disarm)
  const released = release.filter((id) => !disarmed.has(id))
  const parts: Array<Fragment> = [events(sql, write)]
  for (const model of readModels) parts.push(...modelParts(sql, model, write.changedStreams))
  if (write.content.length > 0) parts.push(...StoredContent.inserts(sql, templates, write.content))
  if (write.usage.length > 0) parts.push(usage(sql, write.usage))
  if (write.deliveries.length > 0) parts.push(WebhookDeliveries.insert(sql, write.deliveries))
  if (arm.length > 0) parts.push(Outbox.rows(sql, arm, write.now, claim))
  const ctes = parts.map((part, nth) => sql`${sql.literal(`part_${nth}`)} AS (${part})`)
  return [
    ...(released.length > 0 ? [Outbox.release(sql, released)] : []),
    ...(disarm.length > 0 ? [Outbox.disarm(sql, disarm)] : []),
    ...withWakeUps(sql, ctes, Outbox.due(unclaimed(arm, claim), write.now), cell),
  ]
}

/** Returns the parts that write the rows of a read model. Those of streams that begin cannot be there yet. */
const modelParts = (
  sql: PgClient.PgClient,
  model: ReadModel,
  changedStreams: ReadonlyArray<ChangedStream>,
): ReadonlyArray<Fragment> => {
  const { insert, write } = model
  if (insert === undefined) return partOf(rowsOf(model, changedStreams), (rows) => write(sql, rows))
  const begins = ({ added, version }: ChangedStream) => version === added.length
  const begun = changedStreams.filter(begins)
  const continued = begun.length === changedStreams.length ? [] : changedStreams.filter((stream) => !begins(stream))
  return [
    ...partOf(rowsOf(model, begun), (rows) => insert(sql, rows)),
    ...partOf(rowsOf(model, continued), (rows) => write(sql, rows)),
  ]
}

const partOf = <A>(rows: ReadonlyArray<A>, part: (rows: ReadonlyArray<A>) => Fragment): ReadonlyArray<Fragment> =>
  rows.length === 0 ? [] : [part(rows)]

const unclaimed = (arm: ReadonlyArray<OutboxRow>, claim: RowClaim | undefined): ReadonlyArray<OutboxRow> =>
  claim === undefined ? arm : arm.filter(({ id }) => !claim.ids.has(id))

/** The wake-ups of the first cell are part of its statement. Citus joins no table of another cell with those of the jobs. */
const withWakeUps = (
  sql: PgClient.PgClient,
  ctes: ReadonlyArray<Fragment>,
  kinds: ReadonlyArray<OutboxRow["kind"]>,
  cell: CellName,
): ReadonlyArray<Statement<object>> => {
  if (cell === FIRST && kinds.length > 0) return [sql`WITH ${sql.csv([...ctes, Outbox.wakeUps(sql, kinds, cell)])}`]
  const written = sql`WITH ${sql.csv(ctes)} SELECT 1 AS written`
  return kinds.length === 0 ? [written] : [written, sql`WITH ${Outbox.wakeUps(sql, kinds, cell)}`]
}

/**
 * Inserts events. The answer serves only Citus: without one it copies the rows to the node, and then an error, such as a
 * taken version of a stream, loses its SQLSTATE.
 */
const events = (sql: PgClient.PgClient, { events: rows, now }: Write) => {
  const columns = rows.map(PackedEvent.columnsOf)
  // Most batches have only packed events.
  const isPacked = columns.every(({ packed }) => packed !== null)
  const json = isPacked
    ? sql``
    : sql`, ${jsonb(columns.map(({ data }) => data))}, ${jsonb(columns.map(({ meta }) => meta))}`
  return sql`
  INSERT INTO events (recorded_at, account_id, stream_id, version, stream, type, event_id, packed${sql.literal(isPacked ? "" : ", data, meta")})
  SELECT ${now}::timestamptz, * FROM unnest(${rows.map((row) => row.account_id)}::text[],
    ${rows.map((row) => row.stream_id)}::text[], ${rows.map((row) => row.version)}::int[],
    ${rows.map((row) => row.stream)}::text[], ${rows.map((row) => row.type)}::text[],
    ${rows.map((row) => row.event_id)}::text[], ${texts(columns.map(({ packed }) => packed))}${json})
  RETURNING 1 AS written`
}

const usage = (sql: PgClient.PgClient, entries: Write["usage"]) => sql`
  UPDATE monthly_usage u SET accepted = greatest(0, u.accepted + d.delta)
  FROM unnest(${entries.map((entry) => entry.account_id)}::text[], ${entries.map((entry) => entry.month)}::text[],
    ${entries.map((entry) => entry.delta)}::bigint[]) AS d(account_id, month, delta)
  WHERE u.account_id = d.account_id AND u.month = d.month`

/**
 * Turns database errors into storage errors. A connection lost inside a transaction arrives as a defect, because the
 * rollback that follows cannot be sent.
 */
const withStorageErrors = <A>(
  effect: Effect.Effect<A, SqlError.SqlError | StorageError>,
): Effect.Effect<A, StorageError> =>
  Effect.catchCause(effect, (cause) => {
    for (const reason of cause.reasons) {
      const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
      if (isStorageError(error)) return Effect.fail(error)
      if (error instanceof SqlError.SqlError) return Effect.fail(SqlErrors.classify(error))
    }
    return Effect.failCause(cause as Cause.Cause<never>)
  })

const isStorageError = (error: unknown): error is StorageError =>
  error instanceof TryAgain ||
  error instanceof RowRejected ||
  error instanceof OutcomeUnknown ||
  error instanceof Failed
