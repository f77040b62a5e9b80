import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import * as Yaml from "yaml"
import * as ExitCodes from "../../../apps/server/src/process/ExitCodes.ts"
import * as Server from "../../../apps/server/src/http/Server.ts"
import * as Role from "../../../apps/server/src/settings/Role.ts"
import { TABLE } from "../../../apps/server/src/settings/Settings.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as Dockerfile from "../../support/process/Dockerfile.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import * as Production from "../../support/process/Production.ts"
import { freePort } from "../../support/process/service.ts"
import { INSTANCE_KEY } from "../../support/world/World.ts"

const stages = Dockerfile.stages("Dockerfile")
const image = stages.at(-1) ?? assert.fail("no stage")
const settings = new Set<string>(Object.values(TABLE).map(({ name }) => name))
const SECONDS_TO_STOP = Number.parseInt(Server.GRACE, 10)

describe("the Dockerfile", () => {
  it("builds each stage on an image that can be replaced", () => {
    const bases = stages.map(({ instructions }) => instructions[0]?.rest.split(" ")[0])
    assert.deepStrictEqual([...new Set(bases)], ["${NODE}"])
    assert.match(readFileSync("Dockerfile", "utf8"), /^ARG NODE=docker\.io\/library\/node:24-alpine$/mu)
  })

  it("copies only files that exist and are not ignored", () => {
    const ignore = readFileSync(".dockerignore", "utf8")
    const taken = stages.flatMap((stage) => Dockerfile.copies(stage)).filter(({ from }) => from === undefined)
    assert.isAbove(taken.length, 10)
    for (const path of taken.flatMap(({ sources }) => sources)) {
      assert.isTrue(existsSync(path), path)
      assert.isTrue(Dockerfile.isSent(ignore, path), `${path} is in .dockerignore`)
    }
    for (const path of [
      ".git/config",
      ".waybill/instance-key",
      ".env",
      "apps/server/node_modules/pg",
      "test",
      "apps/x/.waybill/y",
    ])
      assert.isFalse(Dockerfile.isSent(ignore, path), `${path} is sent`)
  })

  it("copies every package manifest, so that npm reads the lock file correctly", () => {
    const wanted = ["packages", "apps"].flatMap((folder) =>
      readdirSync(folder).map((name) => `${folder}/${name}/package.json`),
    )
    const copied = stages
      .filter(({ name }) => name === "packages")
      .flatMap((stage) => Dockerfile.copies(stage))
      .flatMap(({ sources }) => sources)
    assert.includeMembers(
      copied,
      wanted.filter((path) => existsSync(path)),
    )
  })

  it("sets only existing settings, and does not run as root", () => {
    const names = Object.keys(Dockerfile.environment(image)).filter((name) => name !== "NODE_ENV")
    assert.isEmpty(names.filter((name) => !settings.has(name)))
    assert.match(Dockerfile.last(image, "USER") ?? "", /^[1-9]\d*:[1-9]\d*$/u)
    assert.match(Dockerfile.last(image, "HEALTHCHECK") ?? "", /CMD \["node", "bin\/health.mjs"\]$/u)
  })
})

/** Lays out the last stage in a folder: its copies and installed packages. */
const lay = async (root: string) => {
  await fs.mkdir(root)
  const notPruned = (path: string) => !/\.(?:map|d\.[mc]?ts)$/u.test(path) && basename(path) !== "node_modules"
  for (const { from, sources, target } of Dockerfile.copies(image)) {
    if (from !== undefined) continue
    for (const source of sources) {
      const to = target.endsWith("/") ? join(root, target, basename(source)) : join(root, target)
      await Production.copyByLinks(source, to, (path) => basename(path) !== "node_modules")
    }
  }
  for (const path of Production.packagesOf("apps/server"))
    await Production.copyByLinks(path, join(root, path), notPruned)
}

const run = (root: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  start(root, join(root, "../node"), args, env)

const start = (root: string, file: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const [uid = 0, gid = 0] = (Dockerfile.last(image, "USER") ?? "").split(":").map(Number)
  const child = spawn(file, args, {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    ...(process.getuid?.() === 0 ? { uid, gid } : {}),
  })
  let said = ""
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        said += String(chunk)
        if (said.includes("Waybill is ready")) resolve()
      })
  })
  const ended = once(child, "close").then(([code]: Array<number | null>) => ({ code: code ?? null, said }))
  return { child, ready, ended }
}

