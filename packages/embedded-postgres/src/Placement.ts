import { createHash } from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Binaries from "./Binaries.ts"
import { NotStarted } from "./Failure.ts"

/** `nobody`: Postgres refuses to run as root. */
const UNPRIVILEGED_ID = 65_534
/** Where root keeps what an unprivileged user must be able to enter; it survives a reboot, and only root writes there. */
const ROOT_HOME = "/var/lib/waybill"
const FOLDER_HASH_LENGTH = 16
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
  if (!(await enters(path.join(folder, "bin"), owner)) || !(await enters(path.join(folder, "share/postgresql"), owner))) {
    return false
  }
  const sample = await fs.stat(path.join(folder, "share/postgresql/postgres.bki"))
  const server = await fs.stat(path.join(folder, "bin/postgres"))
  return permits(sample.mode, sample.uid, sample.gid, owner, 0o4) && permits(server.mode, server.uid, server.gid, owner, 0o1)
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

const ownBinaries = async (folder: string): Promise<Binaries.Binaries> => {
  const found = await Binaries.find()
  return Binaries.mend(found.folder).then(
    () => found,
    // The package belongs to somebody else, or to a read-only image.
    () => Binaries.copyInto(found, folder),
  )
}

const existingCluster = (folder: string) => fs.stat(path.join(folder, "cluster")).catch(() => undefined)

const findAsUser = async (folder: string): Promise<Placement> => {
  const existing = await existingCluster(folder)
  const moved = await fs.stat(path.join(folder, LOCATION)).catch(() => undefined)
  if (moved !== undefined || (existing !== undefined && existing.uid !== process.geteuid?.())) {
    throw new NotStarted({
      reason: `The data behind ${folder} belongs to another user, who started the service here before.`,
      detail: "Start it as that user, or choose another folder.",
    })
  }
  return { folder, home: folder, owner: undefined, binaries: await ownBinaries(folder) }
}

/**
 * The folder itself where the one who serves can enter it, else one below ROOT_HOME, found again through a record in
 * the folder. What once has data stays where it is: a mode that changes must not look like an empty database.
 */
const homeFor = async (folder: string, owner: Owner, hasCluster: boolean): Promise<string> => {
  const record = path.join(folder, LOCATION)
  const recorded = await fs.readFile(record, "utf8").catch(() => undefined)
  if (recorded !== undefined) return await rootFolder(recorded.trim())
  if (await enters(folder, owner)) return folder
  if (hasCluster) {
    throw new NotStarted({
      reason: `User ${owner.uid}, who owns the data in ${folder}, can no longer enter that folder.`,
      detail: "Give the folders above it back their permission to pass (chmod o+x).",
    })
  }
  const name = createHash("sha256").update(folder).digest("hex").slice(0, FOLDER_HASH_LENGTH)
  const home = await rootFolder(path.join(await rootFolder(ROOT_HOME), name))
  await fs.writeFile(record, `${home}\n`)
  return home
}

const findAsRoot = async (folder: string): Promise<Placement> => {
  const existing = await existingCluster(folder)
  const owner =
    existing !== undefined && existing.uid !== 0
      ? { uid: existing.uid, gid: existing.gid }
      : { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID }
  const home = await homeFor(folder, owner, existing !== undefined)
  const found = await ownBinaries(folder)
  const binaries = (await readsBinaries(found.folder, owner))
    ? found
    : await Binaries.copyInto(found, await rootFolder(ROOT_HOME))
  return { folder, home, owner, binaries }
}

export const find = async (dataFolder: string): Promise<Placement> => {
  // The mode counts only when the folder is new: an existing one keeps what its owner chose.
  await fs.mkdir(dataFolder, { recursive: true, mode: isRoot() ? PASSAGE_MODE : PRIVATE_MODE })
  const folder = await fs.realpath(dataFolder)
  return isRoot() ? await findAsRoot(folder) : await findAsUser(folder)
}

/** A folder that only the one who serves may enter. */
export const privateFolder = async (folder: string, owner: Owner | undefined): Promise<string> => {
  await fs.mkdir(folder, { recursive: true, mode: PRIVATE_MODE })
  await fs.chmod(folder, PRIVATE_MODE)
  if (owner !== undefined) await fs.chown(folder, owner.uid, owner.gid)
  return folder
}
