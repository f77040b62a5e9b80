import * as EmbeddedPostgres from "@waybill/embedded-postgres/EmbeddedPostgres"
import * as Settings from "@waybill/embedded-postgres/server/Settings"
import * as Migrations from "@waybill/store/postgres/Migrations"
import { Effect, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import pg from "pg"
import { onDatabase } from "../support/postgres/databaseUrl.ts"

/** One of those that are compared. `run` works for about so long and answers with what it did. */
export interface Contender {
  readonly name: string
  readonly run: (millis: number) => Promise<Load>
}
export interface Load {
  readonly done: number
  readonly millis: number
  /** Of each operation, in milliseconds; empty where only the rate is of interest. */
  readonly latencies: ReadonlyArray<number>
}

export interface Result {
  readonly name: string
  /** Median, least and most operations a second over the rounds. */
  readonly perSecond: Spread
  /** Of all operations of all rounds. */
  readonly p50Millis: number
  readonly p99Millis: number
}
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

export interface RoundsOptions {
  readonly rounds: number
  readonly millis: number
  /** Before the first round, for compilers and caches; not counted. */
  readonly warmUpMillis: number
}

/** Round by round, each contender in turn, so that what else the machine does strikes all of them alike. */
export const rounds = async (
  contenders: ReadonlyArray<Contender>,
  options: RoundsOptions,
): Promise<ReadonlyArray<Result>> => {
  const loads = new Map<string, Array<Load>>(contenders.map(({ name }) => [name, []]))
  for (const { run } of contenders) await run(options.warmUpMillis)
  for (let round = 0; round < options.rounds; round++) {
    // Nobody is always the one that cleans up after the same neighbour.
    const turn = round % 2 === 0 ? contenders : contenders.toReversed()
    for (const { name, run } of turn) loads.get(name)?.push(await run(options.millis))
  }
  return contenders.map(({ name }) => {
    const all = loads.get(name) ?? []
    const latencies = all.flatMap((load) => load.latencies)
    return {
      name,
      perSecond: spread(all.map(({ done, millis }) => (done * 1000) / millis)),
      p50Millis: quantile(latencies, 0.5),
      p99Millis: quantile(latencies, 0.99),
    }
  })
}

/** So many loops of one operation after another, until the time is over. Works for fibers and promises alike. */
export const hammer = async (
  loops: number,
  millis: number,
  operation: (loop: number) => Promise<unknown>,
): Promise<Load> => {
  const latencies: Array<number> = []
  const began = performance.now()
  const end = began + millis
  const loop = async (nth: number) => {
    for (let now = performance.now(); now < end;) {
      await operation(nth)
      const after = performance.now()
      latencies.push(after - now)
      now = after
    }
  }
  await Promise.all(Array.from({ length: loops }, (_, nth) => loop(nth)))
  return { done: latencies.length, millis: performance.now() - began, latencies }
}

/** The same with fibers, for what is an effect: no promise stands between the operations. */
export const hammerEffect = <E>(
  loops: number,
  millis: number,
  operation: (loop: number) => Effect.Effect<unknown, E>,
): Effect.Effect<Load, E> =>
  Effect.suspend(() => {
    const latencies: Array<number> = []
    const began = performance.now()
    const end = began + millis
    const loop = Effect.fnUntraced(function* (nth: number) {
      for (let now = performance.now(); now < end;) {
        yield* operation(nth)
        const after = performance.now()
        latencies.push(after - now)
        now = after
      }
    })
    return Effect.forEach(
      Array.from({ length: loops }, (_, nth) => nth),
      loop,
      {
        concurrency: "unbounded",
        discard: true,
      },
    ).pipe(Effect.map(() => ({ done: latencies.length, millis: performance.now() - began, latencies })))
  })

export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
/** Between the two in the middle where their number is even. */
export const median = (values: ReadonlyArray<number>): number => {
  const downwards = quantile(
    values.map((value) => -value),
    0.5,
  )
  return (quantile(values, 0.5) - downwards) / 2
}
export const spread = (values: ReadonlyArray<number>): Spread => ({
  median: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
})

/** Columns as wide as their widest cell; numbers to the right. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>) =>
    cells.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join("  ")
  return [line(head), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n")
}

export const rate = (value: number): string => Math.round(value).toLocaleString("en-US")
export const millis = (value: number): string => value.toFixed(value < 10 ? 2 : 1)
export const times = (value: number): string => `${value.toFixed(1)}x`

/** Results of one setting, each also as a multiple of the one named. */
export const resultsTable = (results: ReadonlyArray<Result>, against?: string): string => {
  const base = results.find(({ name }) => name === against)?.perSecond.median
  return table(
    ["", "a second", "least", "most", ...(base === undefined ? [] : [`against ${against}`]), "p50 ms", "p99 ms"],
    results.map(({ name, p50Millis, p99Millis, perSecond }) => [
      name,
      rate(perSecond.median),
      rate(perSecond.least),
      rate(perSecond.most),
      ...(base === undefined ? [] : [times(perSecond.median / base)]),
      millis(p50Millis),
      millis(p99Millis),
    ]),
  )
}

/**
 * A server for this run only. Unlike the tests' own it waits for the disk at every commit, as a service's does: what
 * is measured without that is the measure of nothing.
 */
export const temporaryServer = (
  settings: Readonly<Record<string, string>> = {},
): Effect.Effect<EmbeddedPostgres.Running, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-bench-")))
    // As root the server runs as somebody else, who must be able to pass through.
    yield* Effect.promise(() => fs.chmod(folder, 0o711))
    return yield* EmbeddedPostgres.start({
      dataDir: folder,
      scratch: true,
      // As a server that keeps its data.
      settings: { fsync: "on", full_page_writes: "on", shared_buffers: Settings.sharedBuffers(), ...settings },
    })
  })

