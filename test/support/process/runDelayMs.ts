import { readFileSync } from "node:fs"

/** Returns the time for which the main thread of a process was ready to run and had no processor; 0 outside Linux. */
export const runDelayMs = (pid: number): number => {
  try {
    const [, waited = "0"] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")
    return Number(waited) / 1e6
  } catch {
    return 0
  }
}

/** Time on a clock that stands while this process or the other waits for a processor: what a busy machine adds is none of theirs. */
export const steadyMs = (pid: number): number => performance.now() - runDelayMs(process.pid) - runDelayMs(pid)
