export interface Pace {
  /** Answers how many requests it took. */
  readonly work: () => Promise<number>
  /** What comes in so soon after another is done with it. */
  readonly gather_ms: number
  /** Between two requests, on average. */
  readonly every_ms: number
  /** How long the server wants to be left alone, where an error says so. */
  readonly heldFor: (error: unknown) => number | undefined
  /** It is behind, and will be until the server takes requests again. */
  readonly onHeld: (held: boolean) => void
}

export interface Paced {
  readonly ask: () => void
  readonly stop: () => void
}

/** Work that is asked for more often than it may be done: one at a time, and never so often that a limit is used up. */
export const paced = ({ every_ms, gather_ms, heldFor, onHeld, work }: Pace): Paced => {
  let timer: ReturnType<typeof setTimeout> | undefined
  let freeAt = 0
  let isWorking = false
  let isAsked = false
  let isStopped = false

  const run = async () => {
    timer = undefined
    isWorking = true
    isAsked = false
    const began = performance.now()
    try {
      freeAt = began + every_ms * Math.max(1, await work())
      onHeld(false)
    } catch (error) {
      const held_ms = heldFor(error)
      freeAt = performance.now() + (held_ms ?? every_ms)
      if (held_ms !== undefined && !isStopped) {
        isAsked = true
        onHeld(true)
      }
    }
    isWorking = false
    if (isAsked) ask()
  }
  const ask = () => {
    isAsked = true
    if (isWorking || isStopped || timer !== undefined) return
    timer = setTimeout(() => void run(), Math.max(gather_ms, freeAt - performance.now()))
  }
  return {
    ask,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
