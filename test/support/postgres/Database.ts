import * as PgClient from "@effect/sql-pg/PgClient"
import * as Availability from "@waybill/store/availability/Availability"
import * as StoreDatabase from "@waybill/store/database/Database"
import { EventKinds } from "@waybill/store/feed/EventKinds"
import { Clock, Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import type { SqlClient, SqlError } from "effect/sql"
import { randomBytes } from "node:crypto"
import { withTestCell } from "../cells/testCell.ts"
import { onDatabase } from "./databaseUrl.ts"

export interface Database {
  readonly name: string
  /** Address of the database for pools of node-postgres, graphile-worker and child processes. */
  readonly url: Redacted.Redacted
  /** Address of the same database as the superuser. */
  readonly adminUrl: Redacted.Redacted
}

/** Database of a test's own, made by one of the layers below. */
export class Fresh extends Context.Service<Fresh, Database>()("test/Fresh") {}

const administer = (url: string, statement: string): Effect.Effect<void, SqlError.SqlError> =>
  PgClient.makeClient({ url: Redacted.make(url) }).pipe(
    Effect.flatMap((sql) => sql.unsafe(statement)),
    Effect.asVoid,
    Effect.scoped,
    Effect.provide(Reactivity.layer),
  )

const onEach = (urls: ReadonlyArray<string>, statement: string) =>
  Effect.forEach(urls, (url) => administer(url, statement), { concurrency: "unbounded", discard: true })

/** Creates a migrated database, a copy of the template, and drops it with the scope even while it is in use. */
export const freshDatabase: Effect.Effect<Database, SqlError.SqlError, Scope.Scope> = Effect.gen(function* () {
  // Loaded here, because worker processes and benchmarks import this module without vitest.
  const { inject } = yield* Effect.promise(() => import("vitest"))
  const problem = inject("templateProblem")
  if (problem !== "") return yield* Effect.die(new Error(problem))
  const [url, adminUrl] = [inject("postgresUrl"), inject("postgresAdminUrl")]
  const nodes = inject("postgresNodes")
  const name = `test_${randomBytes(8).toString("hex")}`
  yield* Effect.acquireRelease(
    // The default copies each page through the log, which takes twice the processor time.
    onEach([url, ...nodes], `CREATE DATABASE ${name} TEMPLATE ${inject("templateDatabase")} STRATEGY file_copy`),
    // Only the superuser may end an autovacuum of its own.
    // Other nodes of a cluster may open connections meanwhile, so that the database is still in use.
    () =>
      Effect.orDie(
        Effect.retry(onEach([adminUrl, ...nodes], `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`), { times: 5 }),
      ),
  )
  if (process.env["WAYBILL_TEST_WINDOWS"] === "second")
    for (const statement of windowsOfSeconds(name)) yield* administer(onDatabase(adminUrl, name), statement)
  return {
    name,
    url: Redacted.make(onDatabase(url, name)),
    adminUrl: Redacted.make(onDatabase(adminUrl, name)),
  }
})

/** Creates a database without tables, as for a restore, and drops it with the scope; returns its address. */
export const emptyDatabase = Effect.gen(function* () {
  const { inject } = yield* Effect.promise(() => import("vitest"))
  const name = `test_${randomBytes(8).toString("hex")}`
  yield* Effect.acquireRelease(administer(inject("postgresUrl"), `CREATE DATABASE ${name}`), () =>
    Effect.orDie(administer(inject("postgresAdminUrl"), `DROP DATABASE ${name} WITH (FORCE)`)),
  )
  return onDatabase(inject("postgresUrl"), name)
})

/**
 * Makes every rate window of a database end after a second: a function with the name of the built-in one comes first in the
 * search path. A test that counts in a window of the real clock, and fails when a minute ends meanwhile, then fails always.
 */
const windowsOfSeconds = (database: string): ReadonlyArray<string> => [
  "CREATE SCHEMA seconds",
  `CREATE FUNCTION seconds.date_trunc(text, timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS
    $$SELECT pg_catalog.date_trunc(CASE $1 WHEN 'minute' THEN 'second' ELSE $1 END, $2)$$`,
  "GRANT USAGE ON SCHEMA seconds TO PUBLIC",
  `ALTER DATABASE ${database} SET search_path = public, seconds, pg_catalog`,
]

/**
 * The clock of the system, also in tests with a clock of their own: a failed connection is tried again after a pause, which
 * would never end there.
 */
const systemClock = Layer.sync(Clock.Clock, Clock.Clock.defaultValue)

/** Services of a process that is the only one, on a database that nobody watches. */
export const alone = Layer.merge(Availability.unwatched, Layer.succeed(EventKinds, { isOpen: () => true }))

type Services = PgClient.PgClient | SqlClient.SqlClient | Availability.Availability | EventKinds

/** Connects with the pool and session settings of the service. */
export const layerOf = (database: Database): Layer.Layer<Services, SqlError.SqlError> =>
  Layer.merge(alone, Layer.provide(withTestCell(StoreDatabase.layer({ url: database.url })), systemClock))

/** Database of a file's own: `layer(Database.layerFresh, { excludeTestServices: true })("…", (it) => …)`. */
export const layerFresh: Layer.Layer<Services | Fresh, SqlError.SqlError> = Layer.unwrap(
  Effect.map(Fresh, layerOf),
).pipe(Layer.provideMerge(Layer.effect(Fresh, freshDatabase)))
