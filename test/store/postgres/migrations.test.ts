import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Migrations from "@waybill/store/database/Migrations"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Email from "@waybill/domain/email/Email"
import * as RecordedEvents from "@waybill/store/log/RecordedEvents"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/Replay"
import * as EmailSpan from "@waybill/store/search/EmailSpan"
import * as EmailSubjects from "@waybill/store/readmodels/EmailSubjects"
import * as EmailFacets from "@waybill/store/readmodels/EmailFacets"
import { Effect, Redacted, type Scope } from "effect"
import { createHash, randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import pg from "pg"
import { inject } from "vitest"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { onDatabase } from "../../support/postgres/databaseUrl.ts"
import { runToEnd } from "../../support/process/service.ts"
import { dumpSchema } from "../../support/postgres/schemaDump.ts"
import { id, queued } from "../../support/history.ts"
import { NOWHERE } from "../../support/nowhere.ts"

const GOLDEN = path.join(import.meta.dirname, "../../../db/schema.sql")
const NODES = 4

layer(Database.layerFresh, { excludeTestServices: true })("migrations", (it) => {
  it.effect("create the schema of db/schema.sql (`npm run schema` writes it)", function* () {
    const { url } = yield* Database.Fresh
    const [made, golden] = yield* Effect.promise(() =>
      Promise.all([dumpSchema(Redacted.value(url)), fs.readFile(GOLDEN, "utf8")]),
    )
    assert.strictEqual(made, golden)
  })

  it.effect("run once when several nodes start at the same time", function* () {
    const url = yield* emptyDatabase
    const seen = yield* Effect.forEach(Array.from({ length: NODES }), () => Migrations.migrate(url), {
      concurrency: "unbounded",
    })
    const known = yield* Effect.promise(() => fs.readdir(Migrations.FOLDER))
    for (const status of seen) assert.deepStrictEqual(status, { applied: known.toSorted(), pending: [] })
  })

  it.effect("run nothing the second time", function* () {
    const { url } = yield* Database.Fresh
    const before = yield* rows(url, "SELECT name, applied_at::text FROM schema_migrations ORDER BY name")
    assert.isAbove(before.length, 0)
    yield* Migrations.migrate(url)
    assert.deepStrictEqual(
      yield* rows(url, "SELECT name, applied_at::text FROM schema_migrations ORDER BY name"),
      before,
    )
  })

  it.effect("are not applied by a check", function* () {
    const url = yield* emptyDatabase
    const known = yield* Effect.promise(() => fs.readdir(Migrations.FOLDER))
    assert.deepStrictEqual(yield* Migrations.check(url), { applied: [], pending: known.toSorted() })
    assert.deepStrictEqual(yield* relations(url), [])
  })

  it.effect("refuse a schema of a newer release and change nothing", function* () {
    const url = yield* emptyDatabase
    const folder = yield* folderOf({ "0001_one.sql": "CREATE TABLE one ()", "0002_two.sql": "CREATE TABLE two ()" })
    yield* Migrations.migrate(url, folder)
    const before = yield* relations(url)
    const older = yield* folderOf({ "0001_one.sql": "CREATE TABLE one ()" })
    for (const run of [Migrations.migrate, Migrations.check]) {
      const refused = yield* Effect.flip(run(url, older))
      assert.strictEqual(
        refused.message,
        "the database schema is newer than this release of Waybill (0002_two.sql): upgrade this node first",
      )
    }
    assert.deepStrictEqual(yield* relations(url), before)
    // Its name is not the last one, because numbers have gaps.
    const other = yield* folderOf({
      "0001_one.sql": "CREATE TABLE one ()",
      "0003_three.sql": "CREATE TABLE three ()",
    })
    const refused = yield* Effect.flip(Migrations.migrate(url, other))
    assert.include(refused.message, "newer than this release of Waybill (0002_two.sql)")
    assert.deepStrictEqual(yield* relations(url), before)
  })

  it.effect(
    "run only on request: other commands refuse a schema that is not current",
    function* () {
      const url = yield* emptyDatabase
      const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE }
      const refusal = (...args: ReadonlyArray<string>) =>
        Effect.map(
          Effect.promise(() => runToEnd(args, env)),
          ({ code, output }) => {
            assert.strictEqual(code, 1, output)
            return output
          },
        )
      const looks = [
        ["top", "--json"],
        ["projections", "status"],
      ]
      for (const output of yield* Effect.forEach(looks, (args) => refusal(...args), { concurrency: 2 }))
        assert.include(output, "the database is empty: run `waybill start`")
      assert.deepStrictEqual(yield* relations(url), [])
      // The first account may be created before the first start.
      const created = yield* Effect.promise(() => runToEnd(["accounts", "create", "First"], env))
      assert.strictEqual(created.code, 0, created.output)
      const [newest] = yield* rows(
        url,
        "DELETE FROM schema_migrations WHERE name = (SELECT max(name) FROM schema_migrations) RETURNING name",
      )
      for (const args of [
        ["accounts", "create", "Second"],
        ["projections", "status"],
      ])
        assert.include(yield* refusal(...args), `(pending: ${String(newest?.["name"])}): run \`waybill migrate\``)
      assert.strictEqual((yield* Migrations.check(url)).pending.length, 1)
    },
    60_000,
  )

  it.effect("apply a file as a whole or not at all, and continue once it is corrected", function* () {
    const url = yield* emptyDatabase
    const good = { "0001_one.sql": "CREATE TABLE one (); CREATE TABLE one_more ()" }
    const bad = "CREATE TABLE two (); INSERT INTO two DEFAULT VALUES; CREATE TABLE one ();"
    const broken = yield* folderOf({ ...good, "0002_two.sql": bad })
    const failed = yield* Effect.flip(Migrations.migrate(url, broken))
    assert.strictEqual(failed.message, 'migration 0002_two.sql failed: relation "one" already exists')
    assert.deepStrictEqual(yield* Migrations.check(url, broken), {
      applied: ["0001_one.sql"],
      pending: ["0002_two.sql"],
    })
    assert.deepStrictEqual(yield* relations(url), ["one", "one_more", "schema_migrations"])
    const mended = yield* folderOf({ ...good, "0002_two.sql": "CREATE TABLE two ()" })
    assert.deepStrictEqual((yield* Migrations.migrate(url, mended)).pending, [])
  })

  /** Database with the migrations before this one. */
  const databaseBefore = Effect.fnUntraced(function* (migration: string) {
    const url = yield* emptyDatabase
    const known = (yield* Effect.promise(() => fs.readdir(Migrations.FOLDER))).filter((name) => name < migration)
    const before = yield* Effect.promise(() =>
      Promise.all(known.map(async (name) => [name, await fs.readFile(path.join(Migrations.FOLDER, name), "utf8")])),
    )
    yield* Migrations.migrate(url, yield* folderOf(Object.fromEntries(before)))
    return url
  })

  it.effect("fill in the facets of messages that are already in the log", function* () {
    const url = yield* databaseBefore("0052")
    const LATER = "2126-01-01T00:00:00.000Z" as Timestamp.Timestamp
    const messages: ReadonlyArray<readonly [ReadonlyArray<EmailStatus.Status>, Timestamp.Timestamp | null]> = [
      [["delivered"], null],
      [["delivered", "delivered"], LATER],
      [["delivered", "bounced", "delivered"], null],
      [["complained", "failed", "suppressed", "canceled", "sent", "deferred"], null],
      [["queued"], LATER],
      [["queued", "suppressed"], LATER],
      [["queued"], null],
    ].map(([statuses, at]) => [statuses as ReadonlyArray<EmailStatus.Status>, at as Timestamp.Timestamp | null])
    const account_id = id("AccountId")
    const facts = messages.map(([statuses, scheduled_at]) => {
      const recipients = statuses.map((status) => ({ status }))
      const status = EmailStatus.ofRecipients(recipients)
      const record = { scheduled_at, recipient_counts: EmailStatus.counts(recipients) }
      return { id: id("EmailId"), status, record, facets: EmailFacets.of({ recipients, scheduled_at }) }
    })
    for (const { id, record, status } of facts)
      yield* rows(
        url,
        `INSERT INTO email_log (account_id, id, version, status, domain, from_address, subject, record)
           VALUES ('${account_id}', '${id}', 1, '${status}', 'acme.test', 'hi@acme.test', 'Hi', '${JSON.stringify(record)}')`,
      )
    yield* Migrations.migrate(url)
    assert.deepStrictEqual(
      yield* rows(url, "SELECT id_of('msg', id) AS id, facets FROM email_log ORDER BY email_log.id"),
      facts.map(({ facets, id }) => ({ id, facets })),
    )
  })

  it.effect("convert the log to keys, as the events fold to them", function* () {
    const url = yield* databaseBefore("0068")
    const account_id = id("AccountId")
    const test_id = Livemode.testAccountOf(account_id)
    const texts = [
      { to: ["ana@example.org", "bo@example.org", "ana@example.org"], tags: ["receipt", "größe"], subject: "Grüße" },
      { to: ["eva@example.org"], tags: [], subject: "Your receipt" },
      { to: ["ana@example.org"], tags: ["receipt"], subject: "Your receipt" },
    ]
    const statements = [account_id, test_id].flatMap((account) =>
      texts.flatMap(({ subject, tags, to }) => {
        const email_id = id("EmailId")
        const event = RecordedEvents.encode(
          Email,
          queued(email_id, { to: to.map((address) => ({ address })), tags, subject }),
        )
        const folded = EmailSubjects.fold(subject)
        const term = `subject:${createHash("sha256").update(folded).digest("base64url").slice(0, 22)}`
        const terms = new Set([...to.map((each) => `to:${each}`), ...tags.map((tag) => `tag:${tag}`), term])
        return [
          `INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
             VALUES ('${account}', '${email_id}', 1, 'email', 'EmailQueued', '${id("EventId")}', '${JSON.stringify(event)}',
               '{"schema_version": 1}', now())`,
          `INSERT INTO email_log (account_id, id, version, status, domain, from_address, subject)
             VALUES ('${account}', '${email_id}', 1, 'queued', 'acme.test', 'hi@acme.test', '${folded}')`,
          ...[...terms].map((each) => `INSERT INTO email_log_terms VALUES ('${account}', '${each}', '${email_id}')`),
          `INSERT INTO email_subjects VALUES ('${account}', '${term}', '${folded}') ON CONFLICT DO NOTHING`,
          `INSERT INTO email_words VALUES ('${account}', 'to:${to[0]}', '${to[0]}') ON CONFLICT DO NOTHING`,
          `INSERT INTO email_key_spans VALUES ('${account}', '${account.replace("acc", "key")}', '${email_id.slice(0, 11)}')
             ON CONFLICT DO NOTHING`,
        ]
      }),
    )
    yield* rows(url, statements.join(";"))
    yield* rows(
      url,
      "CREATE TABLE email_log_v2 (id text); INSERT INTO projection_versions (name, version, state, position, release) VALUES ('email_log', 2, 'kept', 0, '')",
    )
    const spans = yield* rows(url, "SELECT DISTINCT span FROM email_key_spans ORDER BY span")
    yield* Migrations.migrate(url)
    for (const name of ["email_log", "email_log_terms", "email_subjects"]) {
      const { differences, rows } = yield* Effect.provide(Rebuild.verify(name, { release: "test" }), Replay.layer(url))
      assert.deepStrictEqual([name, differences], [name, []])
      assert.isAbove(rows, 0)
    }
    assert.deepStrictEqual(
      yield* rows(url, "SELECT DISTINCT id_of('acc', account_id) AS id, term FROM email_words ORDER BY 1, 2"),
      [account_id, test_id].flatMap((account) =>
        ["to:ana@example.org", "to:eva@example.org"].map((term) => ({ id: account, term })),
      ),
    )
    assert.deepStrictEqual(
      yield* rows(url, "SELECT DISTINCT span FROM email_key_spans ORDER BY span"),
      spans.map(({ span }) => ({ span: EmailSpan.of(`${String(span)}0000000000000000000`) })),
    )
    assert.notInclude(yield* relations(url), "email_log_v2")
  })

  it.effect("keep of several identities of the provider the one by which a user signed in first", function* () {
    const url = yield* databaseBefore("0050")
    yield* rows(
      url,
      `INSERT INTO users (id, email, name, operator, created_at, updated_at)
           SELECT id, id || '@example.org', id, false, now(), now() FROM unnest('{ana,bob}'::text[]) AS id;
         INSERT INTO user_credentials (id, user_id, provider_id, subject, created_at, updated_at)
           SELECT id, user_id, provider_id, id, at::timestamptz, now() FROM (VALUES
             ('second', 'ana', 'oidc', '2026-11-02'), ('first', 'ana', 'oidc', '2026-11-01'),
             ('third', 'ana', 'oidc', '2026-11-03'), ('password', 'ana', 'credential', '2026-11-04'),
             ('b', 'bob', 'oidc', '2026-11-01'), ('a', 'bob', 'oidc', '2026-11-01')) AS of(id, user_id, provider_id, at)`,
    )
    yield* Migrations.migrate(url)
    const kept = yield* rows(url, "SELECT id FROM user_credentials ORDER BY id")
    assert.deepStrictEqual(
      kept.map(({ id }) => id),
      ["a", "first", "password"],
    )
  })

  it.effect("release their lock when a node is killed", function* () {
    const url = yield* emptyDatabase
    const slow = yield* folderOf({
      "0001_one.sql": "CREATE TABLE one (); SELECT pg_sleep(60)",
      "0002_two.sql": "CREATE TABLE two ()",
    })
    const quick = yield* folderOf({
      "0001_one.sql": "CREATE TABLE one ()",
      "0002_two.sql": "CREATE TABLE two ()",
    })
    const [killed, next] = yield* Effect.all(
      [Effect.exit(Migrations.migrate(url, slow)), Effect.andThen(killSleeper(url), Migrations.migrate(url, quick))],
      { concurrency: "unbounded" },
    )
    assert.strictEqual(killed._tag, "Failure")
    assert.deepStrictEqual(next.applied, ["0001_one.sql", "0002_two.sql"])
  })

  it.effect("report a database that does not answer", function* () {
    const failed = yield* Effect.flip(
      Migrations.migrate(Redacted.make(`postgres://nobody@localhost/x?host=${NOWHERE}/at/all`)),
    )
    assert.match(failed.message, /^DATABASE_URL: there is no socket of a server at /)
  })
})

