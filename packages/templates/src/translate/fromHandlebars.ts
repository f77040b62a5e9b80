import * as HandlebarsConditions from "./HandlebarsConditions.ts"
import * as HandlebarsLines from "./HandlebarsLines.ts"
import * as HandlebarsPieces from "./HandlebarsPieces.ts"
import * as HandlebarsScope from "./HandlebarsScope.ts"
import * as HandlebarsValues from "./HandlebarsValues.ts"
import * as HandlebarsWords from "./HandlebarsWords.ts"
import { LiquidWriter, type Translated } from "./LiquidWriter.ts"
import * as LiquidTerms from "./LiquidTerms.ts"

/** Names that SendGrid fills in, with what stands for them. */
const OF_SENDGRID: ReadonlySet<string> = new Set([
  "unsubscribe",
  "unsubscribe_preferences",
  "weblink",
  "Sender_Name",
  "Sender_Address",
  "Sender_City",
  "Sender_State",
  "Sender_Zip",
])
const MAX_NESTED = 100

/** A block that is open. */
interface OpenBlock {
  readonly name: string
  /** The tag of Liquid around it. */
  readonly tag: "if" | "unless" | "for"
  /** Tags that its branches opened. */
  ends: string
  hasElse: boolean
  readonly outer: HandlebarsScope.BlockScope
  readonly offset: number
}

/** Translates a template of SendGrid. A name means a part of what the block around it is about, and `../` leads out of it. */
export const fromHandlebars = (source: string): Translated => new HandlebarsTranslator(source).translate()

class HandlebarsTranslator {
  readonly #pieces: ReadonlyArray<HandlebarsPieces.Piece>
  readonly #writer: LiquidWriter
  readonly #taken: Set<string>
  readonly #blocks: Array<OpenBlock> = []
  /** Loops whose body names the keys of an object. */
  readonly #objectLoops: ReadonlySet<HandlebarsPieces.Piece>
  #scope = HandlebarsScope.TOP

  constructor(source: string) {
    this.#pieces = HandlebarsLines.leaveOut(HandlebarsPieces.read(source))
    this.#writer = new LiquidWriter(source)
    this.#taken = LiquidTerms.wordsOf(source)
    this.#objectLoops = loopsOverObjects(this.#pieces)
  }

  translate(): Translated {
    for (const piece of this.#pieces) {
      if (piece.kind === "text") this.#writer.text(piece.text, piece.offset)
      else this.#tag(piece)
      if (this.#writer.isFull) break
    }
    for (const { ends, name, offset, tag } of this.#blocks.toReversed()) {
      this.#writer.problem(offset, `{{#${name}}} is not closed`)
      this.#writer.liquid(`${ends}{% end${tag} %}`)
    }
    return this.#writer.finish()
  }

  #tag(piece: HandlebarsPieces.TagPiece): void {
    switch (piece.sigil) {
      case "#":
        return this.#open(piece, false)
      case "^":
        return piece.body === "" ? this.#else(piece, "") : this.#open(piece, true)
      case "/":
        return this.#close(piece)
      case "!":
        return
      case ">":
        return this.#writer.problem(piece.offset, "SendGrid has no partials")
      case "wrong":
        return this.#writer.problem(piece.offset, piece.body)
      case "": {
        const rest = /^else(?:\s+([^]*))?$/u.exec(piece.body)
        return rest === null ? this.#output(piece) : this.#else(piece, rest[1]?.trim() ?? "")
      }
    }
  }

  #output(piece: HandlebarsPieces.TagPiece): void {
    const { body, isRaw, offset } = piece
    if (OF_SENDGRID.has(body))
      return this.#writer.problem(offset, `${body} is filled in by SendGrid; write it, or set \`list_unsubscribe\``)
    const call = HandlebarsWords.read(body)
    const value = call === undefined ? undefined : HandlebarsValues.output(call, this.#scope)
    if (value === undefined) return this.#writer.problem(offset, `{{${body.slice(0, 64)}}} cannot be read`)
    if ("problem" in value) return this.#writer.problem(offset, value.problem)
    this.#writer.liquid(`{{ ${value.liquid}${isRaw ? " | raw" : ""} }}`)
  }

  #open(piece: HandlebarsPieces.TagPiece, isInverted: boolean): void {
    const call = HandlebarsWords.read(piece.body)
    const name = call?.head.kind === "path" ? call.head.path : ""
    const opened =
      call === undefined
        ? { problem: `{{#${piece.body.slice(0, 64)}}} cannot be read` }
        : this.#blocks.length >= MAX_NESTED
          ? { problem: `is nested deeper than ${MAX_NESTED} blocks` }
          : this.#opened(piece, name, call, isInverted)
    const { liquid, scope = this.#scope, tag } = this.#known(opened, piece)
    this.#blocks.push({ name, tag, ends: "", hasElse: false, outer: this.#scope, offset: piece.offset })
    this.#scope = scope
    this.#writer.liquid(liquid)
  }

