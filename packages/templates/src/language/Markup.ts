import * as ConditionalComment from "./ConditionalComment.ts"
import * as HtmlContext from "./HtmlContext.ts"
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

/** Elements whose content is text up to their own end. */
const RAW_ELEMENTS: ReadonlySet<string> = new Set(["script", "style", "textarea", "title"])

const OPENING = new Set(["case", "capture", "for", "if", "unless"])
const BRANCH = new Set(["else", "elsif", "when"])
/** Tags that write nothing where they stand. */
const SILENT = new Set(["#", "assign", "break", "continue"])
/** Tags that write a word. */
const COUNTERS = new Set(["cycle", "decrement", "increment"])

const LIQUID = /\{\{|\{%/gu
/** The library knows no `{%-` here. */
const RAW_END = /\{%\s*endraw(?![\w?-])(?:(?!\{%)[^])*?%\}/gu
const TAG_NAME = /\{%-?[\s\u180e]*(#|[\w?-]*?)(?=-?%\}|[^\w?-])/uy
/** White space of HTML alone ends a name or value: a browser reads other white space as a part of it. */
const ELEMENT = /^<(\/?)([A-Za-z][^\t\n\f\r />]*)/u
const ATTRIBUTE = /[^\t\n\f\r />=]{1,64}/uy
const BLANK = /[\t\n\f\r ]/u
const COLON = /&(?:colon;|#0*58(?!\d);?|#x0*3a(?![\da-f]);?)/giu
/** Also one that what follows would complete. */
const ENTITY = /&(?:#?\w*;|#?\w*$|#\w*)/gu
/** The end of a scheme, or a character that no scheme has. */
const NO_SCHEME = /[^A-Za-z0-9+.\-\0- ]/u
/** A quote is the end of the value before it. */
const IN_NAME = /[^\t\n\f\r />="']/u
const VALUE_END = /[\t\n\f\r >]/u
const OTHER_BLANK = /[^\S\t\n\f\r ]/u
const MAX_NAME_CHARS = 64
/** A text that a value behind it would make a tag or comment; the second where white space between them is left out. */
const HALF_TAG = /<(?:\/|\?|!-?)?$/u
const TRIMMED_HALF_TAG = /<(?:\/|\?|!-?)?\s*$/u
const HALF_END = /<(?:\/[A-Za-z]*)?$/u
const MAX_HALF_TAG_CHARS = 256
/** Problems that are told of one source. */
const MAX_PROBLEMS = 20

/** Returns where an output ends; a text in quotes may hold the braces that end it. */
const outputEnd = (source: string, offset: number): number => {
  let at = offset + 2
  while (at < source.length && !source.startsWith("}}", at)) {
    const character = source[at]
    at = character === '"' || character === "'" ? quoteEnd(source, at, character) : at + 1
  }
  return at
}

const quoteEnd = (source: string, offset: number, quote: string): number => {
  let at = offset + 1
  while (at < source.length && source[at] !== quote) at += source[at] === "\\" ? 2 : 1
  return at + 1
}

/** Reads where in the HTML each variable of a template stands. Takes time in proportion to the source. */
export const read = (source: string): Markup => {
  const reader = new Reader(source)
  return { outputs: reader.outputs, problems: reader.problems }
}

/** The state in which a branch that is open began. */
interface Branch {
  readonly state: HtmlContext.State
  readonly commentEnd: number | undefined
  readonly beganInName: boolean
  /** Whether one of the branches up to now, or none of them, ends in a name. */
  endsInName: boolean
}

class Reader {
  readonly outputs: Array<Output> = []
  readonly problems: Array<Problem.Problem> = []
  readonly #source: string
  #state: HtmlContext.State = HtmlContext.TEXT
  /** Name of the element whose tag is being read. */
  #element = ""
  readonly #metaHolds = new Set<"header" | "variable">()
  /** Where the element or comment begins that is being read. */
  #begin = 0
  /** End of the conditional comment that is being read. */
  #commentEnd: number | undefined
  /** Whether a name of an element or attribute may go on. */
  #isInName = false
  readonly #branches: Array<Branch> = []

  constructor(source: string) {
    this.#source = source
    let from = 0
    while (from < source.length) {
      LIQUID.lastIndex = from
      const next = LIQUID.exec(source)?.index ?? source.length
      this.#html(from, next)
      if (next === source.length) break
      from = source[next + 1] === "{" ? this.#output(next) : this.#tag(next)
    }
    // A template, partial or layout takes in nothing of the text behind it.
    if (this.problems.length === 0 && (this.#state.in !== "text" || this.#commentEnd !== undefined))
      this.#problem(this.#begin, "this element or comment does not end in the same source")
  }

  #problem(offset: number, message: string): void {
    // Each place is found by reading the source up to it.
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(Problem.at(this.#source, offset, message))
  }

  #output(offset: number): number {
    const context = this.#context(offset)
    const end = outputEnd(this.#source, offset)
    this.#untrimmed(offset, end)
    if (context !== undefined && this.#commentEnd !== undefined)
      this.outputs.push({ context: `conditional ${context}`, end })
    else if (context !== undefined && context !== "text") this.outputs.push({ context, end })
    if (this.#element === "meta" && this.#state.in === "value") this.#meta(offset, "variable")
    if (context === "url" && this.#state.in === "value") this.#state = { ...this.#state, mayBeScheme: true }
    return end + 2
  }

  /** One that is read as a header could lead to another page. */
  #meta(offset: number, holds: "header" | "variable"): void {
    this.#metaHolds.add(holds)
    if (this.#metaHolds.size === 2)
      this.#problem(offset, "a variable cannot stand in a meta element with http-equiv, which acts as a header")
  }

  /** Left out white space would make one attribute of two. */
  #untrimmed(offset: number, end: number): void {
    const { in: place } = this.#state
    const isUnquoted = this.#state.in === "value" && this.#state.quote === ""
    if (place !== "tag" && place !== "before-value" && !isUnquoted) return
    if (this.#source[offset + 2] === "-" || this.#source[end - 1] === "-")
      this.#problem(offset, "between attributes no white space can be left out; write this without the hyphens")
  }

  #context(offset: number): ReturnType<typeof HtmlContext.contextOf> {
    const context = HtmlContext.contextOf(this.#state)
    if (context === undefined) this.#problem(offset, HtmlContext.refusal(this.#state))
    if (this.#commentEnd !== undefined && offset > this.#commentEnd)
      this.#problem(offset, "the conditional comment before must end between elements")
    return context
  }

  #tag(offset: number): number {
    const end = this.#source.indexOf("%}", offset)
    const after = end === -1 ? this.#source.length : end + 2
    this.#untrimmed(offset, end)
    const name = this.#nameAt(offset)
    if (name === "comment" || name === "raw") return this.#skip(offset, name, after)
    if (OPENING.has(name)) this.#open()
    else if (BRANCH.has(name) || name.startsWith("end")) this.#branch(offset, name)
    else if (COUNTERS.has(name)) this.#counter(offset, name)
    else if (!SILENT.has(name) && (this.#state.in !== "text" || this.#commentEnd !== undefined))
      this.#problem(offset, `{% ${name} %} can stand only between elements, and in no comment`)
    return after
  }

  #open(): void {
    const [state, commentEnd, isInName] = [this.#state, this.#commentEnd, this.#isInName]
    this.#branches.push({ state, commentEnd, beganInName: isInName, endsInName: isInName })
  }

  #counter(offset: number, name: string): void {
    const context = this.#context(offset)
    if (context === "style" || context === "url" || this.#commentEnd !== undefined)
      this.#problem(offset, `{% ${name} %} cannot stand in a style, an address or a comment`)
  }

  /** A comment writes nothing; raw text is HTML that has no variables. */
  #skip(offset: number, name: string, after: number): number {
    const end = name === "raw" ? this.#next(RAW_END, after) : this.#commentTag(after)
    if (end === undefined) {
      this.#problem(offset, `{% ${name} %} does not end in {% end${name} %}`)
      return this.#source.length
    }
    if (name === "raw") this.#html(after, end)
    const close = this.#source.indexOf("%}", end)
    this.#untrimmed(end, close)
    return close + 2
  }

  #next(pattern: RegExp, from: number): number | undefined {
    pattern.lastIndex = from
    return pattern.exec(this.#source)?.index
  }

  /** Returns where a comment ends. As for the library, whose tags it has, nothing in an output or in raw text ends it. */
  #commentTag(from: number): number | undefined {
    let at = this.#next(LIQUID, from)
    while (at !== undefined) {
      let after = outputEnd(this.#source, at)
      if (this.#source[at + 1] === "%") {
        const name = this.#nameAt(at)
        if (name === "endcomment") return at
        after = this.#source.indexOf("%}", at)
        if (name === "raw") after = this.#next(RAW_END, after) ?? -1
      }
      at = after === -1 ? undefined : this.#next(LIQUID, after)
    }
    return undefined
  }

  #nameAt(offset: number): string {
    TAG_NAME.lastIndex = offset
    return TAG_NAME.exec(this.#source)?.[1] ?? ""
  }

  /** Each branch must end in the state in which it began, else what follows stands in two places at once. */
  #branch(offset: number, name: string): void {
    const began = this.#branches.at(-1)
    if (began === undefined) return
    if (!HtmlContext.isSame(began.state, this.#state) || began.commentEnd !== this.#commentEnd)
      this.#problem(offset, "an element or a value in quotes that begins in a branch must end in the same branch")
    const mayBeScheme = this.#state.in === "value" && this.#state.mayBeScheme
    this.#state = began.state.in === "value" && mayBeScheme ? { ...began.state, mayBeScheme } : began.state
    this.#commentEnd = began.commentEnd
    began.endsInName ||= this.#isInName
    const isEnd = name.startsWith("end")
    this.#isInName = isEnd ? began.endsInName : began.beganInName
    if (isEnd) this.#branches.pop()
  }

  #html(from: number, to: number): void {
    let offset = from
    if (from === to) return
    if (this.#isInName && IN_NAME.test(this.#source.charAt(from)))
      this.#problem(from, "the name of an element or attribute cannot be put together; write a space before this")
    while (offset < to) offset = this.#step(offset, to)
    this.#isInName = this.#state.in === "tag" && IN_NAME.test(this.#source.charAt(to - 1))
    this.#half(from, to)
  }

  #half(from: number, to: number): void {
    if (this.#state.in === "raw" && HALF_END.test(this.#source.slice(Math.max(from, to - MAX_HALF_TAG_CHARS), to)))
      this.#problem(to, "the end of an element cannot be put together; write it as a whole")
    if (this.#state.in !== "text") return
    const half = this.#source[to + 2] === "-" ? TRIMMED_HALF_TAG : HALF_TAG
    const found = half.exec(this.#source.slice(Math.max(from, to - MAX_HALF_TAG_CHARS), to))
    if (found !== null)
      this.#problem(to - found[0].length, "what is written behind this would become a tag; write &lt;")
  }

  #step(offset: number, to: number): number {
    const state = this.#state
    switch (state.in) {
      case "text":
        return this.#text(offset, to)
      case "comment":
        return this.#until("-->", offset, to, HtmlContext.TEXT)
      case "raw":
        return this.#raw(state.element, offset, to)
      case "tag":
        return this.#inTag(offset, to)
      case "before-value":
        return this.#beforeValue(state.attribute, offset)
      case "value":
        return this.#value(state, offset, to)
    }
  }

  #until(text: string, offset: number, to: number, then: HtmlContext.State): number {
    const found = this.#find(text, offset, to)
    if (found === -1) return to
    this.#state = then
    return found + text.length
  }

  /** Looks no further than the piece, so that the whole of a source is read once. */
  #find(text: string, offset: number, to: number): number {
    const found = this.#source.slice(offset, to).indexOf(text)
    return found === -1 ? -1 : offset + found
  }

  #text(offset: number, to: number): number {
    const open = this.#find("<", offset, to)
    if (open === -1) return to
    if (open === this.#commentEnd) {
      this.#commentEnd = undefined
      return open + ConditionalComment.END.length
    }
    this.#begin = open
    if (this.#source.startsWith("<!--", open)) {
      const conditional = this.#commentEnd === undefined ? ConditionalComment.at(this.#source, open) : undefined
      if (conditional !== undefined && conditional.begin <= to) {
        this.#commentEnd = conditional.end
        return conditional.begin
      }
      this.#state = { in: "comment" }
      return open + 4
    }
    const element = ELEMENT.exec(this.#source.slice(open, Math.min(to, open + MAX_NAME_CHARS)))
    if (element === null) return open + 1
    this.#element = element[1] === "/" ? "" : (element[2] ?? "").toLowerCase()
    this.#metaHolds.clear()
    this.#state = HtmlContext.TAG
    return open + element[0].length
  }

  #raw(element: string, offset: number, to: number): number {
    const close = this.#find("</", offset, to)
    if (close === -1) return to
    const name = this.#source.slice(close + 2, close + 2 + element.length).toLowerCase()
    if (name === element) {
      this.#element = ""
      this.#state = HtmlContext.TAG
      return close + 2 + element.length
    }
    return close + 2
  }

  #inTag(offset: number, to: number): number {
    const end = this.#source[offset]
    if (end === ">") {
      this.#state = RAW_ELEMENTS.has(this.#element) ? { in: "raw", element: this.#element } : HtmlContext.TEXT
      return offset + 1
    }
    ATTRIBUTE.lastIndex = offset
    const name = ATTRIBUTE.exec(this.#source.slice(0, to))?.[0]
    if (name === undefined) return offset + 1
    this.#plain(offset, name)
    if (this.#element === "meta" && name.toLowerCase() === "http-equiv") this.#meta(offset, "header")
    let after = offset + name.length
    while (after < to && BLANK.test(this.#source[after] ?? "")) after++
    if (this.#source[after] !== "=" || after >= to) return offset + name.length
    this.#state = { in: "before-value", attribute: name.toLowerCase() }
    return after + 1
  }

  /** Refuses white space that looks as if it ended a name or value. */
  #plain(offset: number, text: string): void {
    const at = text.search(OTHER_BLANK)
    if (at !== -1)
      this.#problem(offset + at, "put a plain space between attributes: a browser reads this one as a letter")
  }

  #beforeValue(attribute: string, offset: number): number {
    const character = this.#source[offset] ?? ""
    if (BLANK.test(character)) return offset + 1
    const quoted = character === '"' || character === "'"
    this.#state = { in: "value", attribute, quote: quoted ? character : "", begun: false, mayBeScheme: false }
    return quoted ? offset + 1 : offset
  }

  #value(state: Extract<HtmlContext.State, { in: "value" }>, offset: number, to: number): number {
    if (state.quote !== "") {
      const close = this.#find(state.quote, offset, to)
      const within = this.#within(state, offset, close === -1 ? to : close)
      this.#state = close === -1 ? within : HtmlContext.TAG
      return close === -1 ? to : close + 1
    }
    let end = offset
    while (end < to && !VALUE_END.test(this.#source[end] ?? "")) end++
    this.#plain(offset, this.#source.slice(offset, end))
    this.#state = end < to ? HtmlContext.TAG : this.#within(state, offset, to)
    return end
  }

  /** A letter of a scheme does not begin an address, nor what a browser leaves out before it. */
  #within(state: Extract<HtmlContext.State, { in: "value" }>, from: number, to: number): HtmlContext.State {
    if (state.begun || !HtmlContext.isAddress(state.attribute)) return state
    const text = this.#source.slice(from, to).replaceAll(COLON, ":").replaceAll(ENTITY, "")
    const first = NO_SCHEME.exec(text)?.[0]
    if (first === ":" && state.mayBeScheme)
      this.#problem(from, 'a variable cannot choose the scheme; write it, as in href="https://{{ … }}"')
    return { ...state, begun: first !== undefined }
  }
}
