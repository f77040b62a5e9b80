interface Lookup<A> {
  readonly running: Promise<A>
  /** The lookup that begins when the running one ends, for requests that have arrived meanwhile. */
  next?: Promise<A>
}

/**
 * Shares a lookup among requests that ask for the same at once, as those of a page do. A request never gets what was
 * looked up before it arrived: it waits for the next lookup, so a session that was ended is refused from then on.
 */
export const shareLookups = <A>(lookUp: (key: string) => Promise<A>): ((key: string) => Promise<A>) => {
  const lookups = new Map<string, Lookup<A>>()
  const start = (key: string): Promise<A> => {
    const lookup: Lookup<A> = {
      running: lookUp(key).finally(() => {
        if (lookup.next === undefined) lookups.delete(key)
      }),
    }
    lookups.set(key, lookup)
    return lookup.running
  }
  return (key) => {
    const lookup = lookups.get(key)
    if (lookup === undefined) return start(key)
    const again = () => start(key)
    return (lookup.next ??= lookup.running.then(again, again))
  }
}
