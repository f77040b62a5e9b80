import { PgClient, type PgConnection, type PgPool } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import * as Sql from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import type { CellName } from "./CellName.ts"
import { CurrentCell, TransactionCell } from "./CurrentCell.ts"

/** A client whose statements run in the cell of the fiber that runs them, each on a connection of that cell alone. */
export interface RoutedClient extends PgClient.PgClient {
  /** The client of the fiber's cell. */
  readonly here: Effect.Effect<PgClient.PgClient, SqlError.SqlError>
}

export type ClientOf = (cell: CellName) => Effect.Effect<PgClient.PgClient, SqlError.SqlError>

export const make = Effect.fnUntraced(function* (first: PgClient.PgClient, clientOf: ClientOf) {
  const here = Effect.flatMap(CurrentCell, clientOf)
  const acquirer = Effect.flatMap(here, ({ reserve }) => reserve)
  const borrower: SqlConnection.Borrower = (use) => Effect.scoped(Effect.flatMap(acquirer, use))
  const client = yield* SqlClient.make({
    driver: first.driver,
    acquirer,
    borrower,
    compiler: PgClient.makeCompiler(),
    spanAttributes: SPAN_ATTRIBUTES,
  })
  const { config, json } = first
  const withTransaction = SqlClient.makeWithTransaction({
    transactionService: client.transactionService,
    spanAttributes: SPAN_ATTRIBUTES,
    acquireConnection: (restore) => restore(acquirer),
    begin: (connection, statement) => control(connection, statement ?? "BEGIN"),
    savepoint: (connection, nth) => control(connection, `SAVEPOINT nested_${nth}`),
    releaseSavepoint: (connection, nth) => unlessLost(control(connection, `RELEASE SAVEPOINT nested_${nth}`)),
    commit: checkedCommit,
    rollback: (connection) => unlessLost(control(connection, "ROLLBACK")),
    rollbackSavepoint: (connection, nth) => unlessLost(control(connection, `ROLLBACK TO SAVEPOINT nested_${nth}`)),
  })
  return Object.assign(client, {
    [PgClient.TypeId]: PgClient.TypeId,
    config,
    json,
    here,
    listen: (channel: string) => Effect.flatMap(here, ({ listen }) => listen(channel)),
    notify: (channel: string, payload: string) => Effect.flatMap(here, ({ notify }) => notify(channel, payload)),
    withTransaction: <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.flatMap(CurrentCell, (cell) => withTransaction(Effect.provideService(work, TransactionCell, cell))),
  }) satisfies RoutedClient
}, Effect.provide(Reactivity.layer))

const SPAN_ATTRIBUTES = [["db.system.name", "postgresql"]] as const

const control = (connection: SqlConnection.Connection, statement: string): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(connection.execute(statement, [], undefined))

/** The end of a transaction whose connection is lost cannot be sent. The server rolls it back, and its error was the first. */
const unlessLost = (end: Effect.Effect<void, SqlError.SqlError>): Effect.Effect<void, SqlError.SqlError> =>
  Effect.catchIf(end, SqlErrors.isConnectionLost, () => Effect.void)

/** Returns the client of the fiber's cell, for connections that are opened with its configuration. */
export const here = ({ driver }: Sql.Sql): Effect.Effect<Sql.Sql, StoreUnavailable> =>
  SqlErrors.orUnavailable(Effect.map("here" in driver ? (driver as RoutedClient).here : Effect.succeed(driver), Sql.of))

/** Configuration of other connections to a client's database, which follow it when it gets another address. */
export const configOf = ({ config }: PgClient.PgClient, other: PgPool.Config): PgPool.Config => ({
  ...config,
  ...other,
  get url() {
    return config.url
  },
})

/** Sends COMMIT and checks its answer: Postgres answers ROLLBACK when the transaction has failed before. */
export const checkedCommit = (connection: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (answer) =>
    (answer as PgConnection.Result).command === "COMMIT"
      ? Effect.void
      : Effect.fail(
          new SqlError.SqlError({
            reason: new SqlError.UnknownError({ cause: answer, message: "nothing was committed", operation: "commit" }),
          }),
        ),
  )
