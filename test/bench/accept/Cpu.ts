import { readdirSync, readFileSync } from "node:fs"

/** Length of a Linux clock tick in milliseconds; a hundredth of a second on every platform. */
const TICK_MILLIS = 10

interface Stat {
  readonly parent: number
  readonly ticks: number
  /** Time of children that have ended. */
  readonly ended: number
}

/**
 * Reads a process's times from /proc (proc(5)). The second field is a name that may hold any character, so fields are
 * counted from its closing parenthesis.
 */
const stat = (pid: number | string): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number)
    const field = (nth: number) => fields[nth - 3] ?? 0
    return { parent: field(4), ticks: field(14) + field(15), ended: field(16) + field(17) }
  } catch {
    return undefined
  }
}

export const ofProcess = (pid: number): number => (stat(pid)?.ticks ?? 0) * TICK_MILLIS

/** Processor time of several processes, without others below them. */
export const ofProcesses = (pids: ReadonlyArray<number>): number => pids.reduce((sum, pid) => sum + ofProcess(pid), 0)

/** Processor time of a process and all below it, including those that have ended and were waited for. */
export const ofTree = (root: number): number => {
  const stats = new Map<number, Stat>()
  const below = new Map<number, Array<number>>()
  for (const name of readdirSync("/proc")) {
    const own = /^\d+$/u.test(name) ? stat(name) : undefined
    if (own === undefined) continue
    stats.set(Number(name), own)
    below.set(own.parent, [...(below.get(own.parent) ?? []), Number(name)])
  }
  const sum = (pid: number): number => {
    const { ended = 0, ticks = 0 } = stats.get(pid) ?? {}
    return (below.get(pid) ?? []).reduce((total, child) => total + sum(child), ticks + ended)
  }
  return sum(root) * TICK_MILLIS
}

/** Processor time of everything on the machine, and what its host took from it (proc_stat(5)). */
export const ofMachine = (): number => {
  const [user = 0, nice = 0, system = 0, _idle, _wait, interrupts = 0, soft = 0, stolen = 0] =
    readFileSync("/proc/stat", "latin1").split("\n", 1)[0]?.split(/ +/u).slice(1).map(Number) ?? []
  return (user + nice + system + interrupts + soft + stolen) * TICK_MILLIS
}
