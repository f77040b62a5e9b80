import { type ChildProcess, execFile, spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { promisify } from "node:util"
import { afterEach, assert, describe, it } from "../support/effectTest.ts"
import { SERVICE_FLAGS } from "../support/process/serviceFlags.ts"

/** The time of `bin/waybill.mjs` within which signals are one Ctrl-C. */
const SAME_KEYSTROKE_MS = 300

/** Says that it runs, waits for one signal, and takes `slow` for an answer. */
const MAIN = `
const [command, detail] = process.argv.slice(2)
if (command === "exit") process.exit(Number(detail))
if (command === "wait") {
  const alive = setInterval(() => {}, 1000)
  process.once("SIGINT", () => stop("SIGINT")).once("SIGTERM", () => stop("SIGTERM"))
  const stop = (signal) => {
    console.log("stopping for " + signal)
    if (detail !== "slow") setTimeout(() => (clearInterval(alive), process.exit(0)), 50)
  }
}
console.log("runs " + process.argv.slice(2).join(" "))
if (command === "start") console.log(process.pid + " has " + process.execArgv.join(" "))
`

/** npm as far as the launcher sees it: it installs what the lock file says and leaves its account of that. */
const NPM = `
const fs = require("node:fs")
fs.appendFileSync("npm-calls", process.argv.slice(2).join(" ") + "\\n")
if (fs.existsSync("npm-fails")) {
  console.error(fs.readFileSync("npm-fails", "utf8"))
  process.exit(1)
}
setTimeout(() => {
  fs.mkdirSync("node_modules", { recursive: true })
  fs.copyFileSync("package-lock.json", "node_modules/.package-lock.json")
}, 200)
`

const lockOf = (version: string, own = "0.1.0", nested = {}) =>
  JSON.stringify({
    packages: {
      ...nested,
      "": { name: "waybill" },
      "packages/api": { version: own },
      "node_modules/one": { version, integrity: `sha512-${version}` },
      "node_modules/for-another-system": { version, optional: true },
      "node_modules/for-developers": { version, dev: true },
    },
  })

it("a line breaks at its words, and not where a narrow terminal ends", async () => {
  const { href } = new URL("../../bin/install.mjs", import.meta.url)
  const { folded } = (await import(href)) as { readonly folded: (line: string, columns?: number) => string }
  const line = "waybill: installing Node 24.11.1 (this machine has Node 22.3.0, but Waybill requires 24 or newer)"
  const lines = folded(line, 80).split("\n")
  assert.deepStrictEqual([lines.length, lines.join(" ").replaceAll("   ", " ")], [2, line])
  for (const each of lines) assert.isAtMost(each.length, 80)
  assert.strictEqual(folded(line), line)
})

const checkouts: Array<string> = []
const children: Array<ChildProcess> = []

const checkout = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-launcher-"))
  checkouts.push(folder)
  cpSync("bin", join(folder, "bin"), { recursive: true })
  for (const path of ["runtime", "apps/server/src/boot", "npm/bin"]) mkdirSync(join(folder, path), { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  writeFileSync(join(folder, "package-lock.json"), lockOf("1.0.0"))
  writeFileSync(join(folder, "apps/server/src/boot/main.ts"), MAIN)
  writeFileSync(join(folder, "npm/package.json"), JSON.stringify({ type: "commonjs" }))
  writeFileSync(join(folder, "npm/bin/npm-cli.js"), NPM)
  return folder
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL")
  for (const folder of checkouts.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const start = (folder: string, ...args: ReadonlyArray<string>) => {
  const { npm_lifecycle_event: _, ...env } = process.env
  const child = spawn(process.execPath, [join(folder, "bin/waybill.mjs"), ...args], {
    env: { ...env, npm_execpath: join(folder, "npm/bin/npm-cli.js") },
    stdio: ["ignore", "pipe", "pipe"],
  })
  children.push(child)
  let output = ""
  const watchers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += String(chunk)
      for (const watcher of watchers) watcher()
    })
  }
  const ended = new Promise<{ readonly code: number | null; readonly output: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, output })),
  )
  const says = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (output.includes(text)) resolve()
      }
      watchers.add(look)
      look()
    })
  return { child, ended, says }
}

