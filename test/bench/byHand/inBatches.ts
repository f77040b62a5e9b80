/**
 * Returns a function that takes items, of which all that wait are worked on together, `most` at a time. Up to `atOnce`
 * batches are worked on at once, all but the first of at least `least` items.
 */
export const inBatches = <A>(
  { atOnce, least, most }: { readonly atOnce: number; readonly least: number; readonly most: number },
  work: (batch: ReadonlyArray<A>) => Promise<void>,
): ((item: A) => void) => {
  let waiting: Array<A> = []
  let working = 0
  const start = async (): Promise<void> => {
    working++
    // Whoever arrives in the same turn of the loop is part of the batch.
    await new Promise(setImmediate)
    while (waiting.length > 0) await work(take())
    working--
  }
  const take = (): ReadonlyArray<A> => {
    const batch = waiting.length <= most ? waiting : waiting.slice(0, most)
    waiting = waiting.length <= most ? [] : waiting.slice(most)
    return batch
  }
  return (item) => {
    waiting.push(item)
    if (working < atOnce && (working === 0 || waiting.length >= least)) void start()
  }
}