const query = async (url: Redacted.Redacted, text: string): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const client = new pg.Client({ connectionString: Redacted.value(url) })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
const rows = (url: Redacted.Redacted, text: string) => Effect.promise(() => query(url, text))

const relations = (url: Redacted.Redacted) =>
  Effect.map(
    rows(url, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1"),
    (found) => found.map((row) => row["relname"]),
  )

const emptyDatabase: Effect.Effect<Redacted.Redacted, never, Scope.Scope> = Effect.gen(function* () {
  const server = Redacted.make(inject("postgresUrl"))
  const name = `test_${randomBytes(8).toString("hex")}`
  yield* Effect.acquireRelease(rows(server, `CREATE DATABASE ${name}`), () =>
    // As a role that may end an autovacuum.
    rows(Redacted.make(inject("postgresAdminUrl")), `DROP DATABASE ${name} WITH (FORCE)`),
  )
  return Redacted.make(onDatabase(Redacted.value(server), name))
})

const folderOf = (files: Readonly<Record<string, string>>): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-migrations-"))
      for (const [name, text] of Object.entries(files)) await fs.writeFile(path.join(folder, name), text)
      return folder
    }),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true })),
  )

/** Waits until the migration sleeps, and ends its connection. */
const killSleeper = (url: Redacted.Redacted) =>
  rows(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event = 'PgSleep'`,
  ).pipe(Effect.repeat({ until: (killed) => killed.length > 0 }))
