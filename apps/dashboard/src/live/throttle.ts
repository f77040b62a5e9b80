export interface Options {
  /** Does the work and returns the number of requests it made. */
  readonly run: () => Promise<number>
  /** Triggers within this time are handled by one run. */
  readonly debounce_ms: number
  /** Minimum time per request, on average. */
  readonly interval_ms: number
  /** Returns how long to pause if the error says that a rate limit was reached. */
  readonly pauseAfter: (error: unknown) => number | undefined
  readonly onRateLimited: (isRateLimited: boolean) => void
}

export interface Throttle {
  readonly trigger: () => void
  readonly stop: () => void
}

/** Runs work that is triggered more often than it may run: one run at a time, within the average rate, and no trigger lost. */
export const throttle = ({ debounce_ms, interval_ms, onRateLimited, pauseAfter, run }: Options): Throttle => {
  let timer: ReturnType<typeof setTimeout> | undefined
  let nextStart = 0
  let isRunning = false
  let isTriggered = false
  let isStopped = false

  const start = async () => {
    timer = undefined
    isRunning = true
    isTriggered = false
    const startedAt = performance.now()
    try {
      nextStart = startedAt + interval_ms * Math.max(1, await run())
      onRateLimited(false)
    } catch (error) {
      const pause_ms = pauseAfter(error)
      nextStart = performance.now() + (pause_ms ?? interval_ms)
      if (pause_ms !== undefined && !isStopped) {
        isTriggered = true
        onRateLimited(true)
      }
    }
    isRunning = false
    if (isTriggered) trigger()
  }
  const trigger = () => {
    isTriggered = true
    if (isRunning || isStopped || timer !== undefined) return
    timer = setTimeout(() => void start(), Math.max(debounce_ms, nextStart - performance.now()))
  }
  return {
    trigger,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
