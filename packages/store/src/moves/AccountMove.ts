import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import { Data, Duration, Effect, Schedule } from "effect"
import * as MonotonicClock from "@waybill/domain/flow/MonotonicClock"
import type { CellName } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import * as CellSchema from "../cells/CellSchema.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as Directory from "../routing/Directory.ts"
import * as AccountLocks from "../locks/AccountLocks.ts"
import { KINDS } from "../outbox/OutboxRow.ts"
import * as WakeUps from "../outbox/WakeUps.ts"
import * as RequestLogDays from "../requests/RequestLogDays.ts"
import * as ComparedRows from "./ComparedRows.ts"
import * as MovedCounts from "./MovedCounts.ts"
import * as MovedRows from "./MovedRows.ts"
import * as MovedTables from "./MovedTables.ts"
import * as MoveSteps from "./MoveSteps.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** How long a move waits for work on the account's mail to end before it goes on without it. */
export const WAIT_FOR_WORK = Duration.seconds(90)
/** The account is fenced once a pass over its rows copies fewer than this: the last pass then takes little time. */
export const FEW_ROWS = 1_000
/** Maximum number of passes, for an account that is written faster than it is copied. */
export const MAX_PASSES = 5
/** Tries of the switch, each of which waits for the account's lock. */
const SWITCH_TRIES = 5
const LOOK_AGAIN = Duration.millis(250)
/** Time limit of one statement of a move; the time limit of requests is too short for the first pass over a table. */
const STATEMENT_TIMEOUT = Duration.minutes(30)
/**
 * Time that requests of an account wait at most for its last rows, so that none waits for 30 seconds, when it is refused. A
 * move that needs longer lets them go on.
 */
export const LONGEST_WAIT = Duration.seconds(15)

export interface Moved {
  readonly from: CellName
  readonly to: CellName
  readonly rows: number
  /** How long the account's requests had to wait. */
  readonly waited_ms: number
  /** Rows that were compared with their copies while they waited. */
  readonly rows_while_waiting: number
}
type Waiting = Pick<Moved, "waited_ms" | "rows_while_waiting">

export interface Options {
  /** Shows how far the move has come. */
  readonly report?: (line: string) => Effect.Effect<void>
  /** Time after which every process has noticed a step. */
  readonly noticedAfter?: Duration.Duration
  readonly longestWait?: Duration.Duration
}

interface Move extends MovedRows.Copy {
  readonly tables: ReadonlyArray<MovedTables.MovedTable>
  readonly report: (line: string) => Effect.Effect<void>
  readonly longestWait: Duration.Duration
  /** Waits until every process has noticed the step that was written before. */
  readonly noticed: Effect.Effect<void, StoreUnavailable>
}

/**
 * Moves an account to another cell while it is in use. Its requests wait only for the last pass over its rows. A move that
 * was interrupted is continued by the next call with the same cell; until the switch the account is wholly in its old cell.
 */
export const move = Effect.fn("AccountMove.move")(function* (
  account_id: AccountId,
  to: CellName,
  { longestWait = LONGEST_WAIT, noticedAfter = Directory.NOTICED_AFTER, report = () => Effect.void }: Options = {},
) {
  const sql = yield* Sql
  const live = Livemode.liveAccountOf(account_id)
  return yield* MoveSteps.alone(
    sql,
    live,
    Effect.gen(function* () {
      const started = yield* MoveSteps.begin(sql, live, to)
      const { refresh } = yield* Cells
      const move: Move = {
        from: started.from,
        to,
        accounts: [live, Livemode.testAccountOf(live)],
        tables: yield* MovedTables.list(sql, to),
        report,
        longestWait,
        noticed: Effect.andThen(refresh, Effect.sleep(noticedAfter)),
      }
      if (started.step === "cleaning") return yield* clean(sql, move, 0, { waited_ms: 0, rows_while_waiting: 0 })
      yield* report(`copying from ${move.from} to ${to} while the account is in use`)
      yield* move.noticed
      yield* inCell(move.from, untilIdle(sql, move.accounts))
      yield* inCell(to, RequestLogDays.copyDays(move.from))
      const copied = yield* copyWhileInUse(sql, move)
      const compared = yield* inCell(to, patiently(sql, ComparedRows.take(sql, move, move.tables)))
      yield* report("waiting for the last rows: requests of the account wait from now on")
      const [waited, last] = yield* Effect.timed(switchCells(sql, move, compared))
      const { compared: rows_while_waiting, copied: rest } = last
      const waiting = { waited_ms: Math.round(Duration.toMillis(waited)), rows_while_waiting }
      return yield* clean(sql, move, copied + rest, waiting)
    }),
  )
})

/** Waits until no worker holds a lease on the account's pending work, of which none is claimed any more. */
const untilIdle = (sql: Sql, accounts: ReadonlyArray<string>) =>
  sql`SELECT FROM outbox WHERE account_id = ANY(${accounts}::text[]) AND lease_token IS NOT NULL LIMIT 1`.pipe(
    Effect.repeat({ until: ({ length }) => length === 0, schedule: Schedule.spaced(LOOK_AGAIN) }),
    Effect.timeoutOption(WAIT_FOR_WORK),
  )

