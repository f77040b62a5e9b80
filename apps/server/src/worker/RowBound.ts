/** The rows of one pipeline in flight. */
export interface PipelineRows {
  readonly size: () => number
  /** Called when a row of any pipeline has ended, so that its place is free. */
  readonly onFree: () => void
}

/** Bounds the number of rows of one kind that a process works on at once, over all pipelines. */
export interface RowBound {
  readonly size: number
  readonly add: (rows: PipelineRows) => void
  readonly remove: (rows: PipelineRows) => void
  /** Returns how many more rows of a pipeline may be claimed. */
  readonly free: (rows: PipelineRows) => number
  readonly noteFree: () => void
  readonly inFlight: () => number
  /** Returns the number of pipelines that have rows in flight. */
  readonly busy: () => number
}

/**
 * Makes a bound. A pipeline beside others gets more only while it leaves as many places free as it holds, so that one that
 * hangs leaves places for others. Each may hold an equal part at any time, even if the sum then exceeds the bound.
 */
export const make = (size: number): RowBound => {
  const pipelines = new Set<PipelineRows>()
  const inFlight = () => {
    let sum = 0
    for (const each of pipelines) sum += each.size()
    return sum
  }
  return {
    size,
    add: (rows) => void pipelines.add(rows),
    remove: (rows) => void pipelines.delete(rows),
    free: (rows) => {
      const free = size - inFlight()
      if (pipelines.size <= 1) return free
      const held = rows.size()
      const equalPart = Math.max(1, Math.floor(size / pipelines.size))
      return Math.max(equalPart - held, Math.floor((free - held) / 2))
    },
    noteFree: () => {
      for (const each of pipelines) each.onFree()
    },
    inFlight,
    busy: () => {
      let busy = 0
      for (const each of pipelines) if (each.size() > 0) busy++
      return busy
    },
  }
}
