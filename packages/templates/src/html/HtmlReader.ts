import { CommentEnd } from "./CommentEnd.ts"
import * as ConditionalComment from "./ConditionalComment.ts"
import * as Escape from "./Escape.ts"
import * as HtmlContext from "./HtmlContext.ts"

/** Elements whose content is text up to their own end. */
const RAW_ELEMENTS = ["iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"]

/** White space of HTML alone ends a name or value: a browser reads other white space as a part of it. */
const ELEMENT = /^<(\/?)([A-Za-z][^\t\n\f\r />]*)/u
const ATTRIBUTE = /[^\t\n\f\r />=]{1,64}/uy
export const BLANK = /[\t\n\f\r ]/u
const NAME_END = /[\t\n\f\r />]/u
/** A browser reads these as a comment up to the next `>`. */
const OTHER_COMMENT = /^<(?:[!?]|\/[^A-Za-z])/u
const COMMENT_END = /--!?>/u
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

type Report = (offset: number, message: string) => void
type Value = Extract<HtmlContext.State, { in: "value" }>

/** Where in the HTML a reader is, so that it can go back there. */
export interface Place {
  readonly state: HtmlContext.State
  /** End of the conditional comment that is being read. */
  readonly commentEnd: number | undefined
  /** Whether a name of an element or attribute may go on. */
  readonly isInName: boolean
}

/** Whether the end of a comment stands there, or would end a conditional comment within a value. */
const canEnd = ({ commentEnd, state }: Place): boolean =>
  state.in === "comment" ? !state.isOther : state.in === "value" && commentEnd !== undefined

/** Reads the HTML between the pieces of Liquid, as a browser does. */
export class HtmlReader {
  place: Place = { state: HtmlContext.TEXT, commentEnd: undefined, isInName: false }
  /** Where the element or comment begins that is being read. */
  begin = 0
  /** Where the last colon stands that would end a scheme if something stood before it. */
  colon = -1
  readonly #source: string
  readonly #report: Report
  /** Name of the element whose tag is being read. */
  #element = ""
  readonly #commentEnd = new CommentEnd()
  readonly #metaHolds = new Set<"header" | "variable">()

  constructor(source: string, report: Report) {
    this.#source = source
    this.#report = report
  }

  get state(): HtmlContext.State {
    return this.place.state
  }

  set state(state: HtmlContext.State) {
    this.place = { ...this.place, state }
  }