const npmCalls = (folder: string) =>
  existsSync(join(folder, "npm-calls")) ? readFileSync(join(folder, "npm-calls"), "utf8").trim().split("\n").length : 0

describe("installing", () => {
  it("a bare clone is installed by the first command, and the second calls no npm", async () => {
    const folder = checkout()
    const first = await start(folder, "config").ended
    assert.deepInclude(first, { code: 0 })
    assert.include(first.output, "runs config")
    assert.deepEqual(await start(folder, "config").ended, { code: 0, output: "runs config\n" })
    assert.strictEqual(npmCalls(folder), 1)
  })

  it("two commands that start together install once, and both run", async () => {
    const folder = checkout()
    const both = await Promise.all([start(folder, "one").ended, start(folder, "two").ended])
    assert.deepStrictEqual(
      both.map(({ code }) => code),
      [0, 0],
    )
    assert.strictEqual(npmCalls(folder), 1)
  })

  it("a newer lock file is installed", async () => {
    const folder = checkout()
    await start(folder, "config").ended
    writeFileSync(join(folder, "package-lock.json"), lockOf("1.0.1"))
    assert.include((await start(folder, "config").ended).output, "newer lock file")
    assert.strictEqual(npmCalls(folder), 2)
  })

  it("what a copied checkout lacks of a workspace's own packages is installed", async () => {
    const folder = checkout()
    const own = "apps/server/node_modules"
    writeFileSync(join(folder, "package-lock.json"), lockOf("1.0.0", "0.1.0", { [`${own}/two`]: { version: "1.0.0" } }))
    mkdirSync(join(folder, own))
    await start(folder, "config").ended
    await start(folder, "config").ended
    assert.strictEqual(npmCalls(folder), 1)
    rmSync(join(folder, own), { recursive: true })
    assert.include((await start(folder, "config").ended).output, "installing packages")
    assert.strictEqual(npmCalls(folder), 2)
  })

  it("a release, which changes only the versions of our own packages, installs nothing", async () => {
    const folder = checkout()
    await start(folder, "config").ended
    writeFileSync(join(folder, "package-lock.json"), lockOf("1.0.0", "1.0.0-rc.1"))
    assert.deepEqual(await start(folder, "config").ended, { code: 0, output: "runs config\n" })
    assert.strictEqual(npmCalls(folder), 1)
  })

  it("the packages of another folder are installed once, by the lock file of that folder", async () => {
    const folder = checkout()
    const tools = join(folder, "test/tools")
    mkdirSync(tools, { recursive: true })
    writeFileSync(join(tools, "package-lock.json"), lockOf("2.0.0"))
    const install = `
      import { ensureModules } from ${JSON.stringify(join(folder, "bin/install.mjs"))}
      for (const _ of [1, 2]) await ensureModules({ dev: true, folder: ${JSON.stringify(tools)} })`
    const { stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", install], {
      env: { ...process.env, npm_execpath: join(folder, "npm/bin/npm-cli.js") },
    })
    assert.include(stderr, "installing packages in test/tools")
    assert.deepStrictEqual([npmCalls(tools), npmCalls(folder)], [1, 0])
  })

  it("what was installed by hand, or without the development tools, is taken as it is", async () => {
    const folder = checkout()
    mkdirSync(join(folder, "node_modules"))
    const packages = { "node_modules/one": { version: "1.0.0", integrity: "sha512-1.0.0" } }
    writeFileSync(join(folder, "node_modules/.package-lock.json"), JSON.stringify({ packages }))
    assert.deepEqual(await start(folder, "config").ended, { code: 0, output: "runs config\n" })
    assert.strictEqual(npmCalls(folder), 0)
  })

  it("a guard that a killed command left behind is not waited for", async () => {
    const folder = checkout()
    const guard = join(folder, "runtime/.installing")
    writeFileSync(guard, "")
    utimesSync(guard, 1, 1)
    assert.deepInclude(await start(folder, "config").ended, { code: 0 })
    assert.isFalse(existsSync(guard))
  })

  for (const [code, words] of [
    ["ENOTFOUND", "could not be reached"],
    ["EACCES", "no write access"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "certificate is not trusted"],
    ["E404", "does not have this package"],
    ["ESOMETHINGNEW", "see its output"],
  ] as const) {
    it(`npm's ${code} is said in words, exits 69, and the next command tries again`, async () => {
      const folder = checkout()
      writeFileSync(join(folder, "npm-fails"), `npm error code ${code}`)
      const failed = await start(folder, "config").ended
      assert.strictEqual(failed.code, 69)
      assert.include(failed.output, words)
      rmSync(join(folder, "npm-fails"))
      assert.deepInclude(await start(folder, "config").ended, { code: 0 })
    })
  }
})

