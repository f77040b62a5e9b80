import { Effect } from "effect"
import { setTimeout as pause } from "node:timers/promises"
import * as Failure from "../system/Failure.ts"

/** Number of restarts in a row of a server that ends again within `STEADY_MS`, before it is given up. */
export const MAX_RESTARTS = 10
/** A server that has run for this long is steady: its next end begins a new count. */
const STEADY_MS = 60_000
const FIRST_PAUSE_MS = 100
/** Longest pause before a restart. */
export const MAX_PAUSE_MS = 10_000

/** Log lines of a recovery from which the last is reported. */
const RECOVERED = /redo done at|redo is not required|database system was not properly shut down/u
const SEVERE = /\b(?:PANIC|FATAL):/u
/** A full disk may get space again at any time, so its restarts are not counted. */
const DISK_FULL = /No space left on device/u

interface Actions<Launched> {
  readonly ended: (launched: Launched) => Effect.Effect<void>
  readonly restart: Effect.Effect<Launched, Failure.EmbeddedPostgresError>
  /** Returns the end of the log of a server. */
  readonly logSince: (launched: Launched) => Effect.Effect<string>
  readonly maxRestarts: number
}

/** Starts a server again each time it ends. Returns the error of a server that ends again and again. */
export const keepRunning = <Launched extends { readonly pid: number }>(
  first: Launched,
  { ended, logSince, maxRestarts, restart }: Actions<Launched>,
): Effect.Effect<Failure.ServerDied> =>
  Effect.gen(function* () {
    let launched = first
    let restarts = 0
    for (;;) {
      const began = performance.now()
      yield* ended(launched)
      const endedAt = performance.now()
      if (endedAt - began > STEADY_MS) restarts = 0
      let last = lastLine(yield* logSince(launched))
      const { pid } = launched
      if (maxRestarts === 0) return new Failure.ServerDied({ pid, detail: last })
      yield* Effect.logError("the embedded Postgres ended unexpectedly; it is being restarted", {
        pid,
        last_line: last,
      })
      for (let next: Launched | undefined; next === undefined;) {
        if (!DISK_FULL.test(last)) restarts++
        if (restarts > maxRestarts) return new Failure.ServerDied({ pid, detail: last })
        if (restarts > 1 || DISK_FULL.test(last)) yield* sleep(Math.min(FIRST_PAUSE_MS * 2 ** restarts, MAX_PAUSE_MS))
        const started = yield* Effect.result(restart)
        if (started._tag === "Success") next = started.success
        else if (started.failure._tag === "FolderHeld")
          return new Failure.ServerDied({ pid, detail: started.failure.message })
        else last = lastLine(started.failure.detail)
        if (next !== undefined) launched = next
      }
      const seconds = ((performance.now() - endedAt) / 1_000).toFixed(1)
      const recovery = recoveryIn(yield* logSince(launched))
      yield* Effect.logWarning(`the embedded Postgres runs again after ${seconds} s${recovery}`, { pid: launched.pid })
    }
  })

/** Uses real time, because it waits for another process, even if the caller uses a test clock. */
const sleep = (ms: number): Effect.Effect<void> => Effect.promise(() => pause(ms))

/** Returns the line that says why a server ended: its last severe one, or the last of all. */
const lastLine = (log: string): string => {
  const lines = log.split("\n").filter((line) => line.trim() !== "")
  return (lines.findLast((line) => DISK_FULL.test(line) || SEVERE.test(line)) ?? lines.at(-1) ?? "").trim()
}

const recoveryIn = (log: string): string => {
  const line = log.split("\n").findLast((each) => RECOVERED.test(each))
  return line === undefined ? "" : `, and has recovered from its write-ahead log: ${line.replace(/^.*?LOG:\s*/u, "")}`
}