/** Runs work in a transaction with another time limit of its statements. */
const within = <A, E, R>(sql: Sql, limit: Duration.Duration, work: Effect.Effect<A, E, R>) =>
  sql.withTransaction(
    Effect.andThen(sql`SET LOCAL statement_timeout = ${sql.literal(String(Duration.toMillis(limit)))}`, work),
  )

const patiently = <A, E, R>(sql: Sql, work: Effect.Effect<A, E, R>) => within(sql, STATEMENT_TIMEOUT, work)

const copyWhileInUse = Effect.fnUntraced(function* (sql: Sql, move: Move) {
  let total = 0
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const rows = yield* inCell(move.to, patiently(sql, MovedRows.copyAll(sql, move, move.tables)))
    total += rows
    yield* move.report(`pass ${pass}: ${rows} rows`)
    if (rows < FEW_ROWS) break
  }
  return total
})

/** Copies what has changed since, while requests of the account wait, and names the new cell in the directory. */
const switchCells = (sql: Sql, move: Move, compared: ComparedRows.ComparedRows) =>
  Effect.gen(function* () {
    const [live = ""] = move.accounts
    const { refresh } = yield* Cells
    const until = (yield* MonotonicClock.millis) + Duration.toMillis(move.longestWait)
    yield* MoveSteps.moveTo(sql, live, "fenced")
    yield* move.noticed
    const last = yield* switchOnce(sql, move, compared, until).pipe(
      Effect.retry({ times: SWITCH_TRIES, while: ({ _tag }) => _tag !== "TooManyRows" }),
      Effect.catchTag("TooManyRows", () => new CellSchema.CellRefused({ message: tooManyRows(move) })),
      Effect.catchTag("WrittenMeanwhile", Effect.die),
      Effect.onError(() => Effect.ignoreCause(MoveSteps.moveTo(sql, live, "draining"))),
    )
    yield* refresh
    return last
  })

const tooManyRows = ({ accounts, from, longestWait }: Move): string =>
  `the last rows of ${accounts[0]} were not copied within ${Duration.toSeconds(longestWait)} s, so that its requests go on and it ` +
  `stays in ${from}: run the command again when the account is used less`

/** The account was written between the last count and its lock, by a commit that began before the fence. */
class WrittenMeanwhile extends Data.TaggedError("WrittenMeanwhile")<{}> {}
/** Requests would wait for too long. */
class TooManyRows extends Data.TaggedError("TooManyRows")<{}> {}

const switchOnce = Effect.fnUntraced(function* (
  sql: Sql,
  move: Move,
  compared: ComparedRows.ComparedRows,
  until: number,
) {
  const { accounts, from, tables, to } = move
  const left = Effect.map(MonotonicClock.millis, (now) => until - now)
  const inTime = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | TooManyRows, R> =>
    Effect.flatMap(left, (ms): Effect.Effect<A, E | TooManyRows, R> =>
      ms <= 0 ? Effect.fail(new TooManyRows()) : work,
    )
  const last = yield* MoveSteps.lastPosition(sql, from, accounts)
  yield* inCell(from, MovedCounts.countUpTo(sql, last))
  const work = Effect.gen(function* () {
    yield* MoveSteps.announceSwitch(sql, accounts[0] ?? "")
    // Commits of the account under way end first. Later ones find it in its new cell, and are refused in the old one.
    yield* AccountLocks.lockAccounts(sql, accounts)
    if ((yield* MoveSteps.lastPosition(sql, from, accounts)) !== last) return yield* new WrittenMeanwhile()
    const parts = yield* inTime(ComparedRows.changed(sql, move, tables, compared))
    const copied = yield* inTime(MovedRows.copyAll(sql, move, tables, parts))
    const { differing, rows } = yield* inTime(MovedRows.compare(sql, move, tables, parts))
    if (differing.length > 0)
      return yield* Effect.die(new Error(`the copies differ in ${differing.join(", ")}: the account stays in ${from}`))
    yield* inTime(MovedCounts.skipCopies(sql, accounts, last))
    yield* MoveSteps.arrive(sql, accounts[0] ?? "", to)
    return { copied, compared: rows }
  })
  const limit = Duration.millis(Math.max(1, Math.round(yield* left)))
  return yield* inTime(inCell(to, within(sql, limit, work))).pipe(
    // A statement that is canceled at the limit.
    Effect.catchTag("StoreUnavailable", (error) => inTime(Effect.fail(error))),
  )
})

/** Deletes the rows in the old cell, once no process reads them any more. */
const clean = Effect.fnUntraced(function* (sql: Sql, move: Move, rows: number, waiting: Waiting) {
  const { accounts, from, noticed, report, tables, to } = move
  yield* inCell(to, WakeUps.wake(sql, KINDS))
  yield* report(`the account is in ${to}; deleting its rows in ${from}`)
  yield* noticed
  yield* inCell(from, MovedRows.deleteOld(sql, move, tables))
  yield* MoveSteps.finish(sql, accounts[0] ?? "")
  return { from, to, rows, ...waiting } satisfies Moved
})
