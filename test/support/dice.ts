/** Mulberry32, a small seeded generator of random numbers. */
export const dice = (seed: number) => {
  let state = seed
  const roll = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const pick = <A>(list: ReadonlyArray<A>): A => list[Math.floor(roll() * list.length)] as A
  return { chance: (share: number) => roll() < share, below: (n: number) => Math.floor(roll() * n), pick }
}
