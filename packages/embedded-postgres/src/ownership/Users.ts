import { randomInt } from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Failure from "../system/Failure.ts"
import * as Process from "../system/Process.ts"

/** A range of user and group ids. A server has the same number as both. */
export interface Range {
  readonly first: number
  readonly last: number
}

/**
 * Above the ids of distributions, of systemd containers (up to 1,879,048,191) and of directory services such as SSSD
 * and FreeIPA (up to 2,000,200,000); below those that systemd reserves for foreign images (from 2,147,352,576).
 */
export const PREFERRED: Range = { first: 2_100_000_000, last: 2_133_554_431 }
/**
 * For a container whose user namespace maps only the low 65,536 ids: the upper end of the range that `adduser` uses.
 */
export const IN_SMALL_NAMESPACE: Range = { first: 40_000, last: 59_999 }
/** The user of root's servers in earlier versions, if /etc/passwd has no `nobody`. */
const NOBODY_ID = 65_534
const NOBODY = "nobody"
/** Maximum number of random ids that are tried. */
const MAX_TRIES = 100
/** Maximum number of entries per folder whose owners are checked before a new id is chosen. */
const MAX_ENTRIES = 10_000

/** Converts an id to unsigned: macOS writes the id of nobody as -2. */
const unsigned = (text: string | undefined) => Number(text) >>> 0

const read = (file: string) => fs.readFile(file, "utf8").catch(() => "")
const fields = (text: string) => text.split("\n").map((line) => line.split(":"))

/** Returns the part of `range` that a user namespace maps. `map` is the text of /proc/self/uid_map or gid_map. */
export const mapped = (range: Range, map: string): ReadonlyArray<Range> =>
  map
    .split("\n")
    .flatMap((line) => {
      const [inside, , count] = line.trim().split(/\s+/u).map(Number)
      if (inside === undefined || count === undefined) return []
      return [{ first: Math.max(range.first, inside), last: Math.min(range.last, inside + count - 1) }]
    })
    .filter(({ first, last }) => first <= last)

/** Returns the ids that a server may get: the preferred range, or the low one if the preferred is not mapped. */
export const available = (uidMap: string, gidMap: string): ReadonlyArray<Range> => {
  for (const range of [PREFERRED, IN_SMALL_NAMESPACE]) {
    // A system without user namespaces has no maps and accepts every id.
    const users = uidMap === "" ? [range] : mapped(range, uidMap)
    const both = gidMap === "" ? users : users.flatMap((each) => mapped(each, gidMap))
    if (both.length > 0) return both
  }
  return []
}

export const availableHere = async (): Promise<ReadonlyArray<Range>> =>
  available(await read("/proc/self/uid_map"), await read("/proc/self/gid_map"))

const isIn = (ranges: ReadonlyArray<Range>, id: number) => ranges.some(({ first, last }) => first <= id && id <= last)

/** Returns a test for ids that /etc assigns to a user, a group or a user's containers. */
const assigned = async (): Promise<(id: number) => boolean> => {
  const [passwd, group, subuid, subgid] = await Promise.all(
    ["passwd", "group", "subuid", "subgid"].map(async (name) => fields(await read(`/etc/${name}`))),
  )
  const named = new Set([...(passwd ?? []), ...(group ?? [])].map(([, , id]) => unsigned(id)))
  const delegated = [...(subuid ?? []), ...(subgid ?? [])].map(([, start, count]) => ({
    first: Number(start),
    last: Number(start) + Number(count) - 1,
  }))
  return (id) => named.has(id) || isIn(delegated, id)
}

/** Returns the owners of the entries of these folders. A folder without read access has none. */
const ownersIn = async (folders: ReadonlyArray<string>): Promise<ReadonlySet<number>> => {
  const owners = new Set<number>()
  for (const folder of folders) {
    const names = await fs.readdir(folder).catch((): ReadonlyArray<string> => [])
    const stats = names.slice(0, MAX_ENTRIES).map((name) => fs.lstat(path.join(folder, name)).catch(() => undefined))
    for (const stat of await Promise.all(stats)) if (stat !== undefined) owners.add(stat.uid).add(stat.gid)
  }
  return owners
}

/** Returns the user nobody, which every system has and many programs share. */
export const nobody = async (): Promise<{ readonly uid: number; readonly gid: number }> => {
  const line = fields(await read("/etc/passwd")).find(([name]) => name === NOBODY)
  return line === undefined ? { uid: NOBODY_ID, gid: NOBODY_ID } : { uid: unsigned(line[2]), gid: unsigned(line[3]) }
}

/** Returns a user with a name, other than root: initdb and single-user mode refuse to run as an id without one. */
export const named = async (): Promise<number> => {
  const users = fields(await read("/etc/passwd"))
  const user = users.find(([name]) => name === NOBODY) ?? users.find(([, , id]) => unsigned(id) > 0)
  if (user === undefined)
    throw new Failure.NotStarted({
      reason: "/etc/passwd has no user other than root, which initdb requires.",
      detail: "",
    })
  return unsigned(user[2])
}

/** Returns a test for ids that only a start can have given to a server: in range, and not assigned in /etc. */
export const serverIds = async (): Promise<(id: number) => boolean> => {
  const [ranges, isAssigned] = await Promise.all([availableHere(), assigned()])
  return (id) => isIn(ranges, id) && !isAssigned(id)
}

export const isServers = async (id: number): Promise<boolean> => (await serverIds())(id)

/** Returns a random id of `among`, by default of all ids available here, that no user, process or file in `folders` has and that `claim` accepts. */
export const choose = async (
  folders: ReadonlyArray<string>,
  claim: (id: number) => Promise<boolean>,
  among?: ReadonlyArray<Range>,
): Promise<number> => {
  const ranges = among ?? (await availableHere())
  const isAssigned = await assigned()
  const owners = await ownersIn(folders)
  for (let left = MAX_TRIES; left > 0 && ranges.length > 0; left--) {
    const { first, last } = ranges[randomInt(ranges.length)] ?? PREFERRED
    const id = randomInt(first, last + 1)
    if (isAssigned(id) || owners.has(id) || (await Process.ofUser(id)).length > 0) continue
    if (await claim(id)) return id
  }
  throw new Failure.NotStarted({
    reason: "No unused user id was found for the embedded Postgres.",
    detail:
      "This container maps too few ids (/proc/self/uid_map). Run the service as a user other than root, or set DATABASE_URL.",
  })
}
