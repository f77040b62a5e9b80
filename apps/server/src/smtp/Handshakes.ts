/**
 * TLS handshakes that begin in a second, over all connections of a listener. Each costs about 2 ms of the event loop,
 * so a flood of them takes a fifth of a core at most.
 */
export const HANDSHAKES_PER_SECOND = 100
/** Handshakes that may begin at once after a quiet time. */
export const MAX_BURST = 20
const TICK_MS = 50

export interface Handshakes {
  /** Begins now, or when it is this one's turn. Answers with a way to give the turn up. */
  readonly begin: (start: () => void) => () => void
}

/** Calls `tick` until it is stopped. */
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
      // An object of its own, so that one function may wait twice.
      const turn = () => start()
      waiting.add(turn)
      next()
      stop ??= every(tick)
      return () => void waiting.delete(turn)
    },
  }
}
