import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import * as net from "node:net"
import * as path from "node:path"
import * as Cpu from "../accept/Cpu.ts"

const LOOK_EVERY_MILLIS = 20
const READY_WITHIN_MILLIS = 20_000

/** Folders of administrators' programs, which PATH often leaves out. */
const FOLDERS = ["/usr/sbin", "/usr/local/sbin", "/sbin"]

/** Returns the path of a program of this machine. */
export const find = (name: string): string | undefined =>
  [...(process.env["PATH"] ?? "").split(path.delimiter), ...FOLDERS]
    .map((folder) => path.join(folder, name))
    .find(existsSync)

export interface Postfix {
  readonly version: string
  readonly postfix: string
  readonly daemons: string
}

/** Returns the Postfix of this machine, or why it cannot be measured. */
export const findPostfix = (): Postfix | string => {
  const postfix = find("postfix")
  const postconf = find("postconf")
  if (postfix === undefined || postconf === undefined) return "Postfix is not installed (apt-get install postfix)"
  // Its master process changes to other users.
  if (process.getuid?.() !== 0) return "Postfix starts for root only"
  const built = (name: string) => execFileSync(postconf, ["-d", "-h", name], { encoding: "utf8" }).trim()
  return { version: built("mail_version"), postfix, daemons: built("daemon_directory") }
}

/** Version of a program, from the first line that it prints. */
export const versionOf = (program: string): string =>
  /\d+(?:\.\d+)+/u.exec(execFileSync(program, ["-V"], { encoding: "utf8" }))?.[0] ?? "unknown"

export interface Program {
  readonly port: number
  /** Processor time of its processes in milliseconds, also of those that have ended. */
  readonly cpu: () => number
  readonly stop: () => Promise<void>
}

/** Starts a server that ends with this process, and waits until its port accepts a connection, or greets it. */
export const start = async (
  command: string,
  args: ReadonlyArray<string>,
  port: number,
  ready: "connect" | "data" = "connect",
): Promise<Program> => {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit"] })
  process.once("exit", () => child.kill("SIGTERM"))
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, "exit")
    child.kill("SIGTERM")
    await gone
  }
  const until = performance.now() + READY_WITHIN_MILLIS
  while (!(await answers(port, ready))) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop()
      throw new Error(`${[command, ...args].join(" ")} did not start`)
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MILLIS))
  }
  return { port, cpu: () => Cpu.ofTree(child.pid ?? 0), stop }
}

const answers = (port: number, ready: "connect" | "data"): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1")
    socket.once("error", () => resolve(false))
    socket.once(ready, () => {
      socket.destroy()
      resolve(true)
    })
  })
