import * as PgClient from "@effect/sql-pg/PgClient"
import * as StoreDatabase from "@waybill/store/postgres/Database"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import type { SqlClient, SqlError } from "effect/sql"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { onDatabase } from "./databaseUrl.ts"

export interface Database {
  readonly name: string
  /** For pools of node-postgres, graphile-worker and child processes. */
  readonly url: Redacted.Redacted
  /** The superuser on the same database. */
  readonly adminUrl: Redacted.Redacted
}

/** The database that the layer below made for this file. */
export class Fresh extends Context.Service<Fresh, Database>()("test/Fresh") {}

const administer = (statement: string, url = inject("postgresUrl")): Effect.Effect<void, SqlError.SqlError> =>
  PgClient.makeClient({ url: Redacted.make(url) }).pipe(
    Effect.flatMap((sql) => sql.unsafe(statement)),
    Effect.asVoid,
    Effect.scoped,
    Effect.provide(Reactivity.layer),
  )

/** A migrated database of its own, copied from the template; gone with the scope, whoever is still connected. */
export const freshDatabase: Effect.Effect<Database, SqlError.SqlError, Scope.Scope> = Effect.gen(function* () {
  const problem = inject("templateProblem")
  if (problem !== "") return yield* Effect.die(new Error(problem))
  const name = `test_${randomBytes(8).toString("hex")}`
  yield* Effect.acquireRelease(
    administer(`CREATE DATABASE ${name} TEMPLATE ${inject("templateDatabase")}`),
    // An autovacuum that happens to be at it belongs to the superuser.
    () => Effect.orDie(administer(`DROP DATABASE ${name} WITH (FORCE)`, inject("postgresAdminUrl"))),
  )
  return {
    name,
    url: Redacted.make(onDatabase(inject("postgresUrl"), name)),
    adminUrl: Redacted.make(onDatabase(inject("postgresAdminUrl"), name)),
  }
})

/** The service's own pool and session settings. */
export const layerOf = (database: Database): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
  StoreDatabase.layer({ url: database.url })

/** Once a file: `layer(Database.layerFresh, { excludeTestServices: true })("…", (it) => …)`. */
export const layerFresh: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient | Fresh, SqlError.SqlError> = Layer.unwrap(
  Effect.map(Fresh, layerOf),
).pipe(Layer.provideMerge(Layer.effect(Fresh, freshDatabase)))
