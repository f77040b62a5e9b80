import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as MigrationFiles from "@waybill/store/database/MigrationFiles"
import * as Migrations from "@waybill/store/database/Migrations"
import { Cause, Duration, Effect, Exit } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import nodemailer from "nodemailer"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { freePort } from "../../support/process/service.ts"
import { allDelivered, load } from "./clients.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"

const MAILS = 100

/** Changes that an expanding migration may make: columns with a default, tables, indexes, unvalidated constraints. */
const EXPANSION = `
  ALTER TABLE outbox ADD COLUMN newer text;
  ALTER TABLE email_log ADD COLUMN newer integer NOT NULL DEFAULT 7;
  ALTER TABLE email_log ADD CONSTRAINT newer_positive CHECK (newer > 0) NOT VALID;
  CREATE INDEX email_log_newer ON email_log (newer);
  CREATE TABLE newer (id text PRIMARY KEY);
`

/** Migrations of a future release. */
const newerFolder = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-newer-"))
    await fs.cp(MigrationFiles.FOLDER, folder, { recursive: true })
    await fs.writeFile(path.join(folder, "9999_newer.sql"), EXPANSION)
    return folder
  }),
  (folder) => Effect.promise(() => fs.rm(folder, { recursive: true })),
)

layer(World.layer, { excludeTestServices: true })("an older node", (it) => {
  it.effect(
    "goes on serving while a newer one migrates, and is not started again",
    function* () {
      const { url } = yield* Database.Fresh
      const node = yield* ServiceProcess.start(url)
      const { account_id, key } = yield* ServiceProcess.signUp(node, { limits: { send: 1_000_000 } })
      const clients = load(() => [node], key)
      yield* clients.more(MAILS)
      const { pending } = yield* Migrations.migrate(url, yield* newerFolder)
      assert.deepStrictEqual(pending, [])
      yield* clients.more(MAILS)
      yield* clients.end
      assert.deepStrictEqual(ServiceProcess.countByStatus(clients.answers), { 200: clients.answers.length })
      yield* allDelivered(account_id, clients.answers.length)

      const refused = yield* Effect.exit(ServiceProcess.start(url))
      assert.isTrue(Exit.isFailure(refused))
      if (Exit.isFailure(refused)) {
        assert.include(
          String(Cause.squash(refused.cause)),
          "the database schema is newer than this release of Waybill (9999_newer.sql): upgrade this node first",
        )
      }
      const answer = yield* Effect.promise(() => node.request("GET", "/v1/account", { key }))
      assert.strictEqual(answer.status, 200)
    },
    600_000,
  )
})

layer(World.layer, { excludeTestServices: true })("a newer node", (it) => {
  it.effect(
    "refuses what the event of a new kind needs while an older node runs",
    function* () {
      const { url } = yield* Database.Fresh
      const sql = yield* Sql
      const kinds = DomainEvent.EVENT_KINDS.filter((kind) => !/^(?:SuppressionAdded|EmailQueued)\//u.test(kind))
      yield* sql`INSERT INTO nodes (id, release, kinds, beat_at)
          VALUES ('node_old', '0.0.9', ${kinds}::text[], now() + interval '1 hour')`
      const smtpPort = yield* Effect.promise(() => freePort())
      const node = yield* ServiceProcess.start(url, { LOG_LEVEL: "Warn", SMTP_PORT: `${smtpPort}` })
      const { secret } = yield* World.key(yield* World.account())
      const body = { email: "ana@example.org", reason: "manual" }
      const suppress = Effect.promise(() => node.request("POST", "/v1/suppressions", { key: secret, body }))
      const { headers, json, status } = yield* suppress
      assert.deepStrictEqual(
        [status, json.error?.reason, headers.get("retry-after")],
        [503, "upgrade_in_progress", "30"],
      )
      const domain = { key: secret, body: { name: "acme.test" } }
      assert.strictEqual((yield* Effect.promise(() => node.request("POST", "/v1/domains", domain))).status, 201)
      const mail = { from: "hi@acme.test", to: "ana@example.org", subject: "Hello", text: "Hi" }
      const submitted = yield* Effect.promise(() =>
        nodemailer
          .createTransport({ host: "127.0.0.1", port: smtpPort, ignoreTLS: true, auth: { user: "any", pass: secret } })
          .sendMail(mail)
          .then(
            () => "accepted",
            (error: unknown) => (error as { readonly response: string }).response,
          ),
      )
      assert.match(submitted, /^451 4\.3\.0 upgrade_in_progress: An upgrade is in progress: .* Retry after 30 s\.$/u)
      yield* sql`DELETE FROM nodes WHERE id = 'node_old'`
      // Slower than the rate limit of the key, since the kind is opened by the next beat only.
      const slowly = Effect.delay(suppress, "500 millis")
      yield* World.until(slowly, (answer) => answer.status === 201, Duration.seconds(30))
      assert.include(node.output(), "SuppressionAdded/1")
    },
    600_000,
  )
})

layer(World.layer, { excludeTestServices: true })("a process", (it) => {
  it.effect(
    "does what its roles say and nothing else",
    function* () {
      const { url } = yield* Database.Fresh
      const [api, worker] = yield* Effect.all(
        [ServiceProcess.start(url, { ROLES: "api" }), ServiceProcess.start(url, { ROLES: "worker" })],
        { concurrency: "unbounded" },
      )
      const { key, post } = yield* ServiceProcess.signUp(api)
      const silent = yield* Effect.exit(Effect.tryPromise(() => worker.request("GET", "/v1/account", { key })))
      assert.isTrue(Exit.isFailure(silent))
      yield* worker.kill
      const mail = { from: "hi@acme.test", to: "ana@example.org", subject: "Receipt", text: "Thank you." }
      const sent = yield* post("/v1/email/send", mail)
      const log = () => api.request("GET", `/v1/email/logs/${sent.json.id}`, { key })
      assert.strictEqual((yield* Effect.promise(log)).json.status, "queued")
      yield* ServiceProcess.start(url, { ROLES: "worker" })
      yield* World.until(Effect.promise(log), ({ json }) => json.status === "delivered", Duration.seconds(30))
    },
    600_000,
  )
})
