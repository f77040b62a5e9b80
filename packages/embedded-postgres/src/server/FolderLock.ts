import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import * as Address from "../ownership/Address.ts"
import * as Failure from "../system/Failure.ts"
import type { Placement } from "../ownership/Placement.ts"
import * as Process from "../system/Process.ts"

const LOCK = "holder"
/** Each round removes the lock of a dead process. More than a few rounds indicate an error. */
const TAKEOVER_ROUNDS = 10

/** Interval at which a holder touches its lock, for processes in other containers or machines. */
export const TOUCH_EVERY_MS = 1_000
/** A lock that is not touched for this time is left over. */
export const WATCH_MS = 5_000
const CHECK_EVERY_MS = 200

interface Record {
  readonly pid: number
  readonly started: string
  /** Host, pid namespace and boot in which the pid is valid; absent in a lock of an earlier version. */
  readonly home: string | undefined
}

const parse = (text: string): Record | undefined => {
  const [pid, started, home] = text.trim().split(" ")
  return pid === undefined || started === undefined ? undefined : { pid: Number(pid), started, home }
}

/** Identifies where a pid is valid. In another container or after a reboot the same pid is another process. */
const ownHome = async (): Promise<string> => {
  const namespace = await fs.readlink("/proc/self/ns/pid").catch(() => "")
  const boot = await fs.readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")
  return [os.hostname(), namespace, boot.trim()].join("/").replaceAll(" ", "_")
}

const refuseIfAlive = async (placement: Placement, lock: string, text: string, home: string): Promise<void> => {
  const record = parse(text)
  if (record === undefined) return
  if (record.home !== undefined && record.home !== home) return await refuseIfElsewhere(placement, lock, record)
  const alive = await Process.find(record.pid)
  if (alive !== undefined && alive.started === record.started) {
    throw new Failure.FolderHeld({ folder: placement.folder, pid: alive.pid, command: alive.command })
  }
}

/**
 * Refuses if a process in another container or machine is alive: its server answers, or it touches its lock. Counts
 * observations instead of comparing clocks, so that a suspended process draws no conclusion.
 */
const refuseIfElsewhere = async (placement: Placement, lock: string, { home, pid }: Record): Promise<void> => {
  const touched = () =>
    fs.stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    )
  const before = await touched()
  for (let left = WATCH_MS; left >= 0; left -= CHECK_EVERY_MS) {
    const now = await touched()
    // The lock was released meanwhile.
    if (now === undefined) return
    if (now !== before || (await Address.isListening(placement))) {
      const [host = ""] = (home ?? "").split("/")
      throw new Failure.FolderHeld({
        folder: placement.folder,
        pid,
        command: `in another container or machine, ${host}`,
      })
    }
    await pause(CHECK_EVERY_MS)
  }
}

/** Moves a dead process's lock away. If another process was faster, its lock is put back. */
const clear = async (lock: string, expected: string): Promise<void> => {
  const aside = `${lock}.${process.pid}`
  await fs.rename(lock, aside).catch(() => undefined)
  const moved = await fs.readFile(aside, "utf8").catch(() => expected)
  if (moved !== expected) await fs.link(aside, lock).catch(() => undefined)
  await fs.rm(aside, { force: true })
}

/**
 * Touches the lock from now on, through its own file handle, so that it never touches another process's lock. Returns a
 * function that releases it.
 */
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
 * Locks the folder for one process. The lock of a dead process is taken over. Postgres also locks its data; this lock
 * exists to name the process that a person would have to stop.
 */
export const acquire = async (placement: Placement): Promise<() => Promise<void>> => {
  const lock = path.join(placement.home, LOCK)
  const own = await Process.find(process.pid)
  const home = await ownHome()
  const text = `${process.pid} ${own?.started ?? ""} ${home}\n`
  const draft = `${lock}.new.${process.pid}`
  // Readable by all, so that the folder's owner can read a lock that root left behind.
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
      const current = await fs.readFile(lock, "utf8").catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return undefined
        throw cause
      })
      if (current === undefined) continue
      await refuseIfAlive(placement, lock, current, home)
      await clear(lock, current)
    }
  } finally {
    await fs.rm(draft, { force: true })
  }
  throw new Failure.NotStarted({ reason: `${lock} cannot be acquired: other processes keep replacing it.`, detail: "" })
}
