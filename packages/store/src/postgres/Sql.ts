import { PgClient } from "@effect/sql-pg"
import { Effect, type Scope } from "effect"
import type { SqlConnection, SqlError, Statement as SqlStatement } from "effect/sql"
import { Statement as Statements } from "effect/sql"
import * as SqlErrors from "./SqlErrors.ts"
import type { StoreUnavailable } from "./StoreUnavailable.ts"

/** A statement that fails with `E`, or a part of another one. */
export interface Statement<A, E> extends SqlStatement.Fragment, Effect.Effect<ReadonlyArray<A>, E> {
  readonly compile: SqlStatement.Statement<A>["compile"]
}

type Fragments = Pick<
  PgClient.PgClient,
  "literal" | "in" | "insert" | "update" | "and" | "or" | "csv" | "join" | "json"
>

/** A client whose statements fail with `E`: both the store's (`Sql`) and the driver's, for statements that are run by both. */
export interface Client<E> extends Fragments {
  <A extends object = SqlConnection.Row>(
    strings: TemplateStringsArray,
    ...args: ReadonlyArray<unknown>
  ): Statement<A, E>
  (value: string): SqlStatement.Identifier
  readonly unsafe: <A extends object>(sql: string, params?: ReadonlyArray<unknown>) => Statement<A, E>
  readonly withTransaction: <R, F, A>(work: Effect.Effect<A, F, R>) => Effect.Effect<A, F | E, R>
}

/** The store's client: its statements fail with `StoreUnavailable`, and an error that is a bug is a defect. */
export interface Sql extends Client<StoreUnavailable> {
  readonly reserve: Effect.Effect<SqlConnection.Connection, StoreUnavailable, Scope.Scope>
  /** The driver's client, whose errors say more. Its transactions are those of this client. */
  readonly driver: PgClient.PgClient
}

const clients = new WeakMap<PgClient.PgClient, Sql>()

/** Returns the store's client for a client of the driver. */
export const of = (driver: PgClient.PgClient): Sql => {
  const known = clients.get(driver)
  if (known !== undefined) return known
  const made = make(driver)
  clients.set(driver, made)
  return made
}

/** The store's client. */
export const Sql: Effect.Effect<Sql, never, PgClient.PgClient> = Effect.map(PgClient.PgClient, of)

/** Makes a client. `route` runs what chooses a connection, and transactions, where the client's tables are. */
export const make = (
  driver: PgClient.PgClient,
  route: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = (work) => work,
): Sql => {
  const { transactionService } = driver
  const reserve = route(driver.reserve)
  const connection = route(
    Effect.flatMap(Effect.serviceOption(transactionService), (transaction) =>
      transaction._tag === "Some" ? Effect.succeed(transaction.value[0]) : driver.reserve,
    ),
  )
  const borrower = (use: (connection: SqlConnection.Connection) => Effect.Effect<unknown, SqlError.SqlError>) =>
    SqlErrors.orUnavailable(Effect.scoped(Effect.flatMap(connection, use)))
  const constructor = Statements.make(
    // Cached by this value, of which each client needs its own.
    Effect.suspend(() => connection),
    PgClient.makeCompiler(),
    [["db.system.name", "postgresql"]],
    undefined,
    borrower as unknown as SqlConnection.Borrower,
  )
  const { json } = driver
  return Object.assign(constructor, {
    json,
    driver,
    reserve: SqlErrors.orUnavailable(reserve),
    withTransaction: <R, F, A>(work: Effect.Effect<A, F, R>) =>
      SqlErrors.orUnavailable(route(driver.withTransaction(work))),
  }) as unknown as Sql
}
