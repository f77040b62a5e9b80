import { spawn } from "node:child_process"
import module from "node:module"
import { constants } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { ensureModules, ensureNode, isPacked, root, Unavailable } from "./install.mjs"

const PARENT_WATCH_MS = 250
/**
 * Flags of a service, each unless the operator has set it. They bound the space for new objects, keep V8 from making objects old
 * that it takes for long-lived, with the requests that they refer to, and let the main thread alone collect young garbage: what is
 * left to copy is less work than starting threads (docs/decisions/0065-pay-for-each-optimisation.md).
 */
export const SERVICE_FLAGS = ["--max-semi-space-size=32", "--no-allocation-site-pretenuring", "--no-parallel-scavenge"]

/**
 * Runs a file on a suitable Node: in this process if possible, else in a child process with the same command line.
 * Signals are forwarded to the child, and its exit code is returned. Without `file`, only `before` runs. A service gets
 * flags of its own, for which this process starts again in place.
 *
 * @param {{ file?: () => string, args: string[], dev: boolean, service?: boolean, before?: () => void | Promise<void> }} options
 */
export async function launch(options) {
  const flags = options.service === true ? SERVICE_FLAGS.filter((flag) => !isSet(flag)) : []
  const launcher = process.env.WAYBILL_LAUNCHER
  stopWithParent()
  try {
    const node = await ensureNode()
    if (!isPacked) await ensureModules(options)
    if (node === process.execPath) {
      if (flags.length > 0) restart(flags, launcher)
      await runHere(options)
    } else await runChild(node, flags)
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    process.stderr.write(`waybill: ${error.message}\n`)
    process.exitCode = error.exitCode
  }
}

/** Whether the operator has set a flag, to this or another value. */
const isSet = (flag) => {
  const [name = ""] = flag.replace("--no-", "--").split("=")
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ").replaceAll("--no-", "--")
  return given.includes(name)
}

/** Starts this program again in the same process, with flags. Without effect on Windows, which cannot. */
function restart(flags, launcher) {
  if (process.platform === "win32") return
  const args = [process.execPath, ...flags, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(process.execPath, args, {
    ...process.env,
    ...(launcher === undefined ? {} : { WAYBILL_LAUNCHER: launcher }),
  })
}

async function runHere({ args, before, file }) {
  // Keeps compiled code beside the packages.
  module.enableCompileCache?.(join(root, "node_modules", ".cache", "waybill"))
  await before?.()
  if (file === undefined) return
  const main = file()
  process.argv = [process.execPath, main, ...args]
  await import(pathToFileURL(main).href)
}

/**
 * Stops this process when its parent ends. npm sends SIGTERM only to the shell that runs this process, which dies
 * without forwarding it, and a launcher may be killed. Applies only below npm or a launcher: a service in the
 * background outlives its terminal.
 */
function stopWithParent() {
  const launcher = process.env.WAYBILL_LAUNCHER
  if (launcher === undefined && process.env.npm_lifecycle_event === undefined) return
  const parent = launcher === undefined ? process.ppid : Number(launcher)
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, "SIGTERM")
  }, PARENT_WATCH_MS)
  watch.unref()
  delete process.env.WAYBILL_LAUNCHER
}

async function runChild(node, flags) {
  const child = spawn(node, [...flags, ...process.argv.slice(1)], {
    stdio: "inherit",
    env: {
      ...process.env,
      PATH: [dirname(node), process.env.PATH].join(delimiter),
      WAYBILL_LAUNCHER: String(process.pid),
    },
  })
  const forward = (signal) => child.kill(signal)
  process.on("SIGINT", forward).on("SIGTERM", forward)
  const { code, signal } = await new Promise((resolve, reject) => {
    child.on("error", (error) =>
      reject(new Unavailable(`${node} does not run on this machine (${error.message}). Install Node 24.`)),
    )
    child.on("exit", (code, signal) => resolve({ code, signal }))
  }).finally(() => process.removeListener("SIGINT", forward).removeListener("SIGTERM", forward))
  process.exitCode = signal === null ? code : 128 + constants.signals[signal]
}
