import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

const PAGE_KIB = 1024

/** Returns the resident memory of a process, 0 once the process has ended. */
export const rssBytes = (pid: number): number => {
  try {
    if (process.platform !== "linux")
      return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * PAGE_KIB
    const [, kib = "0"] = /^VmRSS:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return Number(kib) * PAGE_KIB
  } catch {
    return 0
  }
}

/**
 * Returns the processor time of a process in milliseconds, summed over its threads; `undefined` where the system does
 * not report the time.
 */
export const cpuMs = (pid: number): number | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    // Fields 14 and 15 of proc(5), in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return undefined
  }
}
