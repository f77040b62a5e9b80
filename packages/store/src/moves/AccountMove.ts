import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import { Data, Duration, Effect } from "effect"
import type { SqlConnection } from "effect/sql"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import type { CellName } from "../routing/CellName.ts"
import { Cells, schemaOf } from "../routing/Cells.ts"
import * as CellSchema from "../cells/CellSchema.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as Directory from "../routing/directory/Directory.ts"
import * as DirectoryNames from "../readmodels/DirectoryNames.ts"
import * as AccountLocks from "../locks/AccountLocks.ts"
import { KINDS } from "../outbox/OutboxRow.ts"
import * as WakeUps from "../outbox/WakeUps.ts"
import * as Databases from "../routing/Databases.ts"
import * as RequestLogDays from "../requests/RequestLogDays.ts"
import { copyWhileInUse } from "./copyWhileInUse.ts"
import * as ComparedRows from "./ComparedRows.ts"
import * as MovedCounts from "./MovedCounts.ts"
import * as MovedRows from "./MovedRows.ts"
import * as MovedTables from "./MovedTables.ts"
import * as MoveTerms from "./MoveTerms.ts"
import * as ServerMove from "./ServerMove.ts"
import * as StagedRows from "./StagedRows.ts"
import * as MoveSteps from "./MoveSteps.ts"
import * as MoveTurns from "./MoveTurns.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

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
  {
    longestWait = MoveTerms.LONGEST_WAIT,
    noticedAfter = Directory.NOTICED_AFTER,
    report = () => Effect.void,
  }: MoveTerms.MoveOptions = {},
) {
  const sql = yield* Sql
  const live = Livemode.liveAccountOf(account_id)
  return yield* MoveSteps.alone(sql, live, (connection) =>
    Effect.gen(function* () {
      const started = yield* MoveSteps.begin(sql, live, to)
      const { refresh, serverOf } = yield* Cells
      const isBetweenServers = (yield* serverOf(started.from)) !== undefined || (yield* serverOf(to)) !== undefined
      const turn = MoveTurns.take(connection, started.from, to, report)
      if (isBetweenServers)
        return yield* ServerMove.move(sql, live, started, to, { longestWait, noticedAfter, report, turn })
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
      yield* inCell(move.from, MoveTerms.untilIdle(sql, move.accounts))
      yield* RequestLogDays.copyDays(Databases.named(move.from), Databases.named(to))
      const copy = inCell(to, MoveTerms.patiently(sql, MovedRows.copyAll(sql, move, move.tables)))
      const compare = inCell(to, MoveTerms.patiently(sql, ComparedRows.take(sql, bothOf(move), move.tables)))
      let copied = yield* copyWhileInUse(sql, move, copy)
      let compared = yield* compare
      const switching = Effect.gen(function* () {
        if (yield* turn) {
          copied += yield* copyWhileInUse(sql, move, copy)
          compared = yield* compare
        }
        yield* report("waiting for the last rows: requests of the account wait from now on")
        return yield* Effect.timed(switchCells(sql, move, compared))
      })
      const [waited, last] = yield* Effect.scoped(switching)
      const { compared: rows_while_waiting, copied: rest } = last
      const waiting = { waited_ms: Math.round(Duration.toMillis(waited)), rows_while_waiting }
      return yield* clean(sql, move, copied + rest, waiting)
    }),
  )
})

/** Reads both sides by the same connection. */
const bothOf =
  ({ accounts, from, to }: Move): ComparedRows.Both =>
  (read) =>
    Effect.all([read({ schema: from, accounts }), read({ schema: to, accounts })])

/** Copies what has changed since, while requests of the account wait, and names the new cell in the directory. */
const switchCells = (sql: Sql, move: Move, compared: ComparedRows.ComparedRows) =>
  Effect.gen(function* () {
    const [live = ""] = move.accounts
    const { refresh } = yield* Cells
    const until = (yield* MonotonicClock.millis) + Duration.toMillis(move.longestWait)
    yield* MoveSteps.moveTo(sql, live, "fenced")
    yield* move.noticed
    const last = yield* switchOnce(sql, move, compared, until).pipe(
      Effect.retry({
        times: MoveTerms.SWITCH_TRIES,
        while: ({ _tag }) => _tag !== "TooLate" && _tag !== "CellRefused",
      }),
      Effect.catchTag(
        "TooLate",
        ({ undone }) =>
          new CellSchema.CellRefused({ message: MoveTerms.tooLate({ account_id: live, ...move }, undone) }),
      ),
      Effect.catchTag("WrittenMeanwhile", Effect.die),
      Effect.onError(() => Effect.ignoreCause(MoveSteps.giveUp(sql, live))),
    )
    yield* refresh
    return last
  })

/** The account was written between the last count and its lock, by a commit that began before the fence. */
class WrittenMeanwhile extends Data.TaggedError("WrittenMeanwhile")<{}> {}
/** Requests would wait for too long. */
class TooLate extends Data.TaggedError("TooLate")<{ readonly undone: MoveTerms.Undone }> {}

