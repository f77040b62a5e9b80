import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Binaries from "../system/Binaries.ts"
import * as Failure from "../system/Failure.ts"
import * as Handover from "./Handover.ts"
import * as RootFolder from "./RootFolder.ts"
import * as Users from "./Users.ts"

/**
 * Folder of root for files that an unprivileged user must be able to enter. It survives a reboot, and only root can
 * write to it.
 */
export const ROOT_HOME = "/var/lib/waybill"
/** File that names the folder of the data if it could not be in the folder itself. */
const LOCATION = "location"
const PRIVATE_MODE = 0o700

export interface Owner {
  readonly uid: number
  readonly gid: number
  /** Whether the user was created for this server and is not in /etc/passwd. */
  readonly isNameless?: boolean
}

/** A user who owns no folder, so that only permissions for others apply. */
const ANYBODY: Owner = { uid: -1, gid: -1 }

export interface Placement {
  /** The folder that the caller named. It holds password, log and location file. */
  readonly folder: string
  /** The folder of cluster, lock and socket: the same folder, unless the server's user cannot enter it. */
  readonly home: string
  /**
   * The user that the server runs as; undefined for the current user. For a server of root's, `Ownership.settle` sets
   * it.
   */
  readonly owner: Owner | undefined
  /** The file in which root registered the server's user. */
  readonly registered?: string | undefined
  readonly binaries: Binaries.Binaries
}

export const cluster = (placement: Placement) => path.join(placement.home, "cluster")

const isRoot = () => process.geteuid?.() === 0

const permits = (mode: number, uid: number, gid: number, owner: Owner, bit: number) =>
  (mode & (uid === owner.uid ? bit << 6 : gid === owner.gid ? bit << 3 : bit)) !== 0

/** Whether this user can enter the folder and all its parents. */
const canEnterAll = async (folder: string, owner: Owner): Promise<boolean> => {
  for (let at = await fs.realpath(folder); ; at = path.dirname(at)) {
    const { mode, uid, gid } = await fs.stat(at)
    if (!permits(mode, uid, gid, owner, 0o1)) return false
    if (at === path.dirname(at)) return true
  }
}

const canReadBinaries = async (folder: string, owner: Owner): Promise<boolean> => {
  if (
    !(await canEnterAll(path.join(folder, "bin"), owner)) ||
    !(await canEnterAll(path.join(folder, "share/postgresql"), owner))
  ) {
    return false
  }
  const sample = await fs.stat(path.join(folder, "share/postgresql/postgres.bki"))
  const server = await fs.stat(path.join(folder, "bin/postgres"))
  return (
    permits(sample.mode, sample.uid, sample.gid, owner, 0o4) && permits(server.mode, server.uid, server.gid, owner, 0o1)
  )
}

const repairedBinaries = async (copies: string): Promise<Binaries.Binaries> => {
  const binaries = await Binaries.find()
  return Binaries.repair(binaries.folder).then(
    () => binaries,
    // The package belongs to another user or a read-only image.
    () => Binaries.copyInto(binaries, copies),
  )
}

const existingCluster = (folder: string) => fs.stat(path.join(folder, "cluster")).catch(() => undefined)

/** Whether the folder holds another user's data, or is closed to this user, as root's folders are. */
const belongsToOther = async (folder: string): Promise<boolean> => {
  const stat = (name: string) =>
    fs.stat(path.join(folder, name)).catch((cause: NodeJS.ErrnoException) => cause.code ?? cause.message)
  const [existing, moved] = await Promise.all([stat("cluster"), stat(LOCATION)])
  if (existing === "EACCES" || moved === "EACCES" || typeof moved !== "string") return true
  return typeof existing !== "string" && existing.uid !== process.geteuid?.()
}

const findAsUser = async (folder: string, installed: string | undefined): Promise<Placement> => {
  if (await belongsToOther(folder)) {
    throw new Failure.NotStarted({
      reason: `The data of ${folder} belongs to another user, who started the service here before.`,
      detail: "Start the service as that user, or choose another folder.",
    })
  }
  const binaries = installed === undefined ? await repairedBinaries(folder) : await Binaries.installed(installed)
  return { folder, home: folder, owner: undefined, binaries }
}

