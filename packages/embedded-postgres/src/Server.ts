import { Deferred, Effect, type Scope } from "effect"
import type { ChildProcess } from "node:child_process"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import * as Cluster from "./Cluster.ts"
import { type EmbeddedPostgresError, FolderHeld, NotStarted, notStarted, ServerDied } from "./Failure.ts"
import * as Placement from "./Placement.ts"
import * as Process from "./Process.ts"
import * as Watchdog from "./Watchdog.ts"

/** A crashed server reads its log again, up to max_wal_size of it; one that is merely started needs 50 ms. */
const START_TIMEOUT_MS = 300_000
/** The processes of a killed server notice within moments; until then its memory is in use and a start is refused. */
const LEFTOVER_RETRIES = 100
const RETRY_MS = 100
const READY_POLL_MS = 5
const GONE_POLL_MS = 10
const FAST_STOP_MS = 10_000
const IMMEDIATE_STOP_MS = 3_000
/** Of the server's log; what was before lies beside it, as much again. */
export const LOG_MAX_BYTES = 10 * 1024 * 1024
const LOOK_AT_LOG_EVERY_MS = 60_000
const LOG_TAIL_BYTES = 2_000
/** What the server says while processes of its killed predecessor are still there. */
const STILL_IN_USE = /pre-existing shared memory block|lock file "postmaster\.pid" already exists/u

const isGone = async (pid: number, withinMs: number): Promise<boolean> => {
  const deadline = performance.now() + withinMs
  while ((await Process.find(pid)) !== undefined) {
    if (performance.now() > deadline) return false
    await pause(GONE_POLL_MS)
  }
  return true
}

/** Asks for a fast shutdown, then an immediate one, then stops asking: bounded, whatever the server is doing. */
const stop = async (pid: number): Promise<void> => {
  Process.signal(pid, "SIGINT")
  if (await isGone(pid, FAST_STOP_MS)) return
  Process.signal(pid, "SIGQUIT")
  if (await isGone(pid, IMMEDIATE_STOP_MS)) return
  Process.signal(pid, "SIGKILL")
  await isGone(pid, IMMEDIATE_STOP_MS)
}

/** Called under the folder's lock: whoever runs a server of ours here has lost its parent. */
export const stopLeftover = async (place: Placement.Placement): Promise<void> => {
  const found = await Cluster.postmaster(place)
  const alive = found === undefined ? undefined : await Process.find(found.pid)
  // A file whose process is dead is the server's own affair: it also looks for processes that outlived that one.
  if (alive === undefined) return
  if (!alive.command.includes(Placement.cluster(place))) {
    // The number was given to another program since, and the server would take that for itself.
    return await fs.rm(path.join(Placement.cluster(place), "postmaster.pid"), { force: true })
  }
  if (!Cluster.isOurs(alive.command)) {
    throw new FolderHeld({ folder: place.folder, pid: alive.pid, command: alive.command })
  }
  await stop(alive.pid)
}

/**
 * Emptied where it lies, for the server goes on writing into it and always at its end. What it says between the copy and
 * that is lost, which a log may be.
 */
export const boundLog = async (place: Placement.Placement, file: string): Promise<void> => {
  const size = await fs.stat(file).then(
    (stat) => stat.size,
    () => 0,
  )
  if (size <= LOG_MAX_BYTES) return
  await fs.copyFile(file, `${file}.1`)
  await Placement.handOver(place, `${file}.1`)
  await fs.truncate(file)
}

const openLog = async (place: Placement.Placement, file: string): Promise<fs.FileHandle> => {
  await boundLog(place, file)
  const log = await fs.open(file, "a", 0o600)
  await Placement.handOver(place, file)
  return log
}

const watchLog = (place: Placement.Placement, file: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      setInterval(() => void boundLog(place, file).catch(() => undefined), LOOK_AT_LOG_EVERY_MS).unref(),
    ),
    (looking) => Effect.sync(() => clearInterval(looking)),
  )

/** The end of what was said since then; all is new in a log that was emptied meanwhile. */
const tail = async (file: string, from: number): Promise<string> => {
  const text = await fs.readFile(file).catch(() => Buffer.alloc(0))
  return text
    .subarray(Math.max(from > text.length ? 0 : from, text.length - LOG_TAIL_BYTES))
    .toString()
    .trim()
}