const switchOnce = Effect.fnUntraced(function* (
  sql: Sql,
  move: Move,
  compared: ComparedRows.ComparedRows,
  until: number,
) {
  const { accounts, from, tables, to } = move
  const left = Effect.map(MonotonicClock.millis, (now) => until - now)
  const inTime = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | TooLate, R> =>
    Effect.flatMap(left, (ms): Effect.Effect<A, E | TooLate, R> =>
      ms <= 0 ? Effect.fail(new TooLate({ undone: "rows" })) : work,
    )
  /** `inTime` for work that waits for others by many statements, each of which is short. */
  const endingInTime = <A, E, R>(undone: MoveTerms.Undone, work: Effect.Effect<A, E, R>) =>
    Effect.flatMap(left, (ms) =>
      Effect.timeoutOrElse(work, {
        duration: Duration.millis(Math.max(1, Math.round(ms))),
        orElse: () => Effect.fail(new TooLate({ undone })),
      }),
    )
  const last = yield* MoveSteps.lastPosition(sql, from, accounts)
  yield* endingInTime("events", inCell(from, MovedCounts.countUpTo(sql, accounts, last)))
  const limit = Duration.millis(Math.max(1, Math.round(yield* left)))
  const work = Effect.gen(function* () {
    yield* MoveSteps.announceSwitch(sql, accounts[0] ?? "")
    // Commits of the account under way end first. Later ones find it in its new cell, and are refused in the old one.
    yield* AccountLocks.lockAccounts(sql, accounts)
    if ((yield* MoveSteps.lastPosition(sql, from, accounts)) !== last) return yield* new WrittenMeanwhile()
    yield* MovedCounts.hold(sql, limit)
    const both = bothOf(move)
    const parts = yield* inTime(ComparedRows.readChanged(sql, both, tables, compared))
    const copied = yield* inTime(MovedRows.copyAll(sql, move, tables, parts))
    const rows = yield* inTime(ComparedRows.requireSame(sql, both, tables, parts, from))
    yield* endingInTime("rows", MovedCounts.skipCopies(sql, accounts, last))
    yield* MoveSteps.leave(sql, from, accounts[0] ?? "")
    yield* MoveSteps.stay(sql, to, accounts[0] ?? "")
    yield* MoveSteps.arrive(sql, accounts[0] ?? "", to, yield* DirectoryNames.read(sql, [accounts[0] ?? ""]))
    return { copied, compared: rows }
  })
  return yield* inTime(inCell(to, MoveTerms.within(sql, limit, work))).pipe(
    // A statement that is canceled at the limit.
    Effect.catchTag("StoreUnavailable", (error) => inTime(Effect.fail(error))),
  )
})

/** Deletes the rows in the old cell, once no process reads them any more. */
const clean = Effect.fnUntraced(function* (sql: Sql, move: Move, rows: number, waiting: MoveTerms.Waiting) {
  const { accounts, from, noticed, report, tables, to } = move
  yield* inCell(to, WakeUps.wake(sql, KINDS))
  yield* report(`the account is in ${to}; deleting its rows in ${from}`)
  yield* noticed
  yield* inCell(from, MovedRows.deleteOld(sql, move, tables))
  yield* MoveSteps.finish(sql, accounts[0] ?? "")
  return { from, to, rows, ...waiting } satisfies MoveTerms.Moved
})

/**
 * Gives up a move that was interrupted before its switch: the account stays in its cell, and its copies in the other one are
 * deleted. Returns the two cells.
 */
export const giveUp = Effect.fn("AccountMove.giveUp")(function* (account_id: AccountId) {
  const sql = yield* Sql
  const live = Livemode.liveAccountOf(account_id)
  const accounts = [live, Livemode.testAccountOf(live)]
  const work = Effect.fnUntraced(function* (connection: SqlConnection.Connection) {
    const { from, to } = yield* MoveSteps.unfinished(sql, live)
    // A switch of the dead mover that comes late finds another step, and changes nothing.
    yield* MoveSteps.giveUp(sql, live)
    yield* inCell(from, MoveSteps.stay(sql, yield* schemaOf(from), live))
    const schema = yield* schemaOf(to)
    const { LONGEST_WAIT } = MoveTerms
    const giving = Effect.gen(function* () {
      // A transaction that merges copies, which may outlive its mover by a moment, ends first.
      const held = MoveTerms.within(sql, LONGEST_WAIT, MovedCounts.hold(sql, LONGEST_WAIT))
      yield* Effect.scoped(Effect.andThen(MoveTurns.take(connection, from, to), held))
      const tables = yield* MovedTables.list(sql, schema)
      yield* MovedRows.deleteOld(sql, { from: schema, to: schema, accounts }, tables)
    })
    yield* inCell(to, giving)
    yield* StagedRows.drop(yield* ServerMove.sideOf(sql, to, schema), live)
    yield* MoveSteps.finish(sql, live)
    return { from, to }
  })
  return yield* MoveSteps.alone(sql, live, work)
})
