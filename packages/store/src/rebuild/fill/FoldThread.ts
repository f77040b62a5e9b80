import { Effect, Redacted, type Scope } from "effect"
import module from "node:module"
import { dirname } from "node:path"
import { Worker } from "node:worker_threads"
import type { Column } from "../../copy/CopyBinary.ts"
import type { SliceRows, Range } from "./SliceFold.ts"

/** Time that an idle thread may take to close its connection. */
const MAX_END_MS = 5_000

/** Data that a thread starts with. */
export interface ThreadData {
  readonly url: string
  /** Name of the read model. */
  readonly model: string
  readonly columns: ReadonlyArray<Column>
  /** Folder of compiled code; undefined if the process has none. */
  readonly compileCache: string | undefined
}

/** Message to a thread: a range to fold, and a buffer to use again. Without a range, the thread ends. */
export interface ThreadJob {
  readonly range?: Range
  readonly buffer?: ArrayBuffer | undefined
}

/** `code` is the SQLSTATE or the error of the connection, by which a database that is lost is known. */
export interface ThreadFailure {
  readonly failure: string
  readonly code: string | undefined
}

export type ThreadAnswer = SliceRows | ThreadFailure | { readonly started: true }

/** A thread that folds one range at a time on its own connection. Its rows come without a copy. */
export class FoldThread {
  readonly #worker: Worker
  readonly #started = Promise.withResolvers<void>()
  readonly #exited: Promise<void>
  #answer: PromiseWithResolvers<SliceRows> | undefined
  #isIdle = false
  #failure: Error | undefined

  constructor(data: Omit<ThreadData, "compileCache">) {
    // The process uses a folder of this version of Node in the folder that it was given.
    const folder = module.getCompileCacheDir()
    const workerData: ThreadData = { ...data, compileCache: folder === undefined ? undefined : dirname(folder) }
    // Without the loaders of the process.
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), { execArgv: [], name: "fold", workerData })
    this.#worker.on("message", (answer: ThreadAnswer) => {
      if ("failure" in answer) {
        const error = new Error(`a thread could not fold events: ${answer.failure}`)
        return this.#fail(answer.code === undefined ? error : Object.assign(error, { code: answer.code }))
      }
      this.#isIdle = true
      if ("started" in answer) this.#started.resolve()
      else this.#answer?.resolve(answer)
    })
    this.#worker.on("error", (cause: Error) =>
      this.#fail(new Error(`a thread that folds events failed: ${cause.message}`, { cause })),
    )
    // A thread may end while it starts, after its lane has ended.
    this.#started.promise.catch(() => undefined)
    this.#exited = new Promise((resolve) =>
      this.#worker.on("exit", () => {
        this.#fail(new Error("a thread that folds events ended"))
        resolve()
      }),
    )
  }

  /** Resolves when the thread can fold. Others should get the ranges until then, because rows are written in order. */
  get started(): Promise<void> {
    return this.#started.promise
  }

  fold(range: Range, buffer?: ArrayBuffer): Promise<SliceRows> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    this.#answer = Promise.withResolvers()
    this.#isIdle = false
    const job: ThreadJob = { range, buffer }
    this.#worker.postMessage(job, buffer === undefined ? [] : [buffer])
    return this.#answer.promise
  }

  /** Ends the thread. What it folds is lost. */
  async end(): Promise<void> {
    if (this.#isIdle) {
      // A worker has no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      this.#worker.postMessage({} satisfies ThreadJob)
      const timer = setTimeout(() => void this.#worker.terminate(), MAX_END_MS)
      await this.#exited
      clearTimeout(timer)
    } else await this.#worker.terminate()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#isIdle = false
    this.#started.reject(this.#failure)
    this.#answer?.reject(this.#failure)
  }
}

/** Starts a thread, which ends with the scope. */
export const start = (
  data: Omit<ThreadData, "url" | "compileCache"> & { readonly url: Redacted.Redacted },
): Effect.Effect<FoldThread, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new FoldThread({ ...data, url: Redacted.value(data.url) })),
    (thread) => Effect.promise(() => thread.end()),
  )