/** Writes the location file. The link appears complete and only once, so that two concurrent first starts agree. */
const writeLocation = async (file: string, home: string): Promise<string> => {
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

/** Whether the server can be given access to the folder: root can open its own folders to one server only. */
const canEnter = async (folder: string, originalOwner: Owner | undefined, hasCluster: boolean): Promise<boolean> => {
  if (originalOwner !== undefined) return await canEnterAll(folder, originalOwner)
  if ((await fs.stat(folder)).uid === 0) return await canEnterAll(path.dirname(folder), ANYBODY)
  return hasCluster && (await canEnterAll(folder, ANYBODY))
}

/**
 * Returns the folder itself if the server can be given access to it, else a new folder in root's home that a location
 * file names. Existing data stays where it is, so that a changed permission never looks like an empty database.
 */
const homeFor = async (
  folder: string,
  originalOwner: Owner | undefined,
  hasCluster: boolean,
  rootHome: string,
): Promise<string> => {
  const file = path.join(folder, LOCATION)
  const recorded = await fs.readFile(file, "utf8").catch(() => undefined)
  if (recorded !== undefined) return await RootFolder.trusted(recorded.trim())
  if (await canEnter(folder, originalOwner, hasCluster)) return folder
  if (hasCluster) {
    throw new Failure.NotStarted({
      reason: `The user that owns the data in ${folder} can no longer enter that folder.`,
      detail: "Restore access to the folders above it (chmod o+x).",
    })
  }
  return await writeLocation(file, await fs.mkdtemp(path.join(await RootFolder.make(rootHome), "data-")))
}

/**
 * Returns the user who created the cluster before root started a server on it: the cluster stays theirs. Undefined if a
 * server of root's created it, as its own user or, in earlier versions, as nobody.
 */
const findOriginalOwner = async (folder: string): Promise<Owner | undefined> => {
  const existing = await existingCluster(folder)
  if (existing === undefined || existing.uid === 0) return undefined
  const { gid, uid } = existing
  if ((await fs.stat(folder)).uid === uid) return { uid, gid }
  return uid === (await Users.nobody()).uid || (await Users.isServers(uid)) ? undefined : { uid, gid }
}

const findAsRoot = async (folder: string, rootHome: string, installed: string | undefined): Promise<Placement> => {
  const originalOwner = await findOriginalOwner(folder)
  const home = await homeFor(folder, originalOwner, (await existingCluster(folder)) !== undefined, rootHome)
  const binaries =
    installed === undefined
      ? await npmBinaries(home, originalOwner ?? ANYBODY, rootHome)
      : await Binaries.installed(installed)
  return { folder, home, owner: originalOwner, binaries }
}

const npmBinaries = async (home: string, owner: Owner, rootHome: string): Promise<Binaries.Binaries> => {
  const binaries = await repairedBinaries(home)
  return (await canReadBinaries(binaries.folder, owner))
    ? binaries
    : Binaries.copyInto(binaries, await RootFolder.make(rootHome))
}

export const find = async (dataFolder: string, rootHome: string, installed?: string): Promise<Placement> => {
  if (process.platform === "win32") {
    throw new Failure.NotStarted({
      reason: "The embedded Postgres does not run on Windows. Use WSL, or set DATABASE_URL to your own server.",
      detail: "",
    })
  }
  const isNew = (await fs.mkdir(dataFolder, { recursive: true })) !== undefined
  if (isNew) await fs.chmod(dataFolder, PRIVATE_MODE)
  const folder = await fs.realpath(dataFolder)
  return isRoot() ? await findAsRoot(folder, rootHome, installed) : await findAsUser(folder, installed)
}

/** Whether a start would find data, here or in root's home. A folder without read access counts as data. */
export const hasData = async (folder: string): Promise<boolean> => {
  const isThere = (name: string) =>
    fs.stat(path.join(folder, name)).then(
      () => true,
      (cause: NodeJS.ErrnoException) => cause.code !== "ENOENT" && cause.code !== "ENOTDIR",
    )
  return (await isThere("cluster")) || (await isThere(LOCATION))
}

/** Gives a file that root created to the owner of the folder, who could not start the service otherwise. */
export const handOver = async (placement: Placement, file: string): Promise<void> => {
  if (!isRoot()) return
  const { uid, gid } = await fs.stat(placement.folder)
  // The group of a folder of root's is the server's, which must not read these files.
  if (uid !== 0) await fs.lchown(file, uid, gid)
}

/** Makes a folder that only the server's user can enter. */
export const privateFolder = async (folder: string, owner: Owner | undefined): Promise<string> => {
  await fs.mkdir(folder, { recursive: true, mode: PRIVATE_MODE })
  if (!(await fs.lstat(folder)).isDirectory()) {
    throw new Failure.NotStarted({ reason: `${folder} must be a folder, not a link to one.`, detail: "" })
  }
  const handle = await Handover.openFolder(folder)
  try {
    await handle.chmod(PRIVATE_MODE)
    if (owner !== undefined) await Handover.giveOpen(handle, folder, owner)
  } finally {
    await handle.close()
  }
  return folder
}
