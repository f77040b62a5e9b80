import { Sql } from "@waybill/store/postgres/Sql"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as LogImport from "@waybill/store/exports/LogImport"
import * as Projections from "@waybill/store/rebuild/versions/Projections"
import { FIRST } from "@waybill/store/routing/CellName"
import { Effect, Exit, Redacted } from "effect"
import { readFileSync } from "node:fs"
import * as path from "node:path"
import * as LogFiles from "../../../apps/server/src/cli/LogFiles.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { runToEnd } from "../../support/process/service.ts"

/** Written by `waybill events export` of the last version with a schema of many migrations. */
const EXPORTED = path.join(import.meta.dirname, "../../fixtures/log/beforeFirstRelease.jsonl")

const REFUSAL =
  "this database was made by a version of Waybill from before the first release and cannot be upgraded: write its log to a file with `waybill events export` of that version, and bring the file into an empty database with `waybill events import` of this one"

/** Types of events that this release has added. */
const NEWER: ReadonlySet<string> = new Set([
  "DomainReceivingChanged",
  "EmailReceived",
  "InboundDeleted",
  "InboundForwarded",
  "InboundReplied",
  "InboundRouteChanged",
  "InboundRouteCreated",
  "InboundRouteDeleted",
  "RouteApplied",
  "SendBatchChanged",
  "TemplateArchived",
  "TemplateChanged",
  "TemplateCreated",
  "TemplatePublished",
  "TemplateRolledBack",
  "TestClockReset",
])

layer(Database.layerFresh, { excludeTestServices: true })("a database from before the first release", (it) => {
  it.effect(
    "is refused with the way to move its log, and left as it is",
    function* () {
      const { url } = yield* Database.Fresh
      const sql = yield* Sql
      yield* sql`DELETE FROM schema_migrations`
      yield* sql`INSERT INTO schema_migrations (name) VALUES ('0001_event_log.sql'), ('0086_search_words.sql')`
      const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE }
      for (const args of [["start"], ["migrate"], ["migrate", "--check"], ["events", "import", EXPORTED], ["top"]]) {
        const { code, output } = yield* Effect.promise(() => runToEnd(args, env))
        assert.deepStrictEqual([args, code, output.includes(REFUSAL)], [args, 1, true], output)
      }
      assert.lengthOf(yield* sql`SELECT name FROM schema_migrations`, 2)
      // The last of them had the first file of today, which made fewer tables, and none or more files after it.
      const refuses = Effect.gen(function* () {
        const { code, output } = yield* Effect.promise(() => runToEnd(["migrate"], env))
        assert.deepStrictEqual([code, output.includes(REFUSAL)], [1, true], output)
      })
      yield* sql`UPDATE schema_migrations SET name = '0001_waybill.sql' WHERE name = '0001_event_log.sql'`
      yield* sql`UPDATE schema_migrations SET name = '0002_inbound.sql' WHERE name = '0086_search_words.sql'`
      yield* refuses
      yield* sql`DELETE FROM schema_migrations WHERE name = '0002_inbound.sql'`
      yield* sql`DROP TABLE log_cosignatures`
      yield* refuses
    },
    120_000,
  )
})

layer(Database.layerFresh, { excludeTestServices: true })("a log from before the first release", (it) => {
  it.effect("has every type of event", () =>
    Effect.sync(() => {
      const types = readFileSync(EXPORTED, "utf8").matchAll(/"type":"([A-Z]\w+)"/gu)
      assert.deepStrictEqual(
        [...new Set([...types].map(([, type]) => type))].toSorted(),
        DomainEvent.TAGS.filter((tag) => !NEWER.has(tag)).toSorted(),
      )
    }),
  )

  it.effect(
    "is imported with all its read models, and its events have the versions of this release",
    function* () {
      const database = yield* Database.Fresh
      const sql = yield* Sql
      const type = (...args: ReadonlyArray<string>) =>
        Effect.map(CommandLine.typeOn(database, ...args), ({ exit, output }) => {
          assert.isTrue(Exit.isSuccess(exit), output)
          return output
        })
      assert.include(yield* type("events", "import", EXPORTED, "--json"), '"already_there":0')
      const again = LogImport.load(
        [{ cell: FIRST, sql, log: sql, isApart: false }],
        () => Effect.succeed(FIRST),
        LogFiles.linesOf(EXPORTED),
      )
      assert.deepInclude(yield* again, { events: 95, already_there: 95 })
      for (const { name } of Projections.inCommits) yield* type("projections", "verify", name)
      for (const audit of ["emails", "work"]) yield* type("audit", audit)
      const counts = yield* sql`
        SELECT (SELECT count(*) FROM accounts)::int AS accounts, (SELECT count(*) FROM members)::int AS members,
          (SELECT count(*) FROM api_keys)::int AS api_keys, (SELECT count(*) FROM domains)::int AS domains,
          (SELECT count(*) FROM webhooks)::int AS webhooks, (SELECT count(*) FROM suppressions)::int AS suppressions,
          (SELECT count(*) FROM test_clocks)::int AS test_clocks, (SELECT count(*) FROM email_log)::int AS messages`
      assert.deepStrictEqual(counts, [
        {
          accounts: 2,
          members: 2,
          api_keys: 5,
          domains: 3,
          webhooks: 3,
          suppressions: 3,
          test_clocks: 3,
          messages: 11,
        },
      ])
      const versions = yield* sql<{ readonly type: string; readonly version: number }>`
        SELECT DISTINCT type, (meta ->> 'schema_version')::int AS version FROM events WHERE packed IS NULL`
      for (const { type, version } of versions) assert.strictEqual(version, DomainEvent.schemaVersion(type), type)
    },
    300_000,
  )
})
