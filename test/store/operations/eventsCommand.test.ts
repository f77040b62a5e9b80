import * as Account from "@waybill/domain/account/Account"
import type { Address } from "@waybill/domain/values/Address"
import * as Team from "@waybill/domain/account/Team"
import * as Email from "@waybill/domain/email/Email"
import type { AccountId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import type { WebhookUrl } from "@waybill/domain/webhook/WebhookUrl"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as LogExport from "@waybill/store/exports/LogExport"
import * as LogFile from "@waybill/store/exports/LogFile"
import * as TimeTravel from "@waybill/store/operations/TimeTravel"
import { Cause, Context, Effect, Exit, Layer, Option, Redacted, Result } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import { asService } from "../../support/cells/testCell.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import { runToEnd } from "../../support/process/service.ts"
import * as Histories from "../rebuild/randomHistories.ts"
import { open, send } from "../commit/commits.ts"
import { NOWHERE } from "../../support/nowhere.ts"

class Folder extends Context.Service<Folder, string>()("test/Folder") {
  static readonly layer = Layer.effect(
    Folder,
    Effect.acquireRelease(
      Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-events-"))),
      (folder) => Effect.promise(() => fs.rm(folder, { recursive: true })),
    ),
  )
}
const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh), Layer.provideMerge(Folder.layer))
const TIMEOUT = { timeout: 180_000 }

const waybill = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(Database.Fresh, ({ url }) =>
    Effect.promise(() => runToEnd(args, { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE })),
  )

/** Runs the command in this process, because starting one takes half a second. Refusals are printed as usual. */
const runOn = (database: Database.Database, ...args: ReadonlyArray<string>) =>
  Effect.map(CommandLine.typeOn(database, ...args), ({ exit, output }) =>
    Exit.isSuccess(exit) ? { code: 0, output } : { code: 1, output: `${output}${Cause.pretty(exit.cause)}` },
  )
const run = (...args: ReadonlyArray<string>) => Effect.flatMap(Database.Fresh, (database) => runOn(database, ...args))

/** Rows of a table of another instance, as text. */
const rowsOf = (database: Database.Database, table: string) =>
  Effect.gen(function* () {
    const sql = yield* Sql
    const rows = yield* sql<{ readonly text: string }>`SELECT t::text AS text FROM ${sql(table)} t ORDER BY 1`
    return rows.map(({ text }) => text)
  }).pipe(Effect.provide(Database.layerOf(database)), Effect.orDie)

/** Outbox rows with their due times. Webhook deliveries are not moved to another instance. */
const outboxOf = (database: Database.Database) =>
  Effect.gen(function* () {
    const sql = yield* Sql
    return yield* sql`
      SELECT id, account_id, kind, stream_id, available_at::text, attempt FROM outbox WHERE kind <> 'webhook' ORDER BY id`
  }).pipe(Effect.provide(Database.layerOf(database)), Effect.orDie)

/** Monthly usage of an account, read first so that the month has a row, as through the API. */
const monthsOf = (database: Database.Database, account_id: AccountId) =>
  Effect.map(rowsOf(database, "monthly_usage"), (rows) => rows.filter((row) => row.startsWith(`(${account_id},`)))

const TABLES = [
  "events",
  "accounts",
  "members",
  "domains",
  "suppressions",
  "test_clocks",
  "email_log",
  "email_log_terms",
  "email_subjects",
]

