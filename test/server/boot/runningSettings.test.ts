import { ConfigProvider, Effect, Redacted } from "effect"
import * as fs from "node:fs/promises"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import * as RunningSettings from "../../../apps/server/src/installation/RunningSettings.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const SECRET = "smtp://acme:s3cret@relay.test"

const folder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-settings-"))),
  (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true })),
)

const store = (env: Readonly<Record<string, string>>, data: string, flags = {}) =>
  Effect.provide(RunningSettings.store(data, flags), ConfigProvider.layer(ConfigProvider.fromEnv({ env })))

const errorsOf = (env: Readonly<Record<string, string>>, ...words: ReadonlyArray<string>) =>
  Effect.map(CommandLine.typeWith(env, ...words), ({ errors }) => errors)

const lineWith = (others: string) =>
  `Settings are read from this shell. The service that runs (process ${process.pid}) has others: ${others}.`

describe("the settings of a running service", () => {
  it.effect("are named by a command where this shell has others, secrets by their names", function* () {
    const data = yield* folder
    const here = { WAYBILL_DATA: data, TRANSPORT: "direct", HOST: "127.0.0.1" }
    assert.strictEqual(yield* errorsOf(here, "config"), "")
    const there = { WAYBILL_DATA: `${data}/.`, PORT: "9000", HOST: "127.0.0.1", SMTP_URL: SECRET }
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* store(there, data, { ROLES: "api" })
        assert.strictEqual(
          yield* errorsOf(here, "config"),
          lineWith("PORT=9000, SMTP_URL=<set>, ROLES=api, TRANSPORT unset"),
        )
        assert.strictEqual(yield* errorsOf(here, "config", "PORT"), lineWith("PORT=9000"))
        assert.strictEqual(yield* errorsOf(here, "config", "HOST"), "")
        const file = join(data, "settings.json")
        assert.strictEqual((yield* Effect.promise(() => fs.stat(file))).mode & 0o777, 0o600)
        assert.notInclude(yield* Effect.promise(() => fs.readFile(file, "utf8")), "s3cret")
      }),
    )
    assert.strictEqual(yield* errorsOf(here, "config"), "")
  })

  it.effect("of a process that has ended, or of another machine, are not", function* () {
    const data = yield* folder
    const here = { WAYBILL_DATA: data }
    const write = (stored: object) =>
      Effect.promise(() => fs.writeFile(join(data, "settings.json"), JSON.stringify(stored)))
    const running = { host: hostname(), pid: process.pid, settings: { PORT: "9000" } }
    yield* write(running)
    assert.strictEqual(yield* errorsOf(here, "config"), lineWith("PORT=9000"))
    for (const other of [{ pid: 2 ** 30 }, { host: "elsewhere" }, { pid: "1" }]) {
      yield* write({ ...running, ...other })
      assert.strictEqual(yield* errorsOf(here, "config"), "")
    }
  })
})

layer(World.layer, { excludeTestServices: true })("a service", (it) => {
  it.effect(
    "tells its settings to the doctor and the command config, until it stops",
    function* () {
      const { url } = yield* Database.Fresh
      const data = yield* folder
      const dns = yield* DnsServer.listen({ "example.com": { NS: ["a.iana-servers.net"] } })
      const settings = { DANE_RESOLVER: dns.server, SMTP_URL: SECRET, DNS_SERVERS: dns.server }
      const node = yield* ServiceProcess.start(url, { WAYBILL_DATA: data, ...settings })
      const here = {
        WAYBILL_DATA: data,
        DATABASE_URL: Redacted.value(url),
        WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY,
        DNS_SERVERS: dns.server,
      }
      const line = `The service that runs (process ${node.pid}) has others: `
      assert.include(yield* errorsOf(here, "config"), line)
      const { errors, output } = yield* CommandLine.typeWith(here, "doctor")
      assert.include(errors, `Checked as the service that runs (process ${node.pid}), whose settings differ`)
      assert.include(errors, `SMTP_URL=<set>, DANE_RESOLVER=${dns.server}`)
      assert.include(errors, "Secrets of a service are not stored. Set SMTP_URL here, too, to check all.")
      assert.notInclude(output, "no DANE_RESOLVER is set")
      assert.include(output, "no bounce message comes in")
      yield* node.stop
      assert.notInclude(yield* errorsOf(here, "config"), line)
    },
    { timeout: 60_000 },
  )
})
