import * as NodeServices from "@effect/platform-node/NodeServices"
import { PgClient } from "@effect/sql-pg"
import * as Email from "@waybill/domain/email/Email"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import * as Session from "@waybill/store/database/Session"
import type * as WebhookState from "@waybill/domain/webhook/WebhookState"
import * as Conservation from "@waybill/store/operations/Conservation"
import { EventStore } from "@waybill/store/commit/EventStore"
import { ConfigProvider, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { Command } from "effect/cli"
import { execFile } from "node:child_process"
import * as os from "node:os"
import { promisify } from "node:util"
import { Sql } from "@waybill/store/postgres/Sql"
import { audit } from "../../../apps/server/src/cli/commands/audit.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { MAIN } from "../../support/process/service.ts"
import * as World from "../../support/world/World.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import { NOWHERE } from "../../support/nowhere.ts"

const balancesOf = (account_id: AccountId) =>
  Effect.map(Conservation.webhooks(), (all) => all.filter((balance) => balance.account_id === account_id))

const emailBalance = (account_id: AccountId) =>
  Effect.map(Conservation.emails(), (all) => all.filter((balance) => balance.account_id === account_id))

const execute = (statement: (sql: Sql) => Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(Sql, (sql) => Effect.orDie(statement(sql)))

/** Runs `waybill audit` and returns its output and exit code. */
const waybillAudit = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { url } = yield* Database.Fresh
  const env = ConfigProvider.fromUnknown({ DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE })
  return yield* Command.runWith(audit.named("audit", ""), { version: "0" })(args).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, ConfigProvider.layer(env))),
    Effect.exit,
  )
})

