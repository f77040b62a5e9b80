import * as Measure from "./Measure.ts"

const MICROS = 1000

/** Measures the processor time of an operation in microseconds, by who spends it. */
export const make = (times: Readonly<Record<string, () => number>>) => {
  const rounds: Array<ReadonlyArray<number>> = []
  let done = 0
  let sums = Object.values(times).map(() => 0)
  /** What a millisecond without operations costs. */
  let atRest = Object.values(times).map(() => 0)
  const read = () => Object.values(times).map((time) => time())
  return {
    /** Runs a round, and keeps what each of its operations has cost. */
    measure: async (run: () => Promise<Measure.Load>): Promise<Measure.Load> => {
      const [before, began] = [read(), performance.now()]
      const load = await run()
      const taken = performance.now() - began
      const spent = read().map((after, nth) => (after - (before[nth] ?? 0)) * MICROS - (atRest[nth] ?? 0) * taken)
      rounds.push(spent.map((micros) => micros / load.done))
      done += load.done
      sums = sums.map((sum, nth) => sum + (spent[nth] ?? 0))
      return load
    },
    /** Measures what rest costs, which later rounds do not count. */
    rest: async (rest: () => Promise<unknown>): Promise<void> => {
      const [before, began] = [read(), performance.now()]
      await rest()
      const taken = performance.now() - began
      atRest = read().map((after, nth) => ((after - (before[nth] ?? 0)) * MICROS) / taken)
    },
    /** Forgets the rounds so far, which were the warm-up. */
    reset: () => {
      rounds.splice(0)
      done = 0
      sums = sums.map(() => 0)
    },
    /** Cost of an operation over all rounds: finer than that of one round, which is counted in ticks. */
    means: (): ReadonlyArray<number> => sums.map((sum) => sum / done),
    micros: (): Micros =>
      Object.fromEntries(
        Object.keys(times).map((name, nth) => [name, Measure.spread(rounds.map((round) => round[nth] ?? 0))]),
      ),
  }
}
export type CpuMeter = ReturnType<typeof make>
type Micros = Readonly<Record<string, Measure.Spread>>
