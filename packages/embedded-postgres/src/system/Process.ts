import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Identifies a process, as distinct from a later one with the same pid. */
export interface Process {
  readonly pid: number
  readonly started: string
  readonly command: string
}

const missing = () => undefined

const fromProc = async (pid: number): Promise<Process | undefined> => {
  const stat = await fs.readFile(`/proc/${pid}/stat`, "utf8").catch(missing)
  if (stat === undefined) return undefined
  // The second field, the name, is in parentheses and may contain parentheses and spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  // A zombie accepts signal 0 until it is reaped, which in a container may never happen.
  if (fields[0] === "Z" || fields[0] === "X") return undefined
  const command = await fs.readFile(`/proc/${pid}/cmdline`, "utf8").catch(missing)
  // The start time counts from boot, so the first process of a container may start at the same tick after a reboot.
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

/** Returns the process, unless it has ended or is a zombie. */
export const find = (pid: number): Promise<Process | undefined> =>
  process.platform === "linux" ? fromProc(pid) : fromPs(pid)

export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}

interface Owned extends Pick<Process, "pid" | "command"> {
  /** Its working directory, if the system reports it. */
  readonly folder: string | undefined
}

const ownedInProc = async (pid: number, uid: number): Promise<Owned | undefined> => {
  const status = await fs.readFile(`/proc/${pid}/status`, "utf8").catch(missing)
  if (status === undefined || /^State:\s+[ZX]/mu.test(status)) return undefined
  // Real, effective, saved and file system user id. With each of them a process can access the user's files.
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

/** Returns every process that runs as this user, by any of its user ids. */
export const ofUser = async (uid: number): Promise<ReadonlyArray<Owned>> => {
  if (process.platform !== "linux") return await allInPs(uid)
  const processes = await Promise.all((await numbers()).map((pid) => ownedInProc(pid, uid)))
  return processes.filter((each) => each !== undefined)
}

/**
 * Whether a process has a folder as its working directory or root, or a file in it open or mapped. False if the system
 * does not report it.
 */
export const uses = async (pid: number, folder: string): Promise<boolean> => {
  const within = (file: string | undefined) => file === folder || file?.startsWith(`${folder}/`) === true
  const open = await fs.readdir(`/proc/${pid}/fd`).catch((): ReadonlyArray<string> => [])
  const links = ["cwd", "root", ...open.map((fd) => `fd/${fd}`)]
  const targets = await Promise.all(links.map((link) => fs.readlink(`/proc/${pid}/${link}`).catch(missing)))
  if (targets.some(within)) return true
  const maps = await fs.readFile(`/proc/${pid}/maps`, "utf8").catch(missing)
  return maps?.includes(`${folder}/`) === true
}
