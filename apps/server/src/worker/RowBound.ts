/** The rows of one cell in flight. */
export interface CellRows {
  readonly size: () => number
  /** Called when a row of any cell has ended, so that its place is free. */
  readonly onFree: () => void
}

/** Bounds the number of rows of one kind that a process works on at once, over all cells. */
export interface RowBound {
  readonly size: number
  readonly add: (rows: CellRows) => void
  readonly remove: (rows: CellRows) => void
  /** Returns how many more rows of a cell may be claimed. */
  readonly free: (rows: CellRows) => number
  readonly noteFree: () => void
  readonly inFlight: () => number
  /** Returns the number of cells that have rows in flight. */
  readonly busyCells: () => number
}

/**
 * Makes a bound. A cell beside others gets more only while it leaves as many places free as it holds, so that a cell that
 * hangs leaves places for others. Each cell may hold an equal part at any time, even if the sum then exceeds the bound.
 */
export const make = (size: number): RowBound => {
  const cells = new Set<CellRows>()
  const inFlight = () => {
    let sum = 0
    for (const cell of cells) sum += cell.size()
    return sum
  }
  return {
    size,
    add: (rows) => void cells.add(rows),
    remove: (rows) => void cells.delete(rows),
    free: (rows) => {
      const free = size - inFlight()
      if (cells.size <= 1) return free
      const held = rows.size()
      const equalPart = Math.max(1, Math.floor(size / cells.size))
      return Math.max(equalPart - held, Math.floor((free - held) / 2))
    },
    noteFree: () => {
      for (const cell of cells) cell.onFree()
    },
    inFlight,
    busyCells: () => {
      let busy = 0
      for (const cell of cells) if (cell.size() > 0) busy++
      return busy
    },
  }
}
