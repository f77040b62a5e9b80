import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Handover from "./Handover.ts"
import * as Placement from "./Placement.ts"
import * as Process from "../system/Process.ts"
import * as Registry from "./Registry.ts"
import * as Users from "./Users.ts"

/** Mode of the server's folder: full access for root, passage for the server's group, none for others. */
const HOME_MODE = 0o710
/** Folders with files of several users. */
const COMMON_FOLDERS = ["/var/tmp", "/dev/shm", "/var/lib", "/home"]

/** Limits access to the server's folder to the server. A folder of another owner keeps its mode. */
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

/** Whether a process outside this cluster's server runs with this id. */
const isShared = async (placement: Placement.Placement, id: number): Promise<boolean> => {
  const cluster = Placement.cluster(placement)
  const processes = await Process.ofUser(id)
  return processes.some(({ command, folder }) => folder !== cluster && !command.includes(cluster))
}

/** Returns the id of this folder, unless another program uses it now. */
const existingId = async (
  placement: Placement.Placement,
  registry: string | undefined,
  clusterOwner: number | undefined,
): Promise<number | undefined> => {
  const registered = await Registry.find(registry, placement.folder)
  const id = registered ?? clusterOwner
  if (id === undefined || !(await Users.isServers(id))) return undefined
  if (await isShared(placement, id)) {
    if (registry !== undefined && registered !== undefined) await Registry.release(registry, id)
    return undefined
  }
  // A copied folder has the id that is registered for the original.
  return registry === undefined || (await Registry.claim(registry, id, [placement.folder, placement.home]))
    ? id
    : undefined
}

const newId = (placement: Placement.Placement, registry: string | undefined): Promise<number> =>
  Users.choose([os.tmpdir(), path.dirname(placement.home), placement.home, ...COMMON_FOLDERS], async (id) =>
    registry === undefined ? true : await Registry.claim(registry, id, [placement.folder, placement.home]),
  )

/**
 * Gives the server of this folder a user and group of its own, which no other program has, and changes the owner of the
 * cluster. Applies only if root runs the server, under the folder's lock, while no server runs. Without root the
 * placement is unchanged.
 */
export const settle = async (placement: Placement.Placement, rootHome: string): Promise<Placement.Placement> => {
  if (process.geteuid?.() !== 0 || placement.owner !== undefined) return placement
  const cluster = Placement.cluster(placement)
  const existing = await fs.lstat(cluster).catch(() => undefined)
  const registry = await Registry.open(rootHome)
  const id = (await existingId(placement, registry, existing?.uid)) ?? (await newId(placement, registry))
  await closeToOthers(placement.home, id)
  if (existing !== undefined && existing.uid !== id) await Handover.give(cluster, { uid: id, gid: id })
  return {
    ...placement,
    owner: { uid: id, gid: id, isNameless: true },
    registered: registry === undefined ? undefined : Registry.entryOf(registry, id),
  }
}
