export interface Dice {
  readonly below: (n: number) => number
  readonly pick: <A>(list: ReadonlyArray<A>) => A
  readonly text: (length: number, alphabet?: string) => string
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"

/** Mulberry32: the same seed gives the same attack again. */
export const dice = (seed: number): Dice => {
  let state = seed | 0
  const roll = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (n: number) => Math.floor(roll() * n)
  return {
    below,
    pick: <A>(list: ReadonlyArray<A>): A => list[below(list.length)] as A,
    text: (length, alphabet = ALPHABET) => Array.from({ length }, () => alphabet[below(alphabet.length)]).join(""),
  }
}
