const TICK_MS = 2

/**
 * Returns the longest processor time of this thread between two turns of its event loop, from now until the call of the
 * result. Time spent waiting for a busy machine does not count.
 */
export const longestTurn = (): (() => number) => {
  const spent = () => {
    const { system, user } = process.threadCpuUsage()
    return (system + user) / 1_000
  }
  let before = spent()
  let longest = 0
  const look = () => {
    const now = spent()
    longest = Math.max(longest, now - before)
    before = now
  }
  const timer = setInterval(look, TICK_MS).unref()
  return () => {
    clearInterval(timer)
    look()
    return longest
  }
}
