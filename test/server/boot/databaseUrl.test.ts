import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import * as Settings from "../../../apps/server/src/settings/Settings.ts"
import { freePort, runToEnd } from "../../support/process/service.ts"

const TIMEOUT = 60_000
const FORM = "The form is postgres://user:password@host:5432/database."
const SECRET = "do-not-show-me"
const folder = mkdtempSync(join(tmpdir(), "waybill-urls-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the service with settings that cannot work; returns its last line, which must be all that it says of the error. */
const start = async (env: Readonly<Record<string, string>>) => {
  const ports = { PORT: `${await freePort()}`, SMTP_PORT: `${await freePort()}` }
  const { code, output } = await runToEnd(["start"], { WAYBILL_DATA: folder, ...ports, ...env })
  assert.notInclude(output, SECRET)
  assert.notMatch(output, /^\s+at /mu)
  return { code, said: output.trim().split("\n").at(-1) ?? "" }
}

const onServer = (change: (url: URL) => void): string => {
  const url = new URL(inject("postgresUrl"))
  change(url)
  return url.href
}

describe("a start with settings that cannot work names the setting, its fault and the form it wants", () => {
  // A refused connection is tried again for ten seconds; the other starts take as long together.
  let port = 0
  let refused: ReturnType<typeof start>
  beforeAll(async () => {
    port = await freePort()
    refused = start({
      DATABASE_URL: `postgres://waybill:${SECRET}@127.0.0.1:${port}/waybill`,
      WAYBILL_DATA: join(folder, "refused"),
    })
  })

  it.each([
    [
      "a wrong scheme",
      { DATABASE_URL: `http://waybill:${SECRET}@127.0.0.1/waybill` },
      `DATABASE_URL is invalid: it begins with http:, and not with postgres:. ${FORM}`,
    ],
    ["no scheme", { DATABASE_URL: `${SECRET}@db` }, "DATABASE_URL is invalid: it has no scheme."],
    [
      "a replica with a wrong scheme",
      { DATABASE_REPLICA_URL: `mysql://x:${SECRET}@db/x` },
      "DATABASE_REPLICA_URL is invalid: it begins with mysql:, and not with postgres:.",
    ],
    [
      "a host that does not exist",
      { DATABASE_URL: `postgres://waybill:${SECRET}@nowhere.invalid/waybill` },
      /DATABASE_URL: the host of nowhere\.invalid:5432 (has no address|could not be looked up)\./u,
    ],
    [
      "a wrong instance key",
      { DATABASE_URL: "postgres://a@127.0.0.1/a", WAYBILL_INSTANCE_KEY: SECRET },
      "WAYBILL_INSTANCE_KEY is invalid: key 1 is not 32 bytes in base64, as made by openssl rand -base64 32. Key of 32 bytes in base64 that encrypts private keys and secrets. Default: the file instance.key in WAYBILL_DATA, made at the first start.",
    ],
    [
      "a relay with a wrong scheme",
      { TRANSPORT: "relay", SMTP_URL: `http://x:${SECRET}@relay` },
      "SMTP_URL is invalid: it begins with http:.",
    ],
  ])("%s", { timeout: TIMEOUT }, async (_, env, expected) => {
    const { code, said } = await start(env as unknown as Record<string, string>)
    if (typeof expected === "string") assert.include(said, expected)
    else assert.match(said, expected)
    assert.strictEqual(code, 78)
  })

  it("a wrong password", { timeout: TIMEOUT }, async () => {
    const { code, said } = await start({ DATABASE_URL: onServer((url) => (url.password = SECRET)) })
    assert.match(
      said,
      /DATABASE_URL: the server at .* refuses the password of the user "\w+"\. Correct the password\./u,
    )
    assert.strictEqual(code, 78)
  })

  it("a database that does not exist", { timeout: TIMEOUT }, async () => {
    const { code, said } = await start({ DATABASE_URL: onServer((url) => (url.pathname = "/nothing")) })
    assert.match(said, /DATABASE_URL: the server at .* has no database "nothing"\. Create it, or correct the name\./u)
    assert.strictEqual(code, 78)
  })

  it("a refused connection", { timeout: TIMEOUT }, async () => {
    const { code, said } = await refused
    assert.strictEqual(
      said,
      `waybill: DATABASE_URL: 127.0.0.1:${port} refused the connection. Check that Postgres runs there, or correct the host and the port. ${FORM}`,
    )
    assert.strictEqual(code, 78)
  })
})

describe("variables that resemble a setting", () => {
  it.each([
    ["TRANSPRT", "TRANSPORT"],
    ["SMTP_PROT", "SMTP_PORT"],
    ["WAYBIL_DATA", "WAYBILL_DATA"],
    ["DATABASE_URI", "DATABASE_URL"],
    ["BASEURL", "BASE_URL"],
    ["PORTT", "PORT"],
  ])("%s", (name, meant) => {
    assert.deepStrictEqual(Settings.misspelled({ [name]: "x" }), [
      `${name} is not a setting and has no effect. Did you mean ${meant}?`,
    ])
  })

  it("are not those of other programs, nor the settings themselves", () => {
    const others = [
      "HOSTNAME",
      "PATH",
      "HOME",
      "USER",
      "SHELL",
      "LANG",
      "PWD",
      "TERM",
      "LOGNAME",
      "WAYBILL_KEY",
      "PGHOST",
    ]
    const names = [
      ...others,
      "WAYBILL_SERVICE_HOST",
      "WAYBILL_PORT",
      "TRANSPORT",
      "PORT",
      "npm_config_port",
      "NODE_ENV",
    ]
    assert.deepStrictEqual(Settings.misspelled(Object.fromEntries(names.map((name) => [name, "x"]))), [])
  })

  it("are named when the service starts", { timeout: TIMEOUT }, async () => {
    const { output } = await runToEnd(["start"], { DATABASE_URL: "postgres://a@nowhere.invalid/a", TRANSPRT: "relay" })
    assert.include(output, "TRANSPRT is not a setting and has no effect. Did you mean TRANSPORT?")
  })
})

describe("waybill config", () => {
  it("shows a setting with its value, where that comes from, and what it means", { timeout: TIMEOUT }, async () => {
    const set = await runToEnd(["config", "port"], { PORT: "8080" })
    assert.strictEqual(
      set.output,
      "name: PORT\nvalue: 8080\ndefault: 3025\nsource: environment\nmeaning: Port of the API, the documentation and the dashboard.\n",
    )
    const unset = await runToEnd(["config", "LOG_LEVEL", "--json"], {})
    assert.deepInclude(JSON.parse(unset.output), { value: null, default: "Info", source: "default" })
    const secret = await runToEnd(["config", "SMTP_URL"], { SMTP_URL: `smtp://a:${SECRET}@relay.test` })
    assert.include(secret.output, "value: <set>")
    const wrong = await runToEnd(["config", "PORTT"], {})
    assert.deepStrictEqual([wrong.code, wrong.output], [1, "waybill: PORTT is not a setting. Did you mean PORT?\n"])
  })

  it("lists what is set, also to a program, and all with --all or as JSON", { timeout: TIMEOUT }, async () => {
    const { output } = await runToEnd(["config"], { PORT: "8080" })
    assert.match(
      output,
      /^ {2}PORT=8080 \(default 3025\)\n {4}Port of the API[^]*^\d+ settings have their defaults\./mu,
    )
    assert.notMatch(output, /^ {2}HOST/mu)
    const { output: all } = await runToEnd(["config", "--all"], {})
    assert.match(all, /^ {2}HOST \(default 127\.0\.0\.1\)$/mu)
    const names = JSON.parse((await runToEnd(["config", "--json"], {})).output).map(
      ({ name }: { name: string }) => name,
    )
    assert.include(names, "HOST")
  })

  it("names what is wrong first, and variables that are misspelled", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["config"], { PORTT: "1", TRANSPORT: "relay", METRICS_PORT: "none" })
    assert.strictEqual(code, 78)
    assert.include(output, "PORTT is not a setting and has no effect. Did you mean PORT?")
    const at = (text: RegExp) => output.search(text)
    for (const name of ["METRICS_PORT", "SMTP_URL"]) {
      assert.isBelow(at(new RegExp(`^${name} is (?:invalid|missing)`, "mu")), at(/^Mail that is sent$/mu))
      assert.match(output, new RegExp(`^  ${name}`, "mu"))
    }
    // It goes to the other stream, so its place among the lines is open.
    assert.match(output, /2 settings are wrong, as said above\.$/mu)
    const loud = await runToEnd(["config"], { LOG_LEVEL: "loud" })
    assert.strictEqual(loud.code, 78)
    assert.match(loud.output, /must be one of All, [^.]*, Trace, None\. Minimum [^.]*: All, [^.]*, Trace or None\./u)
  })

  it.each(["info", "WARN", "Debug"])("takes the level %s", { timeout: TIMEOUT }, async (LOG_LEVEL) => {
    assert.strictEqual((await runToEnd(["config", "LOG_LEVEL"], { LOG_LEVEL })).code, 0)
  })
})
