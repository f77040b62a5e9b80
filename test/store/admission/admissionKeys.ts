import { PgClient } from "@effect/sql-pg"
import * as Account from "@waybill/domain/account/Account"
import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import type { Sha256 } from "@waybill/domain/email/Content"
import * as Id from "@waybill/domain/values/Id"
import type * as Network from "@waybill/domain/values/Network"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Layer } from "effect"
import { createHash, randomBytes } from "node:crypto"
import * as Database from "../../support/postgres/Database.ts"

const NOW = Timestamp.fromMillis(Date.UTC(2026, 10, 21, 12, 0, 0))
const id = <Name extends Parameters<typeof Id.make>[0]>(name: Name) => Id.make(name, Date.now(), randomBytes(10))

export const account = Effect.gen(function* () {
  const store = yield* EventStore
  const account_id = id("AccountId")
  yield* Effect.orDie(
    store.commit(Account, { account_id, stream_id: account_id }, Account.create(NOW, account_id, "Acme", "free")),
  )
  return account_id
})

export interface NewKey {
  readonly allowed_ips?: ReadonlyArray<string>
  readonly expires_at?: Timestamp.Timestamp
}

export const key = Effect.fnUntraced(function* (account_id: Id.AccountId, options: NewKey = {}) {
  const store = yield* EventStore
  const keyId = id("ApiKeyId")
  const secret = ApiKeySecret.encode(randomBytes(ApiKeySecret.RANDOM_BYTES))
  const hash = createHash("sha256").update(secret).digest("hex") as Sha256
  const command: ApiKey.Command = {
    name: "test",
    scopes: ["email:send"],
    domain: null,
    allowed_ips: (options.allowed_ips ?? []) as ReadonlyArray<Network.Network>,
    expires_at: options.expires_at ?? null,
  }
  yield* Effect.orDie(
    store.commit(
      ApiKey,
      { account_id, stream_id: keyId },
      ApiKey.create({ now: NOW, keyId, secret, hash, createdBy: null, active: 0 }, command),
    ),
  )
  return { id: keyId, hash, account_id }
})

export const revoke = Effect.fnUntraced(function* (of: {
  readonly id: Id.ApiKeyId
  readonly account_id: Id.AccountId
}) {
  const store = yield* EventStore
  yield* Effect.orDie(store.commit(ApiKey, { account_id: of.account_id, stream_id: of.id }, ApiKey.revoke(NOW)))
})

/**
 * Gives every connection opened from now on a clock that only a test moves: a function with the name of the built-in one
 * that comes first in the search path. The schema of new objects does not change.
 */
export const freezeDatabaseClock = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`CREATE SCHEMA frozen`
  yield* sql`CREATE TABLE frozen.clock (at timestamptz NOT NULL)`
  yield* sql`INSERT INTO frozen.clock VALUES ('2026-11-21T12:00:30Z')`
  yield* sql`CREATE FUNCTION frozen.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
    AS 'SELECT at FROM frozen.clock'`
  const [row] = yield* sql<{ readonly name: string }>`SELECT current_database()::text AS name`
  yield* sql`ALTER DATABASE ${sql(row?.name ?? "")} SET search_path = public, frozen, pg_catalog`
})

/** Uses a pool of its own, because only connections opened afterwards have the frozen clock. */
export const layerFrozen = Layer.unwrap(
  Effect.gen(function* () {
    const fresh = yield* Database.Fresh
    yield* Effect.provide(freezeDatabaseClock, Database.layerOf(fresh))
    return Database.layerOf(fresh)
  }),
).pipe(Layer.provideMerge(Layer.effect(Database.Fresh, Database.freshDatabase)))

export const setDatabaseClock = (at: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) => sql`UPDATE frozen.clock SET at = ${at}::timestamptz`)
