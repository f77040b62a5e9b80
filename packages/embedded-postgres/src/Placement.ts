import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Binaries from "./Binaries.ts"
import { NotStarted } from "./Failure.ts"

/** Postgres refuses to run as root, so root's server runs as this user, or as this number where nobody has the name. */
const UNPRIVILEGED_NAME = "nobody"
const UNPRIVILEGED_ID = 65_534
/** User numbers are unsigned, and macOS writes the one of nobody as -2. */
const unsigned = (text: string | undefined) => Number(text) >>> 0
/** Where root keeps what an unprivileged user must be able to enter; it survives a reboot, and only root writes there. */
export const ROOT_HOME = "/var/lib/waybill"
/** Says where the data lies when it could not lie in the folder itself. */
const LOCATION = "location"
const PRIVATE_MODE = 0o700
/** Others may pass through but not list: the cluster below is 0700 and owned by the one who serves it. */
const PASSAGE_MODE = 0o711

export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface Placement {
  /** What the caller named: password, log and record live here. */
  readonly folder: string
  /** Where cluster, lock and socket live: the same folder unless its user cannot get in there. */
  readonly home: string
  /** Whom the server runs as, when not as ourselves. */
  readonly owner: Owner | undefined
  readonly binaries: Binaries.Binaries
}

export const cluster = (place: Placement) => path.join(place.home, "cluster")

const isRoot = () => process.geteuid?.() === 0

const permits = (mode: number, uid: number, gid: number, owner: Owner, bit: number) =>
  (mode & (uid === owner.uid ? bit << 6 : gid === owner.gid ? bit << 3 : bit)) !== 0

/** Whether every folder on the way may be entered by the one who serves. */
const enters = async (folder: string, owner: Owner): Promise<boolean> => {
  for (let at = await fs.realpath(folder); ; at = path.dirname(at)) {
    const { mode, uid, gid } = await fs.stat(at)
    if (!permits(mode, uid, gid, owner, 0o1)) return false
    if (at === path.dirname(at)) return true
  }
}

const readsBinaries = async (folder: string, owner: Owner): Promise<boolean> => {
  if (
    !(await enters(path.join(folder, "bin"), owner)) ||
    !(await enters(path.join(folder, "share/postgresql"), owner))
  ) {
    return false
  }
  const sample = await fs.stat(path.join(folder, "share/postgresql/postgres.bki"))
  const server = await fs.stat(path.join(folder, "bin/postgres"))
  return (
    permits(sample.mode, sample.uid, sample.gid, owner, 0o4) && permits(server.mode, server.uid, server.gid, owner, 0o1)
  )
}

/** Makes a folder only root may write to, and trusts one that is there only when that already holds. */
const rootFolder = async (folder: string): Promise<string> => {
  await fs.mkdir(path.dirname(folder), { recursive: true })
  await fs.mkdir(folder, { mode: PASSAGE_MODE }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause
  })
  const stat = await fs.lstat(folder)
  if (!stat.isDirectory() || stat.uid !== 0 || (stat.mode & 0o022) !== 0) {
    throw new NotStarted({ reason: `${folder} must be a folder of root's that nobody else may write to.`, detail: "" })
  }
  await fs.chmod(folder, PASSAGE_MODE)
  return folder
}

const mended = async (copies: string): Promise<Binaries.Binaries> => {
  const found = await Binaries.find()
  return Binaries.mend(found.folder).then(
    () => found,
    // The package belongs to somebody else, or to a read-only image.
    () => Binaries.copyInto(found, copies),
  )
}

const existingCluster = (folder: string) => fs.stat(path.join(folder, "cluster")).catch(() => undefined)

const findAsUser = async (folder: string, installed: string | undefined): Promise<Placement> => {
  const existing = await existingCluster(folder)
  const moved = await fs.stat(path.join(folder, LOCATION)).catch(() => undefined)
  if (moved !== undefined || (existing !== undefined && existing.uid !== process.geteuid?.())) {
    throw new NotStarted({
      reason: `The data behind ${folder} belongs to another user, who started the service here before.`,
      detail: "Start it as that user, or choose another folder.",
    })
  }
  const binaries = installed === undefined ? await mended(folder) : await Binaries.installed(installed)
  return { folder, home: folder, owner: undefined, binaries }
}

