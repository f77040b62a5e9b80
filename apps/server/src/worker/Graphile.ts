import { Processes } from "@waybill/store/outbox/Processes"
import { Cause, type Context, Effect, Exit, Redacted } from "effect"
import { Logger, parseCronItems, type Runner, run, type TaskList, type WorkerEvents } from "graphile-worker"
import { EventEmitter } from "node:events"
import pg from "pg"

/** Our jobs are wake-ups that end at once, so a few at a time are plenty. */
export const CONCURRENT_JOBS = 4
/** Jobs that are fetched together. They are locked meanwhile, so they are few and not kept long. */
export const LOCAL_QUEUE = { size: 10, ttl: 10_000 }
/** Ends of jobs are written together: each write is a commit. */
export const BATCH_DELAY_MS = 25
/** One listens, the others fetch and complete. */
export const CONNECTIONS = 4
/** A slow task is told to end this long after the stop has begun. */
const ABORT_AFTER_MS = 5_000
const RESTART_PAUSE = "1 second"

export interface Task<R = never> {
  readonly run: Effect.Effect<unknown, unknown, R>
  /** When it is due by itself, beside the wake-ups of commits: once for all processes together. */
  readonly cron?: string
}
export type Tasks<R = never> = { readonly [name: string]: Task<R> }

/** Runs the tasks, by wake-up and by the clock. Its connections are its own: the two drivers meet only in SQL. */
export const runTasks = <R>(url: Redacted.Redacted, tasks: Tasks<R>) =>
  Effect.gen(function* () {
    const processes = yield* Processes
    const context = yield* Effect.context<R>()
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => openPool(url)),
      (pool) => Effect.promise(() => pool.end()),
    )
    const session = Effect.gen(function* () {
      const events: WorkerEvents = new EventEmitter()
      const workers: Array<string> = []
      events.on("pool:create", ({ workerPool }) => workers.push(workerPool.id))
      const runner: Runner = yield* Effect.acquireRelease(
        Effect.promise(() =>
          run({
            pgPool: pool,
            events,
            taskList: taskList(tasks, context),
            parsedCronItems: parseCronItems(
              Object.entries(tasks).flatMap(([task, { cron }]) =>
                cron === undefined ? [] : [{ task, match: cron, identifier: task }],
              ),
            ),
            noHandleSignals: true,
            preset: {
              worker: {
                concurrentJobs: CONCURRENT_JOBS,
                localQueue: LOCAL_QUEUE,
                completeJobBatchDelay: BATCH_DELAY_MS,
                failJobBatchDelay: BATCH_DELAY_MS,
                gracefulShutdownAbortTimeout: ABORT_AFTER_MS,
              },
            },
            logger: logger(context),
          }),
        ),
        (runner) => Effect.ignoreCause(Effect.promise(() => runner.stop())),
      )
      yield* processes.noteWorkers(workers)
      yield* Effect.promise(() => runner.promise)
    })
    yield* session.pipe(
      Effect.scoped,
      Effect.catchCause((cause) => Effect.logWarning("the task runner broke; starting another", cause)),
      Effect.andThen(Effect.sleep(RESTART_PAUSE)),
      Effect.forever,
      Effect.forkScoped,
    )
  })

const openPool = (url: Redacted.Redacted): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: Redacted.value(url),
    max: CONNECTIONS,
    application_name: "waybill tasks",
  })
  // graphile-worker insists on both handlers.
  pool.on("error", () => {})
  pool.on("connect", (client) => void client.on("error", () => {}))
  return pool
}

/** A task that fails has said so in the log and comes again by the clock; graphile's own retries have no part in it. */
const taskList = <R>(tasks: Tasks<R>, context: Context.Context<R>): TaskList =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, { run }]) => [
      name,
      async (_payload, helpers) => {
        const exit = await Effect.runPromiseExitWith(context)(
          Effect.asVoid(run).pipe(Effect.withSpan(`task ${name}`, { root: true }), Effect.annotateLogs({ task: name })),
          { signal: helpers.abortSignal },
        )
        if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return
        Effect.runForkWith(context)(Effect.logError(`the task ${name} failed`, exit.cause))
      },
    ]),
  )

/** What graphile-worker has to say goes where everything else goes; its chatter is of use to nobody. */
const logger = <R>(context: Context.Context<R>) =>
  new Logger(() => (level, message) => {
    if (level === "error") Effect.runForkWith(context)(Effect.logError(`graphile-worker: ${message}`))
    else if (level === "warning") Effect.runForkWith(context)(Effect.logWarning(`graphile-worker: ${message}`))
  })
