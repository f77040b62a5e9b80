import { availableParallelism } from "node:os"
import { setImmediate } from "node:timers/promises"
import { FairQueue } from "@waybill/runtime/flow/FairQueue"
import { isSmall } from "./isSmall.ts"
import * as Jobs from "./Jobs.ts"
import { type ThreadLimits, ParserThread, type Result } from "./ParserThread.ts"

/** Processor time that one document may take. Ordinary mail of 10 MiB takes about a quarter of it. */
export const DEADLINE_MS = 1_000
/** Additional processor time for each MiB of the document. */
export const DEADLINE_MS_PER_MB = 50
/** Heap of a thread. */
export const THREAD_MEMORY_MB = 256
/** At least two threads, so that one account cannot keep all of them busy. */
export const MIN_THREADS = 2
export const MAX_THREADS = 4
/** Maximum documents of one account that wait for a thread; beyond it clients are told to retry. */
export const MAX_WAITING_PER_ACCOUNT = 50
/** Maximum documents of all accounts that wait for a thread. */
export const MAX_WAITING = 500
/** The event loop turns to other work after this many milliseconds of small documents. */
const TURN_MS = 10

interface Waiting {
  readonly account: string
  readonly name: Jobs.Name
  readonly input: Jobs.Input<Jobs.Name>
  readonly done: (result: Result) => void
}

export type ParseOutcome = Result | { readonly _tag: "Busy" }

export interface Options extends ThreadLimits {
  readonly threads: number
  readonly perAccount: number
  readonly inAll: number
}

const defaults = (): Options => ({
  deadline_ms: DEADLINE_MS,
  deadline_ms_per_mb: DEADLINE_MS_PER_MB,
  memory_mb: THREAD_MEMORY_MB,
  threads: Math.min(MAX_THREADS, Math.max(MIN_THREADS, availableParallelism() - 1)),
  perAccount: MAX_WAITING_PER_ACCOUNT,
  inAll: MAX_WAITING,
})

/** Reads documents: small ones on the event loop, one after another, all others on a few threads. */
export class ParserPool {
  readonly #options: Options
  readonly #small: FairQueue<Waiting>
  readonly #large: FairQueue<Waiting>
  readonly #idle: Array<ParserThread>
  readonly #running = new Map<string, number>()
  #isReadingSmall = false
  #spent_ms = 0

  constructor(options: Partial<Options> = {}) {
    this.#options = { ...defaults(), ...options }
    this.#small = new FairQueue(this.#options)
    this.#large = new FairQueue(this.#options)
    this.#idle = Array.from({ length: this.#options.threads }, () => new ParserThread(this.#options))
  }

  /**
   * Reads a document. `patient` callers bound their own number of waiting documents and are never told that the pool is
   * busy. Returns a function that withdraws a document that has not started.
   */
  read<N extends Jobs.Name>(
    name: N,
    input: Jobs.Input<N>,
    { account, patient }: { readonly account: string; readonly patient: boolean },
    done: (outcome: ParseOutcome) => void,
  ): () => void {
    const waiting: Waiting = { account, name, input, done }
    const isInline = isSmall(name, input)
    const queue = isInline ? this.#small : this.#large
    if (!patient && !queue.hasCapacity(account)) {
      done({ _tag: "Busy" })
      return () => undefined
    }
    queue.add(account, waiting)
    if (isInline) void this.#readSmall()
    else this.#readLarge()
    return () => queue.remove(account, waiting)
  }

  /** Ends the threads that wait for work. */
  async end(): Promise<void> {
    await Promise.all(this.#idle.map((thread) => thread.end()))
  }

  async #readSmall(): Promise<void> {
    if (this.#isReadingSmall) return
    this.#isReadingSmall = true
    for (let next = this.#small.take(always); next !== undefined; next = this.#small.take(always)) {
      const startedAt = performance.now()
      next.done(await inline(next))
      this.#spent_ms += performance.now() - startedAt
      if (this.#spent_ms < TURN_MS) continue
      await setImmediate()
      this.#spent_ms = 0
    }
    this.#isReadingSmall = false
  }

  #readLarge(): void {
    // One account leaves at least one thread to the others.
    const most = Math.max(1, this.#options.threads - 1)
    const mayProceed = (account: string) => (this.#running.get(account) ?? 0) < most
    while (this.#idle.length > 0) {
      const next = this.#large.take(mayProceed)
      if (next === undefined) return
      // The thread used last is warm; others start when needed.
      const thread = this.#idle.pop()
      if (thread !== undefined) void this.#runOn(thread, next)
    }
  }

  async #runOn(thread: ParserThread, { account, done, input, name }: Waiting): Promise<void> {
    this.#running.set(account, (this.#running.get(account) ?? 0) + 1)
    const result = await thread
      .run({ name, input })
      .catch((cause: unknown): Result => ({ _tag: "Killed", why: "crash", cause: String(cause) }))
    const left = (this.#running.get(account) ?? 1) - 1
    if (left === 0) this.#running.delete(account)
    else this.#running.set(account, left)
    this.#idle.push(thread)
    done(result)
    this.#readLarge()
  }
}

const always = () => true

const inline = async ({ input, name }: Waiting): Promise<Result> => {
  const work = Jobs.jobs[name] as (input: Jobs.Input<Jobs.Name>) => unknown
  try {
    return { _tag: "Done", value: await work(input) }
  } catch (error) {
    return { _tag: "Killed", why: "crash", cause: String(error instanceof Error ? error.stack : error) }
  }
}
