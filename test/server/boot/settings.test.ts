import { ConfigProvider, Effect, Option } from "effect"
import { readFile } from "node:fs/promises"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import * as NotListening from "../../../apps/server/src/boot/service/NotListening.ts"
import * as Service from "../../../apps/server/src/boot/service/Service.ts"
import * as Settings from "../../../apps/server/src/settings/Settings.ts"
import { Instance } from "../../../apps/server/src/settings/Instance.ts"
import * as TrackedLinks from "../../../apps/server/src/links/TrackedLinks.ts"
import { FILE, render } from "../../../scripts/generate/configuration.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const withEnv = (env: Record<string, string>) => Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
const problems = (env: Record<string, string>) =>
  Settings.load.pipe(
    Effect.flip,
    Effect.map((error) => error.problems),
    withEnv(env),
  )

describe("settings", () => {
  it.effect("have defaults", () =>
    Effect.gen(function* () {
      const { data, host, port, smtpPort, transport } = yield* Settings.load
      assert.deepStrictEqual([port, host, smtpPort, transport], [3025, "127.0.0.1", 2525, "capture"])
      assert.match(data, /\.waybill$/)
    }).pipe(withEnv({})),
  )

  it.effect("call the transport that sends nothing sandbox, and not by its name in events", function* () {
    assert.strictEqual((yield* Settings.load.pipe(withEnv({ TRANSPORT: "sandbox" }))).transport, "capture")
    assert.match(String(yield* problems({ TRANSPORT: "capture" })), /TRANSPORT/u)
  })

  it.effect("report all invalid values at once, each by name", function* () {
    const reported = yield* problems({
      PORT: "0x",
      MAX_BODY_BYTES: "1",
      TRUSTED_PROXIES: "10.0.0.0/8, nowhere",
      COMPAT_HOSTS: "mail.acme.test=resend, post.acme.test=pigeon",
      TRANSPORT: "pigeon",
      ROLES: "api,pigeon",
      BASE_URL: "mail.acme.test",
      TRACKING_URL: "https://track.acme.test/?from=mail",
      METRICS_ALLOW_NETWORKS: "everybody",
      METRICS_ALLOW_HOSTS: "node1.acme.test:9464",
      SMTP_TLS_CERT: "/tmp/cert.pem",
    })
    const names = [
      "PORT",
      "MAX_BODY_BYTES",
      "TRUSTED_PROXIES",
      "COMPAT_HOSTS",
      "TRANSPORT",
      "ROLES",
      "BASE_URL",
      "TRACKING_URL",
      "METRICS_ALLOW_NETWORKS",
      "METRICS_ALLOW_HOSTS",
      "SMTP_TLS_CERT",
    ]
    assert.deepStrictEqual(
      reported.flatMap((problem) => names.filter((name) => problem.startsWith(name))).sort(),
      names.sort(),
    )
  })

  it.effect("refuse a user name or a password in an address that is printed", function* () {
    for (const name of ["BASE_URL", "TRACKING_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"])
      for (const address of [
        "https://u:S3cr3tPw@h.example/",
        "https://S3cr3tPw@h.example",
        "https://:S3cr3tPw@h.example",
      ]) {
        const reported = yield* problems({ [name]: address })
        assert.lengthOf(reported, 1, `${name}=${address}`)
        assert.match(reported.join(), new RegExp(`^${name}.*no user name, password`, "su"))
        assert.notInclude(reported.join(), "S3cr3tPw")
      }
  })

  it.effect("build a callable URL from HOST and PORT, also for IPv6", function* () {
    for (const [HOST, expected] of [
      ["127.0.0.1", "http://127.0.0.1:3025"],
      ["0.0.0.0", "http://127.0.0.1:3025"],
      ["::", "http://127.0.0.1:3025"],
      ["::1", "http://[::1]:3025"],
      ["waybill.test", "http://waybill.test:3025"],
    ] as const)
      assert.strictEqual(Settings.urlOf(yield* Settings.load.pipe(withEnv({ HOST }))), expected)
    for (const HOST of ["[::1]", "waybill:3025", "no host"])
      assert.deepStrictEqual(yield* problems({ HOST }), [
        `HOST is invalid: ${HOST} is neither an IP address nor a host name. Default: 127.0.0.1.`,
      ])
  })

  it.effect("name the setting to change for each listener that cannot start", function* () {
    const smtps = { SMTPS_PORT: "465", SMTP_TLS_CERT: "/cert.pem", SMTP_TLS_KEY: "/key.pem" }
    const settings = yield* Settings.load.pipe(withEnv({ MAIL_PORT: "25", METRICS_PORT: "9464", ...smtps }))
    const messageFor = (code: string, port?: number) => {
      const error = NotListening.fromError(settings)(Object.assign(new Error("listen"), { code, port }))
      return error instanceof NotListening.NotListening ? error.message : error
    }
    assert.strictEqual(
      messageFor("EADDRINUSE", 2525),
      "Port 2525 is in use. Set SMTP_PORT to another, e.g. SMTP_PORT=8080 npm start.",
    )
    assert.strictEqual(
      messageFor("EADDRINUSE", 9464),
      "Port 9464 is in use. Set METRICS_PORT to another, e.g. METRICS_PORT=8080 npm start.",
    )
    assert.strictEqual(
      messageFor("EACCES", 465),
      "This user may not listen on port 465. Set SMTPS_PORT to another, e.g. SMTPS_PORT=8080 npm start.",
    )
    assert.strictEqual(
      messageFor("EACCES", 25),
      "This user may not listen on port 25. Set MAIL_PORT to another, e.g. MAIL_PORT=8080 npm start.",
    )
    assert.strictEqual(
      messageFor("ENOTFOUND"),
      "This machine has no address 127.0.0.1. Set HOST to one of its addresses.",
    )
    assert.instanceOf(messageFor("EPIPE"), Error)
  })

  it.effect("name all ports in use at once, and ports that two settings share", function* () {
    const messageFor = (env: Record<string, string>) =>
      Settings.load.pipe(
        withEnv(env),
        Effect.flatMap(NotListening.checkPorts),
        Effect.match({ onFailure: (error) => error.message, onSuccess: () => "" }),
      )
    const servers = [createServer(), createServer()]
    for (const server of servers) yield* Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening"))
    const [port, smtp] = servers.map((server) => (server.address() as AddressInfo).port)
    assert.strictEqual(
      yield* messageFor({ PORT: `${port}`, SMTP_PORT: `${smtp}` }),
      `Ports ${port} and ${smtp} are in use. Set PORT and SMTP_PORT to others, e.g. PORT=8080 SMTP_PORT=8081 npm start.`,
    )
    for (const server of servers) server.close()
    assert.strictEqual(
      yield* messageFor({ PORT: `${port}`, SMTP_PORT: `${port}` }),
      `PORT and SMTP_PORT are both ${port}. Set SMTP_PORT to another, e.g. SMTP_PORT=8080 npm start.`,
    )
    assert.strictEqual(yield* messageFor({ PORT: `${port}`, SMTP_PORT: `${smtp}` }), "")
  })

  it.effect("refuse SMTPS_PORT without a certificate", function* () {
    assert.deepStrictEqual(yield* problems({ SMTPS_PORT: "465" }), [
      "SMTPS_PORT needs a certificate: set SMTP_TLS_CERT and SMTP_TLS_KEY, or unset SMTPS_PORT.",
    ])
  })

  it.effect("allow bodies up to forty megabytes", function* () {
    const largest = 40 * 1024 * 1024
    const bytes = (env: Record<string, string>) =>
      Settings.load.pipe(
        Effect.map(({ maxBodyBytes }) => maxBodyBytes),
        withEnv(env),
      )
    assert.strictEqual(yield* bytes({}), 10 * 1024 * 1024)
    assert.strictEqual(yield* bytes({ MAX_BODY_BYTES: `${largest}` }), largest)
    const reported = yield* problems({ MAX_BODY_BYTES: `${largest + 1}` })
    assert.deepStrictEqual(
      reported.map((problem) => problem.split(" ", 1)),
      [["MAX_BODY_BYTES"]],
    )
  })

  it.effect("give a process all roles or the listed ones", function* () {
    const rolesOf = (env: Record<string, string>) =>
      Settings.load.pipe(
        Effect.map(({ roles }) => roles),
        withEnv(env),
      )
    assert.deepStrictEqual(yield* rolesOf({}), ["api", "worker", "smtp"])
    assert.deepStrictEqual(yield* rolesOf({ ROLES: "smtp, api,smtp" }), ["api", "smtp"])
    const [problem] = yield* problems({ ROLES: "api,," })
    assert.match(problem ?? "", /^ROLES is invalid: .*is not a list of api, worker, smtp/u)
  })

  it.effect("distinguish nobody from unset readers of metrics", function* () {
    const readers = (env: Record<string, string>) =>
      Settings.load.pipe(
        Effect.map(({ metricsAllowNetworks }) => Option.getOrUndefined(metricsAllowNetworks)?.map(String)),
        withEnv(env),
      )
    assert.isUndefined(yield* readers({}))
    assert.deepStrictEqual(yield* readers({ METRICS_ALLOW_NETWORKS: "none" }), [])
    assert.deepStrictEqual(yield* readers({ METRICS_ALLOW_NETWORKS: "10.0.0.0/8, ::1" }), ["10.0.0.0/8", "::1"])
  })

  // threat: shown-secrets
  it.effect("never show a secret", () =>
    Effect.gen(function* () {
      const described = yield* Settings.describe
      assert.notInclude(JSON.stringify(described), "hunter2")
      assert.strictEqual(described.find(({ name }) => name === "DATABASE_URL")?.value, "<set>")
    }).pipe(withEnv({ DATABASE_URL: "postgres://me:hunter2@127.0.0.1/db", SMTP_URL: "smtp://me:hunter2@127.0.0.1" })),
  )

  it.effect("use BASE_URL behind a proxy", () =>
    Effect.gen(function* () {
      const settings = yield* Settings.load
      assert.strictEqual(Settings.urlOf(settings), "https://mail.acme.test")
      assert.strictEqual(
        Settings.urlOf({ ...settings, baseUrl: Option.none(), host: "0.0.0.0" }),
        "http://127.0.0.1:3025",
      )
    }).pipe(withEnv({ BASE_URL: "https://mail.acme.test" })),
  )

  it.effect("derive the address of tracked links, and never the loopback interface unless set so", function* () {
    const own = "http://127.0.0.1:3025"
    const cases: ReadonlyArray<readonly [Record<string, string>, string | undefined]> = [
      [{}, undefined],
      [{ BASE_URL: own }, undefined],
      [{ BASE_URL: "http://localhost:3025" }, undefined],
      [{ BASE_URL: "http://[::1]:3025" }, undefined],
      [{ BASE_URL: "https://mail.acme.test" }, "https://mail.acme.test"],
      [{ BASE_URL: "https://mail.acme.test", TRACKING_URL: "https://t.acme.test" }, "https://t.acme.test"],
      [{ TRACKING_URL: own }, own],
    ]
    for (const [env, expected] of cases)
      assert.strictEqual(
        TrackedLinks.trackingUrlOf(yield* Settings.load.pipe(withEnv(env))),
        expected,
        JSON.stringify(env),
      )
  })

  it.effect("derive the target of tracking domains only when they are enabled", function* () {
    const on = { TRACKING_DOMAINS: "on" }
    const cases: ReadonlyArray<readonly [Record<string, string>, string | null]> = [
      [{ TRACKING_URL: "https://t.acme.test" }, null],
      [{ TRACKING_URL: "https://t.acme.test", TRACKING_DOMAINS: "off" }, null],
      [{ TRACKING_URL: "https://T.acme.test:8443/x", ...on }, "t.acme.test"],
      [{ BASE_URL: "https://mail.acme.test", ...on }, "mail.acme.test"],
      [{ TRACKING_URL: "https://192.0.2.1", ...on }, null],
      [{ TRACKING_URL: "https://[2001:db8::1]", ...on }, null],
      [{ TRACKING_URL: "http://localhost:3025", ...on }, null],
      [on, null],
    ]
    for (const [env, expected] of cases)
      assert.strictEqual(
        TrackedLinks.trackingHostOf(yield* Settings.load.pipe(withEnv(env))),
        expected,
        JSON.stringify(env),
      )
    const error = yield* Effect.flip(Settings.load.pipe(withEnv({ TRACKING_DOMAINS: "yes" })))
    assert.include(error.message, "TRACKING_DOMAINS is invalid")
  })

  it.effect("name the trusted resolver by its address, since a name would have to be resolved", function* () {
    for (const DANE_RESOLVER of ["127.0.0.1", "127.0.0.1:5353", "::1", "[::1]:5353"])
      assert.deepStrictEqual(
        (yield* Settings.load.pipe(withEnv({ DANE_RESOLVER }))).daneResolver,
        Option.some(DANE_RESOLVER),
      )
    for (const DANE_RESOLVER of ["localhost", "resolver:53", "127.0.0.1:0", "127.0.0.1,127.0.0.2"]) {
      const error = yield* Effect.flip(Settings.load.pipe(withEnv({ DANE_RESOLVER })))
      assert.include(error.message, "DANE_RESOLVER")
    }
    assert.isTrue(Option.isNone((yield* Settings.load.pipe(withEnv({}))).daneResolver))
  })

  it.effect("tell the dashboard where this process really accepts mail over SMTP", function* () {
    const tls = { SMTP_TLS_CERT: "/cert.pem", SMTP_TLS_KEY: "/key.pem" }
    const told = yield* Effect.forEach(
      [
        {},
        { HOST: "0.0.0.0", SMTP_PORT: "587", ...tls },
        { HOST: "::", BASE_URL: "https://mail.example.com" },
        { HOST: "192.0.2.5", SMTP_PORT: "25" },
        { SMTPS_PORT: "465", ...tls },
        { ROLES: "api,worker" },
      ],
      (env: Record<string, string>) =>
        Effect.gen(function* () {
          const { baseUrl, submission } = yield* Effect.provide(Instance, Service.instance(yield* Settings.load))
          return [baseUrl, submission] as const
        }).pipe(withEnv(env)),
    )
    assert.deepStrictEqual(told, [
      [null, { host: "127.0.0.1", port: 2525, tls: false, tlsPort: null }],
      [null, { host: null, port: 587, tls: true, tlsPort: null }],
      ["https://mail.example.com", { host: null, port: 2525, tls: false, tlsPort: null }],
      [null, { host: "192.0.2.5", port: 25, tls: false, tlsPort: null }],
      [null, { host: "127.0.0.1", port: 2525, tls: true, tlsPort: 465 }],
      [null, null],
    ])
  })

  it("are documented as they are", async () => {
    assert.strictEqual(await readFile(FILE, "utf8"), render())
  })
})
