import * as StoreDatabase from "@waybill/store/database/Database"
import * as Migrations from "@waybill/store/database/Migrations"
import { watchedClient } from "@waybill/store/database/watchedClient"
import { BEAT_TIMEOUT, RegistrationFailed, Processes, START_TIMEOUT } from "@waybill/store/outbox/Processes"
import { Cause, Context, Effect, Exit, Fiber, Layer, Logger, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { createServer, type AddressInfo, type Socket } from "node:net"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { otherClient, blockedBackend } from "../../support/postgres/otherClient.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import * as World from "../../support/world/World.ts"

/** Accepts every connection and never answers. */
const silent: Effect.Effect<Redacted.Redacted, never, Scope.Scope> = Effect.gen(function* () {
  const open = new Set<Socket>()
  const server = createServer((socket) => void open.add(socket.on("error", () => {}).resume()))
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of open) socket.destroy()
      }),
  )
  return Redacted.make(`postgres://x:y@127.0.0.1:${(server.address() as AddressInfo).port}/x?sslmode=disable`)
})

/** Starts a worker while another session locks a table, and collects its log lines. */
const startBesideLock = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const [other, watcher] = [yield* otherClient(url), yield* otherClient(url)]
  yield* other.query("BEGIN; LOCK TABLE processes")
  const said: Array<string> = []
  const logger = Logger.make(({ cause }) => void said.push(Cause.pretty(cause)))
  const start = yield* Layer.build(Layer.fresh(Processes.layer({ url, reclaim: () => Effect.void }))).pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.exit,
    Effect.forkChild,
  )
  const first = yield* blockedBackend(watcher)
  return { other, first, watcher, said, start }
})

describe("a start with a database that hangs", () => {
  it.effect("fails when a connection is accepted and not answered", function* () {
    const url = yield* silent
    const start = yield* Effect.forkChild(Effect.flip(Layer.build(StoreDatabase.layer({ url }))))
    yield* TestClock.adjust(StoreDatabase.READY_TIMEOUT)
    assert.strictEqual((yield* Fiber.join(start)).message, "the database did not answer within 15 seconds")
  })

  it.live("reports it when the schema is to be migrated", function* () {
    const url = yield* silent
    const failed = yield* Effect.flip(Migrations.migrate(url))
    assert.strictEqual(
      failed.message,
      `DATABASE_URL: ${new URL(Redacted.value(url)).host} did not answer within 5 seconds. Check that Postgres runs there, or correct the host and the port. The form is postgres://user:password@host:5432/database.`,
    )
  })

  it.live("ends a migration whose server freezes, and says what it was doing", () =>
    Effect.gen(function* () {
      const proxy = yield* faultProxy((yield* Database.Fresh).url)
      const failed = yield* Effect.flip(
        Effect.tryPromise(() =>
          watchedClient(
            proxy.url,
            async (client, steps) => {
              await client.query("SELECT 1")
              steps.current = "applying the migration 0001-first.sql"
              proxy.swallow()
              await client.query("SELECT 1")
            },
            { every_ms: 100, within_ms: 300 },
          ),
        ),
      )
      assert.include(String(failed.cause), "the server stopped answering while applying the migration 0001-first.sql.")
    }).pipe(Effect.scoped, Effect.provide(World.layer)),
  )

  it.live("leaves a migration alone whose statement takes long", () =>
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const rows = yield* Effect.promise(() =>
        watchedClient(url, async (client) => (await client.query("SELECT pg_sleep(1), 1 AS one")).rows, {
          every_ms: 50,
          within_ms: 5_000,
        }),
      )
      assert.strictEqual(rows[0]?.one, 1)
    }).pipe(Effect.scoped, Effect.provide(World.layer)),
  )

  it.effect("reports a failed heartbeat and retries", () =>
    Effect.gen(function* () {
      const { first, other, said, start, watcher } = yield* startBesideLock
      yield* TestClock.adjust(BEAT_TIMEOUT)
      yield* Effect.repeat(blockedBackend(watcher), { until: (pid) => pid !== first })
      assert.match(said.join("\n"), /the database did not answer within 5 seconds/u)
      yield* other.query("ROLLBACK")
      const started = yield* Fiber.join(start)
      assert.isTrue(Exit.isSuccess(started) && Context.get(started.value, Processes).isVisible())
    }).pipe(Effect.scoped, Effect.provide(World.layer)),
  )

  it.effect("gives up in the end, as without a database", () =>
    Effect.gen(function* () {
      const { other, start } = yield* startBesideLock
      yield* TestClock.adjust(START_TIMEOUT)
      const started = yield* Fiber.join(start)
      assert.deepStrictEqual(started, Exit.fail(new RegistrationFailed()))
      yield* other.query("ROLLBACK")
    }).pipe(Effect.scoped, Effect.provide(World.layer)),
  )
})
