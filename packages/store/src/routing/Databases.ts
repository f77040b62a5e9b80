import { Context, Duration, Effect } from "effect"
import { away, type StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import { type CellName, FIRST } from "./CellName.ts"
import { Cells, schemaOf } from "./Cells.ts"
import { CurrentCell, inCell, TransactionCell } from "./CurrentCell.ts"
import * as StrayAccounts from "./StrayAccounts.ts"

// An account's tables are in one database, its cell. Code outside the folders for cells names an account, home or all databases,
// and runs its statements there; the statements themselves use the database of the fiber.

/** A database, and how work on its rows runs there. */
export interface Database {
  readonly name: string
  readonly run: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** A database with those of some rows whose accounts are there. */
export interface Placed<Row> extends Database {
  readonly rows: ReadonlyArray<Row>
}

interface OfAccount {
  readonly account_id: string
}

const databases = new Map<CellName, Database>()

/** The database of a name. */
export const named = (cell: CellName): Database => {
  const known = databases.get(cell)
  if (known !== undefined) return known
  const made: Database = { name: cell, run: (work) => inCell(cell, work) }
  databases.set(cell, made)
  return made
}

/** The database that has the tables of no account. */
export const home = named(FIRST)

/** Name of the fiber's database, for lines of the log, labels and keys of maps. */
export const name: Effect.Effect<string> = CurrentCell

/** Whether the fiber's database is home. */
export const isHome: Effect.Effect<boolean> = Effect.map(CurrentCell, (cell) => cell === FIRST)

/** Whether the fiber's database has a server of its own, beside that of home. */
export const hasOwnServer: Effect.Effect<boolean, StoreUnavailable> = Effect.gen(function* () {
  return (yield* (yield* Cells).serverOf(yield* CurrentCell)) !== undefined
})

/** Schema of the fiber's database. */
export const schema: Effect.Effect<string, StoreUnavailable> = Effect.flatMap(CurrentCell, schemaOf)

/** Accounts whose pending work is not to be started in the fiber's database, because they move. */
export const notToStart: Effect.Effect<ReadonlySet<string>, StoreUnavailable> = Effect.gen(function* () {
  return yield* (yield* Cells).notToStart(yield* CurrentCell)
})

/** Whether the fiber is in a transaction. */
export const isInTransaction: Effect.Effect<boolean> = Effect.map(TransactionCell, (cell) => cell !== undefined)

/** Returns whether there was only home a moment ago, so that nothing can be in the wrong database. */
export const isCertainlyAlone: Effect.Effect<() => boolean> = Effect.map(Cells, (cells) => cells.isCertainlyAlone)

/** Reads the databases again. */
export const refresh: Effect.Effect<void, StoreUnavailable> = Effect.flatMap(Cells, (cells) => cells.refresh)

/** Makes work know the databases that this fiber knows wherever it runs, as in a finalizer. */
export const provider = Effect.map(
  Cells,
  (cells) =>
    <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.provideService(work, Cells, cells),
)

/** Finds the database of an account. */
export const find = (account_id: string): Effect.Effect<Database, StoreUnavailable> =>
  Effect.flatMap(Cells, ({ of }) => Effect.map(of(account_id), named))

/** Fails if the account has moved to another database than the fiber's, as while the body of a request arrived. */
export const requireHere = Effect.fnUntraced(function* (account_id: string) {
  const { of } = yield* Cells
  if ((yield* of(account_id)) !== (yield* CurrentCell)) return yield* Effect.fail(away())
})

/** Runs work in the database of an account. */
export const ofAccount = <A, E, R>(
  account_id: string,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.flatMap(Cells, ({ of }) => Effect.flatMap(of(account_id), (cell) => inCell(cell, work)))

/** Runs work in the database of a user's account; at home for an unknown user. */
export const ofUser = <A, E, R>(
  user_id: string,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.flatMap(Cells, ({ ofUser }) => Effect.flatMap(ofUser(user_id), (cell) => inCell(cell, work)))

/** Runs work in the database of the account of an API key, by the key's hash; at home for an unknown key. */
export const ofKey = <A, E, R>(hash: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.flatMap(Cells, ({ ofKey }) => Effect.flatMap(ofKey(hash), (cell) => inCell(cell, work)))

/**
 * Groups rows by the database of their accounts. Rows of accounts whose requests wait for the end of a move, or whose database
 * cannot be found now, are apart, so that work on the others does not wait with them.
 */
export const place = Effect.fnUntraced(function* <Row extends OfAccount>(rows: ReadonlyArray<Row>) {
  const { ofUnlessFenced } = yield* Cells
  const cells = yield* Effect.forEach(rows, (row) =>
    Effect.map(
      Effect.orElseSucceed(ofUnlessFenced(row.account_id), () => undefined),
      (cell) => ({ cell, row }),
    ),
  )
  return {
    placed: grouped(cells),
    fenced: cells.flatMap(({ cell, row }) => (cell === undefined ? [row] : [])),
  }
})

/** Groups rows by the database of their accounts, and waits for the end of their moves. */
export const group = Effect.fnUntraced(function* <Row extends OfAccount>(rows: ReadonlyArray<Row>) {
  const { of } = yield* Cells
  return grouped(yield* Effect.forEach(rows, (row) => Effect.map(of(row.account_id), (cell) => ({ cell, row }))))
})

const grouped = <Row>(
  rows: ReadonlyArray<{ readonly cell: CellName | undefined; readonly row: Row }>,
): ReadonlyArray<Placed<Row>> =>
  [...Map.groupBy(rows, ({ cell }) => cell)].flatMap(([cell, all]) =>
    cell === undefined ? [] : [{ ...named(cell), rows: all.map(({ row }) => row) }],
  )

/**
 * All databases, home first. Work on them leaves out accounts that are in another one (`StrayAccounts`): all by the same
 * look at the directory, so that no move in between hides an account or shows it twice.
 */
export const all: Effect.Effect<ReadonlyArray<Database>, StoreUnavailable> = Effect.gen(function* () {
  const { names, strays } = yield* Cells
  const cells = yield* names
  const straysOf = cells.length === 1 ? undefined : yield* strays
  return cells.map((cell): Database => {
    const here = straysOf?.get(cell)
    if (here === undefined) return named(cell)
    return { name: cell, run: (work) => inCell(cell, Effect.provideService(work, StrayAccounts.StrayAccounts, here)) }
  })
})

/** All databases, home first, as they were last known if home is away. An account that moves may have rows in two of them. */
export const listed: Effect.Effect<ReadonlyArray<Database>, StoreUnavailable> = Effect.flatMap(Cells, ({ names }) =>
  Effect.map(names, (cells) => cells.map(named)),
)

/** Whether there are others than home. */
export const areSeveral: Effect.Effect<boolean, StoreUnavailable> = Effect.map(listed, ({ length }) => length > 1)

/** The databases on the server of the fiber's one. */
export const onThisServer: Effect.Effect<ReadonlyArray<Database>, StoreUnavailable> = Effect.gen(function* () {
  if (yield* hasOwnServer) return [named(yield* CurrentCell)]
  const { serverOf } = yield* Cells
  return yield* Effect.filter(yield* listed, ({ name }) => Effect.map(serverOf(name), (own) => own === undefined))
})

/** Time limit for a database to answer, so that one whose server is down does not hide the others. */
export const ANSWER_WITHIN = Duration.seconds(5)

/** Runs work in a database; undefined if it does not answer in time. Without home nothing is known, so that its failure is the caller's. */
export const inTime = <A, E, R>(
  { name, run }: Database,
  work: Effect.Effect<A, E, R>,
  within = ANSWER_WITHIN,
): Effect.Effect<A | undefined, E, R> =>
  name === home.name ? run(work) : Effect.catchCause(Effect.timeout(run(work), within), () => Effect.undefined)

/** Rows of the databases that answered in time, and the names of the others. */
export interface FoundRows<A> {
  readonly rows: ReadonlyArray<A>
  readonly missing: ReadonlyArray<string>
}

type Rows<A, E, R> = Effect.Effect<ReadonlyArray<A>, E, R>

/** Runs work that returns rows in all databases at once, and returns the rows of those that answer in time. */
export const rowsInTime = <A, E, R>(work: Rows<A, E, R>): Effect.Effect<FoundRows<A>, E | StoreUnavailable, R> => {
  const own = Effect.flatMap(work, StrayAccounts.leaveOut)
  return Effect.flatMap(all, (all) => searchEach(all, () => own))
}

/** Runs work that returns rows in the database of an account, and returns no rows if it does not answer in time. */
export const rowsInTimeOfAccount = <A, E, R>(
  account_id: string,
  work: Rows<A, E, R>,
): Effect.Effect<FoundRows<A>, E | StoreUnavailable, R> =>
  Effect.flatMap(group([{ account_id }]), (own) => searchEach(own, () => work))

/**
 * Looks for rows about domains by their names, in the databases of the accounts that may have verified them: home names these, so
 * that others are not asked. Rows of a database that home does not know the domains of yet are missing.
 */
export const rowsOfDomains = Effect.fnUntraced(function* <A, E, R>(
  names: ReadonlyArray<string>,
  search: (account_ids?: ReadonlyArray<string>) => Rows<A, E, R>,
): Effect.fn.Return<FoundRows<A>, E | StoreUnavailable, R> {
  const { ofDomains } = yield* Cells
  const accounts = yield* ofDomains(names)
  if (accounts === undefined) return { rows: yield* home.run(search()), missing: [] }
  const databases = yield* group(accounts.account_ids.map((account_id) => ({ account_id })))
  const { missing, rows } = yield* searchEach(databases, (each) =>
    search(each.rows.map(({ account_id }) => account_id)),
  )
  return { rows, missing: [...missing, ...accounts.unlisted] }
})

const searchEach = Effect.fnUntraced(function* <D extends Database, A, E, R>(
  databases: ReadonlyArray<D>,
  search: (database: D) => Rows<A, E, R>,
): Effect.fn.Return<FoundRows<A>, E | StoreUnavailable, R> {
  const silent = yield* Silent
  const found = yield* Effect.forEach(
    databases,
    (each) =>
      silent?.has(each.name) === true
        ? Effect.undefined
        : Effect.tap(inTime(each, search(each)), (rows) =>
            Effect.sync(() => rows === undefined && silent?.add(each.name)),
          ),
    { concurrency: "unbounded" },
  )
  return {
    rows: found.flatMap((rows) => rows ?? []),
    missing: databases.flatMap(({ name }, nth) => (found[nth] === undefined ? [name] : [])),
  }
})

/**
 * Names of databases that did not answer one of the searches of a piece of work. Later searches do not ask them, so that one that
 * hangs delays the work only once.
 */
export const Silent = Context.Reference<Set<string> | undefined>("@waybill/store/routing/Databases/Silent", {
  defaultValue: () => undefined,
})
