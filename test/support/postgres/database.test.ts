import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import pg from "pg"
import { assert, describe, it, layer } from "../effectTest.ts"
import * as Database from "./Database.ts"

layer(Database.layerFresh, { excludeTestServices: true })("a fresh database", (it) => {
  it.effect("is the one that both drivers reach", function* () {
    const sql = yield* SqlClient.SqlClient
    const database = yield* Database.Fresh
    const [row] = yield* sql<{ name: string }>`SELECT current_database()::text AS name`
    const client = new pg.Client({ connectionString: Redacted.value(database.url) })
    yield* Effect.promise(() => client.connect())
    const { rows } = yield* Effect.promise(() => client.query("SELECT current_database() AS name"))
    yield* Effect.promise(() => client.end())
    assert.deepStrictEqual([row?.name, rows[0].name], [database.name, database.name])
  })
})

describe("two databases of one test", () => {
  it.effect("do not see each other's tables", function* () {
    const [one, other] = [yield* Database.freshDatabase, yield* Database.freshDatabase]
    const tables = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_class WHERE relname = 'only_here'`
    })
    const make = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE only_here (id int)`)
    yield* Effect.provide(make, Database.layerOf(one))
    const seen = [
      yield* Effect.provide(tables, Database.layerOf(one)),
      yield* Effect.provide(tables, Database.layerOf(other)),
    ]
    assert.deepStrictEqual(seen, [[{ n: 1 }], [{ n: 0 }]])
  })
})
