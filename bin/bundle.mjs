// Bundles the modules of the service and of Effect into a few files, which halves the start-up time. `start` builds the
// bundle; other commands use it while it matches the sources, and run the sources otherwise. Plain JavaScript, like all
// of bin/, which also runs on Node 20.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { contentsOf } from "./contents.mjs"
import { isPacked, PACKED, root, say } from "./install.mjs"

const folder = join(root, "node_modules", ".cache", "waybill-bundle")
/** package-lock.json stands for all installed packages. */
const SOURCES = [
  "package-lock.json",
  "bin/bundler.mjs",
  ...[
    "apps/server",
    "packages/api",
    "packages/client",
    "packages/domain",
    "packages/embedded-postgres",
    "packages/mail",
    "packages/runtime",
    "packages/templates",
    "packages/store",
    "packages/verify",
  ].flatMap((name) => [`${name}/package.json`, `${name}/src`]),
]
const MAX_OUTPUT_CHARS = 2_000

/** Returns the file to run: the bundle, or the sources. */
export function entry() {
  if (isPacked) return PACKED
  const bundle = current()
  return isWhole(bundle) ? join(bundle, "main.mjs") : join(root, "apps", "server", "src", "boot", "main.ts")
}

/** Builds the bundle if it is missing. A failure is only reported, because the sources run too, with a slower start. */
export async function ensureBundle() {
  const bundle = current()
  if (isWhole(bundle)) return
  try {
    mkdirSync(folder, { recursive: true })
  } catch {
    // The checkout belongs to another user.
    return
  }
  // Runs the bundler in its own process, so that its memory is freed before the service runs.
  const child = spawn(process.execPath, [join(root, "bin", "bundler.mjs"), bundle], {
    stdio: ["ignore", "ignore", "pipe"],
  })
  let output = ""
  child.stderr.on("data", (chunk) => (output = `${output}${chunk}`.slice(0, MAX_OUTPUT_CHARS)))
  const code = await new Promise((resolve) => {
    child.on("error", resolve)
    child.on("close", resolve)
  })
  if (code !== 0 && output !== "") say(`bundling failed; running from source: ${output.trim()}`)
}

/**
 * Returns the folder of the bundle. Its name is a hash of the contents, so that it never goes stale, and of the
 * checkout's path, because bundled code finds its files and packages relative to the sources.
 */
const current = () => (known ??= name())
/** Reading all sources takes a fifth of a command's processor time, so it is done once. */
let known
const name = () => {
  const contents = contentsOf(SOURCES.map((path) => join(root, path)))
  return join(folder, createHash("sha256").update(`${root}\0${contents}`).digest("hex").slice(0, 16))
}

/** Whether all files of the bundle exist with their recorded sizes. */
export function isWhole(bundle) {
  try {
    const sizes = Object.entries(JSON.parse(readFileSync(join(bundle, "files.json"), "utf8")))
    return sizes.every(([name, size]) => statSync(join(bundle, name)).size === size)
  } catch {
    return false
  }
}
