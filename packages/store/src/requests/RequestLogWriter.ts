import { PgClient } from "@effect/sql-pg"
import * as Id from "@waybill/domain/values/Id"
import { Context, Duration, Effect, Layer, Redacted, Scope, Semaphore } from "effect"
import pg from "pg"
import * as CellName from "../cells/CellName.ts"
import { Cells } from "../cells/Cells.ts"
import { CurrentCell, inCell } from "../cells/CurrentCell.ts"
import * as PerCell from "../cells/PerCell.ts"
import * as Copy from "../copy/Copy.ts"
import { type Column, CopyBinary } from "../copy/CopyBinary.ts"
import * as Metrics from "../statistics/Metrics.ts"
import * as RequestLogDays from "./RequestLogDays.ts"

/** How often rows are written, in one statement; the request log lags its answers by as much. */
export const FLUSH_EVERY = Duration.millis(500)
/** Time limit of a write. A database that is slower gets no rows, and no answer waits for it. */
export const FLUSH_TIMEOUT = Duration.seconds(5)
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
/** Approximate size of a row beside its texts. */
const ROW_BYTES = 200
/**
 * SQLSTATEs of a row that belongs to no partition: check violation and, because Citus passes on the errors of rows that it
 * copies to a node without theirs, internal error.
 */
const NO_PARTITION: ReadonlyArray<unknown> = ["23514", "XX000"]

/** One call, as it is stored. */
export interface Row {
  readonly account_id: string
  readonly id: string
  readonly method: string
  readonly path: string
  readonly query: string
  /** `null` if the client left before the answer. */
  readonly status: number | null
  readonly reason: string | null
  readonly api_key_id: string | null
  readonly user_id: string | null
  readonly address: string
  readonly duration_ms: number
  readonly body_bytes: number
  readonly body: string
  readonly livemode: boolean
}

const TYPES: { readonly [C in keyof Row]: string } = {
  account_id: "text",
  id: "text",
  method: "text",
  path: "text",
  query: "text",
  status: "integer",
  reason: "text",
  api_key_id: "text",
  user_id: "text",
  address: "text",
  duration_ms: "integer",
  body_bytes: "integer",
  body: "text",
  livemode: "boolean",
}
const COLUMNS: ReadonlyArray<Column> = Object.entries(TYPES).map(([name, type]) => ({ name, type }))
const COPY = `COPY request_log (${Object.keys(TYPES).join(", ")}) FROM STDIN (FORMAT binary)`

export interface Writer {
  /** Notes a call, which `make` describes unless too many wait, or too many accepted ones came lately. */
  readonly note: (make: () => Row, isAccepted: boolean) => void
  /** Writes what waits. */
  readonly flush: Effect.Effect<void>
}

/** Writes the request log beside the answers; `undefined` if the log is off. */
export const RequestLogWriter = Context.Reference<Writer | undefined>("@waybill/store/requests/RequestLogWriter", {
  defaultValue: () => undefined,
})

/** Writes on connections of its own, one for each cell, so that no request waits behind the rows. */
export const layer = (url: Redacted.Redacted): Layer.Layer<never, never, PgClient.PgClient> =>
  Layer.effect(RequestLogWriter, make(url))

