import { Deferred, Effect, Scope } from "effect"
import type { ChildProcess } from "node:child_process"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import * as Cluster from "./Cluster.ts"
import * as Failure from "../system/Failure.ts"
import * as Placement from "../ownership/Placement.ts"
import * as Process from "../system/Process.ts"
import * as Supervision from "./Supervision.ts"
import * as Watchdog from "./Watchdog.ts"

/** A crashed server replays up to max_wal_size of its log. A normal start takes 50 ms. */
const START_TIMEOUT_MS = 300_000
/** Processes of a killed server end within moments. Until then its shared memory is in use and a start fails. */
const LEFTOVER_RETRIES = 100
const RETRY_MS = 100
const READY_POLL_MS = 5
const ENDED_POLL_MS = 10
const FAST_STOP_MS = 10_000
const IMMEDIATE_STOP_MS = 3_000
/** Maximum size of the server's log. One older file of the same size is kept. */
export const LOG_MAX_BYTES = 10 * 1024 * 1024
const CHECK_LOG_EVERY_MS = 60_000
/** Bytes of the log that a failure quotes. */
const LOG_TAIL_BYTES = 2_000
/** Bytes of the log that are searched after a restart. Refused connections write a line each. */
const LOG_SEARCH_BYTES = 1_000_000
/** Errors of a start while processes of the killed predecessor still run. */
const STILL_IN_USE = /pre-existing shared memory block|lock file "postmaster\.pid" already exists/u

const hasEnded = async (pid: number, withinMs: number): Promise<boolean> => {
  const deadline = performance.now() + withinMs
  while ((await Process.find(pid)) !== undefined) {
    if (performance.now() > deadline) return false
    await pause(ENDED_POLL_MS)
  }
  return true
}

/** Requests a fast shutdown, then an immediate one, then kills. The total time is bounded. */
const stop = async (pid: number): Promise<void> => {
  Process.signal(pid, "SIGINT")
  if (await hasEnded(pid, FAST_STOP_MS)) return
  Process.signal(pid, "SIGQUIT")
  if (await hasEnded(pid, IMMEDIATE_STOP_MS)) return
  Process.signal(pid, "SIGKILL")
  await hasEnded(pid, IMMEDIATE_STOP_MS)
}

/** Stops a server whose parent has ended. Called under the folder's lock. */
export const stopLeftover = async (placement: Placement.Placement): Promise<void> => {
  const postmaster = await Cluster.postmaster(placement)
  const alive = postmaster === undefined ? undefined : await Process.find(postmaster.pid)
  // Postgres itself handles a file whose process has ended, and also finds processes that outlived it.
  if (alive === undefined) return
  if (!alive.command.includes(Placement.cluster(placement))) {
    // Another program has this pid now, and Postgres would take it for its own.
    return await fs.rm(path.join(Placement.cluster(placement), "postmaster.pid"), { force: true })
  }
  if (!Cluster.isOurs(alive.command)) {
    throw new Failure.FolderHeld({ folder: placement.folder, pid: alive.pid, command: alive.command })
  }
  await stop(alive.pid)
}

/**
 * Truncates the log in place, because the server appends to the open file. Lines written between copy and truncation
 * are lost, which is acceptable for a log.
 */
export const boundLog = async (placement: Placement.Placement, file: string): Promise<void> => {
  const size = await fs.stat(file).then(
    (stat) => stat.size,
    () => 0,
  )
  if (size <= LOG_MAX_BYTES) return
  await fs.copyFile(file, `${file}.1`)
  await Placement.handOver(placement, `${file}.1`)
  await fs.truncate(file)
}

const openLog = async (placement: Placement.Placement, file: string): Promise<fs.FileHandle> => {
  await boundLog(placement, file)
  const log = await fs.open(file, "a", 0o600)
  await Placement.handOver(placement, file)
  return log
}

const watchLog = (placement: Placement.Placement, file: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      setInterval(() => void boundLog(placement, file).catch(() => undefined), CHECK_LOG_EVERY_MS).unref(),
    ),
    (looking) => Effect.sync(() => clearInterval(looking)),
  )

/** Returns the end of the log since an offset. If the log was truncated since, all of it is new. */
const tail = async (file: string, from: number, bytes = LOG_TAIL_BYTES): Promise<string> => {
  const text = await fs.readFile(file).catch(() => Buffer.alloc(0))
  return text
    .subarray(Math.max(from > text.length ? 0 : from, text.length - bytes))
    .toString()
    .trim()
}

interface Options {
  readonly args: ReadonlyArray<string>
  readonly logFile: string
  readonly launched: Effect.Effect<void>
  /** Whether the server is started again when it ends unexpectedly. */
  readonly isRestarted: boolean
  /** Files that the watchdog removes if this process is killed. */
  readonly removeAfterwards: ReadonlyArray<string>
}

interface Launched {
  readonly child: ChildProcess
  readonly pid: number
  readonly watchdog: Watchdog.Watchdog
  /** The postmaster file of a killed server, if there is one. */
  readonly before: Cluster.Postmaster | undefined
  /** Offset in the log at which this server's output begins. */
  readonly logOffset: number
}

