import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Duration, Effect, Fiber } from "effect"
import * as CellSchema from "../cells/CellSchema.ts"
import * as PositionNumbers from "../cells/PositionNumbers.ts"
import * as DirectoryNames from "../readmodels/DirectoryNames.ts"
import * as AccountLocks from "../locks/AccountLocks.ts"
import { KINDS } from "../outbox/OutboxRow.ts"
import * as WakeUps from "../outbox/WakeUps.ts"
import type { Sql } from "../postgres/Sql.ts"
import { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import * as Databases from "../routing/Databases.ts"
import * as RequestLogDays from "../requests/RequestLogDays.ts"
import * as RoutedClient from "../routing/RoutedClient.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import * as Cells from "../routing/Cells.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as Departures from "../routing/directory/Departures.ts"
import * as ComparedRows from "./ComparedRows.ts"
import { copyWhileInUse } from "./copyWhileInUse.ts"
import * as MovedCounts from "./MovedCounts.ts"
import * as MovedRows from "./MovedRows.ts"
import * as MovedTables from "./MovedTables.ts"
import * as MovedWindows from "./MovedWindows.ts"
import * as MoveSteps from "./MoveSteps.ts"
import * as MoveTerms from "./MoveTerms.ts"
import type * as MoveTurns from "./MoveTurns.ts"
import * as StagedRows from "./StagedRows.ts"

interface Options {
  readonly report: (line: string) => Effect.Effect<void>
  readonly noticedAfter: Duration.Duration
  readonly longestWait: Duration.Duration
  /** Takes the turn of the last step, and returns whether it had to wait. */
  readonly turn: ReturnType<typeof MoveTurns.take>
}

interface Move {
  readonly account_id: AccountId
  /** The account, and its test account. */
  readonly accounts: ReadonlyArray<string>
  readonly from: CellName
  readonly to: CellName
  readonly schemas: { readonly from: string; readonly to: string }
  readonly tables: ReadonlyArray<MovedTables.MovedTable>
}

/**
 * Moves an account between cells on two servers while it is in use. In the last step its old cell takes nothing more for it; only
 * then its last rows are copied, and the directory names the new cell. Until that the account is wholly in the old one.
 */
export const move = Effect.fn("ServerMove.move")(function* (
  sql: Sql,
  account_id: AccountId,
  started: MoveSteps.Begun,
  to: CellName,
  options: Options,
) {
  const { from } = started
  const { refresh, serverOf } = yield* Cells.Cells
  const { report } = options
  const schemas = { from: yield* Cells.schemaOf(from), to: yield* Cells.schemaOf(to) }
  const moving: Move = {
    account_id,
    accounts: [account_id, Livemode.testAccountOf(account_id)],
    from,
    to,
    schemas,
    tables: yield* inCell(to, MovedTables.list(sql, schemas.to)),
  }
  const noticed = Effect.andThen(refresh, Effect.sleep(options.noticedAfter))
  if (started.step === "cleaning")
    return yield* clean(sql, moving, noticed, { rows: 0, waited_ms: 0, rows_while_waiting: 0 }, options)
  // A process that cannot read the directory asks the new cell itself, and must not work on the copies that come there.
  if ((yield* serverOf(to)) !== undefined) {
    if (yield* inCell(to, MoveSteps.isLive(sql, schemas.to, account_id))) return yield* refuseLive(account_id, to)
    yield* inCell(to, MoveSteps.leave(sql, schemas.to, account_id))
  }
  yield* report(`copying from ${from} to ${to} while the account is in use`)
  yield* noticed
  yield* inCell(from, MoveTerms.untilIdle(sql, moving.accounts))
  const copying = { accounts: moving.accounts, from, report }
  const compare = ComparedRows.take(sql, bothOf(sql, moving), moving.tables)
  let rows = yield* copyWhileInUse(sql, copying, copyDiffering(sql, moving))
  let compared = yield* compare
  const switching = Effect.gen(function* () {
    if (yield* options.turn) {
      rows += yield* copyWhileInUse(sql, copying, copyDiffering(sql, moving))
      compared = yield* compare
    }
    yield* report("waiting for the last rows: requests of the account wait from now on")
    return yield* Effect.timed(switchServers(sql, moving, compared, noticed, options))
  })
  const [waited, { copied, rows_while_waiting }] = yield* Effect.scoped(switching)
  const waited_ms = Math.round(Duration.toMillis(waited))
  return yield* clean(sql, moving, noticed, { rows: rows + copied, waited_ms, rows_while_waiting }, options)
})

/** Copies would replace newer rows of an account that the new cell has, because home was restored from before it came there. */
const refuseLive = (account_id: string, to: CellName) =>
  Effect.fail(
    new CellSchema.CellRefused({
      message: `${account_id} lives in ${to} already, although home places it elsewhere: \`waybill cells check\` says why`,
    }),
  )

/** Reads each side on its own server. */
const bothOf =
  (sql: Sql, { accounts, from, schemas, to }: Move): ComparedRows.Both =>
  (read) =>
    Effect.all(
      [
        inCell(from, MoveTerms.patiently(sql, read({ schema: schemas.from, accounts }))),
        inCell(to, MoveTerms.patiently(sql, read({ schema: schemas.to, accounts }))),
      ],
      { concurrency: 2 },
    )

/** The server of a cell, with the schema of its tables there. */
export const sideOf = Effect.fnUntraced(function* (sql: Sql, cell: CellName, schema: string) {
  const { serverOf } = yield* Cells.Cells
  const server = yield* serverOf(cell)
  const { url } = server ?? (yield* inCell(FIRST, RoutedClient.here(sql))).driver.config
  if (url === undefined) return yield* Effect.die(new Error("the first cell has no address"))
  return { url, schema, server } satisfies StagedRows.Side
})

/** Makes the tables of days that the new cell lacks, and returns the servers of both cells. */
const sidesOf = Effect.fnUntraced(function* (sql: Sql, { from, schemas, to }: Move) {
  // The first call of a day may have come meanwhile. This makes the tables of coming days too.
  yield* RequestLogDays.copyDays(Databases.named(from), Databases.named(to))
  return { source: yield* sideOf(sql, from, schemas.from), target: yield* sideOf(sql, to, schemas.to) }
})

/** Copies the rows in which the cells differ, and merges them into the new cell. */
const copyDiffering = Effect.fnUntraced(function* (sql: Sql, move: Move) {
  const { accounts, schemas, tables, to } = move
  const { source, target } = yield* sidesOf(sql, move)
  const parts = yield* ComparedRows.readDiffering(sql, bothOf(sql, move), tables)
  const staged = yield* StagedRows.load(source, target, accounts, tables, parts)
  const merging = MovedRows.copyAll(sql, { from: staged, to: schemas.to, accounts }, tables, parts)
  return yield* inCell(to, MoveTerms.patiently(sql, merging))
})

/**
 * Copies the rows that have changed since they were compared, and merges them while the followers of the new cell stand still.
 * Only the transaction itself uses a connection of the pool of the new cell, so that it waits for no other one: the pool of a
 * command has two, and one of the first cell's holds the lock of the move.
 */
const copyLast = Effect.fnUntraced(function* (
  sql: Sql,
  move: Move,
  compared: ComparedRows.ComparedRows,
  last: bigint,
  limit: Duration.Duration,
) {
  const { accounts, from, schemas, tables, to } = move
  const { source, target } = yield* sidesOf(sql, move)
  const versions = ComparedRows.versionsIn(sql, { schema: schemas.from, accounts }, tables)
  const reading = yield* Effect.forkChild(inCell(from, MoveTerms.patiently(sql, versions)))
  const merging = Effect.gen(function* () {
    yield* MovedCounts.hold(sql, limit)
    const copy = yield* ComparedRows.versionsIn(sql, { schema: schemas.to, accounts }, tables)
    const parts = ComparedRows.changed(compared, yield* Fiber.join(reading), copy)
    const staged = yield* StagedRows.load(source, target, accounts, tables, parts)
    const copied = yield* MovedRows.copyAll(sql, { from: staged, to: schemas.to, accounts }, tables, parts)
    yield* MovedCounts.skipCopies(sql, accounts, last)
    return copied
  })
  return yield* inCell(to, MoveTerms.within(sql, limit, merging))
})

const switchServers = (
  sql: Sql,
  move: Move,
  compared: ComparedRows.ComparedRows,
  noticed: Effect.Effect<void, StoreUnavailable>,
  options: Options,
) =>
  Effect.gen(function* () {
    const { longestWait } = options
    const { account_id, accounts, from, schemas, tables, to } = move
    const { refresh, serverOf } = yield* Cells.Cells
    const until = (yield* MonotonicClock.millis) + Duration.toMillis(longestWait)
    const left = Effect.map(MonotonicClock.millis, (now) => Duration.millis(Math.max(1, Math.round(until - now))))
    yield* MoveSteps.moveTo(sql, account_id, "fenced")
    yield* noticed
    // Commits of the account that are under way end first, and the old cell refuses all later ones.
    yield* inCell(
      from,
      MoveTerms.within(
        sql,
        yield* left,
        Effect.andThen(AccountLocks.lockAccounts(sql, accounts), MoveSteps.leave(sql, schemas.from, account_id)),
      ),
    )
    // A process that cannot read the directory asks the cell itself, and may have begun to work for the account until then.
    if ((yield* serverOf(from)) !== undefined)
      yield* Effect.sleep(Duration.min(options.noticedAfter, Departures.NOTICED_AFTER))
    const last = yield* inCell(from, MoveSteps.lastPosition(sql, schemas.from, accounts))
    const inTime = <A, E, R>(undone: MoveTerms.Undone, work: Effect.Effect<A, E, R>) =>
      Effect.flatMap(left, (duration) =>
        Effect.timeoutOrElse(work, {
          duration,
          orElse: () =>
            Effect.fail(
              new CellSchema.CellRefused({ message: MoveTerms.tooLate({ account_id, from, longestWait }, undone) }),
            ),
        }),
      )
    yield* inTime("events", inCell(from, MovedCounts.countUpTo(sql, accounts, last)))
    // Readers may have read on to any position that the old server has given, though the account has no event there.
    const given = yield* inCell(from, PositionNumbers.lastGiven(sql))
    yield* inCell(to, PositionNumbers.passBy(sql, given > last ? given : last))
    const copied = yield* inTime("rows", copyLast(sql, move, compared, last, yield* left))
    // A standby of the new cell that lacks the copies is refused as its database (`cells address`).
    yield* inCell(to, PositionNumbers.mark())
    const both = bothOf(sql, move)
    // Finds also copies that something else has changed, since all versions are read again.
    const checking = Effect.flatMap(ComparedRows.readChanged(sql, both, tables, compared), (parts) =>
      ComparedRows.requireSame(sql, both, tables, parts, from),
    )
    const rows_while_waiting = yield* inTime("rows", checking)
    yield* MovedWindows.copy(sql, account_id, from, to)
    const names = yield* inCell(to, DirectoryNames.read(sql, [account_id]))
    // A switch whose connection is lost may have happened: the second one tells, and changes nothing then.
    yield* Effect.retry(inCell(FIRST, sql.withTransaction(MoveSteps.arrive(sql, account_id, to, names))), {
      while: (error) => error instanceof StoreUnavailable && error.why === "lost",
      times: 1,
    })
    // Only now: a switch that fails leaves the copies where nobody works on them.
    yield* inCell(to, MoveSteps.stay(sql, schemas.to, account_id))
    yield* refresh
    return { copied, rows_while_waiting }
  }).pipe(Effect.onError(() => Effect.ignoreCause(giveUp(sql, move))))

/** Lets the requests of an account go on in the cell that it is in. */
const giveUp = Effect.fnUntraced(function* (sql: Sql, { account_id, from, schemas }: Move) {
  if (yield* MoveSteps.giveUp(sql, account_id)) yield* inCell(from, MoveSteps.stay(sql, schemas.from, account_id))
})

/** Deletes the rows in the old cell, once no process reads them any more. */
const clean = Effect.fnUntraced(function* (
  sql: Sql,
  { account_id, accounts, from, schemas, tables, to }: Move,
  noticed: Effect.Effect<void, StoreUnavailable>,
  moved: Omit<MoveTerms.Moved, "from" | "to">,
  { report }: Options,
) {
  yield* inCell(to, MoveSteps.stay(sql, schemas.to, account_id))
  yield* inCell(to, WakeUps.wake(sql, KINDS))
  yield* report(`the account is in ${to}; deleting its rows in ${from}`)
  // Again: a standby of the old cell that was promoted since may not refuse the account yet.
  yield* inCell(from, MoveSteps.leave(sql, schemas.from, account_id))
  yield* noticed
  yield* inCell(from, MovedRows.deleteOld(sql, { from: schemas.from, to: schemas.from, accounts }, tables))
  yield* StagedRows.drop(yield* sideOf(sql, to, schemas.to), account_id)
  yield* MoveSteps.finish(sql, account_id)
  return { from, to, ...moved } satisfies MoveTerms.Moved
})
