/** The end of the time that a rendering may take. */
export interface Deadline {
  /** Whether it is over. Looks at the clock once for a few pieces; at once for what may take longer than a piece. */
  readonly isOver: (isLong?: boolean) => boolean
}

/** Short pieces of a template between two looks at the clock. All pieces together make little: `Limits.MAX_MADE`. */
const PIECES = 8

/**
 * Returns a deadline by a clock that runs no faster than time does, such as that of the processor time of this thread. It is
 * read once the time itself is over: to read it takes as long as to render two outputs.
 */
export const within = (limitMs: number, now: () => number = () => performance.now()): Deadline => {
  const end = now() + limitMs
  const earliest = performance.now() + limitMs
  let pieces = 0
  return {
    isOver: (isLong = false) => (isLong || ++pieces % PIECES === 0) && performance.now() > earliest && now() > end,
  }
}
