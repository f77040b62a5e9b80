import { readdirSync, readFileSync } from "node:fs"

/** Linux counts in these; it has been a hundredth of a second on every platform for decades. */
const TICK_MILLIS = 10

interface Stat {
  readonly parent: number
  readonly ticks: number
  /** Those of its children that have ended. */
  readonly ended: number
}

/** proc(5): the second field is a name that may hold anything, so all is counted from its closing bracket. */
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

/** A Postgres with all its backends, those that have come and gone included. */
export const ofPostgres = (postmaster: number): number => {
  const own = stat(postmaster)
  let ticks = (own?.ticks ?? 0) + (own?.ended ?? 0)
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/u.test(name)) continue
    const found = stat(name)
    if (found?.parent === postmaster) ticks += found.ticks
  }
  return ticks * TICK_MILLIS
}
