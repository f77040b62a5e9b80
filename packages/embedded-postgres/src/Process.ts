import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { promisify } from "node:util"

const run = promisify(execFile)

/** What tells a process from a later one that got the same number. */
export interface Process {
  readonly pid: number
  readonly started: string
  readonly command: string
}

const missing = () => undefined

const fromProc = async (pid: number): Promise<Process | undefined> => {
  const stat = await fs.readFile(`/proc/${pid}/stat`, "utf8").catch(missing)
  if (stat === undefined) return undefined
  // The second field, the name, is in brackets and may itself hold brackets and spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  // A zombie answers to signal 0 for as long as nobody reaps it, which in a container can be for ever.
  if (fields[0] === "Z" || fields[0] === "X") return undefined
  const command = await fs.readFile(`/proc/${pid}/cmdline`, "utf8").catch(missing)
  // The start counts from boot: the first process of a container may well start at the same tick after the next boot.
  const boot = await fs.readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(missing)
  return {
    pid,
    started: `${fields[19] ?? ""}@${boot?.trim() ?? ""}`,
    command: (command ?? "").split("\0").join(" ").trim(),
  }
}

const fromPs = async (pid: number): Promise<Process | undefined> => {
  const column = (name: string) =>
    run("ps", ["-ww", "-o", `${name}=`, "-p", String(pid)]).then((out) => out.stdout.trim(), missing)
  const [state, started, command] = await Promise.all([column("state"), column("lstart"), column("command")])
  if (state === undefined || state === "" || state.startsWith("Z")) return undefined
  return { pid, started: (started ?? "").replaceAll(" ", "_"), command: command ?? "" }
}

/** The process, unless it is gone or only waits to be reaped. */
export const find = (pid: number): Promise<Process | undefined> =>
  process.platform === "linux" ? fromProc(pid) : fromPs(pid)

export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch {
    // Already gone, which is what the signal was for.
  }
}
