// Plain JavaScript like its neighbours. The service's modules and Effect's as a few files, which start in half the
// time. A start makes them; each command uses them while the sources still say the same, and else runs the sources.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { contentsOf } from "./contents.mjs"
import { root, say } from "./install.mjs"

const folder = join(root, "node_modules", ".cache", "waybill-bundle")
/** The lock file stands for all packages. */
const SOURCES = [
  "package-lock.json",
  "bin/bundler.mjs",
  ...[
    "apps/server",
    "packages/api",
    "packages/domain",
    "packages/embedded-postgres",
    "packages/mail",
    "packages/store",
  ].flatMap((name) => [`${name}/package.json`, `${name}/src`]),
]
const MAX_SAID_CHARS = 2_000

/** The file to run. */
export function entry() {
  const bundle = current()
  return isWhole(bundle) ? join(bundle, "main.mjs") : join(root, "apps", "server", "src", "main.ts")
}

/** A failure is said and lived with: the sources run as well, only later. */
export async function ensureBundle() {
  const bundle = current()
  if (isWhole(bundle)) return
  try {
    mkdirSync(folder, { recursive: true })
  } catch {
    // A checkout that another user prepared, or did not.
    return
  }
  // In a process of its own, as a bundler would stay in the memory of what serves.
  const child = spawn(process.execPath, [join(root, "bin", "bundler.mjs"), bundle], {
    stdio: ["ignore", "ignore", "pipe"],
  })
  let said = ""
  child.stderr.on("data", (chunk) => (said = `${said}${chunk}`.slice(0, MAX_SAID_CHARS)))
  const code = await new Promise((resolve) => {
    child.on("error", resolve)
    child.on("close", resolve)
  })
  if (code !== 0 && said !== "") say(`the code was not bundled and runs from its sources: ${said.trim()}`)
}

/**
 * By content, so that what has this name is never stale, and by place, as bundled code finds its files and packages by
 * where the sources lie: a checkout may be moved or copied.
 */
const current = () => {
  const contents = contentsOf(SOURCES.map((path) => join(root, path)))
  return join(folder, createHash("sha256").update(`${root}\0${contents}`).digest("hex").slice(0, 16))
}

/** Whether all is there that was written, as far as sizes tell. */
export function isWhole(bundle) {
  try {
    const sizes = Object.entries(JSON.parse(readFileSync(join(bundle, "files.json"), "utf8")))
    return sizes.every(([name, size]) => statSync(join(bundle, name)).size === size)
  } catch {
    return false
  }
}