/** Two first starts at once must agree, so the record appears whole and only once. */
const record = async (file: string, home: string): Promise<string> => {
  const draft = `${file}.${process.pid}`
  await fs.writeFile(draft, `${home}\n`)
  try {
    await fs.link(draft, file)
    return home
  } catch {
    await fs.rm(home, { recursive: true, force: true })
    return (await fs.readFile(file, "utf8")).trim()
  } finally {
    await fs.rm(draft, { force: true })
  }
}

/**
 * The folder itself where the one who serves can enter it, else a new one in root's home, found again through a record
 * in the folder. What once has data stays where it is: a mode that changes must not look like an empty database.
 */
const homeFor = async (folder: string, owner: Owner, hasCluster: boolean, rootHome: string): Promise<string> => {
  const file = path.join(folder, LOCATION)
  const recorded = await fs.readFile(file, "utf8").catch(() => undefined)
  if (recorded !== undefined) return await rootFolder(recorded.trim())
  if (await enters(folder, owner)) return folder
  if (hasCluster) {
    throw new NotStarted({
      reason: `User ${owner.uid}, who owns the data in ${folder}, can no longer enter that folder.`,
      detail: "Give the folders above it back their permission to pass (chmod o+x).",
    })
  }
  const home = await fs.mkdtemp(path.join(await rootFolder(rootHome), "data-"))
  await fs.chmod(home, PASSAGE_MODE)
  return await record(file, home)
}

const unprivileged = async (): Promise<Owner> => {
  const users = await fs.readFile("/etc/passwd", "utf8").catch(() => "")
  const line = users.split("\n").find((user) => user.startsWith(`${UNPRIVILEGED_NAME}:`))
  const [, , uid, gid] = line?.split(":") ?? []
  return uid === undefined ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : { uid: unsigned(uid), gid: unsigned(gid) }
}

const findAsRoot = async (folder: string, rootHome: string, installed: string | undefined): Promise<Placement> => {
  const existing = await existingCluster(folder)
  // Data that somebody made before stays theirs, and they can have it back.
  const owner =
    existing !== undefined && existing.uid !== 0 ? { uid: existing.uid, gid: existing.gid } : await unprivileged()
  const home = await homeFor(folder, owner, existing !== undefined, rootHome)
  const binaries = installed === undefined ? await ofNpm(home, owner, rootHome) : await Binaries.installed(installed)
  return { folder, home, owner, binaries }
}

const ofNpm = async (home: string, owner: Owner, rootHome: string): Promise<Binaries.Binaries> => {
  const found = await mended(home)
  return (await readsBinaries(found.folder, owner)) ? found : Binaries.copyInto(found, await rootFolder(rootHome))
}

export const find = async (dataFolder: string, rootHome: string, installed?: string): Promise<Placement> => {
  if (process.platform === "win32") {
    throw new NotStarted({
      reason: "The embedded Postgres does not run on Windows. Use WSL, or set DATABASE_URL to a server of your own.",
      detail: "",
    })
  }
  const isNew = (await fs.mkdir(dataFolder, { recursive: true })) !== undefined
  // An existing folder keeps the mode its owner chose.
  if (isNew) await fs.chmod(dataFolder, isRoot() ? PASSAGE_MODE : PRIVATE_MODE)
  const folder = await fs.realpath(dataFolder)
  return isRoot() ? await findAsRoot(folder, rootHome, installed) : await findAsUser(folder, installed)
}

/** Whether a start would find data, here or where root has put it. A folder that we may not look into is not empty. */
export const hasData = async (folder: string): Promise<boolean> => {
  const isThere = (name: string) =>
    fs.stat(path.join(folder, name)).then(
      () => true,
      (cause: NodeJS.ErrnoException) => cause.code !== "ENOENT" && cause.code !== "ENOTDIR",
    )
  return (await isThere("cluster")) || (await isThere(LOCATION))
}

/** What root makes in somebody's folder is theirs, or they could not start there any more. */
export const handOver = async (place: Placement, file: string): Promise<void> => {
  if (!isRoot()) return
  const { uid, gid } = await fs.stat(place.folder)
  await fs.lchown(file, uid, gid)
}

/** A folder that only the one who serves may enter. */
export const privateFolder = async (folder: string, owner: Owner | undefined): Promise<string> => {
  await fs.mkdir(folder, { recursive: true, mode: PRIVATE_MODE })
  if (!(await fs.lstat(folder)).isDirectory()) {
    throw new NotStarted({ reason: `${folder} must be a folder and not a link to one.`, detail: "" })
  }
  await fs.chmod(folder, PRIVATE_MODE)
  if (owner !== undefined) await fs.chown(folder, owner.uid, owner.gid)
  return folder
}
