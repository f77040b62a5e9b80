import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Packed, packPackage } from "../support/process/packPackage.ts"

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const MODULES = join(ROOT, "node_modules")
const TIMEOUT = 240_000
const LOOK_MS = 20

let packed: Packed
/** Runs a program on this Node in the project, and returns what it printed, also if it failed. */
const node = async (...args: ReadonlyArray<string>): Promise<string> => {
  const env = { ...process.env, TMPDIR: join(packed.project, "tmp"), VITEST: undefined, NODE_ENV: undefined }
  return run(process.execPath, [...args], { cwd: packed.project, env }).then(
    ({ stderr, stdout }) => `${stdout}${stderr}`,
    ({ stderr, stdout }: { readonly stdout: string; readonly stderr: string }) => `failed: ${stdout}${stderr}`,
  )
}

beforeAll(async () => {
  packed = await packPackage("testing")
  const { folder, project } = packed
  const [modern = "", jest = ""] = [
    ...(await readFile(join(ROOT, "docs/testing.md"), "utf8")).matchAll(/```(?:ts|js)\n([^]*?)```/gu),
  ].map(([, program]) => program)
  await writeFile(join(project, "sample.test.ts"), modern)
  await writeFile(join(project, "sample.cjs"), jest)
  await mkdir(join(project, "tmp"))
  // Root's Postgres runs as another user, who has to reach its folder.
  for (const path of [folder, project, join(project, "tmp")]) await chmod(path, 0o711)
  for (const name of ["@types", "expect", "nodemailer", "resend", "undici-types", "vitest"])
    await symlink(join(MODULES, name), join(project, "node_modules", name))
  await symlink(ROOT, join(project, "node_modules", "waybill"))
}, TIMEOUT)
afterAll(() => rm(packed.folder, { recursive: true, force: true }))

/** Stands for Jest: its globals with its own `expect`. */
const JEST = `
const tests = [], before = [], after = []
Object.assign(globalThis, {
  expect: require("expect").expect,
  test: (name, body) => tests.push([name, body]),
  beforeAll: (body) => before.push(body),
  afterAll: (body) => after.push(body),
})
require("./sample.cjs")
const main = async () => {
  for (const body of before) await body()
  for (const [name, body] of tests) { await body(); console.log("passed: " + name) }
  for (const body of after) await body()
}
main()`

/** Starts an instance and never ends by itself. */
const ENDLESS = `
import { Waybill } from "@waybill/testing"
const mail = await Waybill.start()
console.log(mail.url)
setInterval(() => {}, 1_000)`

describe("the packed test kit", { timeout: TIMEOUT }, () => {
  it("runs the sample suite for vitest", async () => {
    const output = await node(
      join(MODULES, "vitest/vitest.mjs"),
      "run",
      "--no-color",
      "--testTimeout=60000",
      "--hookTimeout=60000",
    )
    assert.match(output, /Tests {2}3 passed \(3\)/u, output)
  })

  it("runs the sample suite for Jest, as CommonJS and with the expect of Jest", async () => {
    assert.strictEqual(await node("--input-type=commonjs", "--eval", JEST), "passed: an invitation is delivered\n")
  })

  it("type-checks the sample suite", async () => {
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--types", "node", "--target", "es2022"]
    const where = ["--module", "nodenext", "--moduleResolution", "nodenext", "sample.test.ts"]
    assert.strictEqual(await node(join(MODULES, "typescript/bin/tsc"), ...options, ...where), "")
  })

  it("leaves nothing behind when the test process is killed", async () => {
    const folder = join(packed.project, "tmp")
    const args = ["--input-type=module", "--eval", ENDLESS]
    const child = spawn(process.execPath, args, {
      cwd: packed.project,
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "inherit"],
    })
    const [url] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string]
    const answers = () =>
      fetch(`${url.trim()}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    assert.isTrue(await answers())
    assert.isNotEmpty(await readdir(folder))
    child.kill("SIGKILL")
    while ((await answers()) || (await readdir(folder)).length > 0) await pause(LOOK_MS)
  })
})
