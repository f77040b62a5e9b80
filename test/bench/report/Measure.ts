import { Effect } from "effect"

/** Contender of a comparison; `run` works for about this long and returns what it did. */
export interface Contender {
  readonly name: string
  readonly run: (millis: number) => Promise<Load>
}
export interface Load {
  readonly done: number
  readonly millis: number
  /** Latency of each operation in milliseconds; empty where only the rate matters. */
  readonly latencies: ReadonlyArray<number>
}

export interface Result {
  readonly name: string
  /** Median, least and most operations per second over the rounds. */
  readonly perSecond: Spread
  /** Percentiles of all operations of all rounds. */
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
  /** Warm-up before the first round, for compilers and caches; not counted. */
  readonly warmUpMillis: number
}

/** Runs the rounds; contenders take turns within a round, so that other load on the machine affects all of them. */
export const rounds = async (
  contenders: ReadonlyArray<Contender>,
  options: RoundsOptions,
): Promise<ReadonlyArray<Result>> => {
  const loads = new Map<string, Array<Load>>(contenders.map(({ name }) => [name, []]))
  for (const { run } of contenders) await run(options.warmUpMillis)
  for (let round = 0; round < options.rounds; round++) {
    // Rotates the order, so that no contender always runs after the same one and pays for its cleanup.
    const turn = round % 2 === 0 ? contenders : contenders.toReversed()
    for (const { name, run } of turn) loads.get(name)?.push(await run(options.millis))
  }
  return contenders.map(({ name }) => resultOf(name, loads.get(name) ?? []))
}

/** Returns the result of all rounds of a contender. */
export const resultOf = (name: string, loads: ReadonlyArray<Load>): Result => {
  const latencies = loads.flatMap((load) => load.latencies)
  return {
    name,
    perSecond: spread(loads.map(({ done, millis }) => (done * 1000) / millis)),
    p50Millis: quantile(latencies, 0.5),
    p99Millis: quantile(latencies, 0.99),
  }
}

/** Runs this many loops of one operation after another until the time is over. Works for fibers and promises alike. */
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

/** Runs the loops as fibers, without a promise between operations. */
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
/** Returns the mean of the two middle values where their number is even. */
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

/** Formats columns as wide as their widest cell, with numbers to the right. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>) =>
    cells.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join("  ")
  return [line(head), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n")
}

export const rate = (value: number): string => Math.round(value).toLocaleString("en-US")
export const millis = (value: number): string => value.toFixed(value < 10 ? 2 : 1)
export const times = (value: number): string => `${value.toFixed(1)}x`

/** Formats the results of one setting, each also as a multiple of the named contender. */
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

/** Exit status of a benchmark that needs a program which is not installed: EX_UNAVAILABLE of sysexits.h. */
export const UNAVAILABLE = 69

export const wantsJson = (): boolean => process.argv.includes("--json")

/** Finding of the report over all benchmarks: what was measured, and the aim if there is one. */
export interface Finding {
  readonly what: string
  readonly measured: Spread
  readonly unit: "times" | "a second" | "µs" | "ms" | "s" | "MiB" | "%" | "bytes" | "count"
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
    case "bytes":
      return `${rate(value)} bytes`
    case "count":
      return String(value)
    default:
      return `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`
  }
}

/** Formats a finding as table cells: subject, value, bounds, aim, and whether the aim is met. */
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

/** Finding measured once, without a spread. */
export const once = (value: number): Spread => ({ median: value, least: value, most: value })

/** Ratio of two contenders' medians, and the least and greatest ratio within a round. */
export const ratio = (results: ReadonlyArray<Result>, name: string, against: string): Spread => {
  const [own, base] = [name, against].map((wanted) => results.find((result) => result.name === wanted)?.perSecond)
  if (own === undefined || base === undefined) throw new Error(`nobody is called ${name} or ${against}`)
  return { median: own.median / base.median, least: own.least / base.most, most: own.most / base.least }
}

/** Prints the result of a benchmark, as JSON for scripts or as text. */
export const answer = (json: object, text: string, findings: ReadonlyArray<Finding>): void => {
  const whole = { ...json, findings }
  process.stdout.write(wantsJson() ? `${JSON.stringify(whole, undefined, 2)}\n` : `${text}\n`)
}
