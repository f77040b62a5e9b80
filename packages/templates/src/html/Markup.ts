import * as Pieces from "@waybill/domain/template/Pieces"
import * as HtmlContext from "./HtmlContext.ts"
import * as HtmlReader from "./HtmlReader.ts"
import * as Problem from "./Problem.ts"

/** A variable that stands elsewhere than in the text. */
export interface Output {
  readonly context: HtmlContext.HtmlContext
  /** Offset of the braces that end it. */
  readonly end: number
}

export interface Markup {
  readonly outputs: ReadonlyArray<Output>
  readonly problems: ReadonlyArray<Problem.Problem>
}

const OPENING = new Set(["case", "capture", "for", "if", "unless"])
const BRANCH = new Set(["else", "elsif", "when"])
/** Tags that write nothing where they stand. */
const SILENT = new Set(["#", "assign", "break", "comment", "continue", "endcomment", "endraw", "raw"])
/** Tags that write a word. */
const COUNTERS = new Set(["cycle", "decrement", "increment"])
const BRACES = 2
/** Problems that are told of one source. */
const MAX_PROBLEMS = 20

/** Reads where in the HTML each variable of a template stands. Takes time in proportion to the source. */
export const read = (source: string): Markup => {
  const reader = new Reader(source)
  reader.read()
  return { outputs: reader.outputs, problems: reader.problems }
}

/** The place at which a branch that is open began. */
interface Branch {
  readonly begin: number
  readonly began: HtmlReader.Place
  /** Whether a name that one pass of a loop leaves open goes on in the next. */
  readonly continuesName: boolean
  /** Whether one of the branches up to now, or none of them, ends in a name. */
  endsInName: boolean
}

class Reader {
  readonly outputs: Array<Output> = []
  readonly problems: Array<Problem.Problem> = []
  readonly #source: string
  readonly #html: HtmlReader.HtmlReader
  readonly #branches: Array<Branch> = []

  constructor(source: string) {
    this.#source = source
    this.#html = new HtmlReader.HtmlReader(source, (offset, message) => this.#problem(offset, message))
  }

  read(): void {
    let from = 0
    let isComment = false
    for (const piece of Pieces.read(this.#source)) {
      if (!isComment) this.#html.read(from, piece.begin)
      if (!piece.isComment) this.#piece(piece)
      isComment = piece.isComment || piece.tag === "comment"
      from = piece.end
    }
    this.#html.read(from, this.#source.length)
    // A template, partial or layout takes in nothing of the text behind it.
    if (this.problems.length === 0 && !this.#isInText)
      this.#problem(this.#html.begin, "this element or comment does not end in the same source")
  }

  get #isInText(): boolean {
    return this.#html.state.in === "text" && this.#html.place.commentEnd === undefined
  }

  #problem(offset: number, message: string): void {
    // Each place is found by reading the source up to it.
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(Problem.at(this.#source, offset, message))
  }

  #piece(piece: Pieces.Piece): void {
    const { begin, tag } = piece
    if (tag === undefined) return this.#output(piece)
    this.#untrimmed(piece)
    if (OPENING.has(tag)) this.#open(piece, tag)
    else if (SILENT.has(tag)) return
    else if (BRANCH.has(tag) || tag.startsWith("end")) this.#branch(begin, tag)
    else if (COUNTERS.has(tag)) this.#counter(begin, tag)
    else if (!this.#isInText) this.#problem(begin, `{% ${tag} %} can stand only between elements, and in no comment`)
  }

  #output(piece: Pieces.Piece): void {
    const end = piece.end - BRACES
    const context = this.#context(piece)
    this.#untrimmed(piece)
    if (context !== undefined && this.#html.place.commentEnd !== undefined)
      this.outputs.push({ context: `conditional ${context}`, end })
    else if (context !== undefined && context !== "text") this.outputs.push({ context, end })
    const { state } = this.#html
    if (state.in !== "value") return
    this.#html.meta(piece.begin, "variable")
    if (context === "scheme") this.#html.state = { ...state, begun: true }
    if (context === "url") this.#html.state = { ...state, mayBeScheme: true }
  }

  /** Left out white space would make one attribute of two. */
  #untrimmed({ begin, end }: Pieces.Piece): void {
    const { state } = this.#html
    const isUnquoted = state.in === "value" && state.quote === ""
    if (state.in !== "tag" && state.in !== "before-value" && !isUnquoted) return
    if (this.#source[begin + BRACES] === "-" || this.#source[end - BRACES - 1] === "-")
      this.#problem(begin, "between attributes no white space can be left out; write this without the hyphens")
  }

  #context({ begin, end }: Pieces.Piece): ReturnType<typeof HtmlContext.contextOf> {
    const { commentEnd } = this.#html.place
    const { state } = this.#html
    const context = HtmlContext.contextOf(state)
    if (context === undefined) this.#problem(begin, HtmlContext.refusal(state))
    if (commentEnd !== undefined && begin > commentEnd)
      this.#problem(begin, "the conditional comment before must end between elements")
    // The whole of a scheme, as in `href="{{ scheme }}://{{ host }}"`.
    const isScheme = context === "url" && state.in === "value" && !state.mayBeScheme
    return isScheme && this.#source[begin - 1] === state.quote && this.#source[end] === ":" ? "scheme" : context
  }

  #open({ end }: Pieces.Piece, tag: string): void {
    const { place, state } = this.#html
    const continuesName = tag === "for" && state.in === "tag" && !HtmlReader.BLANK.test(this.#source.charAt(end))
    this.#branches.push({ begin: end, began: place, continuesName, endsInName: place.isInName })
  }

  #counter(offset: number, tag: string): void {
    const context = HtmlContext.contextOf(this.#html.state)
    if (context === undefined) this.#problem(offset, HtmlContext.refusal(this.#html.state))
    if (context === "style" || context === "url" || this.#html.place.commentEnd !== undefined)
      this.#problem(offset, `{% ${tag} %} cannot stand in a style, an address or a comment`)
  }

  /** Each branch must end in the state in which it began, else what follows stands in two places at once. */
  #branch(offset: number, tag: string): void {
    const branch = this.#branches.at(-1)
    if (branch === undefined) return
    const { commentEnd, isInName, state } = { ...this.#html.place }
    const { began } = branch
    if (!HtmlContext.isSame(began.state, state) || began.commentEnd !== commentEnd)
      this.#problem(offset, "an element or a value in quotes that begins in a branch must end in the same branch")
    if (isInName && branch.continuesName)
      this.#problem(offset, "the next pass goes on with this name; write a space before this")
    branch.endsInName ||= isInName
    const isEnd = tag.startsWith("end")
    const mayBeScheme = state.in === "value" && state.mayBeScheme
    // A variable of one pass stands before the colon of the next.
    if (tag === "endfor" && mayBeScheme && this.#html.colon >= branch.begin) this.#html.reportScheme(this.#html.colon)
    this.#html.place = {
      ...began,
      state: began.state.in === "value" && mayBeScheme ? { ...began.state, mayBeScheme } : began.state,
      isInName: isEnd ? branch.endsInName : began.isInName,
    }
    if (isEnd) this.#branches.pop()
  }
}
