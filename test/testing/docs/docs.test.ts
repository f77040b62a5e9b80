import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Packed, packPackage } from "../../support/process/packPackage.ts"

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL("../../../", import.meta.url))
const MODULES = join(ROOT, "node_modules")
/** Other runners, and other versions of vitest, are tools of this test only, and not installed with the checkout. */
const RUNNERS = fileURLToPath(new URL(".", import.meta.url))
const TIMEOUT = 240_000
/** Versions of vitest besides that of the checkout. */
const VITEST = [2, 3, 4]
const TSC = join(MODULES, "typescript/bin/tsc")
const STRICT = "--noEmit --strict --skipLibCheck --types node --target es2022 --module nodenext".split(" ")
/** Uses of the matchers, of which one is refused by their types. */
const USES = `declare const mail: import("@waybill/testing").TestInstance
await expect(mail).toHaveBeenSent({ to: "ana@example.org" })
await expect(mail).not.toHaveBeenDelivered({ subject: /x/u })
// @ts-expect-error: there is no such property
await expect(mail).toHaveBeenSent({ too: "ana@example.org" })\n`
const LOOK_MS = 20
/** Packages that the sample suites use besides the kit and the runner. */
const OTHERS = ["@types", "nodemailer", "resend", "undici-types"]

let packed: Packed
const document = readFile(join(ROOT, "docs/testing.md"), "utf8")
/** Runs a program on this Node in the project, and returns what it printed, also if it failed. */
const node = async (...args: ReadonlyArray<string>): Promise<string> => {
  const env = { ...process.env, TMPDIR: join(packed.project, "tmp"), VITEST: undefined, NODE_ENV: undefined }
  return run(process.execPath, [...args], { cwd: packed.project, env }).then(
    ({ stderr, stdout }) => `${stdout}${stderr}`,
    ({ stderr, stdout }: { readonly stdout: string; readonly stderr: string }) => `failed: ${stdout}${stderr}`,
  )
}

const installRunners = async () => {
  const { ensureModules } = (await import(new URL("../../../bin/install.mjs", import.meta.url).href)) as {
    readonly ensureModules: (options: { readonly dev: boolean; readonly folder: string }) => Promise<void>
  }
  await ensureModules({ dev: true, folder: RUNNERS })
}

beforeAll(async () => {
  ;[packed] = await Promise.all([packPackage("testing"), installRunners()])
  const { folder, project } = packed
  const [modern = "", jest = "", plain = ""] = [...(await document).matchAll(/```(?:ts|js|mjs)\n([^]*?)```/gu)].map(
    ([, program]) => program,
  )
  await writeFile(join(project, "sample.test.ts"), modern)
  await writeFile(join(project, "sample.jest.cjs"), jest)
  await writeFile(join(project, "sample.node.mjs"), plain)
  await mkdir(join(project, "tmp"))
  // Root's Postgres runs as another user, who has to reach its folder.
  for (const path of [folder, project, join(project, "tmp")]) await chmod(path, 0o711)
  for (const name of [...OTHERS, "vitest"]) await symlink(join(MODULES, name), join(project, "node_modules", name))
  await symlink(ROOT, join(project, "node_modules", "waybill"))
}, TIMEOUT)
afterAll(() => rm(packed.folder, { recursive: true, force: true }))

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
    assert.match(output, /Tests {2}4 passed \(4\)/u, output)
  })

  it("runs the sample suite for Jest by its own runner", async () => {
    const options = ["--ci", "--no-watchman", "--testMatch", "**/sample.jest.cjs", "--testTimeout", "60000"]
    const output = await node(join(RUNNERS, "node_modules/jest/bin/jest.js"), ...options)
    assert.match(output, /✓ an invitation is delivered/u, output)
    assert.match(output, /^Tests: +1 passed, 1 total$/mu, output)
  })

  it("runs the sample suite for node:test", async () => {
    assert.match(await node("--test", "sample.node.mjs"), /^. pass 1$/mu)
  })

  it("has types for Jest, with its global expect and with that of @jest/globals, and for Playwright", async () => {
    const [, playwright = ""] = /```ts\n(import \{ expect as base \}[^]*?)```/u.exec(await document) ?? []
    const programs = {
      "global.mts": `/// <reference types="jest" />\nimport "@waybill/testing/jest"\n${USES}`,
      "named.mts": `import { expect } from "@jest/globals"\nimport "@waybill/testing/jest-globals"\n${USES}`,
      "playwright.mts": `${playwright}${USES}`,
    }
    const folder = join(packed.folder, "jest")
    await mkdir(join(folder, "node_modules"), { recursive: true })
    for (const name of await readdir(join(RUNNERS, "node_modules")))
      await symlink(join(RUNNERS, "node_modules", name), join(folder, "node_modules", name))
    await cp(join(packed.project, "node_modules/@waybill"), join(folder, "node_modules/@waybill"), { recursive: true })
    for (const [name, program] of Object.entries(programs)) {
      await writeFile(join(folder, name), program)
      const where = ["--typeRoots", join(folder, "node_modules/@types"), join(folder, name)]
      assert.strictEqual(await node(TSC, ...STRICT, ...where), "", name)
    }
  })

  it.each(VITEST)("runs and type-checks the sample suite for vitest %i", async (version) => {
    const folder = join(packed.folder, `vitest-${version}`)
    const modules = join(folder, "node_modules")
    await mkdir(modules, { recursive: true })
    await chmod(folder, 0o711)
    await cp(join(packed.project, "node_modules/@waybill"), join(modules, "@waybill"), { recursive: true })
    await symlink(join(RUNNERS, `node_modules/vitest-${version}`), join(modules, "vitest"))
    for (const name of OTHERS) await symlink(join(MODULES, name), join(modules, name))
    await symlink(ROOT, join(modules, "waybill"))
    await cp(join(packed.project, "sample.test.ts"), join(folder, "sample.test.ts"))
    await writeFile(join(folder, "package.json"), '{"type":"module"}')
    await writeFile(
      join(folder, "uses.ts"),
      `import { expect } from "vitest"\nimport "@waybill/testing/vitest"\n${USES}`,
    )
    const files = [join(folder, "sample.test.ts"), join(folder, "uses.ts")]
    assert.strictEqual(await node(TSC, ...STRICT, "--typeRoots", join(modules, "@types"), ...files), "")
    const limits = ["--testTimeout=60000", "--hookTimeout=60000", "--root", folder]
    const output = await node(join(modules, "vitest/vitest.mjs"), "run", "--no-color", ...limits)
    assert.match(output, /Tests {2}4 passed \(4\)/u, output)
  })

  it("type-checks the sample suite", async () => {
    assert.strictEqual(await node(TSC, ...STRICT, "sample.test.ts"), "")
  })

  it("leaves nothing behind when the test process is killed", async () => {
    const folder = join(packed.project, "killed")
    await mkdir(folder)
    await chmod(folder, 0o711)
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
