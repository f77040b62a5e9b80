const TRIES = 2
/**
 * Least duration of a measurement. Linux counts a thread's time in steps of up to ten milliseconds, so shorter work is
 * repeated.
 */
const LEAST_MILLIS = 40

/** Measures processor time instead of wall time, because other processes only make work wait. */
const once = (work: () => unknown, repeats: number): number => {
  const before = process.threadCpuUsage()
  for (let nth = 0; nth < repeats; nth++) work()
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1_000
}

/**
 * Returns the factor by which work gets slower when its input grows by `times`: about the same factor where it is
 * linear, its square where it is quadratic, 1 where a limit applies. The fastest of several alternating tries counts,
 * since compilation and garbage collection do not occur in each.
 */
export const growth = (work: (size: number) => unknown, size: number, times: number): number => {
  const [small, large] = [() => work(size), () => work(size * times)]
  // The first run compiles the code.
  small()
  large()
  let repeats = 1
  while (once(small, repeats) < LEAST_MILLIS) repeats *= 2
  const tries = Array.from({ length: TRIES }, () => [once(small, repeats), once(large, repeats)] as const)
  return Math.min(...tries.map(([, of]) => of)) / Math.min(...tries.map(([of]) => of))
}
