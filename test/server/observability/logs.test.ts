import { Cause, Effect, Logger, Redacted, References } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Logs from "../../../apps/server/src/observability/Logs.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"

/** Runs a program and returns its log lines. */
const saidBy = (program: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const logger = Logger.map(Logs.lines, (line) => void said.push(line))
    yield* Effect.provide(program, Logger.layer([logger]))
    return said.map((line) => JSON.parse(line) as Record<string, unknown>)
  })

class WithSecret extends Error {
  readonly detail = "the row was (ana@example.org)"
}

describe("a line of the log", () => {
  it.effect("has annotations and objects beside the message as fields", function* () {
    const [line] = yield* saidBy(
      Effect.logWarning("a lease was lost", { id: "out_1", position: 5n, level: "mine", message: "mine" }).pipe(
        Effect.annotateLogs("request_id", "req_1"),
      ),
    )
    assert.deepStrictEqual(line, {
      id: "out_1",
      position: "5",
      request_id: "req_1",
      timestamp: "1970-01-01T00:00:00.000Z",
      level: "warn",
      message: "a lease was lost",
    })
  })

  it.effect("has the code and message of an error as its cause, and none of its other fields", function* () {
    const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
    const [line, other] = yield* saidBy(
      Effect.andThen(
        Effect.logError("it broke", { code: "mine", cause: "mine" }, new WithSecret("not\nstored", { cause: full })),
        Effect.logError("it broke", Cause.fail(new WithSecret("duplicate key"))),
      ),
    )
    assert.deepStrictEqual(line?.["cause"], { code: "ENOSPC", message: "not stored: no space left on device" })
    assert.strictEqual(line?.["code"], "mine")
    assert.deepStrictEqual(other?.["cause"], { code: "Error", message: "duplicate key" })
    assert.notInclude(JSON.stringify(line), "ana@example.org")
  })

  it.effect("has the stack of its cause at debug level only", function* () {
    const program = Effect.logError("it broke", new Error("why"))
    const [line] = yield* saidBy(Effect.provideService(program, References.MinimumLogLevel, "Debug"))
    assert.match(JSON.stringify(line?.["cause"]), /"stack":"Error: why/u)
  })

  it.effect("is one line of bounded length, whatever a server replied", function* () {
    const [line] = yield* saidBy(Effect.logError(`answer:\r\n${"x".repeat(2 * Logs.MAX_TEXT_CHARS)}`))
    assert.strictEqual(String(line?.["message"]).length, Logs.MAX_TEXT_CHARS + 1)
  })

  it.effect("is written even if its fields cannot be", function* () {
    const circle: Record<string, unknown> = {}
    circle["self"] = circle
    const [line] = yield* saidBy(Effect.logInfo("round and round", circle))
    assert.strictEqual(line?.["message"], "round and round")
  })
})

const PASSWORD = "hunter2-of-the-relay"

layer(World.layer, { excludeTestServices: true })("the logs", (it) => {
  it.effect(
    "are lines of JSON with the request id and without secrets, at the lowest level and after failures",
    function* () {
      const { url } = yield* Database.Fresh
      const server = yield* SmtpServer.listen({ auth: { user: "waybill", password: "another" } })
      const node = yield* ServiceProcess.start(url, {
        LOG_LEVEL: "All",
        TRANSPORT: "relay",
        SMTP_URL: `smtp://waybill:${PASSWORD}@127.0.0.1:${server.port}`,
      })
      const { secret } = yield* World.key(yield* World.account())
      const request = (path: string, body: unknown, key: string = secret) =>
        Effect.promise(() => node.request("POST", path, { key, body }))
      const hook = yield* request("/v1/webhooks", { url: "https://hooks.example.org/x", events: ["email.queued"] })
      const mail = { from: "hi@acme.test", to: "ana@example.org", subject: "Secret of Ana", text: "Body of Ana" }
      const sql = yield* Sql
      yield* request("/v1/domains", { name: "acme.test" })
      yield* sql`UPDATE domains SET status = 'verified', record = jsonb_set(record, '{status}', '"verified"')`
      const sent = yield* request("/v1/email/send", mail)
      yield* request("/v1/email/send", { ...mail, to: "nobody of Ana" })
      yield* request("/v1/email/send", mail, `${secret.slice(0, -1)}x`)

      // The relay refuses the login, which the attempt records.
      assert.strictEqual(sent.status, 200)
      yield* World.until(
        Effect.promise(() => node.request("GET", `/v1/email/logs/${sent.json.id}`, { key: secret })),
        ({ json }) => json.recipients[0].attempts > 0,
      )

      // A failure of the database: the request fails, and the log has the cause.
      yield* sql`ALTER TABLE email_log RENAME TO email_log_away`
      const failed = yield* request("/v1/email/send", mail)
      yield* sql`ALTER TABLE email_log_away RENAME TO email_log`
      assert.strictEqual(failed.status, 500)
      yield* World.until(
        Effect.sync(() => node.output()),
        (said) => said.includes("request failed; answered 500"),
      )
      yield* node.stop

      // The addresses and first secrets, shown once, are lines like all others.
      const output = node.output()
      const said = output.split(/^.*"message":"API key .*$/mu)[1] ?? assert.fail("no welcome")
      const lines = output.split("\n").filter((line) => line !== "")
      const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      for (const { level, message, timestamp } of entries) {
        assert.include(["trace", "debug", "info", "warn", "error", "fatal"], level)
        assert.isString(message)
        assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/u)
      }
      const trouble = entries.find(({ message }) => message === "request failed; answered 500")
      assert.strictEqual(trouble?.["request_id"], failed.headers.get("x-request-id"))
      assert.include(JSON.stringify(trouble?.["cause"]), "email_log")

      const database = new URL(Redacted.value(url)).password
      for (const kept of [
        secret,
        secret.slice(4, 30),
        PASSWORD,
        "another",
        ...(database === "" ? [] : [database]),
        World.INSTANCE_KEY,
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
    },
    60_000,
  )
})