const make = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const cells = yield* Cells
  // Closed after the last write.
  const scope = yield* Scope.fork(yield* Effect.scope)
  const writers = yield* Scope.provide(PerCell.make(makeWriter(url)), scope)
  let waiting: Array<Row> = []
  let bytes = 0
  /** Number of accepted calls that may be logged now, and of those that were left out since the last write. */
  let allowed = MAX_ACCEPTED_AT_ONCE
  let leftOut = 0
  /** One write at a time. */
  const turn = yield* Semaphore.make(1)

  /** Writes rows to the log of the cell of each account, in all cells at once. */
  const writeToCells = Effect.fnUntraced(function* (batch: ReadonlyArray<Row>) {
    const placed = yield* Effect.forEach(batch, (row) =>
      Effect.map(cells.of(row.account_id), (cell) => ({ cell, row })),
    )
    yield* Effect.forEach(
      Map.groupBy(placed, ({ cell }) => cell),
      ([cell, ofCell]) =>
        Effect.flatMap(writers.at(cell), (write) => inCell(cell, write(ofCell.map(({ row }) => row)))),
      { concurrency: "unbounded", discard: true },
    )
  })
  const writeAll = (batch: ReadonlyArray<Row>) =>
    Effect.catchCause(writeToCells(batch), (cause) => {
      Metrics.requestsNotLogged("write_failed", batch.length)
      return Effect.logWarning(`${batch.length} API calls could not be logged`, cause)
    })

  const flush = Effect.gen(function* () {
    allowed = Math.min(allowed + ACCEPTED_PER_FLUSH, MAX_ACCEPTED_AT_ONCE)
    if (leftOut > 0) Metrics.requestsNotLogged("many_accepted", leftOut)
    leftOut = 0
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_ROWS_PER_STATEMENT)
      yield* writeAll(batch)
      // Counted until they are written, so that a slow database holds no more than the maximum.
      waiting = waiting.slice(batch.length)
      for (const row of batch) bytes -= sizeOf(row)
    }
  }).pipe(turn.withPermit, Effect.uninterruptible, Effect.withSpan("RequestLogWriter.flush"))
  yield* Effect.addFinalizer(() => flush)
  yield* Effect.forkScoped(Effect.forever(Effect.delay(flush, FLUSH_EVERY)))

  const note = (makeRow: () => Row, isAccepted: boolean): void => {
    if (isAccepted && allowed === 0) {
      leftOut++
      return
    }
    if (waiting.length >= MAX_ROWS_WAITING || bytes >= MAX_BYTES_WAITING)
      return Metrics.requestsNotLogged("buffer_full", 1)
    if (isAccepted) allowed--
    const row = makeRow()
    bytes += sizeOf(row)
    waiting.push(row)
  }
  return { note, flush } satisfies Writer
})

/** Returns the writer of rows to the log of the fiber's cell, on a connection of its own. */
const makeWriter = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sql = yield* PgClient.PgClient
  const cell = yield* CurrentCell
  let client: pg.Client | undefined
  const rows = new CopyBinary(COLUMNS)
  const disconnect = () => {
    const former = client
    client = undefined
    return former?.end().catch(() => {})
  }
  const connect = async (): Promise<pg.Client> => {
    if (client !== undefined) return client
    const next = new pg.Client({
      connectionString: Redacted.value(CellName.urlOf(url, cell)),
      application_name: "waybill request log",
      connectionTimeoutMillis: Duration.toMillis(FLUSH_TIMEOUT),
      statement_timeout: Duration.toMillis(FLUSH_TIMEOUT),
    })
    // Without a listener a lost connection would end the process; the next write fails and connects again.
    next.on("error", () => {
      if (client === next) client = undefined
    })
    await next.connect()
    // A crash of the server may lose the last rows, and no write waits for the disk.
    await next.query("SET synchronous_commit = off")
    return (client = next)
  }
  const copy = async (batch: ReadonlyArray<Row>): Promise<void> => {
    rows.begin()
    for (const row of batch) rows.add(row)
    rows.end()
    await Copy.into(await connect(), COPY, rows.chunks)
  }
  const write = (batch: ReadonlyArray<Row>) =>
    Effect.tryPromise(() => copy(batch)).pipe(
      Effect.catchIf(
        (error) => NO_PARTITION.includes((error.cause as { readonly code?: unknown } | undefined)?.code),
        () =>
          Effect.forEach(new Set(batch.map(({ id }) => dayOf(id))), RequestLogDays.make, { discard: true }).pipe(
            Effect.andThen(Effect.tryPromise(() => copy(batch))),
          ),
      ),
      Effect.interruptible,
      Effect.timeout(FLUSH_TIMEOUT),
      Effect.catchCause((cause) => {
        Metrics.requestsNotLogged("write_failed", batch.length)
        return Effect.andThen(
          Effect.promise(async () => void (await disconnect())),
          Effect.logWarning(`${batch.length} API calls could not be logged`, cause),
        )
      }),
      Effect.provideService(PgClient.PgClient, sql),
    )
  yield* Effect.addFinalizer(() => Effect.promise(async () => void (await disconnect())))
  return write
})

const sizeOf = ({ body, path, query }: Row): number => ROW_BYTES + 2 * (body.length + path.length + query.length)

/** Returns the day of a request id, which begins with its time. */
const dayOf = (id: string): RequestLogDays.Day => RequestLogDays.dayOf(Id.timeOf(id))
