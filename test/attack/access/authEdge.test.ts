import { Effect, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { request } from "node:http"
import pg from "pg"
import { Sql } from "@waybill/store/postgres/Sql"
import { make } from "../../../apps/server/src/signIn/BetterAuth.ts"
import { type Options, urlsOf } from "../../../apps/server/src/signIn/Options.ts"
import * as Endpoints from "../../../apps/server/src/signIn/Endpoints.ts"
import { browser, House } from "../../server/signIn/house.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort, WaybillCommand } from "../../support/process/service.ts"

const PASSWORD = "correct horse battery"

/** Lists every endpoint of the sign-in library itself, as `POST /sign-in/email`. */
const endpointsOf = async (oidc: Options["oidc"]): Promise<ReadonlyArray<string>> => {
  const unused = () => Promise.reject(new Error("no query is expected"))
  const pool = new pg.Pool({ host: "127.0.0.1", port: 9 })
  const { api } = await make(
    {
      ...urlsOf("http://127.0.0.1:3025"),
      secret: randomBytes(32).toString("base64"),
      oidc,
      beforeSession: unused,
      afterSession: unused,
      endSessions: unused,
      proofs: { version: unused, end: unused, endSession: unused, endVerification: unused },
      guards: {
        now_ms: unused,
        identities: unused,
        allows: unused,
        authenticatorOf: unused,
        acceptCounter: unused,
        acceptStep: unused,
      },
      log: () => {},
    },
    pool,
  )
  await pool.end()
  const endpoints: ReadonlyArray<unknown> = Object.values(api)
  return endpoints.flatMap((endpoint) => {
    const { options, path } = endpoint as {
      readonly path?: string
      readonly options: { readonly method?: string | ReadonlyArray<string> }
    }
    return path === undefined ? [] : [options.method ?? []].flat().map((method) => `${method} ${path}`)
  })
}

describe("the sign-in library", () => {
  // threat: sign-in-library
  it("serves the endpoints that the dashboard uses and no others", async () => {
    const all = await endpointsOf(undefined)
    const open = all.filter((each) => {
      const [method = "", path = ""] = each.split(" ")
      return Endpoints.find(method, path, true) !== undefined
    })
    assert.isAbove(all.length, 40)
    assert.deepStrictEqual(open.toSorted(), [
      "GET /get-session",
      "GET /list-sessions",
      "GET /passkey/generate-authenticate-options",
      "GET /passkey/generate-register-options",
      "GET /passkey/list-user-passkeys",
      "POST /change-password",
      "POST /passkey/delete-passkey",
      "POST /passkey/verify-authentication",
      "POST /passkey/verify-registration",
      "POST /reset-password",
      "POST /revoke-session",
      "POST /sign-in/email",
      "POST /sign-in/social",
      "POST /sign-out",
      "POST /two-factor/disable",
      "POST /two-factor/enable",
      "POST /two-factor/verify-backup-code",
      "POST /two-factor/verify-totp",
      "POST /update-user",
    ])
  })
})

/** Valid bodies by path, for the paths whose schema has required fields. */
const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "/auth/sign-in/email": { email: "a@b.cc", password: "x" },
  "/auth/two-factor/verify-totp": { code: "000000" },
  "/auth/two-factor/verify-backup-code": { code: "00000-00000" },
  "/auth/two-factor/enable": { password: "x" },
  "/auth/two-factor/disable": { password: "x" },
  "/auth/change-password": { currentPassword: "x", newPassword: PASSWORD },
  "/auth/reset-password": { token: "x", newPassword: PASSWORD },
  "/auth/update-user": { name: "x" },
  "/auth/revoke-session": { token: "x" },
  "/auth/passkey/delete-passkey": { id: "x" },
  "/auth/sign-out": {},
}
const BAD_TEXTS = [
  "\u0000",
  "a\u0000b",
  "\ud800",
  "a\udfff",
  "x".repeat(40_000),
  "a\r\nSet-Cookie: b=c",
  7,
  null,
  [],
  {},
]

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("/auth", (it) => {
  // threat: sign-in-library
  it.effect(
    "an invalid field in any body is refused in Waybill's error shape before the library sees it",
    function* () {
      const { url } = yield* House
      for (const [path, body] of Object.entries(BODIES)) {
        const wrong: ReadonlyArray<Readonly<Record<string, unknown>>> = [
          ...Object.keys(body).flatMap((field) => BAD_TEXTS.map((bad) => ({ ...body, [field]: bad }))),
          ...Object.keys(body).map((field) => ({ ...body, [field]: undefined })),
          { ...body, callbackURL: "https://evil.test/" },
          { ...body, disableSession: true },
          { ...body, operator: true },
        ]
        for (const sent of wrong) {
          const { headers, json, status } = yield* browser(url).request("POST", path, { body: sent })
          const context = `${path} ${JSON.stringify(sent).slice(0, 200)}: ${status} ${JSON.stringify(json).slice(0, 200)}`
          assert.strictEqual(status, 400, context)
          const isKnown = Object.keys(sent).every((field) => Object.hasOwn(body, field))
          assert.strictEqual(json.error?.reason, isKnown ? "validation_failed" : "unknown_field", context)
          assert.strictEqual(json.error.request_id, headers.get("x-request-id"), context)
          assert.strictEqual(headers.get("cache-control"), "no-store", context)
        }
      }
    },
  )

  // threat: sign-in-library
  it.effect("an unexpected query is refused, and a callback leads only to pages of this site", function* () {
    const { url } = yield* House
    const page = browser(url)
    for (const path of ["/auth/get-session?disableRefresh=true", "/auth/list-sessions?x=1"])
      assert.strictEqual((yield* page.request("GET", path)).status, 400, path)
    for (const path of [
      "/auth",
      "/auth/",
      "/auth//get-session",
      "/auth/get-session/",
      "/auth/%67et-session",
      "/auth/ok",
    ])
      assert.strictEqual((yield* page.request("GET", path)).status, 404, path)
    const body = Endpoints.find("POST", "/sign-in/social", true)?.body
    const takes = (callbackURL: string) =>
      body !== undefined && Schema.is(body)({ provider: "oidc", callbackURL, errorCallbackURL: "/sign-in" })
    assert.isTrue(takes("/emails?status=bounced"))
    for (const foreign of ["https://evil.test/", "//evil.test", "/\\evil.test", "/\t/evil.test", "evil", ""])
      assert.isFalse(takes(foreign), foreign)
  })
})

