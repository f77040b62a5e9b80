/** A tag of HTML. */
export interface Tag {
  readonly name: string
  readonly isEnd: boolean
  /** Where it stands among the characters of the text. */
  readonly offset: number
}

/** HTML that is written once, in one of several ways, any number of times, or elsewhere; or HTML that is not known. */
type Node = Tag | Block | "unknown"

interface Block {
  readonly kind: "branch" | "loop" | "capture"
  /** Branches in order; a loop writes the first one again and again. */
  readonly ways: Array<Array<Node>>
  hasElse: boolean
}

/** How many elements of each name may be open at most; of all, if HTML stands before that is not known. */
interface Open {
  readonly counts: Map<string, number>
  isUnknown: boolean
}

/** Names of elements of one text, and blocks in each other. Nothing is told of a text with more, so that it takes little time. */
const MAX_NAMES = 200
const MAX_DEPTH = 100

const BLOCKS: ReadonlyMap<string, Block["kind"]> = new Map([
  ["if", "branch"],
  ["unless", "branch"],
  ["case", "branch"],
  ["for", "loop"],
  ["capture", "capture"],
])

/** Reads the tags of HTML with the branches and loops of Liquid around them. */
export class Reader {
  readonly #root: Array<Node> = []
  readonly #blocks: Array<Block> = []
  readonly #names = new Set<string>()
  #depth = 0

  tag(tag: Tag | undefined): void {
    if (tag === undefined) return
    this.#names.add(tag.name)
    this.#nodes.push(tag)
  }

  /** HTML that is not known stands here. */
  unknown(): void {
    this.#nodes.push("unknown")
  }

  /** Reads the name of a tag of Liquid. */
  piece(name: string): void {
    const kind = BLOCKS.get(name)
    const block = this.#blocks.at(-1)
    if (kind !== undefined) {
      const opened: Block = { kind, ways: [[]], hasElse: false }
      this.#nodes.push(opened)
      this.#depth = Math.max(this.#depth, this.#blocks.push(opened))
    } else if (block !== undefined && /^(?:else|elsif|when)$/u.test(name)) {
      block.ways.push([])
      block.hasElse ||= name === "else"
    } else if (/^end(?:if|unless|case|for|capture)$/u.test(name)) this.#blocks.pop()
  }

  get #nodes(): Array<Node> {
    return this.#blocks.at(-1)?.ways.at(-1) ?? this.#root
  }

  /** Returns the end tags of elements that nothing has begun, whichever branches are written and however often loops run. */
  endsWithoutBegin(): ReadonlyArray<Tag> {
    const found: Array<Tag> = []
    if (this.#names.size <= MAX_NAMES && this.#depth <= MAX_DEPTH)
      walk(this.#root, { counts: new Map(), isUnknown: false }, found)
    return found
  }
}

/** Changes what is open by what is written, and adds end tags without a begin to `found`. */
const walk = (nodes: ReadonlyArray<Node>, open: Open, found: Array<Tag> | undefined): void => {
  for (const node of nodes) {
    if (open.isUnknown) return
    if (node === "unknown") open.isUnknown = true
    else if ("ways" in node) walkBlock(node, open, found)
    else {
      const count = open.counts.get(node.name) ?? 0
      if (node.isEnd && count === 0) found?.push(node)
      open.counts.set(node.name, Math.max(0, count + (node.isEnd ? -1 : 1)))
    }
  }
}

const walkBlock = (block: Block, open: Open, found: Array<Tag> | undefined): void => {
  const [first = []] = block.ways
  if (block.kind === "branch") {
    const before = copyOf(open)
    // Text before the first `when` counts as a way, too.
    const exits = block.ways.map((way) => exitOf(way, before, found))
    if (block.hasElse) open.counts.clear()
    for (const exit of exits) merge(open, exit)
    return
  }
  // Elements that one pass of a loop leaves open are open in the next; captured HTML is written where its variable stands.
  const left = leftOpen(block)
  if (left.isUnknown || (block.kind === "capture" && isAny(left))) open.isUnknown = true
  if (block.kind === "capture" || open.isUnknown) return
  const before = copyOf(open)
  for (const [name, count] of left.counts) if (count > 0) open.counts.set(name, Infinity)
  if (found !== undefined) exitOf(first, open, found)
  for (const way of block.ways.slice(1)) merge(open, exitOf(way, before, found))
}

const isAny = ({ counts }: Open): boolean => [...counts.values()].some((count) => count > 0)

/** Elements that are open after a block that is written once, with none open before it. */
const kept = new WeakMap<Block, Open>()

const leftOpen = (block: Block): Open => {
  const left = kept.get(block) ?? exitOf(block.ways[0] ?? [], { counts: new Map(), isUnknown: false }, undefined)
  kept.set(block, left)
  return left
}

const exitOf = (way: ReadonlyArray<Node>, before: Open, found: Array<Tag> | undefined): Open => {
  const exit = copyOf(before)
  walk(way, exit, found)
  return exit
}

const copyOf = ({ counts, isUnknown }: Open): Open => ({ counts: new Map(counts), isUnknown })

const merge = (open: Open, other: Open): void => {
  for (const [name, count] of other.counts) if (count > (open.counts.get(name) ?? 0)) open.counts.set(name, count)
  open.isUnknown ||= other.isUnknown
}
