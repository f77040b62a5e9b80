import type { AccountId } from "@waybill/domain/values/Id"
import { type Cause, Context, Duration, Effect, Exit, Option, Redacted, Result } from "effect"
import { away, type StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import * as CellNames from "./CellName.ts"
import { type CellName, FIRST } from "./CellName.ts"
import type { CellServer } from "./CellKeys.ts"
import { CurrentCell, inCell } from "./CurrentCell.ts"
import * as StrayAccounts from "./StrayAccounts.ts"

/** Finds the cell of an account. Requests of an account that is being moved wait here for the end of its move. */
export interface CellsShape {
  /** Names of all cells, the first one first. */
  readonly names: Effect.Effect<ReadonlyArray<CellName>, StoreUnavailable>
  /** The server of a cell's own; undefined for a schema of the first cell's server. */
  readonly serverOf: (cell: CellName) => Effect.Effect<CellServer | undefined, StoreUnavailable>
  /** Mark of a cell, which a removed one of its name does not have, as far as this process knows; undefined for no cell. */
  readonly markOf: (cell: CellName) => string | undefined
  readonly of: (account_id: string) => Effect.Effect<CellName, StoreUnavailable>
  /** The same at once: undefined while the account's requests wait for the end of its move. */
  readonly ofUnlessFenced: (account_id: string) => Effect.Effect<CellName | undefined, StoreUnavailable>
  /** The cell of the account of an API key, by the key's hash; the first cell for an unknown key. */
  readonly ofKey: (hash: string) => Effect.Effect<CellName, StoreUnavailable>
  /** The cell of the account of a user; the first cell for an unknown user. */
  readonly ofUser: (user_id: string) => Effect.Effect<CellName, StoreUnavailable>
  /** The live accounts whose ids begin with a text. */
  readonly beginningWith: (start: string) => Effect.Effect<ReadonlyArray<AccountId>, StoreUnavailable>
  /** The accounts that may have verified one of these domains; undefined while there is only the first cell. */
  readonly ofDomains: (names: ReadonlyArray<string>) => Effect.Effect<DomainAccounts | undefined, StoreUnavailable>
  /** Whether there was only the first cell a moment ago, so that no commit can be in the wrong one. */
  readonly isCertainlyAlone: () => boolean
  /**
   * Accounts whose pending work is not to be started in a cell: those that are about to move, and those whose rows in this cell
   * are copies of an unfinished move, or what it has left behind.
   */
  readonly notToStart: (cell: CellName) => Effect.Effect<ReadonlySet<string>, StoreUnavailable>
  /** Accounts with rows in a cell that is not theirs, by that cell: copies before the switch of a move, and what is left after it. */
  readonly strays: Effect.Effect<ReadonlyMap<CellName, ReadonlySet<string>>, StoreUnavailable>
  /** Reads the cells again, after a change by this process. */
  readonly refresh: Effect.Effect<void, StoreUnavailable>
}

export interface DomainAccounts {
  readonly account_ids: ReadonlyArray<string>
  /** Cells whose domains the directory does not have yet. */
  readonly unlisted: ReadonlyArray<CellName>
}

const one: CellsShape = {
  names: Effect.succeed([FIRST]),
  serverOf: () => Effect.undefined,
  markOf: () => undefined,
  of: () => Effect.succeed(FIRST),
  ofUnlessFenced: () => Effect.succeed(FIRST),
  ofKey: () => Effect.succeed(FIRST),
  ofUser: () => Effect.succeed(FIRST),
  beginningWith: () => Effect.succeed([]),
  ofDomains: () => Effect.undefined,
  isCertainlyAlone: () => true,
  notToStart: () => Effect.succeed(StrayAccounts.NONE),
  strays: Effect.succeed(new Map()),
  refresh: Effect.void,
}

/** The cells of the database; without a directory of them there is only the first one. */
export const Cells = Context.Reference<CellsShape>("@waybill/store/routing/Cells", { defaultValue: () => one })

/** The schema of a cell's tables. A Postgres of its own has them where every database has those of its first cell. */
export const schemaOf = (cell: CellName): Effect.Effect<string, StoreUnavailable> =>
  cell === FIRST
    ? Effect.succeed(FIRST)
    : Effect.flatMap(Cells, ({ serverOf }) => Effect.map(serverOf(cell), (server) => server?.schema ?? cell))

/** URL for connections of their own to a cell, by the URL of the first one. */
export const urlOf = (url: Redacted.Redacted, cell: CellName): Effect.Effect<Redacted.Redacted, StoreUnavailable> =>
  Effect.flatMap(Cells, ({ serverOf }) =>
    Effect.map(serverOf(cell), (server) => (server === undefined ? CellNames.urlOf(url, cell) : server.url)),
  )

/** The same for statements that make, change or lock tables: on Citus, only the coordinator takes them. */
export const definitionUrlOf = (
  url: Redacted.Redacted,
  cell: CellName,
): Effect.Effect<Redacted.Redacted, StoreUnavailable> =>
  Effect.flatMap(Cells, ({ serverOf }) =>
    Effect.map(serverOf(cell), (server) =>
      server === undefined || server.isNode ? CellNames.urlOf(url, cell) : server.url,
    ),
  )

/** Runs work in the cell of an account. */
export const inCellOf = <A, E, R>(
  account_id: string,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.flatMap(Cells, ({ of }) => Effect.flatMap(of(account_id), (cell) => inCell(cell, work)))

/**
 * Groups rows of many accounts by cell. Rows of accounts whose requests wait for the end of a move, or whose cell cannot be found
 * now, are apart, so that work on the others does not wait with them.
 */
export const place = <A extends { readonly account_id: string }>(rows: ReadonlyArray<A>) =>
  Effect.gen(function* () {
    const { ofUnlessFenced } = yield* Cells
    const placed = new Map<CellName, Array<A>>()
    const fenced: Array<A> = []
    for (const row of rows) {
      const cell = yield* Effect.orElseSucceed(ofUnlessFenced(row.account_id), () => undefined)
      const ofCell = cell === undefined ? fenced : placed.get(cell)
      if (ofCell !== undefined) ofCell.push(row)
      else if (cell !== undefined) placed.set(cell, [row])
    }
    return { placed, fenced }
  })

/** Groups accounts by their cell. */
export const byCell = (
  account_ids: Iterable<string>,
): Effect.Effect<ReadonlyArray<readonly [CellName, ReadonlyArray<string>]>, StoreUnavailable> =>
  Effect.gen(function* () {
    const { of } = yield* Cells
    const cells = new Map<CellName, Array<string>>()
    for (const account_id of account_ids) {
      const cell = yield* of(account_id)
      const ofCell = cells.get(cell)
      if (ofCell === undefined) cells.set(cell, [account_id])
      else ofCell.push(account_id)
    }
    return [...cells]
  })

/** A cell, and how work on the rows of all its accounts runs there. */
export interface Visit {
  readonly cell: CellName
  readonly run: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/**
 * All cells, the first one first. Work on them leaves out accounts that are in another cell (`StrayAccounts`): all by the same
 * look at the directory, so that no move in between hides an account or shows it twice.
 */
export const visits: Effect.Effect<ReadonlyArray<Visit>, StoreUnavailable> = Effect.gen(function* () {
  const { names, strays } = yield* Cells
  const cells = yield* names
  const straysOf = cells.length === 1 ? undefined : yield* strays
  return cells.map((cell): Visit => {
    const here = straysOf?.get(cell)
    return {
      cell,
      run: (work) =>
        inCell(cell, here === undefined ? work : Effect.provideService(work, StrayAccounts.StrayAccounts, here)),
    }
  })
})

/** Time limit for a cell to answer, so that one whose node is down does not hide the others. */
export const ANSWER_WITHIN = Duration.seconds(5)

/** Rows of the cells that answered in time, and the names of the others. */
export interface FoundRows<A> {
  readonly rows: ReadonlyArray<A>
  readonly missing: ReadonlyArray<CellName>
}

/** Runs work that returns rows in all cells at once, and returns the rows of those that answer in time. */
export const rowsInTime = <A, E, R>(
  work: Effect.Effect<ReadonlyArray<A>, E, R>,
): Effect.Effect<FoundRows<A>, E | StoreUnavailable, R> => {
  const own = Effect.flatMap(work, StrayAccounts.leaveOut)
  return Effect.flatMap(visits, (cells) => rowsInTimeOf(cells.map(({ cell, run }) => ({ cell, search: run(own) }))))
}

/** Runs work that returns rows in the cell of an account, and returns no rows if it does not answer in time. */
export const rowsInTimeOfAccount = <A, E, R>(
  account_id: string,
  work: Effect.Effect<ReadonlyArray<A>, E, R>,
): Effect.Effect<FoundRows<A>, E | StoreUnavailable, R> =>
  Effect.gen(function* () {
    const { of } = yield* Cells
    const own = yield* of(account_id)
    return yield* rowsInTimeOf([{ cell: own, search: inCell(own, work) }])
  })

/**
 * Looks for rows about domains by their names, in the cells of the accounts that may have verified them: home names these, so that
 * other cells are not asked. Rows of a cell that home does not know the domains of yet are missing.
 */
export const rowsOfDomains = <A, E, R>(
  names: ReadonlyArray<string>,
  search: (account_ids?: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<A>, E, R>,
): Effect.Effect<FoundRows<A>, E | StoreUnavailable, R> =>
  Effect.gen(function* () {
    const { ofDomains } = yield* Cells
    const accounts = yield* ofDomains(names)
    if (accounts === undefined) return { rows: yield* inCell(FIRST, search()), missing: [] }
    const cells = yield* byCell(accounts.account_ids)
    const { missing, rows } = yield* rowsInTimeOf(
      cells.map(([cell, ids]) => ({ cell, search: inCell(cell, search(ids)) })),
    )
    return { rows, missing: [...missing, ...accounts.unlisted] }
  })

interface CellSearch<A, E, R> {
  readonly cell: CellName
  readonly search: Effect.Effect<ReadonlyArray<A>, E, R>
}

const rowsInTimeOf = <A, E, R>(
  cells: ReadonlyArray<CellSearch<A, E, R>>,
): Effect.Effect<FoundRows<A>, E | StoreUnavailable, R> =>
  Effect.gen(function* () {
    const silent = yield* SilentCells
    const inTime = ({
      cell,
      search,
    }: CellSearch<A, E, R>): Effect.Effect<
      Exit.Exit<ReadonlyArray<A>, E | StoreUnavailable | Cause.TimeoutError>,
      E | StoreUnavailable,
      R
    > => {
      // Without the first cell nothing works, and the caller is to know.
      if (cell === FIRST) return Effect.map(search, Exit.succeed)
      if (silent?.has(cell) === true) return Effect.succeed(Exit.fail(away()))
      return Effect.tap(Effect.exit(Effect.timeout(search, ANSWER_WITHIN)), (exit) =>
        Effect.sync(() => Exit.isFailure(exit) && silent?.add(cell)),
      )
    }
    const found = yield* Effect.forEach(
      cells,
      (each) => Effect.map(inTime(each), (exit) => ({ cell: each.cell, exit })),
      { concurrency: "unbounded" },
    )
    return {
      rows: found.flatMap(({ exit }) => (Exit.isSuccess(exit) ? exit.value : [])),
      missing: found.flatMap(({ cell, exit }) => (Exit.isSuccess(exit) ? [] : [cell])),
    }
  })

/** Runs work that returns rows in all cells at once, and returns the rows of those that answer in time. */
export const rowsOfReachable = <A, E, R>(
  work: Effect.Effect<ReadonlyArray<A>, E, R>,
): Effect.Effect<ReadonlyArray<A>, E | StoreUnavailable, R> => Effect.map(rowsInTime(work), ({ rows }) => rows)

/**
 * Cells that did not answer one of the searches of a piece of work. Later searches do not ask them, so that a cell that hangs
 * delays the work only once.
 */
export const SilentCells = Context.Reference<Set<CellName> | undefined>("@waybill/store/routing/Cells/SilentCells", {
  defaultValue: () => undefined,
})

/**
 * Looks for something that one cell has, in all cells at once, so that none waits for another one that is slow. It fails only
 * if no cell has it and not all could tell in time.
 */
export const findFirst = <A, E, R>(
  search: Effect.Effect<Option.Option<A>, E, R>,
): Effect.Effect<Option.Option<A>, E | StoreUnavailable, R> =>
  Effect.gen(function* () {
    const cells = yield* visits
    if (cells.length === 1) return yield* inCell(FIRST, search)
    const silent = (yield* SilentCells) ?? new Set<CellName>()
    const searches = cells.map((visit) =>
      Effect.flatMap(Effect.exit(searchIn(visit, search, silent)), (exit) =>
        Exit.isSuccess(exit) && Option.isSome(exit.value)
          ? Effect.fail(new Found(exit.value.value))
          : Effect.succeed(exit),
      ),
    )
    const searched = yield* Effect.result(Effect.all(searches, { concurrency: "unbounded" }))
    if (Result.isFailure(searched)) return Option.some(searched.failure.found)
    for (const exit of searched.success) yield* exit
    return Option.none()
  })

const searchIn = <A, E, R>(
  { cell, run }: Visit,
  search: Effect.Effect<Option.Option<A>, E, R>,
  silent: Set<CellName>,
): Effect.Effect<Option.Option<A>, E | StoreUnavailable, R> => {
  const found = Effect.flatMap(search, (found) =>
    Effect.map(StrayAccounts.leaveOut(Option.toArray(found)), ([own]) => Option.fromUndefinedOr(own)),
  )
  if (cell === FIRST) return run(found)
  if (silent.has(cell)) return Effect.fail(away())
  const giveUp = Effect.suspend(() => {
    silent.add(cell)
    return Effect.fail(away())
  })
  return Effect.timeoutOrElse(run(found), { duration: ANSWER_WITHIN, orElse: () => giveUp })
}

class Found<A> {
  readonly found: A
  constructor(found: A) {
    this.found = found
  }
}

/** The cells whose tables are on the server of the fiber's cell. */
export const ofThisServer: Effect.Effect<ReadonlyArray<CellName>, StoreUnavailable> = Effect.gen(function* () {
  const { names, serverOf } = yield* Cells
  const here = yield* CurrentCell
  if ((yield* serverOf(here)) !== undefined) return [here]
  return yield* Effect.filter(yield* names, (cell) => Effect.map(serverOf(cell), (server) => server === undefined))
})

/** Ends when the fiber's cell has another address than a connection was opened with. */
export const addressChanged = (url: Redacted.Redacted, first: Redacted.Redacted) =>
  Effect.delay(
    Effect.flatMap(CurrentCell, (cell) => urlOf(first, cell)),
    LOOK_EVERY,
  ).pipe(
    // Without the directory the address is as before.
    Effect.orElseSucceed(() => url),
    Effect.repeat({ until: (now) => Redacted.value(now) !== Redacted.value(url) }),
    Effect.asVoid,
  )

/** Interval at which is looked for another address. */
const LOOK_EVERY = Duration.seconds(1)

/** Runs work in all cells at once. A cell that fails or is slow keeps the work from no other one. */
export const inEach = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  cells = Effect.flatMap(Cells, ({ names }) => names),
): Effect.Effect<ReadonlyArray<A>, E | StoreUnavailable, R> =>
  Effect.gen(function* () {
    const exits = yield* Effect.forEach(yield* cells, (cell) => Effect.exit(inCell(cell, work)), {
      concurrency: "unbounded",
    })
    const results: Array<A> = []
    for (const exit of exits) results.push(yield* exit)
    return results
  })