layer(Database.layerFresh, { excludeTestServices: true })("the image", (it) => {
  it.effect(
    "runs as a user without write access, reports health, and stops on request",
    function* () {
      const { url } = yield* Database.Fresh
      // A container reaches Postgres by TCP; the socket here belongs to another user.
      const byTcp = yield* faultProxy(url)
      const scratch = yield* Effect.acquireRelease(
        Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-image-"))),
        (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
      )
      yield* Effect.promise(async () => {
        await fs.chmod(scratch, 0o755)
        await fs
          .link(process.execPath, join(scratch, "node"))
          .catch(() => fs.copyFile(process.execPath, join(scratch, "node")))
        const root = join(scratch, "waybill")
        await lay(root)
        const [port, smtp, metrics] = await Promise.all([freePort(), freePort(), freePort()])
        const env = {
          ...Dockerfile.environment(image),
          HOST: "127.0.0.1",
          METRICS_HOST: "127.0.0.1",
          PORT: String(port),
          SMTP_PORT: String(smtp),
          METRICS_PORT: String(metrics),
          DATABASE_URL: Redacted.value(byTcp.url),
          WAYBILL_INSTANCE_KEY: INSTANCE_KEY,
          // Compose passes on unset settings as empty strings.
          SMTP_URL: "",
        }
        const words = (word: string) => JSON.parse(Dockerfile.last(image, word) ?? "[]") as ReadonlyArray<string>
        const [node, ...args] = [...words("ENTRYPOINT"), ...words("CMD")]
        assert.strictEqual(node, "node")
        const health = JSON.parse(
          (Dockerfile.last(image, "HEALTHCHECK") ?? "").replace(/^.* CMD /u, ""),
        ) as Array<string>
        const examine = () => run(root, health.slice(1), env).ended

        assert.strictEqual((await examine()).code, 1)
        const service = run(root, args, env)
        await Promise.race([service.ready, service.ended.then(({ said }) => assert.fail(said))])
        assert.deepStrictEqual(await examine(), { code: 0, said: "" })
        // The link that the Dockerfile makes for `docker compose exec api waybill`.
        const named = { ...env, PATH: `${scratch}:${process.env["PATH"]}` }
        const link = join(scratch, "waybill-command")
        await fs.symlink(join(root, "bin/waybill"), link)
        const listed = await start(root, link, ["accounts", "list", "--json"], named).ended
        assert.deepInclude(listed, { code: 0 }, listed.said)
        assert.match(listed.said, /"acc_/u)
        const page = await fetch(`http://127.0.0.1:${port}/`)
        assert.strictEqual(page.status, 200)
        service.child.kill("SIGTERM")
        assert.strictEqual((await service.ended).code, 0)
        assert.strictEqual((await examine()).code, 1)
      })
    },
    120_000,
  )
})

interface ComposeService {
  readonly image: string
  readonly command: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly env_file: ReadonlyArray<{ readonly path: string; readonly required: boolean }>
  readonly ports?: ReadonlyArray<string>
  readonly volumes?: ReadonlyArray<string>
  readonly stop_grace_period?: string
}
const compose = Yaml.parse(readFileSync("compose.yaml", "utf8")) as unknown as {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, null>>
}

const example = readFileSync("deploy/compose.env.example", "utf8")

describe("compose.yaml", () => {
  const ours = Object.entries(compose.services).filter(([, { image }]) => image === "waybill")

  it("runs every role on Postgres 18 with a health check", () => {
    const roles = ours.flatMap(([, { command }]) => command[command.indexOf("--roles") + 1]?.split(",") ?? [])
    assert.sameMembers(roles, [...Role.ALL])
    assert.match(compose.services["postgres"]?.image ?? "", /^postgres:18\b/u)
    for (const [name, { depends_on = {} }] of ours)
      assert.deepStrictEqual(depends_on, { postgres: { condition: "service_healthy" } }, name)
  })

  it("sets only existing settings, and gives a node enough time to stop", () => {
    for (const [name, { environment, stop_grace_period = "" }] of ours) {
      assert.isEmpty(Object.keys(environment).filter((each) => !settings.has(each)))
      assert.isAbove(Number.parseInt(stop_grace_period, 10), SECONDS_TO_STOP, name)
    }
  })

  it("passes on every setting of .env except those of the containers", () => {
    const ofImage = Object.keys(Dockerfile.environment(image)).filter((name) => name !== "NODE_ENV")
    const asked = ["DATABASE_URL", "WAYBILL_INSTANCE_KEY", "BASE_URL"]
    for (const [name, { env_file, environment }] of ours) {
      assert.deepStrictEqual(env_file, [{ path: ".env", required: false }], name)
      assert.sameMembers(Object.keys(environment), [...asked, ...ofImage], name)
      // An address or port in .env would differ from the published and checked ones.
      for (const each of ofImage) assert.strictEqual(environment[each], Dockerfile.environment(image)[each], each)
    }
  })

  it("says which services can be scaled: those without a published port", () => {
    const words = readFileSync("compose.yaml", "utf8").split("name: waybill")[0] ?? ""
    for (const [name, { ports }] of ours)
      assert.include(words, ports === undefined ? `--scale ${name}=` : `There is one ${name},`)
  })

  it("mounts the certificate that SMTP needs to accept keys", () => {
    const [, certificate = ""] = /^#SMTP_TLS_CERT=(\S+)$/mu.exec(example) ?? []
    const submission = ours.filter(([, { command }]) => command.some((word) => word.split(",").includes("smtp")))
    for (const [name, { volumes = [] }] of submission) {
      const [, inside = ""] = volumes.map((volume) => volume.split(":")).find(([host]) => host === "./tls") ?? []
      assert.strictEqual(dirname(certificate), inside, name)
    }
  })

  it("has an example environment with existing settings only", () => {
    const names = [...example.matchAll(/^#?(\w+)=/gmu)].map(([, name = ""]) => name)
    assert.isEmpty(names.filter((name) => name !== "POSTGRES_PASSWORD" && !settings.has(name)))
    assert.includeMembers(names, ["TRUSTED_PROXIES", "EHLO_NAME", "RETURN_PATH_DOMAIN", "MAIL_PORT"])
  })

  it("requires nothing that the example environment leaves out", () => {
    for (const [, name = ""] of readFileSync("compose.yaml", "utf8").matchAll(/\$\{(\w+)/gu))
      assert.match(example, new RegExp(`^${name}=`, "mu"))
  })
})

describe("the systemd unit", () => {
  const unit = new Map(
    readFileSync("deploy/waybill.service", "utf8")
      .split("\n")
      .filter((line) => /^\w+=/u.test(line))
      .map((line) => [line.split("=", 1)[0] ?? "", line.replace(/^[^=]*=/u, "")] as const),
  )

  it("starts the launcher of the checkout with existing settings", () => {
    assert.strictEqual(unit.get("ExecStart"), "/usr/bin/env node bin/waybill.mjs start")
    assert.isTrue(existsSync("bin/waybill.mjs"))
    const names = (unit.get("Environment") ?? "").split(" ").map((pair) => pair.split("=", 1)[0] ?? "")
    assert.isEmpty(names.filter((name) => name !== "NODE_ENV" && !settings.has(name)))
  })

  it("gives the service enough time to stop, and does not restart it with invalid settings", () => {
    assert.isAbove(Number(unit.get("TimeoutStopSec")), SECONDS_TO_STOP)
    assert.strictEqual(unit.get("RestartPreventExitStatus"), String(ExitCodes.EXIT_SETTINGS))
    assert.strictEqual(unit.get("User"), "waybill")
  })

  it("has a journal identifier and restricted access", () => {
    const [identifier, calls, proc] = ["SyslogIdentifier", "SystemCallFilter", "ProtectProc"].map((name) =>
      unit.get(name),
    )
    assert.deepStrictEqual([identifier, calls, proc], ["waybill", "@system-service", "invisible"])
  })
})

describe("the command beside the systemd unit", () => {
  const configured = async (text: string, env: Readonly<Record<string, string>> = {}) => {
    const folder = await fs.mkdtemp(join(tmpdir(), "waybill-unit-"))
    try {
      await fs.writeFile(join(folder, "environment"), text)
      await fs.symlink(join(process.cwd(), "deploy/waybill"), join(folder, "waybill"))
      const own = { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, HOME: folder }
      const child = spawn(join(folder, "waybill"), ["config", "--json"], {
        cwd: folder,
        env: { ...own, WAYBILL_ENVIRONMENT: join(folder, "environment"), ...env },
        stdio: ["ignore", "pipe", "inherit"],
      })
      let said = ""
      child.stdout.on("data", (chunk) => (said += String(chunk)))
      await once(child, "close")
      const found = JSON.parse(said) as ReadonlyArray<{ readonly name: string; readonly value: string | null }>
      return new Map(found.map(({ name, value }) => [name, value]))
    } finally {
      await fs.rm(folder, { recursive: true, force: true })
    }
  }

  it("has the settings of the unit as systemd reads them, and those of its shell", async () => {
    const text = [
      "# What the service runs with",
      "DATABASE_URL=postgres://waybill:a&b@10.0.0.5/waybill?x=1",
      'EHLO_NAME="mx $(id) & more"',
      "RETURN_PATH_DOMAIN='b.example.org'",
      "LOG_LEVEL=Debug",
      "METRICS_PORT=9464",
    ].join("\n")
    const found = await configured(text, { LOG_LEVEL: "Warn" })
    const [DATABASE_URL, EHLO_NAME, RETURN_PATH_DOMAIN, LOG_LEVEL, METRICS_PORT] = [
      "DATABASE_URL",
      "EHLO_NAME",
      "RETURN_PATH_DOMAIN",
      "LOG_LEVEL",
      "METRICS_PORT",
    ].map((name) => found.get(name))
    assert.deepStrictEqual(
      { DATABASE_URL, EHLO_NAME, RETURN_PATH_DOMAIN, LOG_LEVEL, METRICS_PORT },
      {
        DATABASE_URL: "<set>",
        EHLO_NAME: "mx $(id) & more",
        RETURN_PATH_DOMAIN: "b.example.org",
        LOG_LEVEL: "Warn",
        METRICS_PORT: "9464",
      },
    )
    const [, data] = /WAYBILL_DATA=(\S+)/u.exec(readFileSync("deploy/waybill.service", "utf8")) ?? []
    assert.strictEqual(found.get("WAYBILL_DATA"), data)
  })
})

describe("the Nix package", () => {
  /** The lines that flake.nix puts before the script. */
  const script = `set -euo pipefail\nsources="$SOURCES"\n${readFileSync("deploy/nix.sh", "utf8")}`
  const MAIN = `
    process.stdout.write(JSON.stringify([import.meta.dirname, process.env.WAYBILL_DATA, process.argv.slice(2)]) + "\\n")
    process.exitCode = process.argv.length - 3
  `
  const nix = async (home: string, args: ReadonlyArray<string>) => {
    const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, HOME: home, SOURCES: join(home, NAME) }
    const child = spawn("bash", ["-c", script, "waybill", ...args], { env, stdio: ["ignore", "pipe", "inherit"] })
    let said = ""
    child.stdout.on("data", (chunk) => (said += String(chunk)))
    const [code] = (await once(child, "close")) as [number | null]
    return { code, said: JSON.parse(said) as unknown }
  }
  const NAME = "0123456789abcdfghijklmnpqrsvwxyz-source"

  // Nix provides GNU tools on every system; PATH has them here only on Linux.
  it.skipIf(process.platform !== "linux")(
    "runs from one writable copy of the sources, whoever starts first",
    async () => {
      const home = await fs.mkdtemp(join(tmpdir(), "waybill-nix-"))
      try {
        await fs.mkdir(join(home, NAME, "bin"), { recursive: true })
        await fs.writeFile(join(home, NAME, "bin/waybill.mjs"), MAIN, { mode: 0o444 })
        await fs.chmod(join(home, NAME, "bin"), 0o555)
        const state = join(home, ".local/state/waybill")
        const copy = join(state, NAME.slice(0, 32))
        const said = (...args: ReadonlyArray<string>) => [join(copy, "bin"), join(state, "data"), args]
        const [one, other] = await Promise.all([nix(home, []), nix(home, ["config", "--json"])])
        assert.deepStrictEqual(one, { code: 0, said: said("start") })
        assert.deepStrictEqual(other, { code: 1, said: said("config", "--json") })
        assert.deepStrictEqual(await nix(home, ["audit", "emails", "--json"]), {
          code: 2,
          said: said("audit", "emails", "--json"),
        })
        assert.deepStrictEqual(await fs.readdir(state), [basename(copy)])
        assert.strictEqual((await fs.stat(join(copy, "bin"))).mode & 0o200, 0o200)
      } finally {
        // Only root can remove files from a folder without write permission.
        await fs.chmod(join(home, NAME, "bin"), 0o755)
        await fs.rm(home, { recursive: true, force: true })
      }
    },
  )

  it("has nixpkgs pinned as in the flake", () => {
    const [, owner, repo, ref] =
      /inputs\.nixpkgs\.url = "github:(\w+)\/(\w+)\/([\w-]+)";/u.exec(readFileSync("flake.nix", "utf8")) ?? []
    const { nodes, root, version } = JSON.parse(readFileSync("flake.lock", "utf8")) as {
      readonly nodes: Readonly<Record<string, { readonly locked: Readonly<Record<string, string>> }>>
      readonly root: string
      readonly version: number
    }
    const { locked = {}, ...rest } = nodes["nixpkgs"] ?? {}
    assert.deepStrictEqual([root, version, nodes["root"]], ["root", 7, { inputs: { nixpkgs: "nixpkgs" } }] as unknown)
    assert.deepStrictEqual(rest, { original: { owner, ref, repo, type: "github" } })
    assert.deepInclude(locked, { owner, repo, type: "github" })
    assert.match(`${locked["rev"]} ${locked["narHash"]}`, /^[0-9a-f]{40} sha256-[A-Za-z0-9+/]{43}=$/u)
  })

  it("parses, and sets a Postgres by settings of the service", () => {
    const flake = readFileSync("flake.nix", "utf8")
    assert.include(flake, "builtins.readFile ./deploy/nix.sh")
    for (const [, name = ""] of flake.matchAll(/\b(WAYBILL_[A-Z]+)\b/gu)) assert.isTrue(settings.has(name), name)
  })
})