/** A migrated database of its own on that server. */
export const freshDatabase = async (server: EmbeddedPostgres.Running): Promise<Redacted.Redacted> => {
  const name = `bench_${randomBytes(6).toString("hex")}`
  const url = Redacted.value(server.url)
  await execute(url, `CREATE DATABASE ${name}`)
  const fresh = Redacted.make(onDatabase(url, name))
  await Effect.runPromise(Migrations.migrate(fresh))
  return fresh
}

export const execute = async (url: string, ...statements: ReadonlyArray<string>): Promise<ReadonlyArray<unknown>> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const rows: Array<unknown> = []
    for (const statement of statements) rows.push(...(await client.query(statement)).rows)
    return rows
  } finally {
    await client.end()
  }
}

/** A disk in a cloud answers a flush in about this time; a local one is quicker and would flatter what flushes often. */
export const CLOUD_COMMIT_MICROS = 2000

/** Every commit waits so long before its flush, from the next statement on, in every session. */
export const setCommitDelay = (server: EmbeddedPostgres.Running, micros: number): Promise<unknown> =>
  execute(
    Redacted.value(server.adminUrl),
    `ALTER SYSTEM SET commit_delay = ${micros}`,
    "ALTER SYSTEM SET commit_siblings = 0",
    "SELECT pg_reload_conf()",
  )

export interface Environment {
  readonly cpu: string
  readonly cores: number
  readonly loadAverage: number
  readonly system: string
  readonly node: string
  readonly postgres: string
}

export const environment = async (server: EmbeddedPostgres.Running): Promise<Environment> => {
  const [row] = await execute(Redacted.value(server.url), "SHOW server_version")
  return {
    cpu: os.cpus()[0]?.model.trim() ?? "unknown",
    cores: os.availableParallelism(),
    loadAverage: Number(os.loadavg()[0]?.toFixed(2)),
    system: `${os.platform()} ${os.release()}`,
    node: process.version,
    postgres: String(Object.values(row ?? {})[0]),
  }
}

export const describe = (found: Environment): string =>
  `${found.cores} cores (${found.cpu}), load ${found.loadAverage} before, ${found.system}, ` +
  `Node ${found.node}, PostgreSQL ${found.postgres}; load and server share the machine.`

export const wantsJson = (): boolean => process.argv.includes("--json")

/** One sentence of the report over all benchmarks: what was measured, and what was aimed at, if anything was. */
export interface Finding {
  readonly what: string
  readonly measured: Spread
  readonly unit: "times" | "a second" | "ms" | "s" | "MiB" | "%"
  readonly atLeast?: number
  readonly atMost?: number
}

const shown = (value: number, unit: Finding["unit"]): string => {
  switch (unit) {
    case "times":
      return `${value.toFixed(Math.abs(value) < 10 ? 2 : 0)}x`
    case "a second":
      return rate(value)
    case "ms":
      return `${millis(value)} ms`
    default:
      return `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`
  }
}

/** A finding as the cells of a table: what, how much, between which bounds, the aim, and whether it is met. */
export const cells = ({ atLeast, atMost, measured, unit, what }: Finding): ReadonlyArray<string> => {
  const { least, median, most } = measured
  const aim =
    atLeast === undefined
      ? atMost === undefined
        ? ""
        : `at most ${shown(atMost, unit)}`
      : `at least ${shown(atLeast, unit)}`
  const isMet = median >= (atLeast ?? Number.NEGATIVE_INFINITY) && median <= (atMost ?? Number.POSITIVE_INFINITY)
  return [
    what,
    shown(median, unit),
    least === most ? "" : `${shown(least, unit)} to ${shown(most, unit)}`,
    aim,
    aim === "" ? "" : isMet ? "met" : "not met",
  ]
}

export const CELLS = ["", "measured", "spread", "aim", ""]

export const findingsTable = (findings: ReadonlyArray<Finding>): string => table(CELLS, findings.map(cells))

/** What was measured once has no spread. */
export const once = (value: number): Spread => ({ median: value, least: value, most: value })

/** The ratio of two contenders' medians, and of the rounds that part them least and most. */
export const ratio = (results: ReadonlyArray<Result>, name: string, against: string): Spread => {
  const [own, base] = [name, against].map((wanted) => results.find((result) => result.name === wanted)?.perSecond)
  if (own === undefined || base === undefined) throw new Error(`nobody is called ${name} or ${against}`)
  return { median: own.median / base.median, least: own.least / base.most, most: own.most / base.least }
}

/** The whole answer of a benchmark: JSON for a script, else text for a person. */
export const answer = (json: object, text: string, findings: ReadonlyArray<Finding>): void => {
  const whole = { ...json, findings }
  process.stdout.write(wantsJson() ? `${JSON.stringify(whole, undefined, 2)}\n` : `${text}\n`)
}
