import module from "node:module"
import { dirname } from "node:path"
import { setImmediate } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import * as Jobs from "./Jobs.ts"

/** Time that a thread may take to start on a busy machine. */
const MAX_START_MS = 30_000
/** A thread inside one long native operation reports no processor time for this long. */
const MAX_SILENCE_MS = 500
/** A thread that waits for a processor is not killed until this many times the deadline has passed. */
const MAX_WAIT_FACTOR = 10
const MIN_PAUSE_MS = 20

export interface ParserJob {
  readonly name: Jobs.Name
  readonly input: Jobs.Input<Jobs.Name>
}

/** Message of a thread: it has started, a job's result, or a job's exception. */
export interface ThreadMessage {
  readonly value?: unknown
  readonly crash?: string
  /** Processor time of the thread since it began. */
  readonly cpu_ms: number
}

export type Why = "deadline" | "memory" | "crash"

export type Result =
  | { readonly _tag: "Done"; readonly value: unknown }
  | { readonly _tag: "Killed"; readonly why: Why; readonly cause?: string }

export interface ThreadLimits {
  /** Processor time that one job may take. */
  readonly deadline_ms: number
  /** Additional time for each MiB of the document, since even the best reader of 40 MiB needs it. */
  readonly deadline_ms_per_mb: number
  /** Heap of one thread. Bytes of messages lie outside of it, and are bounded where they arrive. */
  readonly memory_mb: number
}

/**
 * A thread that does one job at a time. It starts with its first job, stays, and is replaced when a job had to be
 * killed.
 */
export class ParserThread {
  #worker: Worker | undefined
  #cpu_ms = 0
  readonly #limits: ThreadLimits

  constructor(limits: ThreadLimits) {
    this.#limits = limits
  }

  async run(job: ParserJob): Promise<Result> {
    const worker = this.#worker ?? (await this.#start())
    if (worker === undefined) return { _tag: "Killed", why: "crash", cause: "the thread did not start" }
    worker.ref()
    const { input, transfer } = await transferable(job.input)
    const { deadline_ms, deadline_ms_per_mb } = this.#limits
    const answered = this.#answer(worker, deadline_ms + deadline_ms_per_mb * megabytes(job.input))
    worker.postMessage({ ...job, input }, transfer)
    const result = await answered
    worker.unref()
    return result
  }

  /** Ends the thread; the next job starts another. */
  async end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  async #start(): Promise<Worker | undefined> {
    // Compiled code of the process: to compile it again takes twice as long as all else of a start.
    const compiled = module.getCompileCacheDir()
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      // Without the environment, which holds secrets, and without the loaders of the process.
      env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) },
      execArgv: [],
      name: "parser",
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memory_mb },
    })
    this.#worker = worker
    // Errors while the thread ends or has no job concern no job.
    worker.on("error", () => undefined)
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    const result = await this.#answer(worker, MAX_START_MS, true)
    return result._tag === "Done" ? worker : undefined
  }

  /** Waits for the thread's next message. On a timeout or the thread's end, the thread is ended. */
  #answer(worker: Worker, deadline_ms: number, isStart = false): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<Result>()
    const startedAt = performance.now()
    const isOver = async (): Promise<boolean> => {
      if (isStart || performance.now() - startedAt >= deadline_ms * MAX_WAIT_FACTOR) return true
      return (await cpuMillis(worker)) - this.#cpu_ms >= deadline_ms
    }
    const watch = async (): Promise<void> => {
      if (await isOver()) kill("deadline")
      else if (timer !== undefined) timer = setTimeout(() => void watch(), Math.max(MIN_PAUSE_MS, deadline_ms / 10))
    }
    let timer: NodeJS.Timeout | undefined = setTimeout(() => void watch(), deadline_ms)
    const end = (result: Result): void => {
      clearTimeout(timer)
      timer = undefined
      worker.off("message", message).off("error", error).off("exit", exit)
      resolve(result)
    }
    const kill = (why: Why, cause?: string): void => {
      if (timer === undefined) return
      end({ _tag: "Killed", why, ...(cause === undefined ? {} : { cause }) })
      if (this.#worker === worker) void this.end()
    }
    const message = ({ cpu_ms, crash, value }: ThreadMessage): void => {
      this.#cpu_ms = cpu_ms
      end(crash === undefined ? { _tag: "Done", value } : { _tag: "Killed", why: "crash", cause: crash })
    }
    const error = (cause: Error & { readonly code?: string }): void =>
      cause.code === "ERR_WORKER_OUT_OF_MEMORY" ? kill("memory") : kill("crash", String(cause.stack ?? cause.message))
    const exit = (): void => kill("crash", "the thread ended")
    worker.on("message", message).on("error", error).on("exit", exit)
    return promise
  }
}

const cpuMillis = async (worker: Worker): Promise<number> => {
  const silence = Promise.withResolvers<number>()
  const timer = setTimeout(() => silence.resolve(Infinity), MAX_SILENCE_MS)
  const usage = worker.cpuUsage().then(
    ({ system, user }) => (system + user) / 1_000,
    () => Infinity,
  )
  return Promise.race([usage, silence.promise]).finally(() => clearTimeout(timer))
}

const megabytes = (input: Jobs.Input<Jobs.Name>): number =>
  (Jobs.bytesOf(input) ?? Jobs.textOf(input) ?? "").length / 2 ** 20

/** Bytes that are copied before other work has its turn. */
const SLICE_BYTES = 1024 * 1024

/** Copies bytes once and hands them over to the thread; a view of a larger buffer would move the whole buffer. */
const transferable = async (
  input: Jobs.Input<Jobs.Name>,
): Promise<{ readonly input: Jobs.Input<Jobs.Name>; readonly transfer: Array<ArrayBuffer> }> => {
  const source = Jobs.bytesOf(input)
  if (source === undefined) return { input, transfer: [] }
  const bytes = await copied(source)
  return {
    input: input instanceof Uint8Array ? bytes : ({ ...(input as Jobs.Input<"mail">), bytes } as const),
    transfer: [bytes.buffer],
  }
}

/** The memory of a large copy is new, which takes longer than the copying. */
const copied = async (source: Uint8Array): Promise<Uint8Array<ArrayBuffer>> => {
  const copy = new Uint8Array(source.length)
  for (let at = 0; at < source.length; at += SLICE_BYTES) {
    if (at > 0) await setImmediate()
    copy.set(source.subarray(at, at + SLICE_BYTES), at)
  }
  return copy
}
