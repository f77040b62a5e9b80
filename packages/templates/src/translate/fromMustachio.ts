import { LiquidWriter, type Translated } from "./LiquidWriter.ts"
import * as LiquidTerms from "./LiquidTerms.ts"
import * as MustachioPieces from "./MustachioPieces.ts"

const WRONG_PATH = /\.{3,}|[^\w./-]|(?<!\.\.)\/|\.{2,}(?:$|[^/])/u
const MAX_PATH_CHARS = 256
/** Characters of what a section is about. */
const MAX_VALUE_CHARS = 1_024

/**
 * A value that names are looked up in; `undefined` has none. Its parent is that of which it is a part. Lists, and what is not
 * there, have no names, so that those of what is around them are meant.
 */
interface Value {
  readonly liquid: string | undefined
  readonly parent: Value | undefined
}

interface Block {
  /** The words of its end: `each`, or the path of a section. */
  readonly closedBy: string
  readonly end: string
  readonly outer: Value
  readonly offset: number
}

const ROOT: Value = { liquid: "", parent: undefined }

/** Translates a template of Postmark. A name means a part of what the section around it is about, and `../` leads out of it. */
export const fromMustachio = (source: string): Translated => new Translator(source).translate()

class Translator {
  readonly #pieces: ReadonlyArray<MustachioPieces.MustachioPiece>
  readonly #writer: LiquidWriter
  readonly #taken: Set<string>
  readonly #blocks: Array<Block> = []
  #value: Value = ROOT

  constructor(source: string) {
    this.#pieces = MustachioPieces.read(source)
    this.#writer = new LiquidWriter(source)
    this.#taken = LiquidTerms.wordsOf(source)
  }

  translate(): Translated {
    for (const { isTag, offset, text } of this.#pieces) {
      if (isTag) this.#tag(text, offset)
      else this.#writer.text(text, offset)
      if (this.#writer.isFull) break
    }
    for (const { closedBy, end, offset } of this.#blocks.toReversed()) {
      this.#writer.problem(offset, `{{#${closedBy}}} is not closed`)
      this.#writer.liquid(end)
    }
    return this.#writer.finish()
  }

  #tag(tag: string, offset: number): void {
    const isRaw = tag.startsWith("{{{")
    const inner = (isRaw ? tag.slice(3, -3) : tag.slice(2, -2)).trim()
    const rest = inner.slice(1).trim()
    if (isRaw) return this.#output(inner, true, offset)
    if (inner.startsWith("!")) return
    if (inner.startsWith("&")) return this.#output(rest, true, offset)
    if (inner.startsWith("#")) return this.#open(rest, offset)
    if (inner.startsWith("^")) return this.#invert(rest, offset)
    if (inner.startsWith("/")) return this.#close(rest, offset)
    if (inner.startsWith(">")) return this.#writer.problem(offset, "Postmark has no partials")
    return this.#output(inner, false, offset)
  }

  #output(path: string, isRaw: boolean, offset: number): void {
    // The words that a layout goes around; they are escaped already.
    if (path === "@content") return this.#writer.liquid("{{ content }}")
    const value = this.#find(path, offset)
    if (value?.liquid !== undefined && value.liquid !== "")
      this.#writer.liquid(`{{ ${value.liquid}${isRaw ? " | raw" : ""} }}`)
  }

  #open(name: string, offset: number): void {
    const list = /^each\s+(.+)$/su.exec(name)?.[1]
    if (list !== undefined) return this.#each(list.trim(), offset)
    if (name === "each") return this.#writer.problem(offset, "{{#each}} needs a list, as in {{#each items}}")
    this.#section(name, "if", offset)
  }

  #each(path: string, offset: number): void {
    const list = this.#find(path, offset)
    const item = LiquidTerms.nameOfItem(list?.liquid ?? "", this.#taken)
    this.#blocks.push({ closedBy: "each", end: "{% endfor %}", outer: this.#value, offset })
    this.#writer.liquid(`{% for ${item} in ${expression(list)} %}`)
    this.#value = { liquid: item, parent: within(this.#value, list) }
  }

  #section(name: string, tag: "if" | "unless", offset: number): void {
    const value = this.#find(name, offset)
    const outer = this.#value
    this.#blocks.push({ closedBy: name, end: `{% end${tag} %}`, outer, offset })
    this.#writer.liquid(`{% ${tag} ${LiquidTerms.isPresent(expression(value))} %}`)
    this.#value = tag === "if" ? (value ?? outer) : within(outer, value)
  }

  /** In a section, `{{^name}}` of the same name is its other branch. */
  #invert(name: string, offset: number): void {
    const block = this.#blocks.at(-1)
    if (block?.closedBy !== name) return this.#section(name, "unless", offset)
    this.#writer.liquid("{% else %}")
    this.#value = within(block.outer, this.#value)
  }

  #close(name: string, offset: number): void {
    const block = this.#blocks.at(-1)
    if (block?.closedBy !== name)
      return this.#writer.problem(
        offset,
        block === undefined ? `{{/${name}}} closes nothing` : `{{/${name}}} stands where {{/${block.closedBy}}} is due`,
      )
    this.#blocks.pop()
    this.#writer.liquid(block.end)
    this.#value = block.outer
  }

  /** Returns the value of a path; undefined after a problem. */
  #find(path: string, offset: number): Value | undefined {
    if (path.startsWith("pm:"))
      return void this.#writer.problem(
        offset,
        `${path.slice(0, 64)} is filled in by Postmark; set \`list_unsubscribe\``,
      )
    if (path === "" || path.length > MAX_PATH_CHARS || WRONG_PATH.test(path))
      return void this.#writer.problem(offset, `${path.slice(0, 64)} is not a path of Mustachio`)
    let value = this.#value
    for (const part of path.match(/\.\.\/|[^./]+/gu) ?? []) {
      if (part === "../") {
        value = value.parent ?? value
        continue
      }
      if (LiquidTerms.HIDDEN.has(part) && value.liquid === "")
        this.#writer.problem(offset, `${part} is a name of Liquid itself`)
      if ((value.liquid?.length ?? 0) > MAX_VALUE_CHARS)
        return void this.#writer.problem(offset, `${part.slice(0, 64)} is nested too deep`)
      value = {
        liquid: value.liquid === undefined ? undefined : LiquidTerms.property(value.liquid, part),
        parent: value,
      }
    }
    return value
  }
}

/** Stands in the place of a value without names. */
const within = (outer: Value, value: Value | undefined): Value => ({ liquid: outer.liquid, parent: value?.parent })

const expression = (value: Value | undefined): string =>
  value?.liquid === undefined || value.liquid === "" ? "nil" : value.liquid
