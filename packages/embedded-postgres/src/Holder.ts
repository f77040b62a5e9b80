import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import * as Address from "./Address.ts"
import { FolderHeld, NotStarted } from "./Failure.ts"
import type { Placement } from "./Placement.ts"
import * as Process from "./Process.ts"

const LOCK = "holder"
/** Each round removes one lock of a dead process; more than a few would mean that something else is wrong. */
const TAKEOVER_ROUNDS = 10

/** A holder touches its lock so often, for those who cannot see its process. */
export const TOUCH_EVERY_MS = 1_000
/** A lock that nobody touched for so long while we looked is left over. */
export const WATCH_MS = 5_000
const LOOK_EVERY_MS = 200

interface Record {
  readonly pid: number
  readonly started: string
  /** Where the number means something; absent in a lock of an earlier version. */
  readonly home: string | undefined
}

const parse = (text: string): Record | undefined => {
  const [pid, started, home] = text.trim().split(" ")
  return pid === undefined || started === undefined ? undefined : { pid: Number(pid), started, home }
}

/** In another container, or after a boot, the same number is another process, or nobody that could be seen. */
const ownHome = async (): Promise<string> => {
  const namespace = await fs.readlink("/proc/self/ns/pid").catch(() => "")
  const boot = await fs.readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")
  return [os.hostname(), namespace, boot.trim()].join("/").replaceAll(" ", "_")
}

const refuseIfAlive = async (place: Placement, lock: string, text: string, home: string): Promise<void> => {
  const record = parse(text)
  if (record === undefined) return
  if (record.home !== undefined && record.home !== home) return await refuseIfElsewhere(place, lock, record)
  const alive = await Process.find(record.pid)
  if (alive !== undefined && alive.started === record.started) {
    throw new FolderHeld({ folder: place.folder, pid: alive.pid, command: alive.command })
  }
}

/**
 * A process that we cannot see lives as long as its server answers, or it touches its lock. No clocks are compared, and it
 * is looks that count: whoever was not run himself meanwhile has seen nothing.
 */
const refuseIfElsewhere = async (place: Placement, lock: string, { home, pid }: Record): Promise<void> => {
  const touched = () =>
    fs.stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    )
  const before = await touched()
  for (let left = WATCH_MS; left >= 0; left -= LOOK_EVERY_MS) {
    const now = await touched()
    // Given back meanwhile.
    if (now === undefined) return
    if (now !== before || (await Address.answers(place))) {
      const [host = ""] = (home ?? "").split("/")
      throw new FolderHeld({ folder: place.folder, pid, command: `in another container or machine, ${host}` })
    }
    await pause(LOOK_EVERY_MS)
  }
}

/** Moves the dead one's lock away; if it turns out that another process was faster, that one gets its lock back. */
const clear = async (lock: string, judged: string): Promise<void> => {
  const aside = `${lock}.${process.pid}`
  await fs.rename(lock, aside).catch(() => undefined)
  const moved = await fs.readFile(aside, "utf8").catch(() => judged)
  if (moved !== judged) await fs.link(aside, lock).catch(() => undefined)
  await fs.rm(aside, { force: true })
}

/** Touches the lock from now on, by its own handle, so that it is never another's; answers with how to give it back. */
const keep = async (lock: string, draft: string): Promise<() => Promise<void>> => {
  const handle = await fs.open(draft, "r+")
  const touch = async () => {
    const now = (performance.timeOrigin + performance.now()) / 1000
    await handle.utimes(now, now).catch(() => undefined)
  }
  const touching = setInterval(() => void touch(), TOUCH_EVERY_MS).unref()
  return async () => {
    clearInterval(touching)
    await handle.close()
    await fs.rm(lock, { force: true })
  }
}

/**
 * One process a folder. A lock whose process is dead is taken over; the server's own lock on its data stands behind
 * this one, which is here to name the process that a person would have to stop.
 */
export const acquire = async (place: Placement): Promise<() => Promise<void>> => {
  const lock = path.join(place.home, LOCK)
  const own = await Process.find(process.pid)
  const home = await ownHome()
  const text = `${process.pid} ${own?.started ?? ""} ${home}\n`
  const draft = `${lock}.new.${process.pid}`
  // Readable by all: a lock that root left behind must not be a riddle to the folder's owner.
  await fs.writeFile(draft, text, { mode: 0o644 })
  try {
    for (let round = 0; round < TAKEOVER_ROUNDS; round++) {
      const taken = await fs.link(draft, lock).then(
        () => true,
        (cause: NodeJS.ErrnoException) => {
          if (cause.code === "EEXIST") return false
          throw cause
        },
      )
      if (taken) return await keep(lock, draft)
      const found = await fs.readFile(lock, "utf8").catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return undefined
        throw cause
      })
      if (found === undefined) continue
      await refuseIfAlive(place, lock, found, home)
      await clear(lock, found)
    }
  } finally {
    await fs.rm(draft, { force: true })
  }
  throw new NotStarted({ reason: `${lock} changes hands faster than it can be taken.`, detail: "" })
}
