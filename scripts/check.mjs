// Runs all checks that need no running service, in parallel. `npm run check -- lint types` runs some of them.
import getExePath from "@effect/tsgo/lib/getExePath"
import { spawn } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { delimiter, join } from "node:path"

const root = join(import.meta.dirname, "..")

/** Returns the JavaScript file of a package's command, so that it runs on this Node rather than the one on PATH. */
const tool = (name, command = name) => {
  const folder = join(root, "node_modules", name)
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  return [process.execPath, join(folder, typeof bin === "string" ? bin : bin[command])]
}

/** Returns the compiler with Effect diagnostics, or the plain compiler if there is no build for this platform. */
const compiler = () => {
  try {
    return [getExePath()]
  } catch {
    return tool("typescript", "tsc")
  }
}

const onPath = (command) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, command)))

/** Checks the types of a project, and only of files that a change since the last check can affect. */
const types = (project, record) => {
  const cache = join(root, "node_modules", ".cache", `${record}.tsbuildinfo`)
  return [...compiler(), "--noEmit", "--pretty", "false", "-p", project, "--incremental", "--tsBuildInfoFile", cache]
}

const steps = {
  types: types(".", "types"),
  "dashboard types": types("apps/dashboard", "dashboard-types"),
  "dead code": [...tool("knip"), "--no-progress"],
  // Tests count as use in the step above.
  "code of tests": [...tool("knip"), "--no-progress", "--production", "--include", "files,exports"],
  house: [...tool("vitest"), "run", "--config", "test/house/vitest.config.ts"],
  lint: [...tool("oxlint"), "--format", "unix"],
  format: [...tool("oxfmt"), "--list-different"],
  migrations: [...tool("squawk-cli", "squawk"), "--reporter", "gcc", ...globSync("db/migrations/*.sql", { cwd: root })],
  ...(onPath("nix-instantiate") ? { flake: ["nix-instantiate", "--parse", "flake.nix"] } : {}),
}

const run = (name) =>
  new Promise((resolve) => {
    const began = performance.now()
    const [command, ...args] = steps[name]
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
    const chunks = []
    child.stdout.on("data", (chunk) => chunks.push(chunk))
    child.stderr.on("data", (chunk) => chunks.push(chunk))
    child.on("error", (error) => resolve({ name, ok: false, output: error.message, seconds: 0 }))
    child.on("close", (code) =>
      resolve({
        name,
        ok: code === 0,
        output: Buffer.concat(chunks).toString().trimEnd(),
        seconds: (performance.now() - began) / 1000,
      }),
    )
  })

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in steps))
if (unknown.length > 0) {
  process.stderr.write(`No such step: ${unknown.join(", ")}. Steps: ${Object.keys(steps).join(", ")}\n`)
  process.exit(64)
}

const began = performance.now()
const waiting = wanted.length > 0 ? wanted : Object.keys(steps)
const failed = []
const worker = async () => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const result = await run(name)
    process.stdout.write(
      `${result.ok ? "ok    " : "FAILED"}  ${name.padEnd(12)} ${result.seconds.toFixed(1).padStart(5)} s\n`,
    )
    if (!result.ok) failed.push(result)
  }
}
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))

for (const { name, output } of failed) process.stdout.write(`\n${name}\n${output}\n`)
const total = ((performance.now() - began) / 1000).toFixed(1)
process.stdout.write(
  `\n${failed.length === 0 ? "All checks passed" : `Failed: ${failed.map(({ name }) => name).join(", ")}`} (${total} s)\n`,
)
process.exitCode = failed.length === 0 ? 0 : 1
