import type { PgClient } from "@effect/sql-pg"
import { type Cause, Effect } from "effect"
import { SqlError } from "effect/sql"
import * as Feed from "../feed/Feed.ts"
import { iso } from "../postgres/Iso.ts"
import type * as PipelinedConnection from "../postgres/PipelinedConnection.ts"
import {
  Failed,
  type Ledger,
  type LedgerError,
  OutcomeUnknown,
  type Page,
  Poisoned,
  refKey,
  type Scope,
  type Stretch,
  TryAgain,
} from "./LogStorage.ts"
import * as InsertAnswers from "../idempotency/InsertAnswers.ts"
import * as BatchReads from "./BatchReads.ts"
import * as WriteStatement from "./WriteStatement.ts"
import type { ReadModel } from "../readmodels/ReadModel.ts"
import type { Read, Stored } from "./RecordedEvents.ts"
import { classify } from "../postgres/SqlErrors.ts"
import * as Watermark from "../feed/Watermark.ts"

export const make = (
  sql: PgClient.PgClient,
  line: PipelinedConnection.Line,
  readModels: ReadonlyArray<ReadModel>,
  /** Told of each commit before its caller is. */
  wrote: (accounts: ReadonlyArray<string>) => Effect.Effect<void> = () => Effect.void,
): Ledger => {
  const pageOn = (send: PipelinedConnection.Send): Page => ({
    streams: (stretches) => mend(streams(sql, stretches)),
    facts: (needs, now) => mend(BatchReads.load(sql, needs, now)),
    answers: (claims, now) => mend(InsertAnswers.load(sql, claims, now)),
    keep: (answers, now) => mend(InsertAnswers.keep(sql, answers, now)),
    write: (write) =>
      Effect.suspend(() => Effect.forEach(WriteStatement.statements(sql, readModels, write), send, { discard: true })),
  })
  return {
    streams: (stretches) => mend(streams(sql, stretches)),
    feed: (query) => mend(Feed.read(sql, query)),
    transaction: (scope, body, written) =>
      line
        .transaction((send) => Effect.andThen(send(enter(sql, scope)), body(pageOn(send))), written)
        .pipe(
          mend,
          Effect.tap(() => wrote(scope.accounts)),
        ),
    landed: (event, scope) =>
      Effect.tap(mend(hasLanded(sql, event)), (hasLanded) => (hasLanded ? wrote(scope.accounts) : Effect.void)),
  }
}

/**
 * A lost transaction may still be on its way, what it writes and its COMMIT not even received. Its promise to the feed is
 * held until it is over, and was given before the position that is taken here; so once the log is settled up to that
 * one, what is not there will never be.
 */
const hasLanded = Effect.fnUntraced(function* (sql: PgClient.PgClient, event: Stored) {
  const position = (yield* Watermark.allocate(sql))[0]?.position ?? 0n
  const upTo = yield* Feed.quiet(sql)
  const found = yield* sql`
    SELECT 1 AS found FROM events WHERE account_id = ${event.account_id} AND stream_id = ${event.stream_id}
      AND version = ${event.version} AND event_id = ${event.event_id}`
  if (found.length > 0) return true
  if (upTo < position) return yield* new OutcomeUnknown({ cause: "the lost transaction may still be under way" })
  return false
})

/** Flights of an account share it; one that flies alone waits for them, and they for it. In the order of the key. */
export const ACCOUNT_LOCKS = 0x5742_4143

/** The promise to the feed is given after all waiting, for nobody reads past it; hence the odd condition on `locks`. */
const enter = (sql: PgClient.PgClient, { accounts, alone }: Scope) => sql`
  WITH entered AS MATERIALIZED (
    SELECT count(taken) AS locks FROM (
      SELECT ${sql.literal(alone ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared")}(${ACCOUNT_LOCKS}::int, key)::text AS taken
      FROM (
        SELECT DISTINCT hashtext(account_id) AS key FROM unnest(${accounts}::text[]) AS a(account_id) ORDER BY 1
      ) AS keys
    ) AS taking
  )
  SELECT 1 AS published FROM entered CROSS JOIN LATERAL (${Watermark.promise(sql, sql`entered.locks >= 0`)}) AS promise`

/** The greatest there can be. */
const LAST_VERSION = 2 ** 31 - 1

/** Histories, each in its own order. */
export const streams = Effect.fnUntraced(function* (sql: PgClient.PgClient, stretches: ReadonlyArray<Stretch>) {
  const rows = yield* sql<Read>`
    SELECT e.position, e.event_id, e.account_id, e.stream_id, e.stream, e.version, e.type, e.data, e.meta,
      ${iso(sql, "e.recorded_at")} AS recorded_at, e.xmin::text AS xmin
    FROM unnest(${stretches.map((each) => each.account_id)}::text[], ${stretches.map((each) => each.stream_id)}::text[],
      ${stretches.map(({ from = 1 }) => from)}::int[], ${stretches.map(({ to = LAST_VERSION }) => to)}::int[])
      AS wanted(account_id, stream_id, first, last)
    JOIN events e ON e.account_id = wanted.account_id AND e.stream_id = wanted.stream_id
      AND e.version >= wanted.first AND e.version <= wanted.last
    ORDER BY e.account_id, e.stream_id, e.version`
  const found = new Map<string, Array<Read>>()
  for (const row of rows) {
    const key = refKey(row)
    const known = found.get(key)
    if (known === undefined) found.set(key, [row])
    else known.push(row)
  }
  return found
})

/** A connection lost inside a transaction arrives as a defect, because the rollback that follows cannot be sent. */
const mend = <A>(effect: Effect.Effect<A, SqlError.SqlError | LedgerError>): Effect.Effect<A, LedgerError> =>
  Effect.catchCause(effect, (cause) => {
    for (const reason of cause.reasons) {
      const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
      if (isLedgerError(error)) return Effect.fail(error)
      if (error instanceof SqlError.SqlError) return Effect.fail(classify(error))
    }
    return Effect.failCause(cause as Cause.Cause<never>)
  })

const isLedgerError = (error: unknown): error is LedgerError =>
  error instanceof TryAgain || error instanceof Poisoned || error instanceof OutcomeUnknown || error instanceof Failed
