import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { isLinux, isRoot } from "../embedded-postgres/program.ts"
import { assert, describe, it } from "../support/effectTest.ts"
import { paths, read } from "./source.ts"

/** Each run starts npm a few times, which takes long on a busy machine. */
const TIMEOUT_MS = 180_000
const AS_ROOT = "(as root on Linux)"

/** Stands for vitest and for the service, and notes the user that runs it. */
const PROGRAM = `
import { appendFileSync, existsSync, writeFileSync } from "node:fs"
const args = process.argv.slice(2)
const of = (name) => args.find((arg) => arg.startsWith(name + "="))?.slice(name.length + 1)
const what = of("--testNamePattern") ?? (args[0] === "vitest" ? "npm test" : args[0])
appendFileSync(process.env.CALLS, JSON.stringify([what, process.getuid() === 0, process.env.HOME, process.cwd(), process.env.USER]) + "\\n")
const report = of("--outputFile.json")
const { FAILS } = process.env
const fails = FAILS === "always" || (FAILS === "beside others" && !args.includes("busy.test.ts"))
if (report !== undefined) {
  const failed = what === "npm test" && fails ? 1 : 0
  const assertionResults = [{ status: "failed", fullName: "queue is drained" }, { status: "passed", fullName: "queue is empty" }]
  const testResults = failed === 0 ? [] : [{ name: "busy.test.ts", status: "failed", assertionResults }]
  writeFileSync(report, JSON.stringify({ numPassedTests: what === "npm test" ? 40 : 2, numFailedTests: failed, testResults }))
  process.exit(failed)
}
if (args[0] === "start") {
  const { createServer } = await import("node:http")
  const server = createServer((_, answer) => answer.end()).listen(Number(process.env.PORT))
  process.on("SIGTERM", () => process.exit(0))
}
`
const LOCK = { name: "checkout", lockfileVersion: 3, requires: true, packages: { "": { name: "checkout" } } }
const SCRIPTS = { test: "exec node bin/run.mjs vitest run", check: "exec node bin/run.mjs check" }

const ci = async (fails = "never", dependencies: Record<string, string> = {}) => {
  const folder = await fs.realpath(await fs.mkdtemp(join(tmpdir(), "waybill-ci-")))
  try {
    const [checkout, calls, scratch] = [join(folder, "checkout"), join(folder, "calls"), join(folder, "tmp")]
    for (const name of [".ci", "bin", "test"]) await fs.mkdir(join(checkout, name), { recursive: true })
    await fs.copyFile(".ci/run", join(checkout, ".ci/run"))
    await fs.writeFile(join(checkout, "bin/run.mjs"), PROGRAM)
    await fs.writeFile(join(checkout, "test/one.test.ts"), `describe("one ${AS_ROOT}", () => {})`)
    const scripts = { ...SCRIPTS, start: "exec node bin/run.mjs start" }
    await fs.writeFile(
      join(checkout, "package.json"),
      JSON.stringify({ name: "checkout", type: "module", scripts, dependencies }),
    )
    await fs.writeFile(join(checkout, "package-lock.json"), JSON.stringify(LOCK))
    await fs.mkdir(scratch)
    await fs.writeFile(calls, "")
    for (const each of [scratch, calls]) await fs.chmod(each, 0o777)
    await fs.chmod(folder, 0o711)
    const own = { HOME: folder, TMPDIR: scratch, CALLS: calls }
    // npm would keep its compiled code in TMPDIR.
    const env = { PATH: process.env["PATH"], NODE_DISABLE_COMPILE_CACHE: "1", FAILS: fails, ...own }
    const { stdout } = await promisify(execFile)(join(checkout, ".ci/run"), { env }).catch(
      (error: { readonly stdout: string }) => error,
    )
    const lines = (await fs.readFile(calls, "utf8")).trim().split("\n")
    return {
      checkout,
      calls: lines.map((line) => JSON.parse(line) as [string, boolean, string, string, string]),
      total: stdout.trimEnd().split("\n").at(-1),
      last: stdout.trimEnd().split("\n").slice(-3),
      left: await fs.readdir(scratch),
    }
  } finally {
    await fs.rm(folder, { recursive: true, force: true })
  }
}

describe.skipIf(!isLinux)(".ci/run", () => {
  it.skipIf(isRoot)("counts the tests of the checkout (skipped as root)", async () => {
    const { calls, left, total } = await ci()
    assert.deepStrictEqual(
      calls.map(([what]) => what),
      ["npm test", "check", "start"],
    )
    assert.deepStrictEqual([total, left], ["40 passed, 0 failed", []])
  })

  it.skipIf(!isRoot)(`runs everything but the tests that need root as another user ${AS_ROOT}`, async () => {
    const { calls, checkout, left, total } = await ci()
    assert.deepStrictEqual(
      calls.map(([what, byRoot]) => [what, byRoot]),
      [
        ["npm test", false],
        ["check", false],
        ["start", false],
        ["as root on Linux", true],
      ],
    )
    // The checkout and the home of root are never used.
    for (const [what, byRoot, home, cwd] of calls) {
      assert.notStrictEqual(cwd, checkout, what)
      if (!byRoot) assert.strictEqual(home, join(cwd, "../home"), what)
    }
    assert.deepStrictEqual([total, left], ["42 passed, 0 failed", []])
    // Other runs on this machine have users of their own.
    const [[, , , , user = ""] = []] = calls
    assert.match(user, /^(?:waybill-ci-\d+|nobody)$/u)
    if (user !== "nobody") assert.notInclude(await fs.readFile("/etc/passwd", "utf8"), `${user}:`)
  })

  it("counts a test that fails beside others and passes alone, and names it", { timeout: TIMEOUT_MS }, async () => {
    const ofRoot = isRoot ? 2 : 0
    const { last } = await ci("beside others")
    assert.deepStrictEqual(last, [
      "",
      "passed only the second time: busy.test.ts, queue is drained",
      `${41 + ofRoot} passed, 0 failed`,
    ])
    assert.deepStrictEqual((await ci("always")).last.slice(1), ["", `${40 + ofRoot} passed, 1 failed`])
  })

  it("fails when npm ci refuses the lock file", { timeout: TIMEOUT_MS }, async () => {
    const { total } = await ci("never", { "not-locked": "file:test" })
    assert.strictEqual(total, `${isRoot ? 42 : 40} passed, 1 failed`)
  })

  it("finds every test that only root can run by its title", () => {
    const groups = paths
      .filter((path) => path.endsWith(".test.ts"))
      .flatMap((path) =>
        [...read(path).text.matchAll(/skipIf\(!isRoot[^(]*\)\(\s*(["`].*)/gu)].map(([, title]) => title),
      )
    assert.isNotEmpty(groups)
    for (const title of groups) assert.match(title ?? "", /\(as root on Linux\)|\$\{AS_ROOT\}/u)
  })
})
