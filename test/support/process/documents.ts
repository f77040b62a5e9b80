/** Document made to be slow to parse, small enough to be accepted. */
export interface Document {
  readonly name: string
  /** Text in which each character is one byte. */
  readonly text: string
}

/** Sizes of most documents, on both sides of the limit between the event loop and a parser thread. */
const SIZES = [1_000, 8_000, 30_000, 33_000, 60_000]
/** Every 200th document has the largest accepted size, and the last. */
const LARGEST_EVERY = 200

type Random = (most: number) => number

/** mulberry32, which returns the same numbers on every machine. */
const randomOf = (seed: number): Random => {
  let state = seed
  return (most) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most
  }
}

/** Repeats one piece, or a short mixture of several, up to a size. */
const filled = (pieces: ReadonlyArray<string>, bytes: number, random: Random): string => {
  const first = pieces[random(pieces.length)] ?? ""
  if (random(2) === 0) return first.repeat(Math.ceil(bytes / first.length)).slice(0, bytes)
  const mixture = Array.from({ length: 50 }, () => pieces[random(pieces.length)] ?? "").join("")
  return mixture.repeat(Math.ceil(bytes / mixture.length)).slice(0, bytes)
}

export interface Form {
  /** Text around the pieces. */
  readonly before: string
  readonly after: string
  /** Largest accepted size of the pieces. */
  readonly most?: number
}

export interface Grammar {
  readonly pieces: ReadonlyArray<string>
  readonly forms: ReadonlyArray<Form>
  /** Documents that were slow once, at the size at which they were. */
  readonly knownSlow: ReadonlyArray<Form & { readonly piece: string; readonly bytes: number }>
}

/**
 * Generates `count` documents of a grammar, the same for the same seed: first the known slow ones, then random ones.
 */
export function* documents(grammar: Grammar, seed: number, count: number, largest: number): Generator<Document> {
  for (const { after, before, bytes, piece } of grammar.knownSlow) {
    const size = Math.min(bytes, largest)
    const capacity = Math.max(0, size - before.length - after.length)
    const text = before + piece.repeat(Math.ceil(capacity / piece.length)).slice(0, capacity) + after
    yield { name: `${JSON.stringify(piece)} in ${size} bytes`, text }
  }
  const random = randomOf(seed)
  for (let nth = grammar.knownSlow.length; nth < count; nth++) {
    const { after, before, most = largest } = grammar.forms[random(grammar.forms.length)] ?? { before: "", after: "" }
    const isLargest = nth % LARGEST_EVERY === LARGEST_EVERY - 1 || nth === count - 1
    const size = isLargest ? largest : (SIZES[random(SIZES.length)] ?? 0)
    const capacity = Math.max(0, Math.min(most, size) - before.length - after.length)
    const text = before + filled(grammar.pieces, capacity, random) + after
    yield { name: `${nth} of ${JSON.stringify(before.slice(-80))} in ${size} bytes`, text }
  }
}