const isRunning = ({ child }: Launched) => child.exitCode === null && child.signalCode === null

const launch = async (placement: Placement.Placement, options: Options): Promise<Launched> => {
  const log = await openLog(placement, options.logFile)
  const logOffset = (await log.stat()).size
  const watchdog = Watchdog.start(path.join(Placement.cluster(placement), "postmaster.pid"), options.removeAfterwards)
  const before = await Cluster.postmaster(placement)
  const child = Cluster.launch(placement, options.args, log.fd)
  const refused = new Promise<string>((resolve) => child.once("error", (cause) => resolve(cause.message)))
  await log.close()
  if (child.pid === undefined) {
    watchdog.dismiss()
    throw new Failure.NotStarted({ reason: "Postgres could not be started.", detail: await refused })
  }
  watchdog.guard(child.pid)
  // Lets a program end that never closes its scope; the watchdog then stops the server.
  child.unref()
  return { child, pid: child.pid, watchdog, before, logOffset }
}

/** Stops the server. One that has already ended is not signalled, because its pid may belong to another program. */
const dismiss = async (launched: Launched): Promise<void> => {
  launched.child.removeAllListeners("exit")
  if (isRunning(launched)) await stop(launched.pid)
  launched.watchdog.dismiss()
}

/**
 * Whether two postmaster files are of different servers. The start time has a resolution of a second, and in a
 * container successive servers may have the same pid; only both together identify a server.
 */
const isNewServer = (now: Cluster.Postmaster, before: Cluster.Postmaster | undefined) =>
  now.pid !== before?.pid || now.started !== before.started

const becomesReady = async (
  placement: Placement.Placement,
  launched: Launched,
  signal: AbortSignal,
): Promise<boolean> => {
  const deadline = performance.now() + START_TIMEOUT_MS
  while (isRunning(launched) && !signal.aborted && performance.now() < deadline) {
    const postmaster = await Cluster.postmaster(placement)
    if (postmaster?.pid === launched.pid && postmaster.ready && isNewServer(postmaster, launched.before)) return true
    await pause(READY_POLL_MS)
  }
  return false
}

/** Starts the server. Fails with its log output if it does not become ready. */
const started = (placement: Placement.Placement, options: Options) =>
  Effect.gen(function* () {
    const launched = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () => launch(placement, options),
        catch: Failure.notStarted("Postgres could not be started."),
      }),
      (launched) => Effect.promise(() => dismiss(launched)),
    )
    yield* options.launched
    const ready = yield* Effect.promise((signal) => becomesReady(placement, launched, signal)).pipe(
      Effect.interruptible,
    )
    if (ready) return launched
    yield* Effect.promise(() => dismiss(launched))
    const detail = yield* Effect.promise(() => tail(options.logFile, launched.logOffset))
    const error = new Failure.NotStarted({ reason: "Postgres did not start.", detail })
    // Uses real time, because it waits for another process, even if the caller uses a test clock.
    if (isTransient(error)) yield* Effect.promise(() => pause(RETRY_MS))
    return yield* error
  })

const isTransient = (error: Failure.EmbeddedPostgresError) =>
  error._tag === "NotStarted" && STILL_IN_USE.test(error.detail)

export interface Server {
  readonly pid: number
  /** Fails when the server has ended and cannot be restarted. */
  readonly died: Effect.Effect<never, Failure.ServerDied>
}

/** Starts the server, and starts it again when it ends unexpectedly. */
export const run: (
  placement: Placement.Placement,
  options: Options,
) => Effect.Effect<Server, Failure.EmbeddedPostgresError, Scope.Scope> = Effect.fnUntraced(
  function* (placement, options) {
    const start = (launched: Effect.Effect<void>) =>
      Effect.retry(started(placement, { ...options, launched }), { while: isTransient, times: LEFTOVER_RETRIES })
    const first = yield* start(options.launched)
    yield* watchLog(placement, options.logFile)
    const died = yield* Deferred.make<never, Failure.ServerDied>()
    const keptRunning = Supervision.keepRunning(first, {
      ended: (launched) => Effect.promise(() => hasExited(launched)),
      restart: Scope.provide(start(Effect.void), yield* Effect.scope),
      logSince: ({ logOffset }) => Effect.promise(() => tail(options.logFile, logOffset, LOG_SEARCH_BYTES)),
      maxRestarts: options.isRestarted ? Supervision.MAX_RESTARTS : 0,
    })
    yield* Effect.forkScoped(Effect.flatMap(keptRunning, (error) => Deferred.fail(died, error)))
    return { pid: first.pid, died: Deferred.await(died) }
  },
)

/** Waits for the end of the server, and dismisses its watchdog, whose pid may then belong to another program. */
const hasExited = async (launched: Launched): Promise<void> => {
  if (isRunning(launched)) await new Promise((resolve) => launched.child.once("exit", resolve))
  launched.watchdog.dismiss()
}
