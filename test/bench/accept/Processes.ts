import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import * as path from "node:path"
import { createInterface } from "node:readline"
import { SERVICE_FLAGS } from "../../support/process/serviceFlags.ts"
import type { Answer, Order, Report } from "./load.ts"

export interface Server {
  readonly pid: number
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Time limit of a start; a cold start on a small and busy machine takes less. */
const READY_WITHIN_MS = 240_000

/** Starts a program of this folder with the flags of a service, and waits until it prints its port. */
export const start = async (file: string, env: Readonly<Record<string, string>>): Promise<Server> => {
  const child = spawn(process.execPath, [...SERVICE_FLAGS, path.join(import.meta.dirname, file)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let output = ""
  child.stderr.on("data", (chunk) => (output += chunk))
  const port = await new Promise<number>((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(late)
      reject(new Error(`${file} ${why}:\n${output}`))
    }
    const late = setTimeout(() => {
      child.kill("SIGKILL")
      fail("did not start in time")
    }, READY_WITHIN_MS)
    child.once("exit", (code) => fail(`ended with ${code}`))
    createInterface(child.stdout).on("line", (line) => {
      output += `${line}\n`
      if (!/^\d+$/u.test(line)) return
      clearTimeout(late)
      resolve(Number(line))
    })
  })
  return { pid: child.pid ?? 0, port, stop: () => end(child) }
}

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "exit")
  child.kill("SIGTERM")
  const late = setTimeout(() => child.kill("SIGKILL"), STOPPED_WITHIN_MS)
  await gone
  clearTimeout(late)
}
const STOPPED_WITHIN_MS = 5_000

export interface Load {
  readonly pid: number
  readonly run: (order: Order) => Promise<Report>
  readonly stop: () => void
}

/** Runs the load in a process of its own, so that its processor time is not counted with that of others. */
export const load = (): Load => {
  const child = fork(path.join(import.meta.dirname, "load.ts"), { serialization: "advanced" })
  return {
    pid: child.pid ?? 0,
    run: async (order) => {
      const answered = once(child, "message") as Promise<[Answer]>
      child.send(order)
      const [answer] = await answered
      if ("problem" in answer) throw new Error(answer.problem)
      return answer.report
    },
    stop: () => child.disconnect(),
  }
}
