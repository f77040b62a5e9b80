import { execFile } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "../support/effectTest.ts"

/** vite as far as the launcher sees it: it makes `dist` of what lies beside it, or says why not. */
const VITE = `
const fs = require("node:fs")
fs.appendFileSync("builds", process.env.NODE_ENV + (process.env.RUNTIME ?? "") + "\\n")
const page = fs.readFileSync("src/main.tsx", "utf8")
if (page === "broken") {
  console.error("main.tsx:1:1 this is no program")
  process.exit(1)
}
fs.rmSync("dist", { recursive: true, force: true })
fs.mkdirSync("dist")
fs.writeFileSync("dist/index.html", page)
`

const checkouts: Array<string> = []

const checkout = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-dashboard-"))
  checkouts.push(folder)
  cpSync("bin", join(folder, "bin"), { recursive: true })
  for (const path of ["runtime", "apps/server/src/boot", "apps/dashboard/src", "node_modules/vite/bin"])
    mkdirSync(join(folder, path), { recursive: true })
  const lock = JSON.stringify({ packages: {} })
  for (const [path, text] of [
    ["package.json", JSON.stringify({ type: "module" })],
    ["package-lock.json", lock],
    ["node_modules/.package-lock.json", lock],
    ["node_modules/vite/package.json", JSON.stringify({ type: "commonjs" })],
    ["node_modules/vite/bin/vite.js", VITE],
    ["apps/server/src/boot/main.ts", `console.log("runs")`],
    ["apps/dashboard/index.html", "<html>"],
    ["apps/dashboard/src/main.tsx", "one"],
  ] as const)
    writeFileSync(join(folder, path), text)
  return folder
}

afterEach(() => {
  for (const folder of checkouts.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const run = (folder: string, command = "start") =>
  new Promise<string>((resolve, reject) =>
    execFile(process.execPath, [join(folder, "bin/waybill.mjs"), command], (error, stdout, stderr) =>
      error === null ? resolve(stdout + stderr) : reject(error),
    ),
  )

const dashboard = (folder: string, file: string): string => join(folder, "apps/dashboard", file)
const builds = (folder: string): ReadonlyArray<string> =>
  existsSync(dashboard(folder, "builds")) ? readFileSync(dashboard(folder, "builds"), "utf8").trim().split("\n") : []

describe("the dashboard", () => {
  it("is built by the first start, for production, and not by the second", async () => {
    const folder = checkout()
    assert.include(await run(folder), "runs")
    assert.strictEqual(readFileSync(dashboard(folder, "dist/index.html"), "utf8"), "one")
    assert.strictEqual(await run(folder), "runs\n")
    assert.deepEqual(builds(folder), ["production"])
  })

  it("is built again when a source says something else, and not when it only has a newer date", async () => {
    const folder = checkout()
    await run(folder)
    utimesSync(dashboard(folder, "src/main.tsx"), 1, 1)
    await run(folder)
    assert.lengthOf(builds(folder), 1)
    writeFileSync(dashboard(folder, "src/main.tsx"), "two")
    await run(folder)
    assert.strictEqual(readFileSync(dashboard(folder, "dist/index.html"), "utf8"), "two")
  })

  it("is built once by two starts at a time", async () => {
    const folder = checkout()
    await Promise.all([run(folder), run(folder)])
    assert.lengthOf(builds(folder), 1)
  })

  it("is nothing that another command waits for", async () => {
    const folder = checkout()
    assert.strictEqual(await run(folder, "config"), "runs\n")
    assert.deepEqual(builds(folder), [])
  })

  it("is built on the Node that comes along, where the machine's own is too old for the tools", async () => {
    const folder = checkout()
    const system = process.platform === "win32" ? "win" : process.platform
    const name = `node-${system}-${process.arch}`
    const runtime = join(folder, "runtime")
    mkdirSync(join(runtime, "node_modules", name, "bin"), { recursive: true })
    writeFileSync(join(runtime, "package.json"), JSON.stringify({ optionalDependencies: { [name]: "24.0.0" } }))
    const account = JSON.stringify({ packages: { [`node_modules/${name}`]: { version: "24.0.0" } } })
    writeFileSync(join(runtime, "node_modules/.package-lock.json"), account)
    const node = `#!/bin/sh\nRUNTIME=" on the newer" exec "${process.execPath}" "$@"\n`
    writeFileSync(join(runtime, "node_modules", name, "bin/node"), node, { mode: 0o755 })
    // Only to the first of the two; the launcher tells the second who it is.
    const older = `if (!process.env.WAYBILL_LAUNCHER)
      Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.10.0" } })`
    writeFileSync(join(folder, "older.mjs"), older)
    await new Promise((resolve, reject) =>
      execFile(process.execPath, ["--import", join(folder, "older.mjs"), join(folder, "bin/prepare.mjs")], (error) =>
        error === null ? resolve(undefined) : reject(error),
      ),
    )
    assert.deepEqual(builds(folder), ["production on the newer"])
    assert.include(await run(folder), "runs")
    assert.lengthOf(builds(folder), 1)
  })

  it("keeps nobody from starting when it cannot be built, and is tried again by the next start", async () => {
    const folder = checkout()
    await run(folder)
    writeFileSync(dashboard(folder, "src/main.tsx"), "broken")
    const output = await run(folder)
    assert.include(output, "the dashboard could not be built: main.tsx:1:1 this is no program")
    assert.include(output, "runs\n")
    assert.strictEqual(readFileSync(dashboard(folder, "dist/index.html"), "utf8"), "one")
    await run(folder)
    assert.lengthOf(builds(folder), 3)
  })
})
