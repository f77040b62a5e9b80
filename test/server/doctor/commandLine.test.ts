import * as Domain from "@waybill/domain/domain/Domain"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Redacted, Schema } from "effect"
import { tmpdir } from "node:os"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { runToEnd } from "../../support/process/service.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { domainName } from "../../domain/values/examples.ts"

const TIMEOUT = 60_000
const EXIT_BROKEN = 3

const Answer = Schema.fromJsonString(
  Schema.Struct({
    healthy: Schema.Boolean,
    findings: Schema.Array(
      Schema.Struct({
        check: Schema.String,
        status: Schema.Literals(["ok", "warning", "broken", "skipped"]),
        result: Schema.String,
        fix: Schema.NullOr(Schema.String),
      }),
    ),
  }),
)

const doctor = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { url } = yield* Database.Fresh
    const dns = yield* DnsServer.listen({ "example.com": { NS: ["a.iana-servers.net"] } })
    const { code, output } = yield* Effect.promise(() =>
      runToEnd(["doctor", ...args], {
        DATABASE_URL: Redacted.value(url),
        DNS_SERVERS: dns.server,
        WAYBILL_DATA: tmpdir(),
        ...env,
      }),
    )
    return { code, output }
  })

const statuses = Effect.fnUntraced(function* (output: string) {
  // Standard error follows the JSON with a summary.
  const { findings, healthy } = yield* Schema.decodeEffect(Answer)(output.slice(0, output.lastIndexOf("}") + 1))
  return { healthy, of: Object.fromEntries(findings.map(({ check, status }) => [check, status])) }
})

describe("waybill doctor", () => {
  it.live(
    "reports a sound instance as ok, and skips checks that its transport does not need",
    () =>
      Effect.gen(function* () {
        const { code, output } = yield* doctor({}, "--json")
        assert.strictEqual(code, 0, output)
        const { healthy, of } = yield* statuses(output)
        assert.isTrue(healthy)
        assert.deepStrictEqual(of, {
          // The tests' Postgres has fsync off.
          database: of["database"] ?? "skipped",
          schema: "ok",
          nodes: "ok",
          cells: "ok",
          clock: "ok",
          disk: "ok",
          dns: "ok",
          dane: "skipped",
          relay: "skipped",
          nodemailer: "skipped",
          "port 25": "skipped",
          "ehlo name": "skipped",
          addresses: "skipped",
          "site rules": "skipped",
          "return path": "skipped",
          "dmarc reports": "skipped",
          tracking: "skipped",
          "dkim keys": "skipped",
        })
        assert.match(output, /no MAIL_PORT is set, so mail comes in from this machine only/u)
      }).pipe(Effect.scoped, Effect.provide(World.layer)),
    TIMEOUT,
  )

  it.live(
    "checks its relay and a given server",
    () =>
      Effect.gen(function* () {
        const login = { user: "acme", password: "s3cret" }
        const server = yield* SmtpServer.listen({ auth: login })
        const good = { TRANSPORT: "relay", SMTP_URL: `smtp://acme:s3cret@127.0.0.1:${server.port}` }
        const target = ["--target", `127.0.0.1:${server.port}`]
        const sound = yield* doctor(good, "--json", ...target)
        assert.strictEqual(sound.code, 0, sound.output)
        const { of } = yield* statuses(sound.output)
        assert.deepStrictEqual([of["relay"], of["port 25"], of["return path"]], ["ok", "ok", "warning"])
        assert.strictEqual(server.mails.length, 0)

        const bad = yield* doctor({ ...good, SMTP_URL: `smtp://acme:old-one@127.0.0.1:${server.port}` })
        assert.strictEqual(bad.code, EXIT_BROKEN, bad.output)
        assert.match(bad.output, /^broken +relay +.*535/m)
        assert.include(bad.output, "user and password in SMTP_URL")
        assert.include(bad.output, "waybill: broken: relay")
        assert.notInclude(bad.output, "old-one")
      }).pipe(Effect.scoped, Effect.provide(World.layer)),
    TIMEOUT,
  )

  it.live(
    "is broken if a domain uses a relay that is not configured",
    () =>
      Effect.gen(function* () {
        const { account_id, domain_id } = yield* World.verifiedDomain()
        const store = yield* EventStore
        const choose = Domain.chooseTransport(Timestamp.fromMillis(0), "relay")
        yield* Effect.orDie(store.commit(Domain, { account_id, stream_id: domain_id }, choose))
        const track = Domain.track(Timestamp.fromMillis(0), { opens: true, clicks: null })
        yield* Effect.orDie(store.commit(Domain, { account_id, stream_id: domain_id }, track))
        const { code, output } = yield* doctor({ WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY })
        assert.strictEqual(code, EXIT_BROKEN, output)
        assert.match(output, /^ok +dkim keys +1 key opens and signs/m)
        assert.include(output, "Set SMTP_URL, or choose another transport for them.")
        // Tracking without a URL is a warning.
        assert.match(output, /^warning +tracking +1 domain tracks its mail/m)
      }).pipe(Effect.scoped, Effect.provide(World.layer)),
    TIMEOUT,
  )

  it.live(
    "warns about tracking hosts that are not configured",
    () =>
      Effect.gen(function* () {
        const { account_id, domain_id } = yield* World.verifiedDomain("acme.dev")
        const store = yield* EventStore
        const wish = { opens: null, clicks: true, domain: domainName("links.acme.dev") }
        const track = Domain.track(Timestamp.fromMillis(0), wish)
        yield* Effect.orDie(store.commit(Domain, { account_id, stream_id: domain_id }, track))
        for (const [env, expected] of [
          [
            { TRACKING_URL: "https://t.waybill.example" },
            /^warning +tracking +1 .*; 1 has a tracking host .* TRACKING_DOMAINS is off/mu,
          ],
          [
            { TRACKING_URL: "https://t.waybill.example", TRACKING_DOMAINS: "on" },
            /^ok +tracking +1 .*; 1 has a tracking host of its own/mu,
          ],
          [
            { TRACKING_URL: "https://192.0.2.1", TRACKING_DOMAINS: "on" },
            /^warning +tracking +TRACKING_DOMAINS is on/mu,
          ],
        ] as const) {
          const { output } = yield* doctor(env)
          assert.match(output, expected)
        }
      }).pipe(Effect.scoped, Effect.provide(World.layer)),
    TIMEOUT,
  )

  it.live(
    "reports an unreachable database and runs the other checks",
    () =>
      Effect.gen(function* () {
        const { code, output } = yield* doctor({ DATABASE_URL: "postgres://u:hidden@127.0.0.1:1/waybill" })
        assert.strictEqual(code, EXIT_BROKEN)
        assert.match(output, /^broken +database/m)
        assert.match(output, /^ok +dns/m)
        assert.notInclude(output, "hidden")
      }).pipe(Effect.scoped, Effect.provide(World.layer)),
    TIMEOUT,
  )
})
