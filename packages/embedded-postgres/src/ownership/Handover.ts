import * as fs from "node:fs"
import { open } from "node:fs/promises"
import * as path from "node:path"
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises"
import * as Failure from "../system/Failure.ts"
import * as Process from "../system/Process.ts"
import * as Users from "./Users.ts"

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants
const ROOT = 0
/** Processes of a killed server end within moments. */
const IN_USE_MS = 5_000
const RETRY_MS = 100

export interface Ids {
  readonly uid: number
  readonly gid: number
}

/** The methods of a file handle that a change of owner needs. */
interface OpenFile {
  readonly chown: (uid: number, gid: number) => Promise<void>
  readonly stat: () => Promise<Ids>
}

/** An open folder, so that nobody can replace it by another one. */
interface Folder {
  readonly fd: number
  /** Path for messages. */
  readonly name: string
}

/** Returns the path of an entry. On Linux the kernel resolves it from the open folder. */
const at = (folder: Folder, entry = ""): string =>
  path.join(process.platform === "linux" ? `/proc/self/fd/${folder.fd}` : folder.name, entry)

/** Opens a folder, but not through a symbolic link in the last part. */
export const openFolder = (file: string) => open(file, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

const ownerNotChanged = (name: string, { uid }: Ids, problem: string) =>
  new Failure.NotStarted({
    reason: `The owner of ${name} cannot be changed to user ${uid}, which runs root's Postgres: ${problem}.`,
    detail:
      "Use a folder on a file system that supports owners (WAYBILL_DATA), run the service as a user other than root, or set DATABASE_URL.",
  })

const refusedBySystem = (name: string, to: Ids) => (cause: unknown) => {
  const { code, message } = cause as NodeJS.ErrnoException
  return ownerNotChanged(name, to, code ?? message)
}

/** Checks that the owner has changed. Some file systems ignore a change of owner or store another id. */
const checkOwner = (name: string, to: Ids, { gid, uid }: Ids): void => {
  if (uid !== to.uid || gid !== to.gid) throw ownerNotChanged(name, to, "the file system does not store the owner")
}

/** Changes the owner of an open file, or fails with a suggestion. */
export const giveOpen = async (handle: OpenFile, name: string, to: Ids): Promise<void> => {
  await handle.chown(to.uid, to.gid).catch((cause: unknown) => {
    throw refusedBySystem(name, to)(cause)
  })
  checkOwner(name, to, await handle.stat())
}

const giveSync = (fd: number, name: string, to: Ids): void => {
  try {
    fs.fchownSync(fd, to.uid, to.gid)
  } catch (cause) {
    throw refusedBySystem(name, to)(cause)
  }
  checkOwner(name, to, fs.fstatSync(fd))
}

/** Returns the owners whose files root may take over: servers that root ran before, and root itself. */
const takesFrom = async (to: Ids): Promise<(uid: number) => boolean> => {
  const owners = new Set([ROOT, to.uid, (await Users.nobody()).uid, await Users.named()])
  const isServers = await Users.serverIds()
  return (uid) => owners.has(uid) || isServers(uid)
}

interface Visit {
  readonly to: Ids
  readonly device: number
  readonly takesFrom: (uid: number) => boolean
  /** False for the first pass, which only checks. */
  readonly changes: boolean
}

const refuse = (name: string, problem: string, detail: string): never => {
  throw new Failure.NotStarted({ reason: `${name} ${problem}.`, detail })
}

/**
 * Refuses a symbolic link. Following one is unsafe, because the creator of the folder could have pointed it anywhere.
 */
const visitLink = (folder: Folder, entry: string, { to }: Visit): void => {
  const name = path.join(folder.name, entry)
  const target = fs.statSync(at(folder, entry), { throwIfNoEntry: false })
  if (target?.uid === to.uid) return
  refuse(
    name,
    "is a symbolic link, which is not followed",
    `Remove it, or change the owner of its target to user ${to.uid}.`,
  )
}

const check = (
  name: string,
  { dev, isFile, nlink, uid }: Pick<fs.Stats, "dev" | "nlink" | "uid"> & { isFile: boolean },
  visit: Visit,
) => {
  if (dev !== visit.device) refuse(name, "is on another file system", "Unmount it.")
  if (!visit.takesFrom(uid)) refuse(name, `belongs to user ${uid}`, "Remove it, or change its owner to root.")
  // A hard link to a file of root's could be /etc/shadow.
  if (uid === ROOT && isFile && nlink > 1) refuse(name, "is a file of root's with several hard links", "Remove it.")
}

/**
 * Visits one entry. Synchronous calls take a tenth of the time of asynchronous ones here: 1,000 files in about 30 ms.
 */
const visitEntry = async (folder: Folder, entry: string, visit: Visit): Promise<void> => {
  const name = path.join(folder.name, entry)
  const stat = fs.lstatSync(at(folder, entry))
  if (stat.isSymbolicLink()) return visitLink(folder, entry, visit)
  if (!stat.isDirectory() && !stat.isFile()) return refuse(name, "is neither a file nor a folder", "Remove it.")
  const fd = fs.openSync(at(folder, entry), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const opened = fs.fstatSync(fd)
    check(name, { dev: opened.dev, isFile: opened.isFile(), nlink: opened.nlink, uid: opened.uid }, visit)
    if (opened.isDirectory()) await visitAll({ fd, name }, visit)
    if (visit.changes && opened.uid !== visit.to.uid) giveSync(fd, name, visit.to)
  } finally {
    fs.closeSync(fd)
  }
}

/** Visits all entries of a folder, and yields to other work between folders. */
const visitAll = async (folder: Folder, visit: Visit): Promise<void> => {
  await nextTurn()
  for (const entry of fs.readdirSync(at(folder))) await visitEntry(folder, entry, visit)
}

/** Waits until no process of the former owner uses the folder: an open file stays writable after a change of owner. */
const waitUntilUnused = async (folder: string, uid: number): Promise<void> => {
  const until = performance.now() + IN_USE_MS
  for (;;) {
    const candidates = uid === ROOT ? [] : await Process.ofUser(uid)
    const uses = await Promise.all(candidates.map(({ pid }) => Process.uses(pid, folder)))
    const user = candidates.find((_, index) => uses[index] === true)
    if (user === undefined) return
    if (performance.now() > until)
      refuse(folder, `is in use by process ${user.pid} (${user.command})`, "Stop that process.")
    await pause(RETRY_MS)
  }
}

/**
 * Gives a cluster without a running server to another user. The folder itself belongs to root and is closed meanwhile,
 * and gets its new owner last: a later start that finds it owned by root knows that this one was interrupted, and
 * repeats it.
 */
export const give = async (folder: string, to: Ids): Promise<void> => {
  const handle = await openFolder(folder)
  try {
    const before = await handle.stat()
    await giveOpen(handle, folder, { uid: ROOT, gid: ROOT })
    const visit = { to, device: before.dev, takesFrom: await takesFrom(to), changes: false }
    try {
      await waitUntilUnused(folder, before.uid)
      await visitAll({ fd: handle.fd, name: folder }, visit)
    } catch (cause) {
      // Nothing has changed yet, so the former owner's server works as before.
      await handle.chown(before.uid, before.gid)
      throw cause
    }
    await visitAll({ fd: handle.fd, name: folder }, { ...visit, changes: true })
    await handle.sync()
    await giveOpen(handle, folder, to)
  } finally {
    await handle.close()
  }
}
