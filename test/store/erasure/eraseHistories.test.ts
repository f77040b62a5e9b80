import * as Account from "@waybill/domain/account/Account"
import type { Address } from "@waybill/domain/values/Address"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as EmailStats from "@waybill/store/statistics/EmailStats"
import * as RecipientChanges from "@waybill/store/statistics/RecipientChanges"
import * as PackedSql from "@waybill/store/packed/PackedSql"
import * as Erase from "@waybill/store/erasure/Erase"
import * as EraseStats from "@waybill/store/erasure/EraseStats"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Mask from "@waybill/store/erasure/Mask"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Swap from "@waybill/store/rebuild/Swap"
import * as Versions from "@waybill/store/rebuild/versions/Versions"
import * as Projections from "@waybill/store/rebuild/versions/Projections"
import { Provenance, system } from "@waybill/store/log/Provenance"
import { Effect, Exit, Fiber, Latch, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import { replayUrls, WAITING_SESSIONS } from "../../support/cells/testCell.ts"
import * as Histories from "../rebuild/randomHistories.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)

const AT = Timestamp.fromMillis(1_780_000_000_000)
const HERS = "eva@example.org" as Address

const accountCreated = (account_id: AccountId) =>
  Effect.flatMap(EventStore, ({ commit }) =>
    commit(Account, { account_id, stream_id: account_id }, Account.create(AT, account_id, "Acme", "free")),
  )

const suppressed = Effect.gen(function* () {
  const { commit } = yield* EventStore
  const account_id = id("AccountId")
  yield* accountCreated(account_id)
  const add = Suppression.add(AT, id("SuppressionId"), HERS, "unsubscribe", null)
  const ref = { account_id, stream_id: Suppression.streamId(HERS) }
  yield* commit(Suppression, ref, add).pipe(Effect.provideService(Provenance, { ...system, address: "192.0.2.9" }))
  return account_id
})

layer(Store, { excludeTestServices: true })("erasure from a history", (it) => {
  it.effect("commits together with the event that records it, or not at all", () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      const [one, other] = [yield* suppressed, yield* suppressed]
      yield* sql`
        CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''stopped''; END'`
      yield* sql`
        CREATE TRIGGER stop BEFORE INSERT ON events FOR EACH ROW
        WHEN (NEW.type = 'AddressErased' AND NEW.account_id = ${sql.literal(`'${other}'`)}) EXECUTE FUNCTION stop()`
      const erase = Erase.erase(HERS, Mask.replacement(Uint8Array.of(1)))
      const types = Effect.fnUntraced(function* (account_id: string) {
        const rows = yield* sql<{ readonly type: string; readonly hers: boolean }>`
          SELECT type, strpos(coalesce(packed, data::text), ${HERS}) > 0 AS hers FROM events WHERE account_id = ${account_id} ORDER BY position`
        return rows.map(({ hers, type }) => (hers ? `${type} of hers` : type))
      })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(erase)))
      assert.deepStrictEqual(yield* types(one), ["AccountCreated", "SuppressionAdded", "AddressErased"])
      assert.deepStrictEqual(yield* types(other), ["AccountCreated", "SuppressionAdded of hers"])
      yield* sql`DROP TRIGGER stop ON events`
      assert.deepStrictEqual([...(yield* erase).accounts], [[other, { streams: 1, events: 1 }]])
      assert.deepStrictEqual(yield* types(other), ["AccountCreated", "SuppressionAdded", "AddressErased"])
      const clients =
        yield* sql`SELECT 1 AS known FROM events WHERE strpos(coalesce(packed, meta::text), '192.0.2.9') > 0`
      assert.deepStrictEqual(clients, [])
      assert.deepStrictEqual((yield* Rebuild.verify("accounts", { release: "test" })).differences, [])
    }).pipe(Effect.orDie),
  )
})

layer(Store, { excludeTestServices: true })("erasure from the statistics", (it) => {
  it.effect("includes the page that a rebuild is counting at that moment", () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      const { version } = yield* Rebuild.rebuild(EmailStats.FOLLOWER, { release: "test" })
      const table = Versions.tableOf({ name: EmailStats.FOLLOWER, version, state: "ready" })
      const mask = Mask.make(HERS, Mask.replacement(Uint8Array.of(2)))
      const done = yield* Latch.make()
      const counted = yield* Latch.make()
      const page = Effect.gen(function* () {
        yield* Versions.lockPosition(sql, { name: EmailStats.FOLLOWER, version })
        yield* sql`
          INSERT INTO ${sql(table)} (account_id, tag, hour, domain, measure, bucket, count)
          VALUES ('acc', ${HERS}, now(), 'acme.test', 'accepted', 0, 1)`
        yield* counted.open
        yield* done.await
      }).pipe(sql.withTransaction)
      const counting = yield* Effect.forkChild(page)
      yield* counted.await
      const erasing = yield* Effect.forkChild(sql.withTransaction(EraseStats.erase(sql, HERS, mask)))
      const waiting = sql.unsafe(WAITING_SESSIONS)
      while (erasing.pollUnsafe() === undefined && (yield* waiting).length === 0) yield* Effect.yieldNow
      yield* done.open
      yield* Fiber.join(counting)
      yield* Fiber.join(erasing)
      assert.deepStrictEqual(
        (yield* sql<{ readonly tag: string }>`SELECT tag FROM ${sql(table)}`).map(({ tag }) => mask.contains(tag)),
        [false],
      )
    }).pipe(Effect.orDie),
  )
})

layer(Store, { excludeTestServices: true })("erasure from random histories", (it) => {
  it.effect(
    "keeps read models equal to the log, and leaves the address only where reported",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        yield* Histories.write(21, 30)
        const notCreated = yield* sql<{ readonly account_id: AccountId }>`
          SELECT account_id FROM events GROUP BY 1 HAVING NOT bool_or(type = 'AccountCreated')`
        yield* Effect.forEach(notCreated, ({ account_id }) => accountCreated(account_id))
        // These histories were written without counting, so count them now.
        yield* Rebuild.rebuild("monthly_usage", { release: "test" })
        yield* Swap.swap("monthly_usage", false)
        // The address that occurs in most histories.
        const [most] = yield* sql<{ readonly address: Address; readonly n: number }>`
          SELECT ${PackedSql.field(sql, "e", "EmailDelivered", "recipient")} AS address, count(DISTINCT stream_id)::int AS n
          FROM events e WHERE type = ANY(${RecipientChanges.TYPES}::text[]) GROUP BY 1 ORDER BY 2 DESC LIMIT 1`
        const address = most?.address ?? assert.fail("nobody is written to")
        assert.isAbove(most?.n ?? 0, 10)
        const { accounts, remaining } = yield* Erase.erase(address, Mask.replacement(Uint8Array.of(1, 2, 3)))
        assert.isAbove(accounts.size, 3)
        for (const { name } of Projections.inCommits)
          assert.deepStrictEqual([name, (yield* Rebuild.verify(name, { release: "test" })).differences], [name, []])
        const named = yield* sql<{ readonly stream_id: string; readonly data: unknown }>`
          SELECT stream_id, coalesce(to_jsonb(packed), data) AS data FROM events
          WHERE strpos(lower(coalesce(packed, data::text)), ${address.toLowerCase()}) > 0`
        const spelt = Mask.make(address, "x@y.z" as Address)
        const still = new Set(named.flatMap(({ data, stream_id }) => (spelt.contains(data) ? [stream_id] : [])))
        assert.deepStrictEqual([...still].toSorted(), remaining.map(({ stream_id }) => stream_id).toSorted())
      }).pipe(Effect.orDie),
    { timeout: 180_000 },
  )
})