layer(World.layer, { excludeTestServices: true })("conservation of webhooks", (it) => {
  it.effect(
    "holds for webhooks that are created, changed, disabled and deleted while events are written",
    function* () {
      const account_id = id("AccountId")
      const storm = Effect.forEach(
        Array.from({ length: 40 }),
        () =>
          Effect.flatMap(Webhooks.acceptEmail(account_id), (email_id) => Webhooks.appendOpened(account_id, email_id)),
        { concurrency: 8 },
      )
      const life = Effect.fnUntraced(function* (events: ReadonlyArray<WebhookState.Subscription>) {
        const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook", { account_id, events })
        yield* Webhooks.acceptEmail(account_id)
        yield* Webhooks.change(endpoint, (now) => Webhook.update(now, { enabled: false }, []))
        yield* Webhooks.acceptEmail(account_id)
        yield* Webhooks.change(endpoint, (now) => Webhook.update(now, { enabled: true, events: ["email.opened"] }, []))
        yield* Webhooks.acceptEmail(account_id)
        yield* Webhooks.change(endpoint, (now) => Webhook.update(now, { events }, []))
      })
      yield* Effect.all(
        [storm, life(["*"]), life(["email.queued", "webhook.disabled"]), life(["email.opened", "email.clicked"])],
        {
          concurrency: "unbounded",
          discard: true,
        },
      )
      const gone = yield* Webhooks.create("http://127.0.0.1:9/hook", { account_id })
      yield* Webhooks.acceptEmail(account_id)
      yield* Webhooks.change(gone, (now) => Webhook.remove(now))
      yield* Webhooks.acceptEmail(account_id)
      const balances = yield* balancesOf(account_id)
      assert.lengthOf(balances, 4)
      for (const balance of balances) {
        assert.isAbove(balance.events, 0)
        assert.deepStrictEqual([balance.deliveries, balance.missing, balance.mismatched], [balance.events, [], []])
      }
    },
  )

  it.effect("covers the period for which the account retains deliveries", function* () {
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook", { events: ["email.queued"] })
    yield* Webhooks.acceptEmail(endpoint.account_id)
    yield* execute((sql) => sql`DELETE FROM webhook_deliveries WHERE account_id = ${endpoint.account_id}`)
    const age = (days: number) =>
      execute(
        (sql) => sql`
            UPDATE events SET recorded_at = now() - make_interval(days => ${days}::int)
            WHERE account_id = ${endpoint.account_id}`,
      )
    yield* age(29)
    assert.strictEqual((yield* balancesOf(endpoint.account_id))[0]?.missing.length, 1)
    yield* age(31)
    assert.deepInclude((yield* balancesOf(endpoint.account_id))[0], { events: 0, missing: [] })
  })

  it.effect("fails for a missing delivery, and names its event", function* () {
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook", { events: ["email.queued"] })
    yield* Webhooks.acceptEmail(endpoint.account_id)
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const before = yield* Webhooks.deliveries(endpoint)
    assert.isTrue(Exit.isSuccess(yield* waybillAudit("webhooks")))
    yield* execute((sql) => sql`DELETE FROM webhook_deliveries WHERE id = ${before[0]?.id ?? ""}`)
    const [balance] = yield* balancesOf(endpoint.account_id)
    assert.deepInclude(balance, { events: 2, deliveries: 1, missing: [before[0]?.event_id ?? ""] })
    const exit = yield* waybillAudit("webhooks")
    assert.isTrue(Exit.isFailure(exit))
    assert.include(String(exit), "1 webhook")
    yield* execute((sql) => sql`DELETE FROM webhook_deliveries WHERE account_id = ${endpoint.account_id}`)
    yield* execute((sql) => sql`DELETE FROM events WHERE account_id = ${endpoint.account_id}`)
    assert.isTrue(Exit.isSuccess(yield* waybillAudit("webhooks")))
  })

  it.effect("prints how many are missing, the first ten, and all of them to a slow reader of JSON", function* () {
    const { account_id } = yield* Webhooks.create("http://127.0.0.1:9/hook", { events: ["email.queued"] })
    yield* Webhooks.acceptEmail(account_id)
    const copies = 2_500
    yield* execute(
      (sql) => sql`
        INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, data, meta, packed, recorded_at)
        SELECT nextval('event_position'), account_id, stream_id || n, version, stream, type, event_id || n, data, meta, packed,
          recorded_at
        FROM events, generate_series(1, ${copies}::int) AS n WHERE account_id = ${account_id} AND type = 'EmailQueued'`,
    )
    const database = yield* Database.Fresh
    const { output } = yield* CommandLine.typeOn(database, "audit", "webhooks")
    assert.match(output, new RegExp(` ${copies + 1} +1 +${copies} +0$`, "mu"))
    assert.match(output, /^missing \(the first 10; all with --json\):\n(?: {2}evt_\w+(?:\n|$)){10}$/mu)
    // The reader begins once the command has said how it ends, and the pipe holds a part of the output.
    const env = { DATABASE_URL: Redacted.value(database.url), WAYBILL_DATA: NOWHERE }
    const script = `d=$(mktemp -d -p "$2"); mkfifo $d/errors
      { "$0" "$1" audit webhooks --json 2>$d/errors; echo "ended with $?" >&2; } | { read -r line <$d/errors; echo "$line" >&2; cat; }
      rm -r $d`
    const { stderr, stdout } = yield* Effect.promise(() =>
      promisify(execFile)("/bin/sh", ["-c", script, process.execPath, MAIN, os.tmpdir()], { env, maxBuffer: 2 ** 24 }),
    )
    assert.include(stderr, "ended with 3")
    const told = JSON.parse(stdout) as ReadonlyArray<Conservation.WebhookBalance>
    assert.lengthOf(told.find((balance) => balance.account_id === account_id)?.missing ?? [], copies)
    yield* execute((sql) => sql`DELETE FROM webhook_deliveries WHERE account_id = ${account_id}`)
    yield* execute((sql) => sql`DELETE FROM events WHERE account_id = ${account_id}`)
  })

  it.effect("fails for a delivery without an event", function* () {
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook", { events: ["email.queued"] })
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const [told] = yield* Webhooks.deliveries(endpoint)
    yield* execute(
      (sql) => sql`UPDATE webhook_deliveries SET event_type = 'email.bounced' WHERE id = ${told?.id ?? ""}`,
    )
    const [balance] = yield* balancesOf(endpoint.account_id)
    assert.deepStrictEqual(balance?.mismatched, [told?.id ?? ""])
    assert.isTrue(Exit.isFailure(yield* waybillAudit("webhooks", "--json")))
    yield* execute((sql) => sql`UPDATE webhook_deliveries SET event_type = 'email.queued' WHERE id = ${told?.id ?? ""}`)
  })

  it.effect("fails for a pending delivery without an outbox row", function* () {
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook", { events: ["email.queued"] })
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const [told] = yield* Webhooks.deliveries(endpoint)
    yield* execute((sql) => sql`DELETE FROM outbox WHERE id = ${told?.id ?? ""}`)
    const [balance] = yield* balancesOf(endpoint.account_id)
    assert.deepStrictEqual(balance?.mismatched, [told?.id ?? ""])
    assert.isTrue(Exit.isFailure(yield* waybillAudit("webhooks")))
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("conservation", (it) => {
  it.effect("may take longer than the statement timeout", function* () {
    const { url } = yield* Database.Fresh
    const hurried = PgClient.layer({ url, startupParameters: { ...Session.SESSION, statement_timeout: "100ms" } })
    const sql = yield* Sql
    const waits = sql<{ readonly n: number }>`
        SELECT count(*)::int AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.relation = 'events'::regclass
          AND clock_timestamp() - l.waitstart > interval '250 milliseconds'`
    // Both checks wait for the lock on the log, longer than the statement timeout.
    const looks = yield* sql
      .withTransaction(
        Effect.gen(function* () {
          yield* sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`
          const looks = yield* Effect.all([Conservation.emails(), Conservation.webhooks()], {
            concurrency: 2,
          }).pipe(Effect.provide(hurried), Effect.exit, Effect.forkDetach)
          yield* World.until(
            Effect.all([Effect.sync(() => looks.pollUnsafe()), Effect.orDie(waits)]),
            ([ended, found]) => ended !== undefined || found[0]?.n === 2,
          )
          return looks
        }),
      )
      .pipe(Effect.orDie)
    const ended = yield* Fiber.join(looks)
    assert.isTrue(Exit.isSuccess(ended), String(ended))
  })
})

layer(World.layer, { excludeTestServices: true })("conservation of emails", (it) => {
  it.effect("counts accepted recipients as final or in flight, by account and day", function* () {
    const account_id = id("AccountId")
    const first = yield* Webhooks.acceptEmail(account_id)
    yield* Webhooks.acceptEmail(account_id)
    const store = yield* EventStore
    yield* Effect.orDie(store.commit(Email, { account_id, stream_id: first }, Email.cancel(yield* Webhooks.now)))
    const [balance, ...more] = yield* emailBalance(account_id)
    assert.deepStrictEqual(more, [])
    assert.deepInclude(balance, { accepted: 2, final: 1, in_flight: 1, mismatched: 0 })
    assert.isTrue(Exit.isSuccess(yield* waybillAudit("emails")))
  })

  it.effect("fails for a message that the log does not show", function* () {
    const account_id = id("AccountId")
    const email_id = yield* Webhooks.acceptEmail(account_id)
    yield* execute((sql) => sql`DELETE FROM email_log WHERE id = id_key(${email_id})`)
    const [balance] = yield* emailBalance(account_id)
    assert.deepInclude(balance, { accepted: 1, final: 0, in_flight: 0 })
    assert.isTrue(Exit.isFailure(yield* waybillAudit("emails")))
    yield* execute((sql) => sql`DELETE FROM events WHERE account_id = ${account_id}`)
  })

  it.effect("fails for a waiting message without an outbox row", function* () {
    const account_id = id("AccountId")
    const email_id = yield* Webhooks.acceptEmail(account_id)
    yield* execute((sql) => sql`DELETE FROM outbox WHERE id = ${email_id}`)
    const [balance] = yield* emailBalance(account_id)
    assert.deepInclude(balance, { accepted: 1, in_flight: 1, mismatched: 1 })
    assert.isTrue(Exit.isFailure(yield* waybillAudit("emails")))
  })
})

layer(World.layer, { excludeTestServices: true })("conservation of work", (it) => {
  const balanceOf = (kind: string) =>
    Effect.map(Conservation.work(), (all) => all.find((balance) => balance.kind === kind))

  it.effect("fails for waiting work without an outbox row, and for an outbox row without waiting work", function* () {
    const { account_id, domain_id } = yield* World.verifiedDomain()
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook", { account_id, events: ["email.queued"] })
    const email_id = yield* Webhooks.acceptEmail(account_id)
    const ended = yield* Webhooks.acceptEmail(account_id)
    const store = yield* EventStore
    yield* Effect.orDie(store.commit(Email, { account_id, stream_id: ended }, Email.cancel(yield* Webhooks.now)))
    const [told] = yield* Webhooks.deliveries(endpoint)
    for (const [kind, waiting, row_id] of [
      ["delivery", 1, email_id],
      ["webhook", 2, told?.id ?? ""],
      ["domain_check", 1, domain_id],
    ] as const) {
      const unexpected = `unexpected ${kind}`
      assert.deepStrictEqual(yield* balanceOf(kind), { kind, waiting, missing: [], unexpected: [] })
      yield* execute((sql) => sql`UPDATE outbox SET id = ${unexpected} WHERE id = ${row_id}`)
      assert.deepStrictEqual(yield* balanceOf(kind), { kind, waiting, missing: [row_id], unexpected: [unexpected] })
      if (kind === "domain_check") assert.include(String(yield* waybillAudit("work")), "in 1 kind of work")
      yield* execute((sql) => sql`UPDATE outbox SET id = ${row_id} WHERE id = ${unexpected}`)
    }
    assert.isTrue(Exit.isSuccess(yield* waybillAudit("work")))
  })
})
