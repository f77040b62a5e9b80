import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Binaries from "./Binaries.ts"
import { NotStarted } from "./Failure.ts"
import * as Handover from "./Handover.ts"
import * as RootFolder from "./RootFolder.ts"
import * as Users from "./Users.ts"

/** Where root keeps what an unprivileged user must be able to enter; it survives a reboot, and only root writes there. */
export const ROOT_HOME = "/var/lib/waybill"
/** Says where the data lies when it could not lie in the folder itself. */
const LOCATION = "location"
const PRIVATE_MODE = 0o700

export interface Owner {
  readonly uid: number
  readonly gid: number
  /** A user of the server's own, of which /etc/passwd knows nothing. */
  readonly isNameless?: boolean
}

/** A user whom no folder belongs to, so that only what everybody may do is open to it. */
const STRANGER: Owner = { uid: -1, gid: -1 }

export interface Placement {
  /** What the caller named: password, log and record live here. */
  readonly folder: string
  /** Where cluster, lock and socket live: the same folder unless its user cannot get in there. */
  readonly home: string
  /** Whom the server runs as, when not as ourselves. Root's own server has one once `Ownership.settle` gave it one. */
  readonly owner: Owner | undefined
  /** The file in which root has registered the server's user. */
  readonly registered?: string | undefined
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

const mended = async (copies: string): Promise<Binaries.Binaries> => {
  const found = await Binaries.find()
  return Binaries.mend(found.folder).then(
    () => found,
    // The package belongs to somebody else, or to a read-only image.
    () => Binaries.copyInto(found, copies),
  )
}

const existingCluster = (folder: string) => fs.stat(path.join(folder, "cluster")).catch(() => undefined)

/** Whether data of a user's lies in the folder, or the folder is closed to us, which is how root keeps its own. */
const isOfAnother = async (folder: string): Promise<boolean> => {
  const look = (name: string) =>
    fs.stat(path.join(folder, name)).catch((cause: NodeJS.ErrnoException) => cause.code ?? cause.message)
  const [existing, moved] = await Promise.all([look("cluster"), look(LOCATION)])
  if (existing === "EACCES" || moved === "EACCES" || typeof moved !== "string") return true
  return typeof existing !== "string" && existing.uid !== process.geteuid?.()
}

const findAsUser = async (folder: string, installed: string | undefined): Promise<Placement> => {
  if (await isOfAnother(folder)) {
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

/** Whether a server can be given a way into the folder: root can open its own folders to one server alone. */
const canEnter = async (folder: string, person: Owner | undefined, hasCluster: boolean): Promise<boolean> => {
  if (person !== undefined) return await enters(folder, person)
  if ((await fs.stat(folder)).uid === 0) return await enters(path.dirname(folder), STRANGER)
  return hasCluster && (await enters(folder, STRANGER))
}

/**
 * The folder itself where the server can be given a way in, else a new one in root's home, found again through a record
 * in the folder. What once has data stays where it is: a mode that changes must not look like an empty database.
 */
const homeFor = async (
  folder: string,
  person: Owner | undefined,
  hasCluster: boolean,
  rootHome: string,
): Promise<string> => {
  const file = path.join(folder, LOCATION)
  const recorded = await fs.readFile(file, "utf8").catch(() => undefined)
  if (recorded !== undefined) return await RootFolder.trusted(recorded.trim())
  if (await canEnter(folder, person, hasCluster)) return folder
  if (hasCluster) {
    throw new NotStarted({
      reason: `The user whose server uses the data in ${folder} can no longer enter that folder.`,
      detail: "Give the folders above it back their permission to pass (chmod o+x).",
    })
  }
  return await record(file, await fs.mkdtemp(path.join(await RootFolder.make(rootHome), "data-")))
}

/**
 * The person who made the cluster before root started a server on it: it stays theirs, and they can have it back. None
 * where a server of root's made it, as a user of its own or, in earlier versions, as nobody.
 */
const personOf = async (folder: string): Promise<Owner | undefined> => {
  const existing = await existingCluster(folder)
  if (existing === undefined || existing.uid === 0) return undefined
  const { gid, uid } = existing
  if ((await fs.stat(folder)).uid === uid) return { uid, gid }
  return uid === (await Users.nobody()).uid || (await Users.isServers(uid)) ? undefined : { uid, gid }
}

const findAsRoot = async (folder: string, rootHome: string, installed: string | undefined): Promise<Placement> => {
  const person = await personOf(folder)
  const home = await homeFor(folder, person, (await existingCluster(folder)) !== undefined, rootHome)
  const binaries =
    installed === undefined ? await ofNpm(home, person ?? STRANGER, rootHome) : await Binaries.installed(installed)
  return { folder, home, owner: person, binaries }
}

const ofNpm = async (home: string, owner: Owner, rootHome: string): Promise<Binaries.Binaries> => {
  const found = await mended(home)
  return (await readsBinaries(found.folder, owner)) ? found : Binaries.copyInto(found, await RootFolder.make(rootHome))
}

export const find = async (dataFolder: string, rootHome: string, installed?: string): Promise<Placement> => {
  if (process.platform === "win32") {
    throw new NotStarted({
      reason: "The embedded Postgres does not run on Windows. Use WSL, or set DATABASE_URL to a server of your own.",
      detail: "",
    })
  }
  const isNew = (await fs.mkdir(dataFolder, { recursive: true })) !== undefined
  if (isNew) await fs.chmod(dataFolder, PRIVATE_MODE)
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
  // The group of root's own folder is that of the server, to whom these files are closed.
  if (uid !== 0) await fs.lchown(file, uid, gid)
}

/** A folder that only the one who serves may enter. */
export const privateFolder = async (folder: string, owner: Owner | undefined): Promise<string> => {
  await fs.mkdir(folder, { recursive: true, mode: PRIVATE_MODE })
  if (!(await fs.lstat(folder)).isDirectory()) {
    throw new NotStarted({ reason: `${folder} must be a folder and not a link to one.`, detail: "" })
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
