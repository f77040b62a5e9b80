import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { randomBytes } from "node:crypto"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { Sql } from "@waybill/store/postgres/Sql"
import { browser } from "../server/signIn/house.ts"
import { Raw } from "../server/smtp/support.ts"
import { assert, layer } from "../support/effectTest.ts"
import * as Database from "../support/postgres/Database.ts"
import * as World from "../support/world/World.ts"
import { freePort, runToEnd, WaybillCommand } from "../support/process/service.ts"
import * as SmtpServer from "../support/mail/smtpServer.ts"
import * as WebhookReceiver from "../support/web/WebhookReceiver.ts"

/** Timeout after which a test counts as hanging. */
const TIMEOUT = Duration.seconds(60)
const fresh = (name: string) => `${name}-${randomBytes(12).toString("hex")}`
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))

/** Returns a secret as it is and in the encodings in which an accident may print it. */
const spellings = (secret: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(secret)
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("hex"),
    // Base64 of the secret at each of the three offsets, without the ends, which depend on the neighbouring bytes.
    ...[0, 1, 2].flatMap((skip) => {
      const text = bytes.subarray(skip, skip + 3 * Math.floor((bytes.length - skip) / 3)).toString("base64")
      return [text, text.replaceAll("+", "-").replaceAll("/", "_")]
    }),
  ].filter((text) => text.length >= 8)
}

