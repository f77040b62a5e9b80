import * as Session from "@waybill/store/database/Session"
import * as ConnectionPooler from "@waybill/store/database/ConnectionPooler"
import { Cause, Effect, Exit, Redacted } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as DocCommands from "../../support/process/DocCommands.ts"
import * as PgBouncer from "../../support/postgres/PgBouncer.ts"
import { freePort } from "../../support/process/service.ts"
import { allDelivered, load } from "./clients.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"

const NAMES = Object.keys(Session.SESSION)
const MAILS = 100

/** Settings of docs/scaling.md for PgBouncer and for Postgres. */
const [, ...SETTINGS] = DocCommands.lines("docs/scaling.md", "[pgbouncer]")
const STATEMENTS = DocCommands.lines("docs/scaling.md", "ALTER ROLE")

/** Set for the role on this database only, since others share the role. */
const giveToRole = (is: "set" | "reset") =>
  Effect.gen(function* () {
    const sql = yield* Sql
    const { name: database } = yield* Database.Fresh
    for (const statement of STATEMENTS) {
      const here = statement.replace(/^ALTER ROLE waybill /u, `ALTER ROLE CURRENT_USER IN DATABASE ${database} `)
      assert.notStrictEqual(here, statement)
      yield* sql.unsafe(is === "set" ? here : here.replace(/ SET (\w+) = .*$/u, " RESET $1"))
    }
  }).pipe(Effect.orDie)

const refusal = (url: Redacted.Redacted) =>
  Effect.map(Effect.exit(ConnectionPooler.check(url)), (exit) =>
    Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "",
  )

layer(World.layer, { excludeTestServices: true })("connection pooler check", (it) => {
  it.effect("Postgres is not taken for a pooler", function* () {
    const { url } = yield* Database.Fresh
    assert.strictEqual(yield* refusal(url), "")
  })

  it.effect(
    "a database that does not answer is named in the message",
    function* () {
      const port = yield* Effect.promise(freePort)
      const started = yield* Effect.exit(ServiceProcess.start(Redacted.make(`postgres://a:b@127.0.0.1:${port}/c`)))
      assert.isTrue(Exit.isFailure(started))
      if (Exit.isFailure(started))
        assert.include(
          String(Cause.squash(started.cause)),
          `waybill: DATABASE_URL: 127.0.0.1:${port} refused the connection`,
        )
    },
    600_000,
  )
})

describe.skipIf(PgBouncer.BINARY === undefined)("behind PgBouncer", () => {
  layer(World.layer, { excludeTestServices: true })("in session mode", (it) => {
    it.effect(
      "two nodes accept and deliver under load while one restarts",
      function* () {
        const { url } = yield* Database.Fresh
        yield* Effect.acquireRelease(giveToRole("set"), () => giveToRole("reset"))
        const pooled = yield* PgBouncer.start(url, { mode: "statement", written: SETTINGS })
        const [api, worker] = yield* Effect.all(
          [ServiceProcess.start(pooled, { ROLES: "api" }), ServiceProcess.start(pooled, { ROLES: "worker" })],
          { concurrency: "unbounded" },
        )
        const { account_id, key } = yield* ServiceProcess.signUp(api, { limits: { send: 1_000_000 } })
        const clients = load(() => [api], key)
        yield* clients.more(MAILS)
        // The pooler passes the sessions on to the next node, so they must keep no state.
        assert.strictEqual(yield* worker.stop, 0)
        yield* ServiceProcess.start(pooled, { ROLES: "worker" })
        yield* clients.more(MAILS)
        yield* clients.end
        assert.deepStrictEqual(ServiceProcess.countByStatus(clients.answers), { 200: clients.answers.length })
        yield* allDelivered(account_id, clients.answers.length)
      },
      600_000,
    )

    it.effect("is refused with a fix while it does not pass on settings", function* () {
      const { url } = yield* Database.Fresh
      assert.include(
        yield* refusal(yield* PgBouncer.start(url, { mode: "session" })),
        `ignore_startup_parameters = ${NAMES.join(",")}`,
      )
      const lost = yield* refusal(yield* PgBouncer.start(url, { mode: "session", ignore: NAMES }))
      assert.include(lost, "ALTER ROLE CURRENT_USER SET plan_cache_mode = 'force_custom_plan';")
    })
  })

  layer(World.layer, { excludeTestServices: true })("in any other mode", (it) => {
    it.effect(
      "a node does not start, and says why",
      function* () {
        const { url } = yield* Database.Fresh
        yield* Effect.acquireRelease(giveToRole("set"), () => giveToRole("reset"))
        for (const mode of ["transaction", "statement"] as const) {
          const pooled = yield* PgBouncer.start(url, { mode, ignore: NAMES })
          const started = yield* Effect.exit(ServiceProcess.start(pooled))
          assert.isTrue(Exit.isFailure(started), mode)
          if (Exit.isFailure(started)) assert.include(String(Cause.squash(started.cause)), "ended with 78")
          assert.include(yield* refusal(pooled), "pool_mode = session")
        }
      },
      600_000,
    )

    it.effect(
      "is seen with two connections to Postgres, and with many that were in use before",
      function* () {
        const { url } = yield* Database.Fresh
        for (const poolSize of [2, 20]) {
          const pooled = yield* PgBouncer.start(url, { mode: "transaction", ignore: NAMES, poolSize })
          for (let again = 0; again < 3; again++) assert.include(yield* refusal(pooled), "pool_mode = session")
        }
      },
      600_000,
    )
  })
})
