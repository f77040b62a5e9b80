import type { ProjectionJob } from "@waybill/api/groups/Operate"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Context, Effect, Layer } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { now } from "./fresh.ts"

/** The same release, from its bundle or its sources, as this process was started. */
const MAIN = process.argv[1] ?? ""
/** What a command that failed said last is shown, and no more of it. */
const MAX_SAID_CHARS = 2_000

/**
 * Replays that an operator asked for in the dashboard. Each is the command that they would type, in a process of its
 * own: folding a whole log is not done where requests are answered.
 */
export class Replays extends Context.Service<
  Replays,
  {
    readonly list: Effect.Effect<ReadonlyArray<ProjectionJob>>
    /** Whether it was begun; a read model is worked on once at a time. */
    readonly begin: (kind: ProjectionJob["kind"], name: string) => Effect.Effect<boolean>
    /** For what takes a moment. Gives what went wrong, if anything did. */
    readonly run: (args: ReadonlyArray<string>) => Effect.Effect<string | undefined>
  }
>()("@waybill/server/operate/Replays") {
  static readonly layer = Layer.effect(
    Replays,
    Effect.suspend(() => make),
  )
}

const make = Effect.gen(function* () {
  const jobs = new Map<string, ProjectionJob>()
  const children = new Set<ChildProcess>()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const child of children) child.kill("SIGTERM")
    }),
  )

  /** Gives the exit code and the last thing that was said aside. */
  const command = (args: ReadonlyArray<string>, onLine: (line: string) => void) => {
    const child = spawn(process.execPath, [MAIN, "projections", ...args], { stdio: ["ignore", "pipe", "pipe"] })
    children.add(child)
    let said = ""
    createInterface({ input: child.stdout }).on("line", onLine)
    child.stderr.on("data", (chunk) => (said = `${said}${String(chunk)}`.slice(-MAX_SAID_CHARS)))
    return new Promise<{ readonly code: number | null; readonly said: string }>((resolve) => {
      child.on("error", (error) => resolve({ code: null, said: error.message }))
      child.on("close", (code) => resolve({ code, said: said.trim() }))
    }).finally(() => children.delete(child))
  }

  const begin = (kind: ProjectionJob["kind"], name: string, started_at: Timestamp.Timestamp) => {
    if (jobs.get(name)?.ended === null) return false
    const change = (part: Partial<ProjectionJob>) => {
      const before = jobs.get(name)
      if (before !== undefined) jobs.set(name, { ...before, ...part })
    }
    const first = { phase: "starting", events: 0, total: 0, eta_seconds: null, ended: null }
    jobs.set(name, { name, kind, started_at, ...first })
    let last: Line = {}
    const ended = command([kind, name, "--json"], (line) => {
      last = parsed(line)
      if (last.phase !== undefined) change(progressOf(last))
    })
    void ended.then(({ code, said }) =>
      change({ ended: { good: code === 0, said: code === 0 ? outcome(last) : said } }),
    )
    return true
  }

  return Replays.of({
    list: Effect.sync(() => [...jobs.values()]),
    begin: (kind, name) => Effect.map(now, (at) => begin(kind, name, at)),
    run: (args) =>
      Effect.map(
        Effect.promise(() => command(args, () => {})),
        ({ code, said }) => (code === 0 ? undefined : said),
      ),
  })
})

/** What the command prints with `--json`: how far it is, and in the end what it made or found. */
interface Line {
  readonly phase?: string
  readonly events?: number
  readonly total?: number
  readonly eta_seconds?: number | null
  readonly version?: number
  readonly rows?: number
  readonly unproved_rows?: number
  readonly differing_rows?: number
}

const parsed = (line: string): Line => {
  try {
    return JSON.parse(line) as Line
  } catch {
    return {}
  }
}

const progressOf = ({ eta_seconds = null, events = 0, phase = "", total = 0 }: Line) => ({
  phase,
  events,
  total,
  eta_seconds,
})

const outcome = ({ differing_rows, events = 0, rows = 0, unproved_rows = 0, version }: Line): string =>
  differing_rows === undefined
    ? `Version ${String(version)} is ready, folded from ${events} events. Nothing reads it before it is swapped in.`
    : unproved_rows === 0
      ? `It is what the log says, in all of its ${rows} rows.`
      : `It is what the log says, in all of its ${rows} rows but ${unproved_rows}, of times that the log does not hold in full any more.`
