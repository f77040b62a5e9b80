import type { PgClient } from "@effect/sql-pg"
import * as Id from "@waybill/domain/values/Id"
import { type Cause, Clock, Context, Duration, Effect, Layer, Metric, type Redacted, Scope, Semaphore } from "effect"
import * as Databases from "../routing/Databases.ts"
import * as PerDatabase from "../routing/PerDatabase.ts"
import * as Metrics from "../log/Metrics.ts"
import { unlessAway } from "../postgres/StoreUnavailable.ts"
import * as LogDay from "./LogDay.ts"
import { type Caller, type Charged, RequestLogBudget } from "./RequestLogBudget.ts"
import * as RequestLogConnection from "./RequestLogConnection.ts"
import type { Change } from "./RequestLogCounts.ts"
import type { Row } from "./RequestRow.ts"

/** How often rows are written, in one statement; the request log lags its answers by as much. */
export const FLUSH_EVERY = Duration.millis(500)
/** Maximum rows and bytes that wait to be written. Beyond them, calls are not logged but counted. */
export const MAX_ROWS_WAITING = 10_000
export const MAX_BYTES_WAITING = 16 * 1024 * 1024
/**
 * Number of accepted calls that are logged between two writes on average, and after a pause. Each costs a fifth of a send, so
 * that a busy service logs all refused calls and as many accepted ones as cost little; their messages are in the event log
 * anyway.
 */
export const ACCEPTED_PER_FLUSH = 50
export const MAX_ACCEPTED_AT_ONCE = 1_000
/** Maximum rows of a statement, so that their encoding does not hold up the event loop. */
const MAX_ROWS_PER_STATEMENT = 1_000
/** Size of a row on disk beside its texts, with its entries in indexes, as measured (docs/decisions/data.md, 0039). */
const ROW_BYTES = 850
/** Size of the key of a recipient, with its entry in the index. */
const RECIPIENT_BYTES = 40

const countUnlogged = Metrics.seriesBy(
  Metric.counter("waybill_requests_not_logged_total", {
    description:
      "API calls that this process left out of the request log, because too many waited, a bound was reached or a write failed",
    incremental: true,
  }),
  "cause",
  ["many_accepted", "buffer_full", "beyond_bounds", "write_failed"],
)

export interface Writer {
  /**
   * Notes a call, which `make` describes unless too many wait, too many accepted ones came lately, or the bounds of its caller are
   * reached. Such a call is counted.
   */
  readonly note: (caller: Caller, make: () => Row, isAccepted: boolean) => void
  /** Writes what waits. */
  readonly flush: Effect.Effect<void>
}

/** Writes the request log beside the answers; `undefined` if the log is off. */
export const RequestLogWriter = Context.Reference<Writer | undefined>("@waybill/store/requests/RequestLogWriter", {
  defaultValue: () => undefined,
})

/** Writes on connections of its own, one for each database, so that no request waits behind the rows. */
export const layer = (url: Redacted.Redacted): Layer.Layer<never, never, PgClient.PgClient> =>
  Layer.effect(RequestLogWriter, make(url))