layer(Store, { excludeTestServices: true })("waybill events", (it) => {
  it.effect(
    "moves a complete log: the other instance shows the same, and both continue from there",
    () =>
      Effect.gen(function* () {
        const here = yield* Database.Fresh
        const there = yield* Database.freshDatabase
        const file = path.join(yield* Folder, "log.jsonl")
        const { commit } = yield* EventStore
        const user_id = id("UserId")
        const ana = { user_id, email: "Ana@example.org" as Address, name: "Ana", role: "owner" as const }
        const invited = Team.invite("2026-11-21T09:00:00.000Z" as Timestamp.Timestamp, ana)
        yield* Effect.orDie(commit(Team, { account_id: id("AccountId"), stream_id: Team.STREAM_ID }, invited))
        const { transact } = yield* EventStore
        const buyer = id("AccountId")
        const buys = (month: string) =>
          transact(send(buyer, { needs: { month } }, { created_at: `${month}-21T09:00:00.000Z` }))
        const webhook_id = id("WebhookId")
        const hook: Webhook.Event = {
          _tag: "WebhookCreated",
          webhook_id,
          url: "http://127.0.0.1:9/hook" as WebhookUrl,
          events: ["*"],
          description: null,
          format: "waybill",
          svix_headers: false,
          enabled: true,
          secret_ref: "signing:1",
          at: "2026-11-21T09:00:00.000Z" as Timestamp.Timestamp,
        }
        yield* commit(Webhook, { account_id: buyer, stream_id: webhook_id }, () => Result.succeed([hook]))
        yield* buys("2026-10")
        const written = 3 + (yield* Histories.write(11, 12))
        const first = yield* waybill("events", "export", file, "--json")
        assert.strictEqual(first.code, 0, first.output)
        const { added, events, position } = JSON.parse(first.output)
        assert.deepStrictEqual([added, events], [written, written])
        assert.strictEqual((yield* runOn(there, "events", "import", file)).code, 0)
        const before = { users: (yield* asService(rowsOf(there, "users"))).length }
        // Exports more events into the same file, after a kill that left half a line.
        assert.deepStrictEqual(yield* monthsOf(there, buyer), [`(${buyer},2026-10,1)`])
        const more = 2
        for (let nth = 0; nth < more; nth++) yield* buys("2026-11")
        const whole = yield* Effect.promise(() => fs.readFile(file, "utf8"))
        yield* Effect.promise(() => fs.writeFile(file, whole.slice(0, -400)))
        const second = JSON.parse((yield* run("events", "export", file, "--json")).output)
        assert.strictEqual(second.events, written + more)
        assert.isAbove(second.added, more)
        const again = yield* runOn(there, "events", "import", file, "--json")
        assert.deepStrictEqual(JSON.parse(again.output), {
          events: written + more,
          already_there: events,
          position: second.position,
          armed: (yield* outboxOf(here)).length,
          users: (yield* asService(rowsOf(there, "users"))).length - before.users,
        })
        assert.deepStrictEqual(yield* outboxOf(there), yield* outboxOf(here))
        assert.includeMembers(
          (yield* outboxOf(there)).map(({ kind }) => kind),
          ["delivery", "domain_check"],
        )
        assert.isAbove(second.position, position)
        for (const table of TABLES)
          assert.deepStrictEqual([table, yield* rowsOf(there, table)], [table, yield* rowsOf(here, table)])
        assert.deepStrictEqual(yield* monthsOf(there, buyer), [`(${buyer},2026-10,1)`, `(${buyer},2026-11,2)`])
        assert.deepStrictEqual(yield* monthsOf(there, buyer), yield* monthsOf(here, buyer))
        const verified = yield* runOn(there, "projections", "verify", "email_log")
        assert.strictEqual(verified.code, 0, verified.output)
        // Members can sign in again with a password set by the operator of the new instance.
        const password = yield* runOn(there, "users", "password", "ana@example.org", "--json")
        assert.strictEqual(password.code, 0, password.output)
        assert.deepInclude(JSON.parse(password.output), { id: user_id, email: "ana@example.org" })
        // Calls for imported events are not missing: they were the old installation's.
        for (const what of ["webhooks", "emails", "work"]) {
          const audited = yield* runOn(there, "audit", what)
          assert.strictEqual(audited.code, 0, audited.output)
        }
        const made = yield* runOn(there, "accounts", "create", "After")
        assert.strictEqual(made.code, 0, made.output)
      }).pipe(Effect.scoped),
    TIMEOUT,
  )

  it.effect(
    "refuses a damaged or incomplete file, and a database with a different log",
    () =>
      Effect.gen(function* () {
        const there = yield* Database.freshDatabase
        const folder = yield* Folder
        const file = path.join(folder, "whole.jsonl")
        yield* run("events", "export", file)
        const lines = (yield* Effect.promise(() => fs.readFile(file, "utf8"))).trimEnd().split("\n")
        const taken = Effect.fnUntraced(function* (text: ReadonlyArray<string>) {
          const spoilt = path.join(folder, "spoilt.jsonl")
          yield* Effect.promise(() => fs.writeFile(spoilt, `${text.join("\n")}\n`))
          const { code, output } = yield* runOn(there, "events", "import", spoilt)
          assert.strictEqual(code, 1)
          return output
        })
        assert.include(yield* taken(lines.toSpliced(4, 1)), "line 5: the hash does not follow")
        assert.deepStrictEqual(yield* rowsOf(there, "events"), [])
        assert.include(yield* taken(lines.slice(0, -1)), "the file is incomplete")
        // Complete pages were imported; the complete file adds the rest.
        assert.strictEqual((yield* runOn(there, "events", "import", file)).code, 0)
        const other = yield* Database.freshDatabase
        yield* runOn(other, "accounts", "create", "Own")
        const refused = yield* runOn(other, "events", "import", file)
        assert.strictEqual(refused.code, 1)
        assert.include(refused.output, "this database has a different log")
      }).pipe(Effect.scoped),
    TIMEOUT,
  )

  it.effect(
    "does not append to a file of another log, and creates files readable only for their owner",
    () =>
      Effect.gen(function* () {
        const here = yield* Database.Fresh
        const folder = yield* Folder
        const file = path.join(folder, "own.jsonl")
        assert.strictEqual((yield* run("events", "export", file)).code, 0)
        const { mode } = yield* Effect.promise(() => fs.stat(file))
        assert.strictEqual(mode & 0o777, 0o600)

        const refused = Effect.fnUntraced(function* (database: Database.Database, name: string, text: string) {
          const other = path.join(folder, name)
          yield* Effect.promise(() => fs.writeFile(other, text))
          const { code, output } = yield* runOn(database, "events", "export", other)
          assert.deepStrictEqual([code, yield* Effect.promise(() => fs.readFile(other, "utf8"))], [1, text], output)
          return output
        })
        for (const text of ["half a line of notes", "notes\n", '{"waybill'])
          assert.include(yield* refused(here, "notes.txt", text), "is not an exported log")
        const there = yield* Database.freshDatabase
        const whole = yield* Effect.promise(() => fs.readFile(file, "utf8"))
        // An empty database, and one with different events at the same positions.
        assert.include(yield* refused(there, "foreign.jsonl", whole), "the file belongs to another log")
        yield* runOn(there, "accounts", "create", "Own")
        const two = whole.split("\n").slice(0, 2).join("\n")
        assert.include(yield* refused(there, "foreign.jsonl", `${two}\n`), "the file belongs to another log")

        // Events removed by retention since still belong to this log.
        const sql = yield* Sql
        const { commit, transact } = yield* EventStore
        const account_id: AccountId = id("AccountId")
        const ref = { account_id, stream_id: account_id }
        const long_ago = "2020-01-01T09:00:00.000Z" as Timestamp.Timestamp
        yield* commit(Account, ref, Account.create(long_ago, account_id, "Acme", "free"))
        const answer = yield* transact(send(account_id))
        yield* sql`UPDATE events SET recorded_at = ${long_ago}::timestamptz WHERE stream_id = ${answer}`
        assert.strictEqual((yield* run("events", "export", file)).code, 0)
        yield* sql`DELETE FROM events WHERE stream_id = ${answer}`
        const gone = yield* run("events", "export", file)
        assert.include(gone.output, "the file belongs to another log")
        yield* commit(Account, ref, Account.changeKeeping(long_ago, { log_days: 365, delivery_days: 30 }))
        assert.strictEqual((yield* run("events", "export", file)).code, 0)

        // An erasure changes events that the file holds.
        yield* commit(Account, ref, Account.recordErased(long_ago, "erased@example.invalid", { streams: 1, events: 1 }))
        const before = yield* Effect.promise(() => fs.readFile(file, "utf8"))
        const erased = yield* run("events", "export", file)
        assert.strictEqual(erased.code, 1)
        assert.include(erased.output, "an address was erased after this file was written")
        assert.strictEqual(yield* Effect.promise(() => fs.readFile(file, "utf8")), before)

        // An erasure during the export has a position after its end.
        const chain = new LogFile.Chain()
        chain.take(LogFile.HEADER)
        const end = yield* LogExport.end([{ cell: "public", sql, log: sql, isApart: false }])
        const erasedSince = Account.recordErased(long_ago, "also@example.invalid", { streams: 1, events: 1 })
        yield* commit(Account, ref, erasedSince)
        yield* LogExport.write([{ cell: "public", sql, log: sql, isApart: false }], chain, end, () => Effect.void, {
          strays: new Map(),
          whole: Effect.void,
        })
        assert.strictEqual(BigInt(chain.position), end)
      }).pipe(Effect.scoped, Effect.orDie),
    TIMEOUT,
  )

  it.effect(
    "shows a history as of a time",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const { commit, transact } = yield* EventStore
        const account_id: AccountId = id("AccountId")
        const at = "2026-11-21T09:00:00.000Z" as Timestamp.Timestamp
        yield* commit(Account, { account_id, stream_id: account_id }, Account.create(at, account_id, "Acme", "free"))
        const answer = yield* transact(send(account_id))
        const ref = { account_id, stream_id: answer }
        yield* commit(Email, ref, open)
        yield* commit(Email, ref, open)
        yield* sql`
          UPDATE events
          SET recorded_at = (timestamp '2026-11-21 09:00' + (version - 1) * interval '1 hour') AT TIME ZONE 'UTC'
          WHERE stream_id = ${answer}`
        const opens = Effect.fnUntraced(function* (time: string) {
          const found = yield* TimeTravel.email(account_id, answer, `2026-11-21T${time}Z` as Timestamp.Timestamp)
          return Option.getOrUndefined(Option.map(found, (record) => [record["version"], record["opens"]]))
        })
        assert.deepStrictEqual(
          [
            yield* opens("08:59:59.999"),
            yield* opens("09:00:00.000"),
            yield* opens("10:30:00.000"),
            yield* opens("23:00:00.000"),
          ],
          [undefined, [1, 0], [2, 1], [3, 2]],
        )
        const shown = yield* run("events", "stream", answer, "--as-of", "2026-11-21T11:30:00+01:00", "--json")
        const [history] = JSON.parse(shown.output)
        assert.deepInclude(history, { account_id, stream: "email", stream_id: answer })
        assert.deepStrictEqual(
          history.events.map(({ type, version }: { type: string; version: number }) => [version, type]),
          [
            [1, "EmailQueued"],
            [2, "EmailOpened"],
          ],
        )
        const table = yield* run("events", "stream", answer.toUpperCase())
        assert.strictEqual(table.output.match(/email\.opened/gu)?.length, 2)
        const none = yield* run("events", "stream", answer, "--as-of", "2026-11-21T08:00:00Z")
        assert.deepStrictEqual(
          [none.code, none.output.includes(`No history found for ${answer} at that time.`)],
          [1, true],
        )
      }).pipe(Effect.orDie),
    TIMEOUT,
  )
})
