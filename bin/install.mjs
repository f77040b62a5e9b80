// Plain JavaScript for Node 20 without dependencies, because it runs before anything is installed.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, realpathSync, rmSync, statSync, utimes, writeFileSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The bundle of an installed package. `npm pack` makes it, and it needs no other package but the embedded Postgres. */
export const PACKED = join(root, "dist", "main.mjs")
/** Whether this is an installed package and not a checkout: npm packs no lock file. */
export const isPacked = existsSync(PACKED) && !existsSync(join(root, "package-lock.json"))

export const MIN_NODE_MAJOR = 24

const GUARD_REFRESH_MS = 1_000
/**
 * Age at which a guard is abandoned: a killed process stops refreshing it. A pid would not do, because it is
 * meaningless in another container.
 */
const GUARD_STALE_MS = 10_000
const MAX_NPM_OUTPUT_LINES = 30
/** npm itself says nothing while it downloads. */
const PROGRESS_EVERY_MS = 15_000

const guardFile = join(root, "runtime", ".installing")

/** A requirement of the command is unavailable. Exit code 69 is EX_UNAVAILABLE of sysexits.h. */
export class Unavailable extends Error {
  constructor(message, exitCode = 69) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Breaks a line at its words, where a terminal would break within them. */
export function folded(line, columns = Infinity) {
  const lines = [""]
  for (const word of line.split(" ")) {
    const last = lines.at(-1)
    if (last === "") lines.splice(-1, 1, word)
    else if (last.length + 1 + word.length > columns) lines.push(`  ${word}`)
    else lines.splice(-1, 1, `${last} ${word}`)
  }
  return lines.join("\n")
}

export const say = (line) => process.stderr.write(`${folded(`waybill: ${line}`, process.stderr.columns)}\n`)
const json = (file) => JSON.parse(readFileSync(file, "utf8"))
export const readOr = (file, otherwise) => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return otherwise
  }
}

/**
 * Returns the path of a Node that can run the service: the current one, or the one that `runtime/` pins, which is
 * installed if missing.
 */
export async function ensureNode() {
  if (Number.parseInt(process.versions.node, 10) >= MIN_NODE_MAJOR) return process.execPath
  const { binary, current, name, pins, runtime, system } = pinnedNode()
  const mismatch = `this machine has Node ${process.versions.node}, but Waybill requires ${MIN_NODE_MAJOR} or newer`
  if (name === undefined) {
    throw new Unavailable(
      `${mismatch}, and npm has no Node for ${system} on ${process.arch}. Install Node ${MIN_NODE_MAJOR}.`,
    )
  }
  if (current()) return binary
  await guarded(current, () => npmInstall(runtime, `Node ${pins[name]} (${mismatch})`))
  if (!current())
    throw new Unavailable(
      `npm succeeded but did not install ${binary}. Do your npm settings omit \`optional\` packages?`,
    )
  return binary
}

/** Returns the Node that can run the service, if it is there. Another program starts it without a launcher in between. */
export function readyNode() {
  if (Number.parseInt(process.versions.node, 10) >= MIN_NODE_MAJOR) return process.execPath
  const { binary, current } = pinnedNode()
  return current() ? binary : undefined
}

