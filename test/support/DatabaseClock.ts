import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Database from "./postgres/Database.ts"

/**
 * Gives every connection opened from now on a clock that only a test moves, so that no rate window ends meanwhile: a function
 * with the name of the built-in one that comes first in the search path. The schema of new objects does not change.
 */
export const freeze = Effect.gen(function* () {
  const sql = yield* Sql
  yield* sql`CREATE SCHEMA frozen`
  yield* sql`CREATE TABLE frozen.clock (at timestamptz NOT NULL)`
  yield* sql`INSERT INTO frozen.clock VALUES ('2026-11-21T12:00:30Z')`
  yield* sql`CREATE FUNCTION frozen.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
    AS 'SELECT at FROM frozen.clock'`
  const [row] = yield* sql<{ readonly name: string }>`SELECT current_database()::text AS name`
  yield* sql`ALTER DATABASE ${sql(row?.name ?? "")} SET search_path = public, frozen, pg_catalog`
})

/** Sets a frozen clock. */
export const set = (at: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) => sql`UPDATE frozen.clock SET at = ${at}::timestamptz`)

/** Creates a database with a frozen clock. */
const freshDatabase = Effect.tap(Database.freshDatabase, (fresh) => Effect.provide(freeze, Database.layerOf(fresh)))

/** Database of a file's own with a frozen clock, for services that open connections of their own. */
export const layerFresh = Layer.effect(Database.Fresh, freshDatabase)

/** Database of a file's own with a frozen clock, and a pool on it. */
export const layer = Layer.unwrap(Effect.map(Database.Fresh, Database.layerOf)).pipe(Layer.provideMerge(layerFresh))
