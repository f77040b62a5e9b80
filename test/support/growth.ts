const TRIES = 5
/** Work that is over sooner is repeated, for a clock says nothing about less. */
const LEAST_MILLIS = 5

const once = (work: () => unknown, repeats: number): number => {
  const began = performance.now()
  for (let nth = 0; nth < repeats; nth++) work()
  return performance.now() - began
}

/**
 * How many times as long work takes over so many times as much: about as many where it is linear, their square where it
 * is quadratic, 1 where a limit stands between. Of several tries the quickest counts, in turns, so that what else the
 * machine does strikes neither side.
 */
export const growth = (work: (size: number) => unknown, size: number, times: number): number => {
  const [small, large] = [() => work(size), () => work(size * times)]
  let repeats = 1
  while (once(small, repeats) < LEAST_MILLIS) repeats *= 2
  const tries = Array.from({ length: TRIES }, () => [once(small, repeats), once(large, repeats)] as const)
  return Math.min(...tries.map(([, of]) => of)) / Math.min(...tries.map(([of]) => of))
}