const sendRequest = (base: string, method: string, where: string, key: string | undefined, body?: unknown) =>
  Effect.promise(async () => {
    const response = await fetch(base + where, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    // The tests look into answers of every kind.
    // oxlint-disable-next-line typescript/no-explicit-any
    const json: any = text.startsWith("{") ? JSON.parse(text) : undefined
    return { status: response.status, text, json }
  })

layer(Database.layerFresh, { excludeTestServices: true })("no secret is in any output", (it) => {
  // threat: shown-secrets
  it.effect(
    "of a process with all logs: keys, passwords, sessions, webhooks, SMTP, mail, faults and its end",
    function* () {
      const { adminUrl, name, url } = yield* Database.Fresh
      const sql = yield* Sql
      const secrets = new Map<string, string>()
      const keep = (what: string, secret: string) => {
        assert.isAtLeast(secret.length, 8, what)
        secrets.set(what, secret)
        return secret
      }
      const refusals: Array<string> = []

      const relayPassword = keep("the relay's password", fresh("relay"))
      const relay = yield* SmtpServer.listen({ auth: { user: "waybill", password: fresh("another") } })
      const hooks = yield* WebhookReceiver.listen({ answer: () => ({ status: 500, body: "no" }) })
      const [port, smtpPort, mailPort] = yield* Effect.promise(() => Promise.all([freePort(), freePort(), freePort()]))
      const env = {
        PORT: String(port),
        SMTP_PORT: String(smtpPort),
        MAIL_PORT: String(mailPort),
        DATABASE_URL: Redacted.value(url),
        WAYBILL_DATA: path.join(os.tmpdir(), "waybill-secrets"),
        WAYBILL_INSTANCE_KEY: keep("the instance's key", randomBytes(32).toString("base64")),
        LOG_LEVEL: "All",
        TRANSPORT: "relay",
        SMTP_URL: `smtp://waybill:${relayPassword}@127.0.0.1:${relay.port}`,
        SMTP_TLS_CERT: fixture("server.pem"),
        SMTP_TLS_KEY: fixture("server.key"),
        WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
        OIDC_ISSUER: "http://127.0.0.1:9",
        OIDC_CLIENT_ID: "waybill",
        OIDC_CLIENT_SECRET: keep("the provider's secret", fresh("oidc")),
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=${keep("the collector's token", fresh("otel"))}`,
      }
      const service = yield* Effect.acquireRelease(
        Effect.sync(() => new WaybillCommand(["start"], env)),
        (started) => Effect.promise(() => started.stop("SIGKILL")),
      )
      const welcome = yield* Effect.promise(() =>
        service.waitForOutput("API key    wb_").then(() => service.waitForOutput("Waybill is ready")),
      )
      const [, email = "", password = ""] = /Sign in {4}(\S+) \/ ([^\s"]+)/u.exec(welcome) ?? []
      const [, firstKey = ""] = /API key {4}(wb_\w+)/u.exec(welcome) ?? []
      keep("the first key", firstKey)
      keep("the owner's password", password)
      const base = `http://127.0.0.1:${port}`
      const call = (method: string, where: string, body?: unknown, key: string | undefined = firstKey) =>
        Effect.tap(sendRequest(base, method, where, key, body), (answer) =>
          Effect.sync(() => answer.status >= 400 && refusals.push(answer.text)),
        )

      // Keys: created, used, mistyped, in wrong places and revoked.
      const created = yield* call("POST", "/v1/api-keys", { name: "n", scopes: ["email:send"] })
      const key = keep("a key", created.json.key)
      yield* call("GET", "/v1/account", undefined, key)
      yield* call("GET", "/v1/domains", undefined, key)
      yield* call("GET", "/v1/account", undefined, `${key}x`)
      yield* call("GET", `/v1/account?api_key=${key}&token=${key}`, undefined, "none")
      yield* call("GET", `/v1/domains/${key}`)
      yield* call("GET", `/v1/api-keys/${key}`)
      yield* call("POST", `/v1/nowhere/${key}`)
      yield* call("DELETE", `/${key}`, undefined, "none")
      yield* call("POST", "/v1/email/send", `{"from": "hi@acme.test", "key": "${key}`)
      yield* call("POST", "/v1/email/send", { from: key, to: "ana@example.org", subject: "s" })
      yield* call("DELETE", `/v1/api-keys/${created.json.id}`)
      yield* call("GET", "/v1/account", undefined, key)

      // Sign-in with the right password and a wrong one, and a link for a guest.
      const page = browser(base)
      yield* page.request("POST", "/auth/sign-in/email", {
        body: { email, password: keep("a guess", fresh("guess")) },
      })
      assert.strictEqual((yield* page.signIn({ email, password })).status, 200)
      for (const [cookie, value] of page.jar) if (/session/u.test(cookie)) keep("a session", value.split(".")[0] ?? "")
      const invited = yield* page.request("POST", "/v1/members", {
        body: { email: "bo@example.org", name: "Bo", role: "viewer" },
      })
      const token = keep("a guest's token", new URL(invited.json.url).hash.slice(1))
      const chosen = keep("a guest's password", fresh("chosen"))
      const setting = { body: { token, newPassword: chosen } }
      yield* browser(base).request("POST", "/auth/reset-password", setting)
      refusals.push(JSON.stringify((yield* browser(base).request("POST", "/auth/reset-password", setting)).json))
      const factor = yield* page.request("POST", "/auth/two-factor/enable", { body: { password } })
      keep("a second factor", new URL(factor.json.totpURI).searchParams.get("secret") ?? "")
      keep("a backup code", factor.json.backupCodes[0])

      // Failing webhooks and their secret before and after a rotation.
      const hook = yield* call("POST", "/v1/webhooks", { url: hooks.url, events: ["*"] })
      keep("a webhook's secret", hook.json.secret)
      const rotated = yield* call("POST", `/v1/webhooks/${hook.json.id}/rotate-secret`)
      keep("a webhook's next secret", rotated.json.secret)

      // Mail: accepted, refused, and refused by the relay because of its login.
      yield* call("POST", "/v1/domains", { name: "acme.test" })
      yield* Effect.orDie(sql`
          UPDATE domains SET status = 'verified', record = jsonb_set(record, '{status}', '"verified"')`)
      const mail = {
        from: "hi@acme.test",
        to: "ana@example.org",
        subject: keep("a subject", fresh("subject")),
        text: `https://app.test/reset#${keep("a link in a mail", fresh("reset"))}`,
        attachments: [{ filename: "f.txt", content: Buffer.from(keep("a file", fresh("file"))).toString("base64") }],
      }
      const sent = yield* call("POST", "/v1/email/send", mail)
      assert.strictEqual(sent.status, 200, sent.text)
      yield* call("POST", "/v1/email/send", { ...mail, to: "nobody" })
      yield* World.until(
        call("GET", `/v1/email/logs/${sent.json.id}`),
        ({ json }) => json.recipients[0].attempts > 0,
        TIMEOUT,
      )
      yield* World.until(
        Effect.sync(() => hooks.calls.length),
        (calls) => calls > 0,
        TIMEOUT,
      )

      // SMTP: a valid login, an invalid one, and a key in a wrong place.
      for (const commands of [
        ["EHLO x", `AUTH PLAIN ${Buffer.from(`\0u\0${firstKey}`).toString("base64")}`, `MAIL FROM:<${firstKey}>`],
        ["EHLO x", `AUTH PLAIN ${Buffer.from(`\0u\0${key}`).toString("base64")}`],
        ["EHLO x", "AUTH LOGIN", Buffer.from(key).toString("base64"), Buffer.from(key).toString("base64")],
        [firstKey, `EHLO ${firstKey}`, `AUTH ${firstKey}`, `AUTH PLAIN ${firstKey}`],
      ]) {
        const client = yield* Effect.promise(() => Raw.connect(smtpPort))
        const replies = yield* Effect.promise(() => client.all(commands))
        client.end()
        // Only errors are kept: a greeting repeats the client's own name to the client, which is not a leak.
        refusals.push(...replies.filter((reply) => /^[45]/u.test(reply)))
      }
      const reporter = yield* Effect.promise(() => Raw.connect(mailPort))
      refusals.push(...(yield* Effect.promise(() => reporter.all(["EHLO x", `RCPT TO:<${firstKey}@x.test>`]))))
      reporter.end()

      // Faults: missing tables, then closed database connections.
      for (const table of ["email_log", "users", "api_keys"]) {
        yield* Effect.orDie(sql.unsafe(`ALTER TABLE ${table} RENAME TO ${table}_away`))
        yield* call("POST", "/v1/email/send", mail)
        refusals.push(JSON.stringify((yield* page.signIn({ email, password })).json))
        const client = yield* Effect.promise(() => Raw.connect(smtpPort))
        const login = `AUTH PLAIN ${Buffer.from(`\0u\0${firstKey}`).toString("base64")}`
        refusals.push(...(yield* Effect.promise(() => client.all(["EHLO x", login]))))
        client.end()
        yield* Effect.orDie(sql.unsafe(`ALTER TABLE ${table}_away RENAME TO ${table}`))
      }
      assert.isAbove(refusals.filter((text) => text.includes("internal_error")).length, 1, refusals.join("\n"))
      yield* Effect.orDie(
        Effect.scoped(
          Effect.gen(function* () {
            const admin = yield* PgClient.makeClient({ url: adminUrl }).pipe(Effect.provide(Reactivity.layer))
            yield* admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = ${name} AND pid <> pg_backend_pid()`
          }),
        ),
      )
      yield* call("POST", "/v1/email/send", mail)
      const { output } = yield* Effect.promise(() => service.stop())

      // The welcome is printed for a person and shows the first secrets once, so the check begins after it.
      const logged = output.slice(welcome.length)
      assert.include(logged, "request failed; answered 500")
      const shown = [["the log", logged] as const, ...refusals.map((text) => ["an answer", text] as const)]
      const leaks = [...secrets].flatMap(([what, secret]) =>
        shown.flatMap(([where, text]) =>
          spellings(secret)
            .filter((spelling) => text.includes(spelling))
            .map((spelling) => `${what} in ${where}: ${around(text, spelling)}`),
        ),
      )
      assert.deepStrictEqual(leaks, [])
    },
    4 * Duration.toMillis(TIMEOUT),
  )

  // threat: shown-secrets
  it.effect(
    "of a process that cannot start or that lists its settings",
    function* () {
      const { url } = yield* Database.Fresh
      const secret = fresh("secret")
      const closed = yield* Effect.promise(freePort)
      const good = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: path.join(os.tmpdir(), "waybill-secrets") }
      const cases = [
        [["start"], { DATABASE_URL: `postgres://waybill:${secret}@127.0.0.1:${closed}/waybill` }],
        [["start"], { DATABASE_URL: secret }],
        [["start"], { DATABASE_URL: `${secret}://user:x@host` }],
        [["start"], { ...good, WAYBILL_INSTANCE_KEY: secret }],
        [["start"], { ...good, TRANSPORT: "relay", SMTP_URL: `smtp://user:${secret}@host/path` }],
        [["start"], { ...good, TRANSPORT: "relay", SMTP_URL: `${secret}://user:x@host` }],
        [["doctor"], { DATABASE_URL: `postgres://waybill:${secret}@127.0.0.1:${closed}/waybill` }],
        [["config"], { ...good, SMTP_URL: `smtp://u:${secret}@h.example`, OIDC_CLIENT_SECRET: secret }],
      ] as const
      yield* Effect.forEach(
        cases,
        ([args, env]) =>
          Effect.gen(function* () {
            const { output } = yield* Effect.promise(() => runToEnd(args, { ...env, LOG_LEVEL: "All" }))
            const what = `${args.join(" ")} ${JSON.stringify(env)}: ${output.slice(0, 2_000)}`
            assert.isAbove(output.trim().length, 0, what)
            for (const spelling of spellings(secret)) assert.notInclude(output, spelling, what)
          }),
        { concurrency: 3 },
      )
    },
    2 * Duration.toMillis(TIMEOUT),
  )
})

const around = (text: string, part: string): string => {
  const at = text.indexOf(part)
  return text.slice(Math.max(0, at - 120), at + part.length + 40)
}
