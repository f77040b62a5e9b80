// Plain JavaScript for Node 20, without a dependency: it runs before anything is installed.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, realpathSync, rmSync, statSync, utimes, writeFileSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

export const MIN_NODE_MAJOR = 24

const GUARD_REFRESH_MS = 1_000
/** A holder that was killed stops refreshing its guard. A pid would not tell: it means nothing in another container. */
const GUARD_STALE_MS = 10_000
const MAX_NPM_OUTPUT_LINES = 30

const lockFile = join(root, "package-lock.json")
const stampFile = join(root, "node_modules", ".waybill-install")
const guardFile = join(root, "runtime", ".installing")

/** What a command needs could not be had. 69 is EX_UNAVAILABLE of sysexits.h. */
export class Unavailable extends Error {
  constructor(message, exitCode = 69) {
    super(message)
    this.exitCode = exitCode
  }
}

export const say = (line) => process.stderr.write(`waybill: ${line}\n`)
const json = (file) => JSON.parse(readFileSync(file, "utf8"))
export const readOr = (file, otherwise) => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return otherwise
  }
}

/** The path of a Node that can run the service: our own, or the one `runtime/` pins, installed when it is missing. */
export async function ensureNode() {
  if (Number.parseInt(process.versions.node, 10) >= MIN_NODE_MAJOR) return process.execPath
  const runtime = join(root, "runtime")
  const pins = json(join(runtime, "package.json")).optionalDependencies
  const system = process.platform === "win32" ? "win" : process.platform
  const name = [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`].find((name) => name in pins)
  const own = `this machine has Node ${process.versions.node}, and Waybill runs on ${MIN_NODE_MAJOR} or newer`
  if (name === undefined) {
    throw new Unavailable(
      `${own}. npm has none for ${system} on ${process.arch}: please install Node ${MIN_NODE_MAJOR}.`,
    )
  }
  const binary = join(runtime, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node")
  const current = () => account(runtime)?.[`node_modules/${name}`]?.version === pins[name] && existsSync(binary)
  if (current()) return binary
  await guarded(current, () => npmInstall(runtime, `Node ${pins[name]} (${own})`))
  if (!current())
    throw new Unavailable(`npm ended well but left no ${binary}. Is \`optional\` omitted in your npm settings?`)
  return binary
}

/**
 * `node_modules` as the lock file wants it. `dev` says whether the development tools are needed too: a production
 * image installed with `--omit=dev` still starts the service without calling npm.
 */
export async function ensureModules({ dev }) {
  const lock = readFileSync(lockFile, "utf8")
  const stamp = createHash("sha256").update(lock).digest("hex")
  const current = () => {
    if (readOr(stampFile, "") === stamp) return true
    if (!agrees(JSON.parse(lock), { dev })) return false
    if (dev) writeStamp(stamp)
    return true
  }
  if (current()) return
  await guarded(current, async () => {
    await npmInstall(root, existsSync(join(root, "node_modules")) ? "the packages of a newer lock file" : "packages")
    writeStamp(stamp)
  })
}

/** npm writes its own account of what it installed, and does so last: while it unpacks there is none. */
function account(folder) {
  const text = readOr(join(folder, "node_modules", ".package-lock.json"), "")
  return text === "" ? undefined : JSON.parse(text).packages
}

/** A checkout installed by hand needs no second installation. */
function agrees(lock, { dev }) {
  const installed = account(root)
  if (installed === undefined) return false
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === "" || (wanted.dev === true && !dev)) return true
    const found = installed[path]
    if (found === undefined) return wanted.optional === true || wanted.devOptional === true || wanted.peer === true
    return found.version === wanted.version && found.integrity === wanted.integrity
  })
}

function writeStamp(stamp) {
  try {
    writeFileSync(stampFile, stamp)
  } catch (error) {
    // A checkout that another user installed: the comparison above simply runs again the next time.
    if (error.code !== "EACCES" && error.code !== "EROFS" && error.code !== "EPERM") throw error
  }
}

/** One at a time: two npm in one folder, or two builds, undo each other's work. */
export async function guarded(current, install) {
  for (let waiting = false; !takeGuard(); waiting = true) {
    if (!waiting) say("another command is installing or building; waiting for it")
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
      throw new Unavailable(`something has to be made first, and this user may not write in ${root} (${error.code}).`)
    }
  }
  try {
    if (Date.now() - statSync(guardFile).mtimeMs > GUARD_STALE_MS) rmSync(guardFile, { force: true })
  } catch {
    // Released between the two calls: the next round takes it.
  }
  return false
}

/**
 * Not `npm ci`: it refuses a lock file that lacks a package for another system, and begins by deleting what a running
 * service may still load. The lock file is obeyed and never written. Install scripts stay off whatever the npm, as
 * newer ones refuse them anyway and nothing here needs one.
 */
const installArguments = [
  "install",
  "--no-save",
  "--ignore-scripts",
  "--include=dev",
  "--include=optional",
  // The packages ask for Node 24 and will have it; the npm at hand may be of 20.
  "--no-engine-strict",
  "--no-audit",
  "--no-fund",
]

async function npmInstall(folder, what) {
  const began = performance.now()
  say(`installing ${what}; this happens once`)
  const npm = findNpm()
  // On the Node npm came with: it finds its machine-wide settings (proxy, certificates) by the path of its Node.
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
  // Half an installation is recognised by its missing stamp, so stopping npm is enough.
  let stopped
  const stop = (signal) => {
    stopped = signal
    child.kill(signal)
  }
  process.on("SIGINT", stop).on("SIGTERM", stop)
  const code = await new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new Unavailable(`npm did not start: ${error.message}`)))
    child.on("close", (code) => resolve(code))
  }).finally(() => process.removeListener("SIGINT", stop).removeListener("SIGTERM", stop))
  if (stopped)
    throw new Unavailable(
      "the installation was stopped; the next command begins it again.",
      128 + constants.signals[stopped],
    )
  if (code !== 0) {
    const lines = output.filter((line) => line.trim() !== "").slice(0, MAX_NPM_OUTPUT_LINES)
    throw new Unavailable(`npm could not install: ${reason(lines.join("\n"))}\n\n${lines.join("\n")}`)
  }
  say(`installed in ${((performance.now() - began) / 1000).toFixed(0)} s`)
}

const reasons = [
  [/EACCES|EPERM|EROFS/, "this user may not write in the checkout or in npm's cache."],
  [/ENOSPC/, "the disk is full."],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET/,
    "the package registry could not be reached.",
  ],
  [/CERT|UNABLE_TO_/, "the registry's certificate is not trusted here; npm's setting `cafile` names one that is."],
  [/E404|ETARGET|ENOVERSIONS/, "the registry that npm is set to has no such package."],
  [/EINTEGRITY/, "a package differs from the one in the lock file."],
  [/E401|E403|ENEEDAUTH/, "the registry refused; npm's settings lack a valid login."],
]
const reason = (output) => reasons.find(([pattern]) => pattern.test(output))?.[1] ?? "it says:"

/** The npm that started us, else the one beside this Node, else the first on PATH. */
function findNpm() {
  const started = process.env.npm_execpath
  if (started?.endsWith("npm-cli.js") && existsSync(started)) return started
  const beside = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js")
  if (existsSync(beside)) return beside
  const shim = process.platform === "win32" ? "npm.cmd" : "npm"
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const found = join(folder, shim)
    if (folder !== "" && existsSync(found)) return process.platform === "win32" ? found : realpathSync(found)
  }
  throw new Unavailable("npm was not found on PATH, and packages are missing. It comes with Node; please install it.")
}
