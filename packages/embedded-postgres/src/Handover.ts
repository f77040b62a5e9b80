import * as fs from "node:fs"
import { open } from "node:fs/promises"
import * as path from "node:path"
import { setImmediate as others, setTimeout as pause } from "node:timers/promises"
import { NotStarted } from "./Failure.ts"
import * as Process from "./Process.ts"
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

/** The part of a file handle that changing an owner needs. */
interface OpenFile {
  readonly chown: (uid: number, gid: number) => Promise<void>
  readonly stat: () => Promise<Ids>
}

/** A folder that is open, so that nobody can put another one in its place. */
interface Folder {
  readonly fd: number
  /** How people call it. */
  readonly name: string
}

/** The path of an entry, resolved by the kernel from the open folder itself where it can. */
const at = (folder: Folder, entry = ""): string =>
  path.join(process.platform === "linux" ? `/proc/self/fd/${folder.fd}` : folder.name, entry)

/** Not through a link in its last part. */
export const openFolder = (file: string) => open(file, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

const cannotGive = (name: string, { uid }: Ids, why: string) =>
  new NotStarted({
    reason: `${name} cannot be given to user ${uid}, as whom root's Postgres runs: ${why}.`,
    detail:
      "Use a folder on a file system that keeps owners (WAYBILL_DATA), run the service as a user other than root, or set DATABASE_URL.",
  })

const refusedBySystem = (name: string, to: Ids) => (cause: unknown) => {
  const { code, message } = cause as NodeJS.ErrnoException
  return cannotGive(name, to, code ?? message)
}

/** Some file systems ignore a change of owner, others write another id. */
const keptBySystem = (name: string, to: Ids, { gid, uid }: Ids): void => {
  if (uid !== to.uid || gid !== to.gid) throw cannotGive(name, to, "the file system does not keep the owner")
}

/** Changes the owner of an open file, or fails with what to do instead. */
export const giveOpen = async (handle: OpenFile, name: string, to: Ids): Promise<void> => {
  await handle.chown(to.uid, to.gid).catch((cause: unknown) => {
    throw refusedBySystem(name, to)(cause)
  })
  keptBySystem(name, to, await handle.stat())
}

const giveSync = (fd: number, name: string, to: Ids): void => {
  try {
    fs.fchownSync(fd, to.uid, to.gid)
  } catch (cause) {
    throw refusedBySystem(name, to)(cause)
  }
  keptBySystem(name, to, fs.fstatSync(fd))
}

/** Owners from which root takes a file over: servers that root ran before, and root itself. */
const takesFrom = async (to: Ids): Promise<(uid: number) => boolean> => {
  const known = new Set([ROOT, to.uid, (await Users.nobody()).uid, await Users.named()])
  const isServers = await Users.serverIds()
  return (uid) => known.has(uid) || isServers(uid)
}

interface Visit {
  readonly to: Ids
  readonly device: number
  readonly takesFrom: (uid: number) => boolean
  /** False for the first walk, which only looks for reasons to refuse. */
  readonly changes: boolean
}

const refuse = (name: string, why: string, detail: string): never => {
  throw new NotStarted({ reason: `${name} ${why}.`, detail })
}

/** A link is not followed and not changed: who made the folder could have pointed it anywhere. */
const visitLink = (folder: Folder, entry: string, { to }: Visit): void => {
  const name = path.join(folder.name, entry)
  const target = fs.statSync(at(folder, entry), { throwIfNoEntry: false })
  if (target?.uid === to.uid) return
  refuse(name, "is a symbolic link, which is not followed", `Remove it, or give what it names to user ${to.uid}.`)
}

const judge = (
  name: string,
  { dev, isFile, nlink, uid }: Pick<fs.Stats, "dev" | "nlink" | "uid"> & { isFile: boolean },
  visit: Visit,
) => {
  if (dev !== visit.device) refuse(name, "is on another file system", "Unmount it.")
  if (!visit.takesFrom(uid)) refuse(name, `belongs to user ${uid}`, "Remove it, or give it to root.")
  // A second name of a file of root's could be /etc/shadow.
  if (uid === ROOT && isFile && nlink > 1) refuse(name, "is a file of root's with other names", "Remove it.")
}

/** Synchronous calls take a tenth of the time of asynchronous ones here: 1,000 files in some 30 ms. */
const visitEntry = async (folder: Folder, entry: string, visit: Visit): Promise<void> => {
  const name = path.join(folder.name, entry)
  const seen = fs.lstatSync(at(folder, entry))
  if (seen.isSymbolicLink()) return visitLink(folder, entry, visit)
  if (!seen.isDirectory() && !seen.isFile()) return refuse(name, "is neither a file nor a folder", "Remove it.")
  const fd = fs.openSync(at(folder, entry), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const opened = fs.fstatSync(fd)
    judge(name, { dev: opened.dev, isFile: opened.isFile(), nlink: opened.nlink, uid: opened.uid }, visit)
    if (opened.isDirectory()) await visitAll({ fd, name }, visit)
    if (visit.changes && opened.uid !== visit.to.uid) giveSync(fd, name, visit.to)
  } finally {
    fs.closeSync(fd)
  }
}

/** Others have their turn between two folders. */
const visitAll = async (folder: Folder, visit: Visit): Promise<void> => {
  await others()
  for (const entry of fs.readdirSync(at(folder))) await visitEntry(folder, entry, visit)
}

/** Waits until no process of the former owner uses the folder: an open file stays writable whoever owns it later. */
const unused = async (folder: string, uid: number): Promise<void> => {
  const until = performance.now() + IN_USE_MS
  for (;;) {
    const candidates = uid === ROOT ? [] : await Process.ofUser(uid)
    const uses = await Promise.all(candidates.map(({ pid }) => Process.uses(pid, folder)))
    const found = candidates.find((_, index) => uses[index] === true)
    if (found === undefined) return
    if (performance.now() > until)
      refuse(folder, `is in use by process ${found.pid} (${found.command})`, "Stop that process.")
    await pause(RETRY_MS)
  }
}

/**
 * Gives a cluster that no server runs on to another user. The folder itself is root's and closed meanwhile, and is given
 * last: a start that finds it root's knows that an earlier one was killed in between, and does it again.
 */
export const give = async (folder: string, to: Ids): Promise<void> => {
  const handle = await openFolder(folder)
  try {
    const before = await handle.stat()
    await giveOpen(handle, folder, { uid: ROOT, gid: ROOT })
    const visit = { to, device: before.dev, takesFrom: await takesFrom(to), changes: false }
    try {
      await unused(folder, before.uid)
      await visitAll({ fd: handle.fd, name: folder }, visit)
    } catch (cause) {
      // Nothing was changed yet, so the former owner's server works as before.
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
