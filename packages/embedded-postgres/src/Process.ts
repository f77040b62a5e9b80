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

interface Owned extends Pick<Process, "pid" | "command"> {
  /** Its current folder, where the system tells. */
  readonly folder: string | undefined
}

const ownedInProc = async (pid: number, uid: number): Promise<Owned | undefined> => {
  const status = await fs.readFile(`/proc/${pid}/status`, "utf8").catch(missing)
  if (status === undefined || /^State:\s+[ZX]/mu.test(status)) return undefined
  // Real, effective, saved and file system user: each of them reaches what the user owns.
  const users = /^Uid:\s+(.*)$/mu.exec(status)?.[1]?.split(/\s+/u).map(Number)
  if (users?.includes(uid) !== true) return undefined
  const command = await fs.readFile(`/proc/${pid}/cmdline`, "utf8").catch(missing)
  return {
    pid,
    command: (command ?? "").split("\0").join(" ").trim(),
    folder: await fs.readlink(`/proc/${pid}/cwd`).catch(missing),
  }
}

const allInPs = async (uid: number): Promise<ReadonlyArray<Owned>> => {
  const { stdout } = await run("ps", ["-axww", "-o", "pid=,uid=,state=,command="])
  return stdout.split("\n").flatMap((line) => {
    const [, pid, owner, state = "", command = ""] = /^\s*(\d+)\s+(-?\d+)\s+(\S+)\s*(.*)$/u.exec(line) ?? []
    return pid !== undefined && Number(owner) >>> 0 === uid && !state.startsWith("Z")
      ? [{ pid: Number(pid), command, folder: undefined }]
      : []
  })
}

const numbers = async (): Promise<ReadonlyArray<number>> =>
  (await fs.readdir("/proc")).flatMap((name) => (/^\d+$/u.test(name) ? [Number(name)] : []))

/** Every process that runs as this user, by any of its user ids. */
export const ofUser = async (uid: number): Promise<ReadonlyArray<Owned>> => {
  if (process.platform !== "linux") return await allInPs(uid)
  const found = await Promise.all((await numbers()).map((pid) => ownedInProc(pid, uid)))
  return found.filter((each) => each !== undefined)
}

/** Whether a process stands in a folder, or has a file of it open or mapped. Answers no where the system does not tell. */
export const uses = async (pid: number, folder: string): Promise<boolean> => {
  const within = (file: string | undefined) => file === folder || file?.startsWith(`${folder}/`) === true
  const open = await fs.readdir(`/proc/${pid}/fd`).catch((): ReadonlyArray<string> => [])
  const links = ["cwd", "root", ...open.map((fd) => `fd/${fd}`)]
  const targets = await Promise.all(links.map((link) => fs.readlink(`/proc/${pid}/${link}`).catch(missing)))
  if (targets.some(within)) return true
  const maps = await fs.readFile(`/proc/${pid}/maps`, "utf8").catch(missing)
  return maps?.includes(`${folder}/`) === true
}
