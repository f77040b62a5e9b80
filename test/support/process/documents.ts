/** A document made to be slow to read, small enough to be accepted. */
export interface Document {
  readonly name: string
  /** Each character a byte. */
  readonly text: string
}

/** Bytes of most documents: on both sides of what is read on the event loop, and what is handed to a thread. */
const SIZES = [1_000, 8_000, 30_000, 33_000, 60_000]
/** One document of so many is as large as is accepted. */
const LARGEST_EVERY = 200

type Random = (most: number) => number

/** mulberry32: the same numbers on every machine. */
const randomOf = (seed: number): Random => {
  let state = seed
  return (most) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most
  }
}

/** One piece again and again, or several in any order, up to a size; a size so large that only repeats are cheap to make. */
const filled = (pieces: ReadonlyArray<string>, bytes: number, random: Random): string => {
  const first = pieces[random(pieces.length)] ?? ""
  if (random(2) === 0) return first.repeat(Math.ceil(bytes / first.length)).slice(0, bytes)
  const mixture = Array.from({ length: 50 }, () => pieces[random(pieces.length)] ?? "").join("")
  return mixture.repeat(Math.ceil(bytes / mixture.length)).slice(0, bytes)
}

export interface Form {
  /** What stands around the pieces. */
  readonly before: string
  readonly after: string
  /** How much of them is accepted. */
  readonly most?: number
}

export interface Grammar {
  readonly pieces: ReadonlyArray<string>
  readonly forms: ReadonlyArray<Form>
  /** What was slow once, at the size at which it was. */
  readonly known: ReadonlyArray<Form & { readonly piece: string; readonly bytes: number }>
}

/** `count` documents of a grammar, the same for the same seed: first what is known, then any. */
export function* documents(grammar: Grammar, seed: number, count: number, largest: number): Generator<Document> {
  for (const { after, before, bytes, piece } of grammar.known) {
    const size = Math.min(bytes, largest)
    const room = Math.max(0, size - before.length - after.length)
    const text = before + piece.repeat(Math.ceil(room / piece.length)).slice(0, room) + after
    yield { name: `${JSON.stringify(piece)} in ${size} bytes`, text }
  }
  const random = randomOf(seed)
  for (let nth = grammar.known.length; nth < count; nth++) {
    const { after, before, most = largest } = grammar.forms[random(grammar.forms.length)] ?? { before: "", after: "" }
    const size = nth % LARGEST_EVERY === LARGEST_EVERY - 1 ? largest : (SIZES[random(SIZES.length)] ?? 0)
    const room = Math.max(0, Math.min(most, size) - before.length - after.length)
    const text = before + filled(grammar.pieces, room, random) + after
    yield { name: `${nth} of ${JSON.stringify(before.slice(-80))} in ${size} bytes`, text }
  }
}