/** Returns the Node that `runtime/` pins for this machine. Its name is undefined if npm has none. */
function pinnedNode() {
  const runtime = join(root, "runtime")
  const pins = json(join(runtime, "package.json")).optionalDependencies
  const system = process.platform === "win32" ? "win" : process.platform
  const name = [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`].find((name) => name in pins)
  const binary = join(runtime, "node_modules", `${name}`, "bin", process.platform === "win32" ? "node.exe" : "node")
  const current = () =>
    name !== undefined &&
    installedPackages(runtime)?.[`node_modules/${name}`]?.version === pins[name] &&
    existsSync(binary)
  return { binary, current, name, pins, runtime, system }
}

/**
 * Installs `node_modules` of a folder as its lock file specifies. `dev` tells whether development tools are needed: a
 * production image installed with `--omit=dev` starts the service without npm.
 */
export async function ensureModules({ dev, folder = root }) {
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8")
  const stamp = createHash("sha256").update(lock).digest("hex")
  const current = () => {
    const [known, ...nested] = readOr(stampOf(folder), "").split("\n")
    if (known === stamp && nested.every((path) => existsSync(join(folder, path)))) return true
    if (!matchesLock(folder, JSON.parse(lock), { dev })) return false
    if (dev) writeStamp(folder, stamp, lock)
    return true
  }
  if (current()) return
  await guarded(current, async () => {
    const what = existsSync(join(folder, "node_modules")) ? "packages of a newer lock file" : "packages"
    await npmInstall(folder, folder === root ? what : `${what} in ${relative(root, folder)}`)
    writeStamp(folder, stamp, lock)
  })
}

const stampOf = (folder) => join(folder, "node_modules", ".waybill-install")

/** Returns npm's own record of the installed packages. npm writes it last, so it is missing during an installation. */
function installedPackages(folder) {
  const text = readOr(join(folder, "node_modules", ".package-lock.json"), "")
  return text === "" ? undefined : JSON.parse(text).packages
}

/** Whether the installed packages match the lock file, for example after a manual installation. */
function matchesLock(folder, lock, { dev }) {
  const installed = installedPackages(folder)
  if (installed === undefined || !foldersOf(lock, { dev }).every((path) => existsSync(join(folder, path)))) return false
  return Object.entries(lock.packages).every(([path, wanted]) => {
    // Packages of the checkout are linked, so that nothing is to install when only their version changes, as in a release.
    if (!path.includes("node_modules/") || (wanted.dev === true && !dev)) return true
    const present = installed[path]
    if (present === undefined) return wanted.optional === true || wanted.devOptional === true || wanted.peer === true
    return present.version === wanted.version && present.integrity === wanted.integrity
  })
}

/** The folders of packages that a workspace does not share with the others: a copied checkout may lack them. */
const foldersOf = (lock, { dev }) => [
  ...new Set(
    Object.entries(lock.packages)
      .filter(([path]) => path.includes("/node_modules/") && !path.startsWith("node_modules/"))
      .filter(([, { dev: isDev, optional }]) => optional !== true && (dev || isDev !== true))
      .map(([path]) => path.slice(0, path.indexOf("/node_modules/") + "/node_modules".length)),
  ),
]

function writeStamp(folder, stamp, lock) {
  try {
    writeFileSync(stampOf(folder), [stamp, ...foldersOf(JSON.parse(lock), { dev: true })].join("\n"))
  } catch (error) {
    // Another user installed this checkout. The comparison above then runs at every start.
    if (error.code !== "EACCES" && error.code !== "EROFS" && error.code !== "EPERM") throw error
  }
}

/**
 * Runs `install` unless `current()` holds, one process at a time: concurrent installations or builds in one folder
 * break each other.
 */
export async function guarded(current, install) {
  for (let waiting = false; !takeGuard(); waiting = true) {
    if (!waiting) say("waiting for another command that is installing or building")
    await new Promise((resolve) => setTimeout(resolve, GUARD_REFRESH_MS / 4))
  }
  const refresh = setInterval(() => utimes(guardFile, new Date(), new Date(), () => {}), GUARD_REFRESH_MS)
  try {
    if (!current()) await install()
  } finally {
    clearInterval(refresh)
    rmSync(guardFile, { force: true })
  }
}

function takeGuard() {
  try {
    writeFileSync(guardFile, "", { flag: "wx" })
    return true
  } catch (error) {
    if (error.code !== "EEXIST") {
      throw new Unavailable(`cannot install or build: this user has no write access to ${root} (${error.code}).`)
    }
  }
  try {
    if (Date.now() - statSync(guardFile).mtimeMs > GUARD_STALE_MS) rmSync(guardFile, { force: true })
  } catch {
    // The guard was released between the two calls; the next attempt takes it.
  }
  return false
}

/**
 * `npm install` instead of `npm ci`, which first deletes files that a running service may still load. The lock file is
 * followed and never changed. Install scripts are off, because newer npm versions refuse them and no package needs one.
 */
const installArguments = [
  "install",
  "--no-save",
  "--ignore-scripts",
  "--include=dev",
  "--include=optional",
  // The packages require Node 24, which will run them; the available npm may run on Node 20.
  "--no-engine-strict",
  "--no-audit",
  "--no-fund",
]

async function npmInstall(folder, what) {
  const began = performance.now()
  say(`installing ${what} (once, in one to three minutes)`)
  const npm = findNpm()
  const told = setInterval(() => say(`still installing, after ${secondsSince(began)} s`), PROGRESS_EVERY_MS)
  // Runs npm on its own Node, because npm finds its system-wide settings (proxy, certificates) relative to that Node.
  const command = npm.endsWith(".js") ? [process.execPath, npm] : [npm]
  const child = spawn(command[0], [...command.slice(1), ...installArguments, "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32" && !npm.endsWith(".js"),
  })
  const output = []
  const gather = (chunk) => output.push(...String(chunk).split("\n"))
  child.stdout.on("data", gather)
  child.stderr.on("data", gather)
  // An incomplete installation has no stamp, so stopping npm is safe.
  let stopped
  const stop = (signal) => {
    stopped = signal
    child.kill(signal)
  }
  process.on("SIGINT", stop).on("SIGTERM", stop)
  const code = await new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new Unavailable(`npm did not start: ${error.message}`)))
    child.on("close", (code) => resolve(code))
  }).finally(() => {
    clearInterval(told)
    process.removeListener("SIGINT", stop).removeListener("SIGTERM", stop)
  })
  if (stopped)
    throw new Unavailable(
      "the installation was interrupted; the next command restarts it.",
      128 + constants.signals[stopped],
    )
  if (code !== 0) {
    const lines = output.filter((line) => line.trim() !== "").slice(0, MAX_NPM_OUTPUT_LINES)
    throw new Unavailable(`npm could not install: ${reason(lines.join("\n"))}\n\n${lines.join("\n")}`)
  }
  say(`installed in ${secondsSince(began)} s`)
}

const secondsSince = (began) => ((performance.now() - began) / 1000).toFixed(0)

const reasons = [
  [/EACCES|EPERM|EROFS/, "this user has no write access to the checkout or npm's cache."],
  [/ENOSPC/, "the disk is full."],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET/,
    "the package registry could not be reached.",
  ],
  [/CERT|UNABLE_TO_/, "the registry's certificate is not trusted; set npm's `cafile` to its certificate authority."],
  [/E404|ETARGET|ENOVERSIONS/, "npm's registry does not have this package."],
  [/EINTEGRITY/, "a package differs from the one in the lock file."],
  [/E401|E403|ENEEDAUTH/, "the registry refused access; npm's settings have no valid login."],
]
const reason = (output) => reasons.find(([pattern]) => pattern.test(output))?.[1] ?? "see its output:"

/** Returns the npm that started this process, else the one beside this Node, else the first on PATH. */
function findNpm() {
  const started = process.env.npm_execpath
  if (started?.endsWith("npm-cli.js") && existsSync(started)) return started
  const bundled = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js")
  if (existsSync(bundled)) return bundled
  const shim = process.platform === "win32" ? "npm.cmd" : "npm"
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const file = join(folder, shim)
    if (folder !== "" && existsSync(file)) return process.platform === "win32" ? file : realpathSync(file)
  }
  throw new Unavailable("packages are missing, and npm was not found on PATH. Install npm; it is part of Node.")
}