  read(from: number, to: number): void {
    let offset = from
    if (from === to) return
    if (this.place.isInName && IN_NAME.test(this.#source.charAt(from)))
      this.#report(from, "the name of an element or attribute cannot be put together; write a space before this")
    const before = this.place
    while (offset < to) offset = this.#step(offset, to)
    this.place = { ...this.place, isInName: this.state.in === "tag" && IN_NAME.test(this.#source.charAt(to - 1)) }
    this.#half(from, to)
    this.#halfCommentEnd(before, from, to)
  }

  /** A variable in a meta element that is read as a header could lead to another page. */
  meta(offset: number, holds: "header" | "variable"): void {
    if (this.#element !== "meta") return
    this.#metaHolds.add(holds)
    if (this.#metaHolds.size === 2)
      this.#report(offset, "a variable cannot stand in a meta element with http-equiv, which acts as a header")
  }

  #halfCommentEnd(before: Place, from: number, to: number): void {
    const { isHalf, isRest } = this.#commentEnd.read(this.#source.slice(from, to))
    const at =
      isRest && canEnd(before) ? from : isHalf && canEnd(this.place) && to < this.#source.length ? to : undefined
    if (at !== undefined) this.#report(at, "the end of a comment cannot be put together; write it as a whole")
  }

  reportScheme(offset: number): void {
    this.#report(offset, 'a variable cannot choose the scheme; write it, as in href="https://{{ … }}"')
  }

  #half(from: number, to: number): void {
    const last = this.#source.slice(Math.max(from, to - MAX_HALF_TAG_CHARS), to)
    if (this.state.in === "raw" && HALF_END.test(last))
      this.#report(to, "the end of an element cannot be put together; write it as a whole")
    if (this.state.in !== "text") return
    const found = (this.#source[to + 2] === "-" ? TRIMMED_HALF_TAG : HALF_TAG).exec(last)
    if (found !== null) this.#report(to - found[0].length, "what is written behind this would become a tag; write &lt;")
  }

  #step(offset: number, to: number): number {
    const { state } = this
    switch (state.in) {
      case "text":
        return this.#text(offset, to)
      case "comment":
        return this.#comment(state.isOther ? />/u : COMMENT_END, offset, to)
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

  /** Looks no further than the piece, so that the whole of a source is read once. */
  #find(text: string, offset: number, to: number): number {
    const found = this.#source.slice(offset, to).indexOf(text)
    return found === -1 ? -1 : offset + found
  }

  #comment(pattern: RegExp, offset: number, to: number): number {
    const found = pattern.exec(this.#source.slice(offset, to))
    if (found === null) return to
    this.state = HtmlContext.TEXT
    return offset + found.index + found[0].length
  }

  #text(offset: number, to: number): number {
    const open = this.#find("<", offset, to)
    if (open === -1) return to
    if (open === this.place.commentEnd) {
      this.place = { ...this.place, commentEnd: undefined }
      return open + ConditionalComment.END.length
    }
    this.begin = open
    if (this.#source.startsWith("<!--", open)) return this.#commentBegin(open, to)
    const begin = this.#source.slice(open, Math.min(to, open + MAX_NAME_CHARS))
    const element = ELEMENT.exec(begin)
    if (element === null) {
      const isHalf = HALF_TAG.test(begin.slice(0, "<!--".length))
      if (OTHER_COMMENT.test(begin) && !isHalf) this.state = { in: "comment", isOther: true }
      return open + 1
    }
    this.#element = element[1] === "/" ? "" : (element[2] ?? "").toLowerCase()
    this.#metaHolds.clear()
    this.state = HtmlContext.TAG
    return open + element[0].length
  }

  #commentBegin(open: number, to: number): number {
    const conditional = this.place.commentEnd === undefined ? ConditionalComment.at(this.#source, open) : undefined
    if (conditional !== undefined && conditional.begin <= to) {
      this.place = { ...this.place, commentEnd: conditional.end }
      return conditional.begin
    }
    const text = open + "<!--".length
    this.state = { in: "comment", isOther: false }
    // `<!-->` and `<!--->` are comments without a text.
    return /^-?>/u.test(this.#source.slice(text, Math.min(to, text + 2))) ? text - 2 : text
  }

  #raw(element: string, offset: number, to: number): number {
    const close = this.#find("</", offset, to)
    if (element === "script" && this.#find("<!--", offset, close === -1 ? to : close) !== -1)
      this.#report(offset, "a script cannot hold <!--, which changes where it ends")
    if (close === -1) return to
    const end = close + 2 + element.length
    const isEnd = this.#source.slice(close + 2, end).toLowerCase() === element
    if (!isEnd || !NAME_END.test(this.#source.charAt(end))) return close + 2
    this.#element = ""
    this.state = HtmlContext.TAG
    return end
  }

  #inTag(offset: number, to: number): number {
    if (this.#source[offset] === ">") {
      this.state = RAW_ELEMENTS.includes(this.#element) ? { in: "raw", element: this.#element } : HtmlContext.TEXT
      return offset + 1
    }
    ATTRIBUTE.lastIndex = offset
    const name = ATTRIBUTE.exec(this.#source.slice(0, to))?.[0]
    if (name === undefined) return offset + 1
    this.#plain(offset, name)
    if (name.toLowerCase() === "http-equiv") this.meta(offset, "header")
    let after = offset + name.length
    while (after < to && BLANK.test(this.#source[after] ?? "")) after++
    if (this.#source[after] !== "=" || after >= to) return offset + name.length
    this.state = { in: "before-value", attribute: HtmlContext.nameOf(this.#element, name.toLowerCase()) }
    return after + 1
  }

  /** Refuses white space that looks as if it ended a name or value. */
  #plain(offset: number, text: string): void {
    const at = text.search(OTHER_BLANK)
    if (at !== -1)
      this.#report(offset + at, "put a plain space between attributes: a browser reads this one as a letter")
  }

  #beforeValue(attribute: string, offset: number): number {
    const character = this.#source[offset] ?? ""
    if (BLANK.test(character)) return offset + 1
    const quoted = character === '"' || character === "'"
    this.state = { in: "value", attribute, quote: quoted ? character : "", begun: false, mayBeScheme: false }
    return quoted ? offset + 1 : offset
  }

  #value(state: Value, offset: number, to: number): number {
    if (state.quote !== "") {
      const close = this.#find(state.quote, offset, to)
      const within = this.#within(state, offset, close === -1 ? to : close)
      this.state = close === -1 ? within : HtmlContext.TAG
      return close === -1 ? to : close + 1
    }
    let end = offset
    while (end < to && !VALUE_END.test(this.#source[end] ?? "")) end++
    this.#plain(offset, this.#source.slice(offset, end))
    this.state = end < to ? HtmlContext.TAG : this.#within(state, offset, to)
    return end
  }

  /** A letter of a scheme does not begin an address, nor what a browser leaves out before it. */
  #within(state: Value, from: number, to: number): Value {
    if (state.begun || !HtmlContext.isAddress(state.attribute)) return state
    const first = NO_SCHEME.exec(Escape.withoutEntities(this.#source.slice(from, to)))?.[0]
    if (first === ":" && state.mayBeScheme) this.reportScheme(from)
    if (first === ":") this.colon = from
    return { ...state, begun: first !== undefined }
  }
}
