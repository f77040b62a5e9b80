import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Handover from "./Handover.ts"
import * as Placement from "./Placement.ts"
import * as Process from "./Process.ts"
import * as Registry from "./Registry.ts"
import * as Users from "./Users.ts"

/** The folder of a server: root may do everything, the server's own group may pass, everybody else is refused. */
const HOME_MODE = 0o710
/** Where files of other users lie side by side. */
const COMMON_FOLDERS = ["/var/tmp", "/dev/shm", "/var/lib", "/home"]

/** Opens the way into the server's folder to the server alone. A folder of somebody else's keeps the mode they chose. */
const closeToOthers = async (home: string, gid: number): Promise<void> => {
  const handle = await Handover.openFolder(home)
  try {
    if ((await handle.stat()).uid !== 0) return
    await Handover.giveOpen(handle, home, { uid: 0, gid })
    await handle.chmod(HOME_MODE)
  } finally {
    await handle.close()
  }
}

/** Whether a process runs as this id that is not a process of this cluster's server. */
const isShared = async (place: Placement.Placement, id: number): Promise<boolean> => {
  const cluster = Placement.cluster(place)
  const found = await Process.ofUser(id)
  return found.some(({ command, folder }) => folder !== cluster && !command.includes(cluster))
}

/** The id that this folder has, unless something else uses that id by now. */
const kept = async (
  place: Placement.Placement,
  registry: string | undefined,
  clusterOwner: number | undefined,
): Promise<number | undefined> => {
  const registered = await Registry.find(registry, place.folder)
  const id = registered ?? clusterOwner
  if (id === undefined || !(await Users.isServers(id))) return undefined
  if (await isShared(place, id)) {
    if (registry !== undefined && registered !== undefined) await Registry.release(registry, id)
    return undefined
  }
  // A copy of another folder has that one's id, which is registered for the original.
  return registry === undefined || (await Registry.claim(registry, id, [place.folder, place.home])) ? id : undefined
}

const chosen = (place: Placement.Placement, registry: string | undefined): Promise<number> =>
  Users.choose([os.tmpdir(), path.dirname(place.home), place.home, ...COMMON_FOLDERS], async (id) =>
    registry === undefined ? true : await Registry.claim(registry, id, [place.folder, place.home]),
  )

/**
 * Gives the server of this folder a user and a group of its own, which no other program has, and the cluster to them.
 * Only for root's servers, under the folder's lock, and while no server runs. Without root the place stays as it is.
 */
export const settle = async (place: Placement.Placement, rootHome: string): Promise<Placement.Placement> => {
  if (process.geteuid?.() !== 0 || place.owner !== undefined) return place
  const cluster = Placement.cluster(place)
  const existing = await fs.lstat(cluster).catch(() => undefined)
  const registry = await Registry.open(rootHome)
  const id = (await kept(place, registry, existing?.uid)) ?? (await chosen(place, registry))
  await closeToOthers(place.home, id)
  if (existing !== undefined && existing.uid !== id) await Handover.give(cluster, { uid: id, gid: id })
  return {
    ...place,
    owner: { uid: id, gid: id, isNameless: true },
    registered: registry === undefined ? undefined : Registry.entryOf(registry, id),
  }
}