  /** Shows nothing of a block that cannot be said. What else is wrong in it is told, too. */
  #known(opened: Opened, { offset }: HandlebarsPieces.Piece): OpenedTag {
    if (!("problem" in opened)) return opened
    this.#writer.problem(offset, opened.problem)
    return { liquid: "{% if false %}", tag: "if" }
  }

  #opened(piece: HandlebarsPieces.Piece, name: string, call: HandlebarsWords.Call, isInverted: boolean): Opened {
    const [value] = call.terms
    if (HandlebarsConditions.isCondition(name))
      return conditional(
        HandlebarsConditions.ofCall(name, call, this.#scope, this.#taken),
        isInverted ? "unless" : "if",
      )
    if (value === undefined)
      return isInverted
        ? conditional(HandlebarsConditions.ofTerm(call.head, this.#scope, this.#taken), "unless")
        : { problem: `{{#${name.slice(0, 64)}}} could be a list or a condition: write {{#each}}, {{#with}} or {{#if}}` }
    switch (name) {
      case "if":
      case "unless": {
        const tag = (name === "if") === isInverted ? "unless" : "if"
        return conditional(HandlebarsConditions.ofTerm(value, this.#scope, this.#taken), tag)
      }
      case "with":
        return this.#with(value, call.blockNames)
      case "each":
        return this.#each(piece, value, call.blockNames)
      default:
        return { problem: `${name.slice(0, 64)} is not a helper of SendGrid` }
    }
  }

  #with(value: HandlebarsWords.Term, [alias]: ReadonlyArray<string>): Opened {
    const found = HandlebarsValues.operand(value, this.#scope)
    if ("problem" in found) return found
    const { loop, names } = this.#scope
    const scope = {
      self: found.liquid,
      parent: this.#scope,
      loop,
      names: alias === undefined ? names : new Map([...names, [alias, found.liquid]]),
    }
    return { liquid: `{% if ${LiquidTerms.isPresent(found.liquid)} %}`, tag: "if", scope }
  }

  #each(piece: HandlebarsPieces.Piece, value: HandlebarsWords.Term, [alias, key]: ReadonlyArray<string>): Opened {
    const found = HandlebarsValues.operand(value, this.#scope)
    if ("problem" in found) return found
    const isObject = this.#objectLoops.has(piece)
    const item = LiquidTerms.nameOfItem(found.liquid, this.#taken)
    const self = isObject ? `${item}[1]` : item
    const names = new Map(this.#scope.names)
    if (alias !== undefined) names.set(alias, self)
    if (key !== undefined) names.set(key, isObject ? `${item}[0]` : "forloop.index0")
    const scope = { self, parent: this.#scope, loop: { item, isObject }, names }
    return { liquid: `{% for ${item} in ${found.liquid} %}`, tag: "for", scope }
  }

  #else(piece: HandlebarsPieces.TagPiece, rest: string): void {
    const block = this.#blocks.at(-1)
    if (block === undefined) return this.#writer.problem(piece.offset, "{{else}} stands in no block")
    if (block.hasElse) return this.#writer.problem(piece.offset, "{{else}} stands behind the last branch")
    this.#scope = block.outer
    block.hasElse = rest === ""
    if (block.hasElse) return this.#writer.liquid("{% else %}")
    const call = HandlebarsWords.read(rest)
    const name = call?.head.kind === "path" ? call.head.path : ""
    const opened = this.#known(
      call === undefined
        ? { problem: `{{else ${rest.slice(0, 64)}}} cannot be read` }
        : this.#opened(piece, name, call, false),
      piece,
    )
    if (opened.tag === "if" && opened.liquid.startsWith("{% if ") && block.tag !== "for" && block.ends === "")
      this.#writer.liquid(opened.liquid.replace("{% if ", "{% elsif "))
    else {
      this.#writer.liquid(`{% else %}${opened.liquid}`)
      block.ends = `{% end${opened.tag} %}${block.ends}`
    }
    this.#scope = opened.scope ?? block.outer
  }

  #close(piece: HandlebarsPieces.TagPiece): void {
    const block = this.#blocks.at(-1)
    if (block?.name !== piece.body)
      return this.#writer.problem(
        piece.offset,
        block === undefined
          ? `{{/${piece.body.slice(0, 64)}}} closes nothing`
          : `{{/${piece.body.slice(0, 64)}}} stands where {{/${block.name}}} is due`,
      )
    this.#blocks.pop()
    this.#scope = block.outer
    this.#writer.liquid(`${block.ends}{% end${block.tag} %}`)
  }
}

interface OpenedTag {
  readonly liquid: string
  readonly tag: "if" | "unless" | "for"
  readonly scope?: HandlebarsScope.BlockScope
}
type Opened = OpenedTag | { readonly problem: string }

const conditional = (made: HandlebarsConditions.Made, tag: "if" | "unless"): Opened =>
  "problem" in made ? made : { liquid: `${made.before}{% ${tag} ${made.test} %}`, tag }

/** Finds the loops whose body names keys: they go over objects. */
const loopsOverObjects = (pieces: ReadonlyArray<HandlebarsPieces.Piece>): ReadonlySet<HandlebarsPieces.Piece> => {
  const found = new Set<HandlebarsPieces.Piece>()
  const open: Array<HandlebarsPieces.Piece> = []
  for (const piece of pieces) {
    if (piece.kind === "text") continue
    const innermost = open.at(-1)
    if (piece.sigil === "#" && /^each\s/u.test(piece.body)) open.push(piece)
    else if (piece.sigil === "/" && piece.body === "each") open.pop()
    else if (innermost !== undefined && /@key\b/u.test(piece.body)) found.add(innermost)
  }
  return found
}