/** Returns whether a line was written by Waybill's logger: JSON with a level and a time. */
const isOurs = (line: string): boolean => {
  try {
    const { level, message, timestamp } = JSON.parse(line) as Record<string, unknown>
    return [level, message, timestamp].every((field) => typeof field === "string")
  } catch {
    return false
  }
}

layer(Database.layerFresh, { excludeTestServices: true, timeout: "90 seconds" })(
  "/auth with a failing database",
  (it) => {
    // threat: sign-in-library
    it.effect(
      "only Waybill's logger reports the error, and no row, address, token or statement is in logs or answers",
      function* () {
        const { url } = yield* Database.Fresh
        const sql = yield* Sql
        const port = yield* Effect.promise(() => freePort())
        const env = {
          PORT: String(port),
          SMTP_PORT: String(yield* Effect.promise(() => freePort())),
          DATABASE_URL: Redacted.value(url),
          WAYBILL_INSTANCE_KEY: randomBytes(32).toString("base64"),
          LOG_LEVEL: "All",
          TRUSTED_PROXIES: "127.0.0.0/8",
        }
        const service = yield* Effect.acquireRelease(
          Effect.sync(() => new WaybillCommand(["start"], env)),
          (started) => Effect.promise(() => started.stop("SIGKILL")),
        )
        const welcome = yield* Effect.promise(() =>
          service.waitForOutput("API key    wb_").then(() => service.waitForOutput("Waybill is ready")),
        )
        const [, email = "", password = ""] = /Sign in {4}(\S+) \/ ([^\s"]+)/u.exec(welcome) ?? []
        const base = `http://127.0.0.1:${port}`
        const page = browser(base)
        assert.strictEqual((yield* page.signIn({ email, password })).status, 200)
        const outputStart = service.output.length

        // Makes every further write fail with an error that quotes the row.
        for (const table of ["user_sessions", "user_verifications", "users", "user_two_factors"])
          yield* sql.unsafe(`ALTER TABLE ${table} ADD CONSTRAINT ${table}_fails CHECK (false) NOT VALID`)
        const requests = [
          () => page.request("POST", "/auth/update-user", { body: { name: "A telling name" } }),
          () => page.request("POST", "/auth/two-factor/enable", { body: { password } }),
          () => browser(base).signIn({ email, password }),
          () => browser(base).request("GET", "/auth/passkey/generate-authenticate-options"),
          () => page.request("GET", "/auth/passkey/generate-register-options?name=Telling"),
        ]
        const answers = yield* Effect.forEach(requests, (request) => request())
        // Makes every further statement fail.
        yield* sql.unsafe("ALTER TABLE user_sessions RENAME COLUMN token TO gone")
        yield* sql.unsafe("ALTER TABLE user_verifications RENAME COLUMN identifier TO gone")
        const laterAnswers = yield* Effect.forEach(
          [
            ...requests,
            () => page.request("GET", "/auth/get-session"),
            () =>
              browser(base).request("POST", "/auth/reset-password", { body: { token: "a", newPassword: PASSWORD } }),
          ],
          (request) => request(),
        )
        for (const { json, status } of [...answers, ...laterAnswers]) {
          assert.deepStrictEqual([status, json.error?.reason], [500, "internal_error"], JSON.stringify(json))
          assert.notMatch(JSON.stringify(json), /user_|better|constraint|column/iu)
        }
        yield* Effect.promise(() => service.stop())
        const output = service.output.slice(outputStart)
        const lines = output.split("\n").filter((line) => line !== "")
        assert.isAtLeast(lines.filter((line) => line.includes("the sign-in library failed")).length, 5)
        assert.deepStrictEqual(
          lines.filter((line) => !isOurs(line)),
          [],
        )
        for (const secret of [
          email,
          password,
          "A telling name",
          "Telling",
          "Failing row",
          "better-auth:",
          "insert into",
        ])
          assert.notInclude(output, secret)
      },
    )
  },
)

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("sign-in by a host of a wrong form", (it) => {
  it.effect("is answered, and is no error of the service", function* () {
    const { url } = yield* House
    const body = JSON.stringify({ email: "nobody@example.org", password: PASSWORD })
    const statusOf = (host: string, path = "/auth/sign-in/email") =>
      Effect.callback<number>((resume) => {
        const { port } = new URL(url)
        const headers = { host, "content-type": "application/json" }
        const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
          response.resume().on("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
        })
        sent.end(body)
      })
    for (const host of ["a@b", "a:b", "127.0.0.1:99999", "[", "[::1", "1.2.3.999", "::", "a:b:c", "..", "-", "%"])
      assert.isBelow(yield* statusOf(host), 500, host)
    for (const path of ["http://a@b/auth/sign-in/email", "//auth/sign-in/email", "http://[/auth/sign-in/email"])
      assert.isBelow(yield* statusOf("127.0.0.1", path), 500, path)
  })
})
