import { unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import * as OwnServer from "@waybill/store/database/OwnServer"
import * as WakeUps from "@waybill/store/outbox/WakeUps"
import * as Databases from "@waybill/store/routing/Databases"
import * as Processes from "@waybill/store/outbox/Processes"
import { Cause, type Context, Duration, Effect, Exit, Redacted } from "effect"
import { Logger, parseCronItems, type Runner, run, type TaskList, type WorkerEvents } from "graphile-worker"
import { EventEmitter } from "node:events"
import { callbackify } from "node:util"
import { KEEPALIVE } from "@waybill/store/postgres/Sockets"
import pg from "pg"
import * as Stop from "../process/Stop.ts"

/** Jobs that run at once. Most are wake-ups that end at once, so a few are enough. */
export const CONCURRENT_JOBS = 4
/** Jobs fetched at once and how long they may wait here. They are locked meanwhile, so both numbers are small. */
export const LOCAL_QUEUE = { size: 10, ttl: 10_000 }
/** Time for which ends of jobs are collected, so that they share a commit. */
export const BATCH_DELAY_MS = 25
/** Connections: one listens, the others fetch and complete jobs. */
export const CONNECTIONS = 4
/** Time after the start of a stop at which slow tasks are interrupted. */
const ABORT_AFTER_MS = 5_000
/** Time limit of the runner's stop, which does not end beside a database that hangs. */
const RUNNER_STOP = Duration.millis(ABORT_AFTER_MS + 3_000)
const RESTART_PAUSE = "1 second"

/** Drains the outbox of one kind of work. */
export interface Drain<R = never> {
  /** Runs at the wake-up of a commit, for the database that the job names. */
  readonly wake: (database: string) => Effect.Effect<void, unknown, R>
}

/** Periodic work. */
export interface Periodic<R = never> {
  readonly run: Effect.Effect<unknown, unknown, R>
  /** Schedule on which one of all processes runs it. */
  readonly cron: string
}
export type Tasks<R = never> = { readonly [name: string]: Drain<R> | Periodic<R> }

/** Those of the tasks that run by wake-up. */
export const drainsOf = <R>(tasks: Tasks<R>): Tasks<R> =>
  Object.fromEntries(Object.entries(tasks).filter(([, task]) => "wake" in task))

/** Runs tasks by wake-up and by schedule, on connections of its own to the server of the fiber's database. */
export const runTasks = <R>(url: Redacted.Redacted, tasks: Tasks<R>) =>
  Effect.gen(function* () {
    const processes = yield* Processes.here
    const own = yield* Databases.name
    const context = yield* Effect.context<R>()
    const session = Effect.gen(function* () {
      const server = yield* OwnServer.here(url)
      const pool = yield* Effect.acquireRelease(
        Effect.sync(() => openPool(server)),
        (pool) =>
          Stop.within(
            Effect.promise(() => pool.end()),
            "1 second",
          ),
      )
      const events: WorkerEvents = new EventEmitter()
      const workers: Array<string> = []
      events.on("pool:create", ({ workerPool }) => workers.push(workerPool.id))
      const runner: Runner = yield* Effect.acquireRelease(
        Effect.promise(() =>
          run({
            pgPool: pool,
            events,
            taskList: taskList(tasks, context, own),
            parsedCronItems: parseCronItems(
              Object.entries(tasks).flatMap(([name, task]) =>
                "cron" in task ? [{ task: name, match: task.cron, identifier: name }] : [],
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
        (runner) =>
          Stop.within(
            Effect.promise(() => runner.stop()),
            RUNNER_STOP,
          ),
      )
      yield* processes.recordWorkers(workers)
      yield* Effect.raceFirst(
        Effect.promise(() => runner.promise),
        server.changed,
      )
    })
    yield* session.pipe(
      Effect.scoped,
      // Its promise fails with whatever its driver threw.
      Effect.catchCause((cause) => unlessAway(Effect.logWarning("task runner failed; it will be restarted", cause))),
      Effect.andThen(Effect.sleep(RESTART_PAUSE)),
      Effect.forever,
      Effect.forkScoped,
    )
  })

const openPool = ({ refuseOther, url }: OwnServer.OwnServer): pg.Pool => {
  const requireOwn = callbackify(refuseOther)
  const pool = new pg.Pool({
    ...KEEPALIVE,
    connectionString: Redacted.value(url),
    max: CONNECTIONS,
    application_name: "waybill tasks",
    verify: (client, done) => requireOwn(client, (error) => done(error ?? undefined)),
  })
  // graphile-worker requires both handlers.
  pool.on("error", () => {})
  pool.on("connect", (client) => void client.on("error", () => {}))
  return pool
}

/**
 * Wraps tasks so that a failure is logged and not retried by graphile-worker: the schedule runs periodic work again, and
 * pipelines look for work by themselves.
 */
const taskList = <R>(tasks: Tasks<R>, context: Context.Context<R>, own: string): TaskList =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [
      name,
      async (payload, helpers) => {
        const work = "wake" in task ? task.wake(WakeUps.databaseIn(payload) ?? own) : task.run
        const exit = await Effect.runPromiseExitWith(context)(
          Effect.asVoid(work).pipe(
            Effect.withSpan(`task ${name}`, { root: true }),
            Effect.annotateLogs({ task: name }),
          ),
          { signal: helpers.abortSignal },
        )
        if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return
        Effect.runForkWith(context)(
          unlessAway(
            Effect.logError("task failed; its schedule runs it again", { task: name }, exit.cause),
            exit.cause,
          ),
        )
      },
    ]),
  )

/** Writes the warnings and errors of graphile-worker to the log, and drops the rest. */
const logger = <R>(context: Context.Context<R>) =>
  new Logger(() => (level, message) => {
    const line = { error: Effect.logError, warning: Effect.logWarning, info: undefined, debug: undefined }[level]
    if (line !== undefined) Effect.runForkWith(context)(unlessAway(line(`graphile-worker: ${message}`)))
  })
