import type { Piece, TagPiece } from "./HandlebarsPieces.ts"

/** A block that is open, of which lines are left out. */
interface LinedBlock {
  /** Whether it goes on by `{{else if}}`. */
  isChain: boolean
  /** Number of the piece that ends the branch after the first `{{else}}`, if another branch does. */
  branchEnd: number | undefined
  hasElse: boolean
}

interface Cut {
  start: number
  end: number
}

const isElse = ({ body, sigil }: TagPiece): boolean =>
  (sigil === "^" && body === "") || (sigil === "" && /^else(?:\s|$)/u.test(body))

/** Blocks and comments that stand alone on their line write nothing, not even the line, and `~` takes white space. */
export const leaveOut = (pieces: ReadonlyArray<Piece>): ReadonlyArray<Piece> => {
  const cuts = new Map<number, Cut>()
  const blocks: Array<LinedBlock> = []
  const cut = (nth: number, side: keyof Cut, chars: number) => {
    const known = cuts.get(nth) ?? { start: 0, end: 0 }
    known[side] = Math.max(known[side], chars)
    cuts.set(nth, known)
  }
  for (const [nth, piece] of pieces.entries()) {
    if (piece.kind === "text") continue
    const [before, after] = [textOf(pieces[nth - 1]), textOf(pieces[nth + 1])]
    if (piece.trimsBefore) cut(nth - 1, "end", before.length - before.trimEnd().length)
    if (piece.trimsAfter) cut(nth + 1, "start", after.length - after.trimStart().length)
    const block = noted(blocks, piece, nth)
    if (block === undefined && piece.sigil !== "!") continue
    const isEndOfChain = block?.isChain === true && piece.sigil === "/"
    if (!beginsLine(pieces, isEndOfChain ? (block.branchEnd ?? nth) : nth) || !endsLine(pieces, nth)) continue
    // Handlebars leaves the white space before the end of a chain.
    if (!isEndOfChain) cut(nth - 1, "end", blanksAtEnd(before))
    cut(nth + 1, "start", /^[ \t]*\r?\n?/u.exec(after)?.[0].length ?? 0)
  }
  return pieces.flatMap((piece, nth) => {
    const found = cuts.get(nth)
    if (piece.kind !== "text" || found === undefined) return [piece]
    const text = piece.text.slice(found.start, Math.max(found.start, piece.text.length - found.end))
    return text === "" ? [] : [{ kind: "text" as const, text, offset: piece.offset + found.start }]
  })
}

/** Notes the blocks that are open, and returns the one to which a tag belongs. */
const noted = (blocks: Array<LinedBlock>, tag: TagPiece, nth: number): LinedBlock | undefined => {
  const innermost = blocks.at(-1)
  if (isElse(tag)) {
    if (innermost?.hasElse === true) innermost.branchEnd ??= nth
    else if (innermost !== undefined) {
      innermost.hasElse = true
      innermost.isChain = tag.sigil === "" && tag.body !== "else"
    }
    return innermost
  }
  if (tag.sigil === "/") return blocks.pop()
  if (tag.sigil !== "#" && tag.sigil !== "^") return undefined
  const block = { isChain: false, branchEnd: undefined, hasElse: false }
  blocks.push(block)
  return block
}

const textOf = (piece: Piece | undefined): string => (piece?.kind === "text" ? piece.text : "")

/** Whether only white space stands before a tag in its line. */
const beginsLine = (pieces: ReadonlyArray<Piece>, nth: number): boolean => {
  const piece = pieces[nth - 1]
  if (piece?.kind !== "text") return piece === undefined
  const start = piece.text.lastIndexOf("\n") + 1
  return (start > 0 || nth === 1) && piece.text.slice(start).trim() === ""
}

const endsLine = (pieces: ReadonlyArray<Piece>, nth: number): boolean => {
  const piece = pieces[nth + 1]
  if (piece?.kind !== "text") return piece === undefined
  const end = piece.text.indexOf("\n")
  return end === -1 ? nth + 2 === pieces.length && piece.text.trim() === "" : piece.text.slice(0, end).trim() === ""
}

const blanksAtEnd = (text: string): number => {
  let start = text.length
  while (start > 0 && " \t".includes(text.charAt(start - 1))) start--
  return text.length - start
}
