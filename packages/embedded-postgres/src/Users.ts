import { randomInt } from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { NotStarted } from "./Failure.ts"
import * as Process from "./Process.ts"

/** User ids and group ids share these ranges: a server has the same number as both. */
export interface Range {
  readonly first: number
  readonly last: number
}

/**
 * Above the ids of distributions, of systemd's containers (up to 1,879,048,191) and of directory services such as SSSD
 * and FreeIPA (up to 2,000,200,000); below those that systemd keeps for foreign images (from 2,147,352,576).
 */
export const PREFERRED: Range = { first: 2_100_000_000, last: 2_133_554_431 }
/** For a container whose user namespace maps the low 65,536 ids only: the upper end of what `adduser` gives to people. */
export const IN_SMALL_NAMESPACE: Range = { first: 40_000, last: 59_999 }
/** The user that a root's server ran as in earlier versions, where /etc/passwd has no `nobody`. */
const NOBODY_ID = 65_534
const NOBODY = "nobody"
/** Random ids that are tried before the start gives up. */
const MAX_TRIES = 100
/** Entries of one folder whose owners are looked at before a new id is chosen. */
const MAX_ENTRIES = 10_000

/** macOS writes the id of nobody as -2. */
const unsigned = (text: string | undefined) => Number(text) >>> 0

const read = (file: string) => fs.readFile(file, "utf8").catch(() => "")
const fields = (text: string) => text.split("\n").map((line) => line.split(":"))

/** The part of `range` that a user namespace maps; `map` is the text of /proc/self/uid_map or gid_map. */
export const mapped = (range: Range, map: string): ReadonlyArray<Range> =>
  map
    .split("\n")
    .flatMap((line) => {
      const [inside, , count] = line.trim().split(/\s+/u).map(Number)
      if (inside === undefined || count === undefined) return []
      return [{ first: Math.max(range.first, inside), last: Math.min(range.last, inside + count - 1) }]
    })
    .filter(({ first, last }) => first <= last)

/** The ids that may be given to a server here: the preferred range, or the low one where the preferred is not mapped. */
export const available = (uidMap: string, gidMap: string): ReadonlyArray<Range> => {
  for (const range of [PREFERRED, IN_SMALL_NAMESPACE]) {
    // A system without user namespaces has no maps and takes every id.
    const users = uidMap === "" ? [range] : mapped(range, uidMap)
    const both = gidMap === "" ? users : users.flatMap((each) => mapped(each, gidMap))
    if (both.length > 0) return both
  }
  return []
}

export const availableHere = async (): Promise<ReadonlyArray<Range>> =>
  available(await read("/proc/self/uid_map"), await read("/proc/self/gid_map"))

const isIn = (ranges: ReadonlyArray<Range>, id: number) => ranges.some(({ first, last }) => first <= id && id <= last)

/** Ids that /etc gives to a user, a group or the containers of a user. */
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

/** The owners of the entries of these folders; a folder that cannot be read has none. */
const ownersIn = async (folders: ReadonlyArray<string>): Promise<ReadonlySet<number>> => {
  const owners = new Set<number>()
  for (const folder of folders) {
    const names = await fs.readdir(folder).catch((): ReadonlyArray<string> => [])
    const stats = names.slice(0, MAX_ENTRIES).map((name) => fs.lstat(path.join(folder, name)).catch(() => undefined))
    for (const stat of await Promise.all(stats)) if (stat !== undefined) owners.add(stat.uid).add(stat.gid)
  }
  return owners
}

/** The user that every system has and many programs share. */
export const nobody = async (): Promise<{ readonly uid: number; readonly gid: number }> => {
  const line = fields(await read("/etc/passwd")).find(([name]) => name === NOBODY)
  return line === undefined ? { uid: NOBODY_ID, gid: NOBODY_ID } : { uid: unsigned(line[2]), gid: unsigned(line[3]) }
}

/** A user with a name, other than root: initdb and single-user mode refuse to run as an id without one. */
export const named = async (): Promise<number> => {
  const users = fields(await read("/etc/passwd"))
  const found = users.find(([name]) => name === NOBODY) ?? users.find(([, , id]) => unsigned(id) > 0)
  if (found === undefined)
    throw new NotStarted({ reason: "/etc/passwd names no user but root; initdb needs one.", detail: "" })
  return unsigned(found[2])
}

/** Tells of an id whether it can only be one that a start gave to a server: in range, and nobody's by /etc. */
export const serverIds = async (): Promise<(id: number) => boolean> => {
  const [ranges, isAssigned] = await Promise.all([availableHere(), assigned()])
  return (id) => isIn(ranges, id) && !isAssigned(id)
}

export const isServers = async (id: number): Promise<boolean> => (await serverIds())(id)

/** The first random id, of those available here, that belongs to no user, no process, no file in `folders`, and that `claim` accepts. */
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
  throw new NotStarted({
    reason: "Root found no user id for the embedded Postgres that nothing else here uses.",
    detail:
      "This container maps too few ids (/proc/self/uid_map). Run the service as a user other than root, or set DATABASE_URL.",
  })
}
