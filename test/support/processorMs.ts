/** Processor time of this process in milliseconds, which does not grow while other processes run. */
export const processorMs = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

const RUNS = 5

/**
 * Returns the least processor time of a few runs of a work, which end with the first below a bound. What other processes do to
 * the caches of a busy machine makes a run longer, but not each.
 */
export const leastProcessorMs = (bound: number, work: () => unknown): number => {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < RUNS && least >= bound; run++) {
    const before = processorMs()
    work()
    least = Math.min(least, processorMs() - before)
  }
  return least
}