interface Options {
  readonly args: ReadonlyArray<string>
  readonly logFile: string
  readonly launched: Effect.Effect<void>
  /** What is removed when we are killed and cannot do it ourselves. */
  readonly leavings: ReadonlyArray<string>
}

interface Launched {
  readonly child: ChildProcess
  readonly pid: number
  readonly watchdog: Watchdog.Watchdog
  /** Of the file that a killed server left behind, if one did. */
  readonly before: Cluster.Postmaster | undefined
  /** Where in the log this server's own lines begin. */
  readonly logged: number
}

const runs = ({ child }: Launched) => child.exitCode === null && child.signalCode === null

const launch = async (place: Placement.Placement, options: Options): Promise<Launched> => {
  const log = await openLog(place, options.logFile)
  const logged = (await log.stat()).size
  const watchdog = Watchdog.start(path.join(Placement.cluster(place), "postmaster.pid"), options.leavings)
  const before = await Cluster.postmaster(place)
  const child = Cluster.launch(place, options.args, log.fd)
  const refused = new Promise<string>((resolve) => child.once("error", (cause) => resolve(cause.message)))
  await log.close()
  if (child.pid === undefined) {
    watchdog.dismiss()
    throw new NotStarted({ reason: "Postgres could not be run.", detail: await refused })
  }
  watchdog.guard(child.pid)
  // A program that forgets to close its scope may still end; the watchdog then stops the server.
  child.unref()
  return { child, pid: child.pid, watchdog, before, logged }
}

/** A server that ended by itself has given its number back, and the number may be another program's by now. */
const dismiss = async (launched: Launched): Promise<void> => {
  launched.child.removeAllListeners("exit")
  if (runs(launched)) await stop(launched.pid)
  launched.watchdog.dismiss()
}

/**
 * A file holds a start by the second, in which a killed server can already have its successor; and in a container each
 * server may well get the same number. Only together they are of one server.
 */
const isAnother = (now: Cluster.Postmaster, before: Cluster.Postmaster | undefined) =>
  now.pid !== before?.pid || now.started !== before.started

const becomesReady = async (place: Placement.Placement, launched: Launched, signal: AbortSignal): Promise<boolean> => {
  const deadline = performance.now() + START_TIMEOUT_MS
  while (runs(launched) && !signal.aborted && performance.now() < deadline) {
    const postmaster = await Cluster.postmaster(place)
    if (postmaster?.pid === launched.pid && postmaster.ready && isAnother(postmaster, launched.before)) return true
    await pause(READY_POLL_MS)
  }
  return false
}

/** Fails with what the server said when it does not come up. */
const started = (place: Placement.Placement, options: Options) =>
  Effect.gen(function* () {
    const launched = yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => launch(place, options), catch: notStarted("Postgres could not be run.") }),
      (launched) => Effect.promise(() => dismiss(launched)),
    )
    yield* options.launched
    const ready = yield* Effect.promise((signal) => becomesReady(place, launched, signal)).pipe(Effect.interruptible)
    if (ready) return launched
    yield* Effect.promise(() => dismiss(launched))
    const detail = yield* Effect.promise(() => tail(options.logFile, launched.logged))
    const error = new NotStarted({ reason: "Postgres did not start.", detail })
    // Real time, whatever clock the caller lives by: it is another process that we wait for.
    if (isTransient(error)) yield* Effect.promise(() => pause(RETRY_MS))
    return yield* error
  })

const isTransient = (error: EmbeddedPostgresError) => error._tag === "NotStarted" && STILL_IN_USE.test(error.detail)

export interface Server {
  readonly pid: number
  readonly died: Effect.Effect<never, ServerDied>
}

export const run: (
  place: Placement.Placement,
  options: Options,
) => Effect.Effect<Server, EmbeddedPostgresError, Scope.Scope> = Effect.fnUntraced(function* (place, options) {
  const launched = yield* Effect.retry(started(place, options), {
    while: isTransient,
    times: LEFTOVER_RETRIES,
  })
  yield* watchLog(place, options.logFile)
  const died = yield* Deferred.make<never, ServerDied>()
  const fail = async () => {
    const detail = await tail(options.logFile, launched.logged)
    Deferred.doneUnsafe(died, Effect.fail(new ServerDied({ pid: launched.pid, detail })))
  }
  launched.child.once("exit", () => void fail())
  if (!runs(launched)) yield* Effect.promise(fail)
  return { pid: launched.pid, died: Deferred.await(died) }
})
