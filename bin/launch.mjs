import { spawn } from "node:child_process"
import module from "node:module"
import { Socket } from "node:net"
import { constants } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { ensureModules, ensureNode, root, Unavailable } from "./install.mjs"

/** The file descriptor on which a child notices that its launcher is gone, however it went. */
const LIFELINE_FD = 3

/**
 * Runs a file on a Node that can: in this process when it can, else in a child that begins again with our own command
 * line. Signals reach the child, and its exit code is ours.
 *
 * @param {{ file: () => string, args: string[], dev: boolean, before?: () => void }} options
 */
export async function launch(options) {
  try {
    const node = await ensureNode()
    await ensureModules(node, options)
    if (node === process.execPath) await runHere(options)
    else await runChild(node)
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    process.stderr.write(`waybill: ${error.message}\n`)
    process.exitCode = error.exitCode
  }
}

async function runHere({ args, before, file }) {
  // Compiled code is kept beside the packages it came from.
  module.enableCompileCache?.(join(root, "node_modules", ".cache", "waybill"))
  if (process.env.WAYBILL_LIFELINE === String(process.ppid)) holdLifeline()
  delete process.env.WAYBILL_LIFELINE
  before?.()
  const main = file()
  process.argv = [process.execPath, main, ...args]
  await import(pathToFileURL(main).href)
}

function holdLifeline() {
  const lifeline = new Socket({ fd: LIFELINE_FD })
  lifeline.on("error", () => {}).on("close", () => process.kill(process.pid, "SIGTERM"))
  lifeline.resume().unref()
}

async function runChild(node) {
  const child = spawn(node, process.argv.slice(1), {
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    env: {
      ...process.env,
      PATH: [dirname(node), process.env.PATH].join(delimiter),
      WAYBILL_LIFELINE: String(process.pid),
    },
  })
  const forward = (signal) => child.kill(signal)
  process.on("SIGINT", forward).on("SIGTERM", forward)
  const { code, signal } = await new Promise((resolve, reject) => {
    child.on("error", (error) =>
      reject(new Unavailable(`${node} does not run on this machine (${error.message}). Please install Node 24.`)),
    )
    child.on("exit", (code, signal) => resolve({ code, signal }))
  }).finally(() => process.removeListener("SIGINT", forward).removeListener("SIGTERM", forward))
  process.exitCode = signal === null ? code : 128 + constants.signals[signal]
}
