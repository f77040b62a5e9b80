interface Placed {
  readonly id: string
  readonly position: number
}

/**
 * Returns the new positions that move the row at `from` to `to`, to be applied one after the other. Most moves need one.
 * Where no number is free between its new neighbours, the rows behind it make place first, the last of them first, so
 * that no other two rows change their order at any time.
 */
export const positionsAfterMove = (rows: ReadonlyArray<Placed>, from: number, to: number): ReadonlyArray<Placed> => {
  const moved = rows[from]
  if (moved === undefined || from === to) return []
  const others = rows.filter((_, index) => index !== from)
  const before = others[to - 1]?.position ?? -1
  const after = others[to]?.position
  if (after === undefined) return [{ id: moved.id, position: before + 1 }]
  if (after - before > 1) return [{ id: moved.id, position: Math.floor((before + after) / 2) }]
  const shifted: Array<Placed> = []
  let least = before + 2
  for (const { id, position } of others.slice(to)) {
    if (position >= least) break
    shifted.unshift({ id, position: least })
    least += 1
  }
  return [...shifted, { id: moved.id, position: before + 1 }]
}
