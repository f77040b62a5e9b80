const TRIES = 2
/** Linux says how much a thread has had in steps of up to ten milliseconds: work that takes less is repeated. */
const LEAST_MILLIS = 40

/** By the processor's time, not the clock's: on a busy machine work waits for its turn, and takes no more for that. */
const once = (work: () => unknown, repeats: number): number => {
  const before = process.threadCpuUsage()
  for (let nth = 0; nth < repeats; nth++) work()
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1_000
}

/**
 * How many times as long work takes over so many times as much: about as many where it is linear, their square where it
 * is quadratic, 1 where a limit stands between. Of several tries, in turns, the quickest counts, since compilers and
 * collectors do not come each time.
 */
export const growth = (work: (size: number) => unknown, size: number, times: number): number => {
  const [small, large] = [() => work(size), () => work(size * times)]
  // What runs for the first time is compiled meanwhile.
  small()
  large()
  let repeats = 1
  while (once(small, repeats) < LEAST_MILLIS) repeats *= 2
  const tries = Array.from({ length: TRIES }, () => [once(small, repeats), once(large, repeats)] as const)
  return Math.min(...tries.map(([, of]) => of)) / Math.min(...tries.map(([of]) => of))
}
