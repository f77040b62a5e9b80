import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { EventStore } from "@waybill/store/EventStore"
import { Effect, Layer, Redacted } from "effect"
import * as Database from "../../support/database.ts"
import * as Delivery from "../../support/delivery.ts"
import * as SmtpServer from "../../support/smtpServer.ts"
import * as Service from "../processes/Service.ts"

const World = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))
const PASSWORD = "hunter2-of-the-relay"

layer(World, { excludeTestServices: true })("the logs", (it) => {
  it.effect(
    "are lines of JSON that name the request and hold nothing secret, at their most talkative and in trouble",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const server = yield* SmtpServer.listen({ auth: { user: "waybill", password: "another" } })
        const node = yield* Service.start(url, {
          LOG_LEVEL: "All",
          TRANSPORT: "relay",
          SMTP_URL: `smtp://waybill:${PASSWORD}@127.0.0.1:${server.port}`,
        })
        const welcome = node.said().length
        const { secret } = yield* Service.key(yield* Service.account())
        const ask = (path: string, body: unknown, key: string = secret) =>
          Effect.promise(() => node.ask("POST", path, { key, body }))
        const hook = yield* ask("/v1/webhooks", { url: "https://hooks.example.org/x", events: ["email.queued"] })
        const mail = { from: "hi@acme.test", to: "ana@example.org", subject: "Secret of Ana", text: "Body of Ana" }
        const sql = yield* PgClient.PgClient
        yield* ask("/v1/domains", { name: "acme.test" })
        yield* sql`UPDATE domains SET status = 'verified', record = jsonb_set(record, '{status}', '"verified"')`
        const sent = yield* ask("/v1/email/send", mail)
        yield* ask("/v1/email/send", { ...mail, to: "nobody of Ana" })
        yield* ask("/v1/email/send", mail, `${secret.slice(0, -1)}x`)

        // The relay refuses the login, and the attempt says so.
        assert.strictEqual(sent.status, 200)
        yield* Delivery.until(
          Effect.promise(() => node.ask("GET", `/v1/email/logs/${sent.json.id}`, { key: secret })),
          ({ json }) => json.recipients[0].attempts > 0,
        )

        // A fault of the database's: the request fails, and the log says why.
        yield* sql`ALTER TABLE email_log RENAME TO email_log_away`
        const failed = yield* ask("/v1/email/send", mail)
        yield* sql`ALTER TABLE email_log_away RENAME TO email_log`
        assert.strictEqual(failed.status, 500)
        yield* Delivery.until(
          Effect.sync(() => node.said()),
          (said) => said.includes("A request failed"),
        )
        yield* node.stop

        const said = node.said().slice(welcome)
        const lines = said.split("\n").filter((line) => line.startsWith("{"))
        const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
        for (const entry of entries) assert.containsAllKeys(entry, ["message", "level", "timestamp"])
        const trouble = entries.find(({ message }) => message === "A request failed")
        assert.deepStrictEqual(trouble?.["annotations"], { request_id: failed.headers.get("x-request-id") })

        const database = new URL(Redacted.value(url)).password
        for (const kept of [
          secret,
          secret.slice(4, 30),
          PASSWORD,
          "another",
          ...(database === "" ? [] : [database]),
          Service.instanceKey,
          String(hook.json.secret ?? hook.json.signing_secret ?? "whsec_"),
          "whsec_",
          "Secret of Ana",
          "Body of Ana",
          "ana@example.org",
          "nobody of Ana",
        ]) {
          assert.notInclude(said, kept)
        }
        assert.isAbove(entries.length, 0)
      }),
    60_000,
  )
})