const make = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const withDatabases = yield* Databases.provider
  const clock = yield* Clock.Clock
  // Closed after the last write.
  const scope = yield* Scope.fork(yield* Effect.scope)
  const connections = yield* Scope.provide(PerDatabase.make(RequestLogConnection.make(url)), scope)
  const budget = new RequestLogBudget()
  let waiting: Array<Row> = []
  let bytes = 0
  /** Number of accepted calls that may be logged now, and of those that were left out since the last write. */
  let allowed = MAX_ACCEPTED_AT_ONCE
  let leftOut = 0
  let beyondBounds = 0
  /** One write at a time. */
  const turn = yield* Semaphore.make(1)

  const lose = (rows: ReadonlyArray<Row & Charged>, cause: Cause.Cause<unknown>) => {
    countUnlogged("write_failed", rows.length)
    budget.giveBack(rows)
    return unlessAway(Effect.logWarning(`${rows.length} API calls could not be logged`, cause), cause)
  }
  /** Rows of accounts in the last step of their move, for the next write. */
  let postponed: Array<Row> = []
  /** Adds what comes from a database's accounts to the sums of all processes there, and writes the rows that fit in them. */
  const writeTo = Effect.fnUntraced(function* (
    name: string,
    changes: ReadonlyArray<Change>,
    rows: ReadonlyArray<Row & Charged>,
    now_ms: number,
  ) {
    const { add, copy } = yield* connections.at(name)
    const totals = yield* Effect.exit(add(changes))
    if (totals._tag === "Failure") {
      budget.restore(changes)
      // Nothing is kept that is not counted.
      return yield* rows.length === 0 ? Effect.void : lose(rows, totals.cause)
    }
    const kept = budget.settle(name, rows, totals.value, now_ms)
    const isKept = new Set(kept)
    const beyond = rows.filter((row) => !isKept.has(row))
    beyondBounds += beyond.length
    budget.giveBack(beyond)
    if (kept.length > 0) yield* Effect.catchCause(copy(kept), (cause) => lose(kept, cause))
  })
  /** Writes rows, and counts calls that were not kept, in the database of each account, in all of them at once. */
  const writeAll = Effect.fnUntraced(function* (batch: ReadonlyArray<Row>) {
    const now_ms = clock.currentTimeMillisUnsafe()
    const rows = batch.map((row) => ({ ...row, day: dayOf(row.id), bytes: sizeOf(row) }))
    const changes = budget.take(rows, now_ms)
    if (changes.length === 0) return
    const { fenced, placed } = yield* withDatabases(Databases.place(changes))
    const nameOf = new Map(
      placed.flatMap(({ name, rows }) => rows.map(({ account_id }) => [account_id, name] as const)),
    )
    const rowsOf = Map.groupBy(rows, ({ account_id }) => nameOf.get(account_id))
    const later = rowsOf.get(undefined) ?? []
    budget.restore(fenced)
    budget.uncount(later)
    postponed.push(...later)
    yield* Effect.forEach(placed, ({ name, rows, run }) => run(writeTo(name, rows, rowsOf.get(name) ?? [], now_ms)), {
      concurrency: "unbounded",
      discard: true,
    })
  })

  const flush = Effect.gen(function* () {
    allowed = Math.min(allowed + ACCEPTED_PER_FLUSH, MAX_ACCEPTED_AT_ONCE)
    do {
      const batch = waiting.slice(0, MAX_ROWS_PER_STATEMENT)
      yield* writeAll(batch)
      // Counted until they are written, so that a slow database holds no more than the maximum.
      waiting = waiting.slice(batch.length)
      for (const row of batch) bytes -= sizeOf(row)
    } while (waiting.length > 0)
    waiting = postponed
    postponed = []
    for (const row of waiting) bytes += sizeOf(row)
    if (leftOut > 0) countUnlogged("many_accepted", leftOut)
    if (beyondBounds > 0) countUnlogged("beyond_bounds", beyondBounds)
    leftOut = beyondBounds = 0
  }).pipe(turn.withPermit, Effect.uninterruptible, Effect.withSpan("RequestLogWriter.flush"))
  const flushLast = Effect.andThen(
    flush,
    Effect.sync(() => countUnlogged("write_failed", waiting.length)),
  )
  yield* Effect.addFinalizer(() => flushLast)
  yield* Effect.forkScoped(Effect.forever(Effect.delay(flush, FLUSH_EVERY)))

  const note = (caller: Caller, makeRow: () => Row, isAccepted: boolean): void => {
    if (isAccepted && allowed === 0) {
      leftOut++
      return budget.skip(caller)
    }
    if (waiting.length >= MAX_ROWS_WAITING || bytes >= MAX_BYTES_WAITING) {
      countUnlogged("buffer_full", 1)
      return budget.skip(caller)
    }
    if (!budget.permits(caller, isAccepted, clock.currentTimeMillisUnsafe())) {
      beyondBounds++
      return budget.skip(caller)
    }
    if (isAccepted) allowed--
    const row = makeRow()
    budget.charge(caller, sizeOf(row))
    bytes += sizeOf(row)
    waiting.push(row)
  }
  return { note, flush } satisfies Writer
})

const sizeOf = ({ answer, body, path, query, recipients }: Row): number =>
  // A path is also in an index.
  ROW_BYTES +
  Buffer.byteLength(body) +
  Buffer.byteLength(answer) +
  2 * Buffer.byteLength(path) +
  Buffer.byteLength(query) +
  RECIPIENT_BYTES * (recipients?.length ?? 0)

/** Returns the day of a request id, which begins with its time. */
const dayOf = (id: string): LogDay.Day => LogDay.dayOf(Id.timeOf(id))
