import { valueOr } from "@waybill/runtime/flow/valueOr"
import type { ProjectionJob } from "@waybill/api/groups/Operate"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Context, Effect, Layer } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import * as NewIds from "../process/NewIds.ts"

/** Main module of this process, so that a replay runs the same release. */
const MAIN = process.argv[1] ?? ""
/** Maximum length of the shown error output of a failed command. */
const MAX_ERROR_CHARS = 2_000

/**
 * Replays that operators start in the dashboard. Each runs the command of the CLI in a process of its own, since folding a
 * whole log would block requests.
 */
export class Replays extends Context.Service<
  Replays,
  {
    readonly list: Effect.Effect<ReadonlyArray<ProjectionJob>>
    /** Starts a job. False if one is running for this read model. */
    readonly begin: (kind: ProjectionJob["kind"], name: string) => Effect.Effect<boolean>
    /** Runs a short command to its end, and returns its error output if it failed. */
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

  /** Runs a command, and returns its exit code and the end of its error output. */
  const command = (args: ReadonlyArray<string>, onLine: (line: string) => void) => {
    const child = spawn(process.execPath, [MAIN, "projections", ...args], { stdio: ["ignore", "pipe", "pipe"] })
    children.add(child)
    let errorOutput = ""
    createInterface({ input: child.stdout }).on("line", onLine)
    child.stderr.on("data", (chunk) => (errorOutput = `${errorOutput}${String(chunk)}`.slice(-MAX_ERROR_CHARS)))
    return new Promise<{ readonly code: number | null; readonly errorOutput: string }>((resolve) => {
      child.on("error", (error) => resolve({ code: null, errorOutput: error.message }))
      child.on("close", (code) => resolve({ code, errorOutput: errorOutput.trim() }))
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
    let last: OutputLine = {}
    const ended = command([kind, name, "--json"], (line) => {
      last = parsed(line)
      if (last.phase !== undefined) change(progressOf(last))
    })
    void ended.then(({ code, errorOutput }) =>
      change({ ended: { good: code === 0, said: code === 0 ? outcome(last) : errorOutput } }),
    )
    return true
  }

  return Replays.of({
    list: Effect.sync(() => [...jobs.values()]),
    begin: (kind, name) => Effect.map(NewIds.now, (at) => begin(kind, name, at)),
    run: (args) =>
      Effect.map(
        Effect.promise(() => command(args, () => {})),
        ({ code, errorOutput }) => (code === 0 ? undefined : errorOutput),
      ),
  })
})

/** A line that the command prints with `--json`: its progress, and at the end its result. */
interface OutputLine {
  readonly phase?: string
  readonly events?: number
  readonly total?: number
  readonly eta_seconds?: number | null
  readonly version?: number
  readonly rows?: number
  readonly unproved_rows?: number
  readonly differing_rows?: number
}

const parsed = (line: string): OutputLine => valueOr(() => JSON.parse(line) as OutputLine, {})

const progressOf = ({ eta_seconds = null, events = 0, phase = "", total = 0 }: OutputLine) => ({
  phase,
  events,
  total,
  eta_seconds,
})

const allOf = (rows: number): string => (rows === 1 ? "The only row matches" : `All ${rows} rows match`)

const outcome = ({ differing_rows, events = 0, rows = 0, unproved_rows = 0, version }: OutputLine): string =>
  differing_rows === undefined
    ? version === undefined
      ? `The new versions of all cells are ready, built from ${events} events. Swap them in to use them.`
      : `Version ${version} is ready, built from ${events} events. Swap it in to use it.`
    : unproved_rows === 0
      ? `${allOf(rows)} the log.`
      : `${allOf(rows)} the log, except ${unproved_rows} from times whose events retention has removed.`
