import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, type Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError } from "effect/sql"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import * as Sockets from "../postgres/Sockets.ts"
import * as RoutedClient from "../routing/RoutedClient.ts"
import * as CellName from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import { CurrentCell } from "../routing/CurrentCell.ts"
import * as Directory from "../routing/directory/Directory.ts"
import * as PerDatabase from "../routing/PerDatabase.ts"
import { away, type StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import * as ServerSockets from "./ServerSockets.ts"
import * as Session from "./Session.ts"

/** Default number of connections of a process to Postgres, beside those of graphile-worker. */
export const DEFAULT_CONNECTIONS = 10
const READY_TRIES = 50
/** Maximum time of all tries together; a try that hangs counts as failed. */
export const READY_TIMEOUT = Duration.seconds(15)

export interface Options {
  readonly url: Redacted.Redacted
  readonly connections?: number
  readonly applicationName?: string
}

/** Provides the connections once the database answers, and the directory of its cells. */
export const layer = (options: Options) =>
  Layer.effectDiscard(ready).pipe(
    Layer.provideMerge(
      Layer.effectContext(
        Effect.gen(function* () {
          const sockets = Sockets.make(() => options.url)
          const cells = yield* Directory.make(yield* openDirectory(options, sockets), (cell) => poolOf(cell))
          const opened = Effect.flatMap(CurrentCell, (cell) => openCell(options, sockets, cell))
          const pools = yield* Effect.provideService(PerDatabase.make(opened), Cells, cells)
          const poolOf: RoutedClient.ClientOf = (cell) => Effect.map(pools.at(cell), (pool) => pool.sql)
          const sql = yield* RoutedClient.make(pools.first.sql, poolOf)
          return Context.make(PgClient.PgClient, sql as PgClient.PgClient).pipe(
            Context.add(SqlClient.SqlClient, sql),
            Context.add(Sockets.Sockets, {
              here: SqlErrors.orUnavailable(Effect.map(pools.here, ({ sockets }) => sockets)),
            }),
            Context.add(Cells, cells),
          )
        }),
      ),
    ),
  )

/** Opens the connections of one cell: on a server of its own, or else with its schema on that of the first one. */
const openCell = Effect.fnUntraced(function* (options: Options, home: Sockets.OpenSockets, cell: CellName.CellName) {
  if (cell === CellName.FIRST) return yield* openPool(options, { sockets: home, url: () => options.url }, 1)
  const { names, refresh, serverOf } = yield* Cells
  const isListed = Effect.map(names, (cells) => cells.includes(cell))
  const isCell = Effect.flatMap(isListed, (is) => (is ? Effect.succeed(is) : Effect.andThen(refresh, isListed)))
  // With a schema that is not there, statements would use the tables of the first cell.
  if (!(yield* Effect.mapError(isCell, isAway))) return yield* Effect.fail(isAway(away()))
  const server = yield* Effect.mapError(serverOf(cell), isAway)
  if (server !== undefined) return yield* openPool(options, yield* ServerSockets.make(cell, server))
  const url = CellName.urlOf(options.url, cell)
  return yield* openPool(options, { sockets: Sockets.make(() => options.url), url: () => url })
})

/** Where connections go. The driver reads the address and the password anew for each of them. */
interface Target {
  readonly sockets: Sockets.OpenSockets
  readonly url: () => Redacted.Redacted
  readonly password?: Effect.Effect<Redacted.Redacted>
}

/** Nothing was sent, so that a request may be sent again. */
const isAway = (cause: StoreUnavailable) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message: cause.message, operation: "open" }) })

const openPool = Effect.fnUntraced(function* (
  options: Options,
  { password, sockets, url }: Target,
  minConnections = 0,
) {
  const sql = yield* PgClient.make({
    ...configOf(options, sockets),
    get url() {
      return url()
    },
    ...(password === undefined ? {} : { password }),
    maxConnections: options.connections ?? DEFAULT_CONNECTIONS,
    minConnections,
  })
  return { sql, sockets }
}, Effect.provide(Reactivity.layer))

/**
 * Opens the connection of the directory of cells. Requests of one cell that use all its connections must not keep a process from
 * noticing that an account of another one has moved.
 */
const openDirectory = (options: Options, sockets: Sockets.OpenSockets) =>
  PgClient.make({ ...configOf(options, sockets), url: options.url, maxConnections: 1, minConnections: 0 }).pipe(
    Effect.provide(Reactivity.layer),
  )

const configOf = ({ applicationName = "waybill" }: Options, sockets: Sockets.OpenSockets) => ({
  stream: sockets.connect,
  applicationName,
  connectTimeout: Duration.millis(Session.CONNECT_TIMEOUT_MS),
  idleTimeout: "60 seconds" as const,
  startupParameters: Session.SESSION,
})

/** Waits until the database answers. The pool connects on demand, so an absent database would show only later. */
export const ready = Effect.flatMap(PgClient.PgClient, (sql) => sql`SELECT 1`).pipe(
  Effect.retry({ while: (error) => error.isRetryable, schedule: Schedule.spaced("200 millis"), times: READY_TRIES }),
  Effect.timeoutOrElse({ duration: READY_TIMEOUT, orElse: () => Effect.fail(noAnswer) }),
)

/** Error for a server that accepts connections and does not answer. */
const noAnswer = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({
    cause: undefined,
    message: `the database did not answer within ${Duration.toSeconds(READY_TIMEOUT)} seconds`,
    operation: "ready",
  }),
})

/** Class of the advisory locks of `inTurn`: WB, then the number of this use. */
const TURNS = 0x5742_0003

/**
 * Runs work in one process at a time, of all processes on the database. The lock belongs to a reserved connection, so the
 * work may use any number of transactions.
 */
export const oneProcessAtATime =
  (turn: number) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const connection = yield* sql.reserve
      const lock = (name: string) =>
        connection.execute(`SELECT 1 AS done FROM (SELECT ${name}($1::int, $2::int)) AS done`, [TURNS, turn], undefined)
      yield* Effect.acquireRelease(lock("pg_advisory_lock"), () => Effect.ignore(lock("pg_advisory_unlock")))
      return yield* work
    }).pipe(Effect.scoped)
