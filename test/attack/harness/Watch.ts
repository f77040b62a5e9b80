import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import type { Figures, WatcherOptions } from "./watcher.ts"

const CONTROL = fileURLToPath(new URL("./control.ts", import.meta.url))

/** Measures stalls and memory of one process of the service from outside. */
export interface Watch {
  readonly begin: () => Promise<void>
  readonly end: () => Promise<Figures>
  readonly stop: () => Promise<void>
}

export const open = async (options: WatcherOptions): Promise<Watch> => {
  const worker = new Worker(new URL("./watcher.ts", import.meta.url), { workerData: options })
  /** A worker thread has no origin. */
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const post = (message: "begin" | "end" | "stop") => worker.postMessage(message)
  const request = async (message: "begin" | "end"): Promise<unknown> => {
    post(message)
    const [reply] = (await once(worker, "message")) as [unknown]
    return reply
  }
  return {
    begin: async () => void (await request("begin")),
    end: async () => (await request("end")) as Figures,
    stop: async () => {
      post("stop")
      await once(worker, "exit")
    },
  }
}

/** Starts the idle process against which the service is compared; one process serves a whole run. */
export const startControl = async (): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> => {
  const child: ChildProcess = spawn(process.execPath, [CONTROL], { stdio: ["ignore", "pipe", "inherit", "ipc"] })
  if (child.stdout === null) throw new Error("the control process has no output")
  const [line] = (await once(child.stdout, "data")) as [Buffer]
  const ended = once(child, "exit")
  return {
    port: Number(String(line)),
    stop: async () => {
      child.kill("SIGKILL")
      await ended
    },
  }
}
