// Builds the dashboard if it is missing or older than its sources. Plain JavaScript, like all of bin/, which also runs
// on Node 20.
import { spawn } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { constants } from "node:os"
import { join } from "node:path"
import { contentsOf } from "./contents.mjs"
import { guarded, readOr, root, say, Unavailable } from "./install.mjs"

const folder = join(root, "apps", "dashboard")
const stampFile = join(folder, "dist", ".waybill-build")
const SOURCES = ["index.html", "package.json", "public", "src", "tsconfig.json", "vite.config.ts"]
/** The dashboard imports a few files of the domain. */
const DOMAIN = join(root, "packages", "domain", "src")
const MAX_BUILD_OUTPUT_LINES = 20

/**
 * Builds with vite's command on this Node, once, even if several commands start together. A failure is only reported: a
 * service with no dashboard, or an old one, still sends mail.
 */
export async function ensureDashboard() {
  if (!existsSync(folder)) return
  // package-lock.json stands for the build tools.
  const stamp = contentsOf([...SOURCES.map((name) => join(folder, name)), DOMAIN, join(root, "package-lock.json")])
  const current = () => readOr(stampFile, "") === stamp
  if (current()) return
  try {
    await guarded(current, () => build(stamp))
  } catch (error) {
    if (!(error instanceof Unavailable) || error.exitCode > 128) throw error
    say(`the dashboard could not be built: ${error.message}`)
  }
}

async function build(stamp) {
  const vite = join(root, "node_modules", "vite", "bin", "vite.js")
  if (!existsSync(vite)) throw new Unavailable("vite is not installed")
  const began = performance.now()
  say("building the dashboard (only once)")
  const child = spawn(process.execPath, [vite, "build", "--logLevel", "warn"], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk))
  // An interrupted build leaves no stamp, so the next command builds again.
  let stopped
  const stop = (signal) => {
    stopped = signal
    child.kill(signal)
  }
  process.on("SIGINT", stop).on("SIGTERM", stop)
  const code = await new Promise((resolve) => {
    child.on("error", (error) => {
      output += error.message
    })
    child.on("close", resolve)
  }).finally(() => process.removeListener("SIGINT", stop).removeListener("SIGTERM", stop))
  if (stopped) throw new Unavailable("stopped while building the dashboard", 128 + constants.signals[stopped])
  if (code !== 0) throw new Unavailable(output.trim().split("\n").slice(0, MAX_BUILD_OUTPUT_LINES).join("\n"))
  writeFileSync(stampFile, stamp)
  say(`built the dashboard in ${((performance.now() - began) / 1000).toFixed(1)} s`)
}
