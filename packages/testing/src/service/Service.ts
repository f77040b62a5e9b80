import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { findLauncher, findNode } from "@waybill/testing/launcher"

export interface ServiceOptions {
  /** File of the command `waybill`; that of the installed package by default. */
  readonly launcher?: string
  /** Folder of the template that instances are copied from; in the user's cache folder by default. */
  readonly cache?: string
  /** Settings of the service, such as `{ LOG_LEVEL: "Info" }`. */
  readonly env?: Readonly<Record<string, string>>
  /** Milliseconds that a start may take. The first one on a machine makes a template and may install Node 24. */
  readonly startTimeout?: number
}

/** The line that the service prints when it is ready. */
interface Announcement {
  readonly url: string
  readonly smtp: { readonly host: string; readonly port: number }
  /** A live key. */
  readonly key: string
  /** A test key, whose mail lives on the clock. */
  readonly test_key: string
  readonly test_clock: string
  /** Time that the clock shows. */
  readonly now: string
}

/** A change of what the service does, in one line on its standard input. */
export type Instruction =
  | { readonly script: { readonly address: string; readonly steps: ReadonlyArray<string> } }
  | { readonly fail: { readonly status: FaultStatus; readonly times: number } }
  | { readonly clock: "reset" }

/** An answer that the service gives when it is busy or broken. */
export type FaultStatus = 429 | 500 | 503

/** A running service, which ends with this process at the latest. */
export interface Service extends Announcement {
  /** Resolves when the service has followed the instruction. */
  readonly instruct: (instruction: Instruction) => Promise<Answer>
  readonly stop: () => Promise<void>
}

/** The line that answers an instruction. */
interface Answer {
  readonly object: "clock" | "fail" | "script" | "error"
  readonly message?: string
  /** Time that the clock shows. */
  readonly now?: string
}

const START_TIMEOUT_MS = 300_000
/** Another process may take a free port before the service does. */
const MAX_STARTS = 5
const PORT_TAKEN = /Port \d+ is in use/u
const MAX_OUTPUT_CHARS = 4_000

/** Variables that the service gets from this process: none of its settings, which are those of a regular service. */
const INHERITED =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|XDG_CACHE_HOME|WAYBILL_POSTGRES|(?:https?|no)_proxy|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|npm_config_\w+)$/iu

const environment = (own: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED.test(name))),
  LOG_LEVEL: "Warn",
  ...own,
})

/** Starts a temporary instance and returns it when it is ready. */
export const start = async (options: ServiceOptions = {}): Promise<Service> => {
  const launcher = options.launcher ?? findLauncher()
  if (launcher === undefined)
    throw new Error("The package `waybill` is not installed. Install it, or give its command as `launcher`.")
  const args = [launcher, "temporary", ...(options.cache === undefined ? [] : ["--cache", options.cache])]
  for (let left = MAX_STARTS - 1; ; left--) {
    const child = spawn(await findNode(launcher), args, {
      env: environment(options.env ?? {}),
      stdio: ["pipe", "pipe", "pipe"],
    })
    try {
      return await ready(child, options.startTimeout ?? START_TIMEOUT_MS)
    } catch (cause) {
      child.kill("SIGKILL")
      if (left === 0 || !(cause instanceof Error) || !PORT_TAKEN.test(cause.message)) throw cause
    }
  }
}

const ready = async (child: ChildProcess, timeout: number): Promise<Service> => {
  const ended = once(child, "close")
  let output = ""
  const keep = (text: string) => (output = (output + text).slice(-MAX_OUTPUT_CHARS))
  child.stderr?.setEncoding("utf8").on("data", keep)
  // Writing to a service that has ended is no error: its end is reported instead.
  child.stdin?.on("error", () => undefined)
  const waiting: Array<(answer: Answer) => void> = []
  const announced = new Promise<Announcement>((resolve) => {
    if (child.stdout === null) return
    createInterface(child.stdout).on("line", (line) => {
      if (line.startsWith(`{"object":"temporary_instance"`)) resolve(JSON.parse(line) as Announcement)
      else if (/^\{"object":"(?:clock|fail|script|error)"/u.test(line)) waiting.shift()?.(JSON.parse(line) as Answer)
      else keep(`${line}\n`)
    })
  })
  const failed = ended.then(() => {
    throw new Error(`The service has ended:\n${output.trim()}`)
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, timeout, new Error(`The service was not ready within ${timeout} ms:\n${output.trim()}`))
  })
  try {
    const announcement = await Promise.race([announced, failed, late])
    letGo(child)
    return {
      ...announcement,
      instruct: async (instruction) => {
        const answered = new Promise<Answer>((resolve) => waiting.push(resolve))
        child.stdin?.write(`${JSON.stringify(instruction)}\n`)
        child.ref()
        const answer = await Promise.race([answered, failed]).finally(() => child.unref())
        if (answer.object === "error") throw new Error(answer.message)
        return answer
      },
      stop: async () => {
        child.ref()
        child.stdin?.end()
        if (child.exitCode === null && child.signalCode === null) await ended
      },
    }
  } finally {
    clearTimeout(timer)
    failed.catch(() => undefined)
  }
}

/** Lets this process end while the service runs. The service sees the end of its input then, and stops. */
const letGo = (child: ChildProcess): void => {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?: () => void } | null)?.unref?.()
}