describe("running", () => {
  it("the exit code of the command is the launcher's", async () => {
    const folder = checkout()
    assert.deepInclude(await start(folder, "exit", "3").ended, { code: 3 })
  })

  it("a service keeps little space for new objects, in the process of the launcher", async () => {
    const { child, ended } = start(checkout(), "start")
    const { code, output } = await ended
    assert.strictEqual(code, 0, output)
    assert.include(
      output,
      `${child.pid} has --max-semi-space-size=32 --no-allocation-site-pretenuring --no-parallel-scavenge`,
    )
  })

  it("the image runs a service with the same flags", () => {
    const entrypoint = /^ENTRYPOINT (.*)$/mu.exec(readFileSync("Dockerfile", "utf8"))?.[1] ?? "[]"
    assert.deepStrictEqual(JSON.parse(entrypoint), ["node", ...SERVICE_FLAGS, "apps/server/src/boot/main.ts"])
  })

  it("SIGTERM stops it cleanly", async () => {
    const { child, ended, says } = start(checkout(), "wait")
    await says("runs wait")
    child.kill("SIGTERM")
    const { code, output } = await ended
    assert.strictEqual(code, 0)
    assert.include(output, "stopping for SIGTERM")
  })

  /** Starts a command, and signals it; again with another one when this machine was too slow to signal it in time. */
  const interrupted = async (signal: (child: ChildProcess) => Promise<void>) => {
    for (;;) {
      const started = start(checkout(), "wait", "slow")
      await started.says("runs wait")
      const began = performance.now()
      started.child.kill("SIGINT")
      await started.says("stopping for SIGINT")
      await signal(started.child)
      if (performance.now() - began < SAME_KEYSTROKE_MS) return started
      started.child.kill("SIGKILL")
    }
  }

  it("one Ctrl-C that arrives three times is one, and the next stops at once", async () => {
    const { child, ended } = await interrupted(async (child) => void [1, 2].forEach(() => child.kill("SIGINT")))
    await pause(2 * SAME_KEYSTROKE_MS)
    assert.deepStrictEqual([child.exitCode, child.signalCode], [null, null])
    const again = setInterval(() => child.kill("SIGINT"), SAME_KEYSTROKE_MS)
    assert.deepInclude(await ended.finally(() => clearInterval(again)), { code: 130 })
  })

  it("one Ctrl-C is one if the process was suspended meanwhile", async () => {
    const { child, ended } = await interrupted(async (child) => {
      child.kill("SIGSTOP")
      child.kill("SIGINT")
    })
    await pause(2 * SAME_KEYSTROKE_MS)
    child.kill("SIGCONT")
    await pause(SAME_KEYSTROKE_MS)
    assert.deepStrictEqual([child.exitCode, child.signalCode], [null, null])
    const again = setInterval(() => child.kill("SIGINT"), SAME_KEYSTROKE_MS)
    assert.deepInclude(await ended.finally(() => clearInterval(again)), { code: 130 })
  })
})
