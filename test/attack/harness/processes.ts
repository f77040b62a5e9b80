import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

const PAGE_KIB = 1024

/** Resident memory of a process, 0 once it is gone. */
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

/** Processor time of a process in milliseconds, all its threads together; `undefined` where the system does not tell. */
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
