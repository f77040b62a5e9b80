/**
 * Maximum number of TLS handshakes that begin in a second, over all connections of a listener. Each costs about 2 ms of
 * the event loop, so a flood of them takes at most a fifth of a core.
 */
export const HANDSHAKES_PER_SECOND = 100
/** Maximum number of handshakes that begin at once after a quiet time. */
export const MAX_BURST = 20
const TICK_MS = 50

export interface Handshakes {
  /** Calls `start` at once or when its turn comes. Returns a function that gives the turn up. */
  readonly begin: (start: () => void) => () => void
}

/** Calls `tick` at an interval until the returned function is called. */
type Every = (tick: () => void) => () => void

const everyTick: Every = (tick) => {
  const timer = setInterval(tick, TICK_MS).unref()
  return () => clearInterval(timer)
}

export const make = (every: Every = everyTick): Handshakes => {
  const waiting = new Set<() => void>()
  let free = MAX_BURST
  let stop: (() => void) | undefined

  const next = () => {
    for (const start of waiting) {
      if (free === 0) return
      free--
      waiting.delete(start)
      start()
    }
  }
  const tick = () => {
    free = Math.min(MAX_BURST, free + (HANDSHAKES_PER_SECOND * TICK_MS) / 1000)
    next()
    if (free < MAX_BURST) return
    stop?.()
    stop = undefined
  }
  return {
    begin: (start) => {
      // A new function each time, so that the same `start` may wait twice.
      const turn = () => start()
      waiting.add(turn)
      next()
      stop ??= every(tick)
      return () => void waiting.delete(turn)
    },
  }
}
