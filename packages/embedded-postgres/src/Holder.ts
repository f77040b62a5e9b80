import * as fs from "node:fs/promises"
import * as path from "node:path"
import { FolderHeld, NotStarted } from "./Failure.ts"
import type { Placement } from "./Placement.ts"
import * as Process from "./Process.ts"

const LOCK = "holder"
/** Each round removes one lock of a dead process; more than a few would mean that something else is wrong. */
const TAKEOVER_ROUNDS = 10

interface Record {
  readonly pid: number
  readonly started: string
}

const parse = (text: string): Record | undefined => {
  const [pid, started] = text.trim().split(" ")
  return pid === undefined || started === undefined ? undefined : { pid: Number(pid), started }
}

const refuseIfAlive = async (place: Placement, text: string): Promise<void> => {
  const record = parse(text)
  const alive = record === undefined ? undefined : await Process.find(record.pid)
  if (alive !== undefined && alive.started === record?.started) {
    throw new FolderHeld({ folder: place.folder, pid: alive.pid, command: alive.command })
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

/**
 * One process a folder. A lock whose process is dead is taken over; the server's own lock on its data stands behind
 * this one, which is here to name the process that a person would have to stop.
 */
export const acquire = async (place: Placement): Promise<() => Promise<void>> => {
  const lock = path.join(place.home, LOCK)
  const own = await Process.find(process.pid)
  const text = `${process.pid} ${own?.started ?? ""}\n`
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
      if (taken) return () => fs.rm(lock, { force: true })
      const found = await fs.readFile(lock, "utf8").catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return undefined
        throw cause
      })
      if (found === undefined) continue
      await refuseIfAlive(place, found)
      await clear(lock, found)
    }
  } finally {
    await fs.rm(draft, { force: true })
  }
  throw new NotStarted({ reason: `${lock} changes hands faster than it can be taken.`, detail: "" })
}
